"""What a strategy is: it proposes candidates, hears what became of them, and proposes others.

A strategy is a generator: ``tried = yield Proposal(name, rows)``. So a method reads in the order in which its paper
tells it, whether it goes one individual at a time or by thousands. It never ends by itself; the search ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.ground import Ground
from fairdsl.ir.problem import Problem
from fairdsl.numerics.evaluate import Around


@dataclass(frozen=True, slots=True)
class Proposal:
    """Candidates to try, [n, coordinates]; ``by`` is the strategy that a find is put down to.

    ``around``: the candidates that they are neighbours of, where they are and that is known. ``until`` hears which of
    the rows violate, and says how many of them, from the first on, are tried in earnest: those behind were a guess at
    what comes next, and do not count.
    """

    by: str
    rows: NDArray[np.float64]
    around: Around | None = None
    until: Callable[[NDArray[np.bool_]], int] | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of the rows that count: which violate, found before or now; ``new`` is how many were found now."""

    violating: NDArray[np.bool_]  # [n]
    new: int


Proposing = Generator[Proposal, Tried, None]


def _always(_: Problem) -> bool:
    return True


def _at_once(_: Ground) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way to look for violations.

    ``possible`` says whether it can treat the problem at all, ``fits`` whether it is good at it; ``ready`` whether it
    has something to start from, which a portfolio waits for. ``expands``: it goes through the neighbours of every find
    sooner or later. ``steady``: what it finds depends on nothing that happened before.
    """

    name: str
    about: str
    run: Callable[[Ground], Proposing]
    possible: Callable[[Problem], bool] = _always
    fits: Callable[[Problem], bool] = _always
    ready: Callable[[Ground], bool] = _at_once
    expands: bool = False
    steady: bool = False
