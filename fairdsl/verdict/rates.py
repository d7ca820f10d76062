"""What a metric of groups was computed from: the rates of groups, and the numbers of strata."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated

from fairdsl.codec import INLINE
from fairdsl.ir.enclosure import Enclosed, Enclosure
from fairdsl.verdict.deciders import ByDecider
from fairdsl.verdict.named import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A number as people drawn at random have it: an estimate, never a proof."""

    #: The number among those who were drawn; two bounds where the model leaves decisions open.
    estimate: Enclosure
    #: The interval, which contains the number under the distribution with the confidence that was asked for.
    interval: Enclosure


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How many people were drawn from a distribution, and how close the estimate had to come."""

    #: How many people were drawn and are in question.
    people: int
    #: The distance that was asked for; None: what the threshold needs.
    within: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Enclosed):
    """The probability of what a metric counts in one group (its event), known between two ends.

    ``group`` are the values of the columns that define it, a range as ``25 .. 44``; ``given`` those of further
    conditions that the metric is taken for one by one (a label's value, an attribute of ``given``).
    ``model decision`` among them is the decision that is given, favourable or not, where the metric is taken for both.
    ``mass`` is the probability of what the rate is of, group and further conditions together (a lower and an
    upper bound), ``rows`` how many rows of data it rests on (None: on none) and ``empirical`` the frequency in
    those rows (two bounds where the model leaves decisions open). ``sampling`` is the interval that also covers
    sampling error, where it was asked for; where people were drawn, what that and the bounds have in common.
    ``by_decider`` are the rate by everybody who decides the rows of a table.
    """

    #: The values of the columns that define the group.
    group: Named
    #: The rate.
    number: Annotated[Enclosure, INLINE]
    #: Bounds of the probability of what the rate is of: group and further conditions together.
    mass: Enclosure
    #: The values of further conditions that the metric is taken for one by one.
    given: Named = field(default_factory=Named)
    #: How many rows of data it rests on; None: on none.
    rows: int | None = None
    #: The frequency in those rows; two bounds where the model leaves decisions open.
    empirical: Enclosure | None = None
    #: The interval that also covers sampling error, where it was asked for.
    sampling: Enclosure | None = None
    #: The rate by everybody who decides the rows of a table.
    by_decider: tuple[ByDecider, ...] = ()
    #: Whether it is the mean of a number, which may be any, in place of a probability.
    mean: bool = False
    #: The rate among people who were drawn from the distribution.
    drawn: Drawn | None = None

    def __post_init__(self) -> None:
        low, high = self.number
        # By whole numbers, as fractions take long to compare and groups may be many.
        if not self.mean and (low.numerator < 0 or high.numerator > high.denominator):
            raise ValueError("a rate lies between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Enclosed):
    """One of several numbers that a demand is about, each of which has to meet it; known between two ends.

    ``at`` says which: the values of the columns of ``given``, or of a group. Where it is not certainly ``defined``,
    as a quotient of what may be zeros, the bounds say nothing.
    """

    #: Which of the numbers it is: values of the columns of ``given``, or of a group.
    at: Named
    #: Between which two ends it lies.
    number: Annotated[Enclosure, INLINE]
    #: The interval that also covers sampling error, where it was asked for.
    sampling: Enclosure | None = None
    #: Whether it certainly is a number, and not a quotient of zeros.
    defined: bool = True
    #: The number among people who were drawn from the distribution.
    drawn: Drawn | None = None
