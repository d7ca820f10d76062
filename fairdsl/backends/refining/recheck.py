"""Claims of a stored refinement, and how many of them are recomputed: all, or some that are drawn by what they claim.

The theorem behind a sample. Let p be the share of the credit (what a claim decides, added over all claims) that lies in
claims that are wrong. Each draw with probability proportional to the credit, with replacement, hits a wrong one with
probability p, so n draws hit none with probability (1 - p)^n. If that is at least d then p <= 1 - d^(1/n): the exact
one-sided Clopper-Pearson bound for no failure in n trials (Biometrika 26, 1934). A wrong claim is wrong by its whole
credit at most, so what is claimed is lowered by that share of all credit. Kinds of claims are drawn apart, each with
its part of d (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from fairdsl.verdict import Sampled

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The probability with which a sample misses that more is wrong than is said.
_DOUBT = Fraction(1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recheck:
    """How far claims are recomputed: ``draws`` of each kind (None: all); all where there are at most ``all_up_to``.

    The seed is chosen when the file is there: whoever knows it before can make a file whose sample is right.
    """

    draws: int | None = 1000
    all_up_to: int = 2000
    seed: int = 0
    #: How many files are believed together: each has its part of the doubt.
    files: int = 1


#: Everything is recomputed.
ALL = Recheck(draws=None)


@dataclass(frozen=True, slots=True)
class Claimed:
    """Claims of one kind: by which nodes, and what each decides of all units."""

    kind: str
    nodes: Integers
    credit: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check came to: by which shares of all decided units claims may be wrong, and what is said of it."""

    violating: Fraction = Fraction(0)
    falsified: Fraction = Fraction(0)
    violating32: Fraction = Fraction(0)
    vacuous: Fraction = Fraction(0)
    absent: Fraction = Fraction(0)
    #: By which share what is said of another measure beside may be wrong.
    beside: Fraction = Fraction(0)
    sampled: Sampled


def wrong_at_most(draws: int, kinds: int) -> Fraction:
    """Of the credit, with 99 % confidence, where none of so many draws of each kind is wrong; rounded up."""
    share = 1.0 - float(_DOUBT / kinds) ** (1.0 / draws)
    return Fraction(ceil(share * 10**9), 10**9)


def sample(claims: list[Claimed], how: Recheck) -> tuple[dict[str, Integers], Fraction]:
    """The nodes to recompute, by kind of claim, and which share of the credit may be wrong where all are confirmed."""
    claims = [each for each in claims if len(each.nodes)]
    if how.draws is None or sum(len(each.nodes) for each in claims) <= how.all_up_to:
        return {each.kind: each.nodes for each in claims}, Fraction(0)
    rng = np.random.default_rng(how.seed)
    drawn = {
        each.kind: np.unique(rng.choice(each.nodes, size=how.draws, p=each.credit / each.credit.sum()))
        for each in claims
    }
    return drawn, wrong_at_most(how.draws, len(claims) * how.files)


def said_of(
    claims: Sequence[Claimed], drawn: Mapping[str, Integers], wrong: Fraction, how: Recheck
) -> tuple[dict[str, Fraction], Sampled]:
    """By which shares claims of each kind may be wrong though all that were drawn are confirmed; and what is said."""
    lost = {each.kind: wrong * Fraction(float(each.credit.sum())) for each in claims}
    count, every = sum(map(len, drawn.values())), sum(len(each.nodes) for each in claims)
    return lost, Sampled(recomputed=count, of=every, wrong=wrong, seed=how.seed if wrong else None)
