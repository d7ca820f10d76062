"""Bins: the ranges of numbers that people are told apart by, and what of written numbers makes no sense in them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Boolean, Category, Integer, ModelThresholds, Quantiles, Real, Type
from fairdsl.semantics import errors
from fairdsl.syntax import tree

#: Beyond it float64, in which a model reads its numbers, does not tell a whole number from the next.
LARGEST_WHOLE = 2**53

#: The inner edges that are written, and how those are found that are not.
_Cut = tuple[tuple[Fraction, ...], Quantiles | ModelThresholds | None]


def bins_of(name: str, type_: Type, bins: tree.Bins | None, reporter: Reporter) -> _Cut:
    """How values are cut. Quantiles and the model's own thresholds are found when data is read."""
    if bins is None:
        return (), None
    if isinstance(type_, Category | Boolean):
        reporter.report(
            errors.not_comparable(
                f"`{name}` has no order, so it cannot be cut into bins",
                bins.span,
                "bins are ranges of numbers",
                "remove `bins`, or declare the attribute `integer` or `real`",
            )
        )
        return (), None
    match bins:
        case tree.BinsByModel():
            return (), ModelThresholds()
        case tree.BinsByQuantiles(count=count):
            if whole_number(count, "the number of quantiles", reporter, or_real=False) and count.value < 2:
                reporter.report(
                    errors.number_out_of_place("quantiles cut into at least 2 bins", count.span, "write 2 or more")
                )
            return (), Quantiles(count=max(2, floor(count.value)))
        case tree.BinsAt(edges=edges):
            _check_edges(name, type_, edges, reporter)
            # Of whole numbers those from 24.5 are those from 25: one way to write the same bin.
            whole = isinstance(type_, Integer)
            return tuple(Fraction(ceil(edge.value)) if whole else edge.value for edge in edges), None


def _check_edges(name: str, type_: Integer | Real, edges: Sequence[tree.Number], reporter: Reporter) -> None:
    """Ascending, and with a value on either side: ``bins at 25`` are [.., 25) and [25, ..]."""
    for edge in edges:
        if not readable(edge, f"a bin edge of `{name}`", LARGEST_WHOLE, reporter):
            continue
        below = type_.low is not None and edge.value <= type_.low
        if below or (type_.high is not None and edge.value > type_.high):
            side = "below" if below else "from"
            reporter.report(
                errors.number_out_of_place(
                    f"no value of `{name}` lies {side} the bin edge {edge.text}",
                    edge.span,
                    "remove the edge, or correct it: a bin holds the values from its lower edge up to the next one",
                )
            )
    for left, right in pairwise(edges):
        if left.value >= right.value:
            reporter.report(
                errors.number_out_of_place(
                    f"the bin edge {right.text} does not come after {left.text}",
                    right.span,
                    "write the edges in ascending order, each once",
                )
            )
        elif isinstance(type_, Integer) and ceil(left.value) == ceil(right.value):
            reporter.report(
                errors.number_out_of_place(
                    f"no value of `{name}` lies between the bin edges {left.text} and {right.text}",
                    right.span,
                    "remove one of them: a bin holds the values from its lower edge up to the next one",
                )
            )


def readable(number: tree.Number, what: str, largest: int, reporter: Reporter) -> bool:
    """Whether a model, which reads floats, can tell the number from its neighbours."""
    if abs(number.value) <= largest:
        return True
    limit = "2^53 = 9007199254740992" if largest == LARGEST_WHOLE else "10^300"
    reporter.report(
        errors.number_out_of_place(
            f"{what} is beyond what a model can read",
            number.span,
            f"write a number of at most {limit} in size: beyond it no float tells one value from the next, "
            "and models read floats",
        )
    )
    return False


def whole_number(number: tree.Number, what: str, reporter: Reporter, *, or_real: bool = True) -> bool:
    """Whether the number, which is to be a whole one, is one."""
    if number.value.denominator == 1 and not number.percent:
        return True
    reporter.report(
        errors.number_out_of_place(
            f"{number.text} is not a whole number, but {what} is one",
            number.span,
            "write a whole number, or declare the attribute `real`" if or_real else "write a whole number",
        )
    )
    return False
