"""What an adapter to a solver that others wrote has to say, and how wide a number in floating point is taken.

Error analysis. A solver with unit roundoff u (2^-24 where probabilities are parsed as float32, 2^-53 for double)
works with weights ``w1`` of true and ``w0`` of false instead of p and 1 - p. ``|w1 - p| <= u p`` and ``w0`` is
1 - ``w1`` up to u, so that ``w1 f1 + w0 f0`` differs from ``p f1 + (1 - p) f0`` by at most
``u p |f1 - f0| + u f0``, which is at most 2 u times the greatest f. Exchanging the variables one after the other
moves the value by at most 2 u for each, times what the other weights sum to, at most (1 + u)^n: below 2 while
n u < 1/2, and from there on the sum of ``4 u`` over n variables is 1 or more and says nothing. So n random
variables are worth an absolute error of ``4 u n``, in any prefix (maxima and minima move no further).

Arithmetic in double rounds at most 4 times for each variable on the way to a result that is a sum, product or
maximum of numbers that are not negative: a relative error below 4 n 2^-53. A result that is printed with d
significant digits is wrong by half a unit of the last one, at most ``10^(1-d) / 2`` of itself: 5e-7 for seven.
``relative`` = 10^(1-d) covers both for n below 10^8. Differences from 1, as solvers form them for
what is left out, add absolute errors of 2^-53 that the factor 4 covers again. ``_TINY`` covers underflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from fairdsl.backends.ssat.instance import Instance, Quantifier
from fairdsl.verdict import Reason

__all__ = ["DOUBLE", "FLOAT", "SEVEN_DIGITS", "Adapter", "Found", "Printed", "shape", "widened"]

#: Unit roundoffs.
FLOAT = Fraction(1, 2**24)
DOUBLE = Fraction(1, 2**53)
#: How far a number of seven significant digits may be from what was printed, as a part of it.
SEVEN_DIGITS = Fraction(1, 10**6)
_TINY = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a solver found: the value lies from ``low`` to ``high``; 0 to 1 where it found nothing.

    ``exact``: they are one number, by exact arithmetic. ``detail`` says in words what the numbers rest on, or why
    there are none; ``reason`` is set where the solver gave less than a value. ``choice`` are truths of the
    outermost existential variables (by the caller's numbers) that the solver says attain a value within the
    bounds: its word, unchecked, and None where it names none.
    """

    low: Fraction
    high: Fraction
    detail: str
    choice: Mapping[int, bool] | None = None
    reason: Reason | None = None
    seconds: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the value is one number."""
        return self.low == self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What a solver's output says about the instance that it was given, already as wide as it has to be.

    ``solved``: it is a value and not only bounds. ``choice`` is by the numbers of that instance.
    """

    low: Fraction
    high: Fraction
    solved: bool = True
    choice: Mapping[int, bool] | None = None


class Adapter(Protocol):
    """One solver: which instances it gets right, how it is called, and what its output means."""

    #: As ``ssat.solver`` names it.
    name: str
    #: File names of its program, the first of them preferred; none for a library.
    programs: tuple[str, ...]
    #: Decimals that probabilities are written with; None: they are handed over exactly.
    digits: int | None
    #: What its numbers rest on, in words.
    about: str

    def missing(self) -> str | None:
        """What has to be installed before it can be used; None for programs, which are looked for."""

    def unfit(self, instance: Instance) -> str | None:
        """Why this plain instance is none of those that the solver gets right, in words; None if it is one."""

    def command(self, program: str, folder: Path, instance: Instance) -> list[str]:
        """Write the files it reads into the folder; the command line."""

    def read(self, output: str, instance: Instance) -> Printed | None:
        """What the output says about a plain instance, None where it gives neither value nor bounds; total."""


def shape(instance: Instance) -> str:
    """The blocks of the prefix as letters, outermost first: ``ERE``."""
    return "".join(quantifier.value.upper() for quantifier, _ in instance.blocks)


def widened(low: Fraction, high: Fraction, instance: Instance, *, unit: Fraction, relative: Fraction) -> Printed | None:
    """Numbers that were computed and printed in floating point, as wide as the module says, within 0 to 1.

    None if they are no probabilities: negative, out of order, or above 1 by more than they may be wrong.
    """
    random = sum(bound.quantifier is Quantifier.RANDOM for bound in instance.prefix)
    absolute = 4 * unit * random + _TINY
    least, most = low * (1 - relative) - absolute, high * (1 + relative) + absolute
    if low < 0 or low > high or least > 1:
        return None
    solved = low == high
    return Printed(low=max(Fraction(0), least), high=min(Fraction(1), most), solved=solved)
