"""What ``fairdsl explain --error`` and ``--sample-sizes`` say of rows, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from fractions import Fraction

from fairdsl.ir.numbers import Towards, shown
from fairdsl.ir.rows_needed import NoRows, RowsNeeded
from fairdsl.report.explained import AtSize, DemandRows, DemandSizes, SampleSizes

__all__ = ["rows_in_words", "sizes_in_words"]

#: Groups that are listed at most; those with the fewest rows come first.
_LISTED = 8


def rows_in_words(needs: Sequence[DemandRows]) -> tuple[str, ...]:
    """Lines for each demand, those that need the same together; nothing without demands."""
    alike: list[tuple[list[str], RowsNeeded | NoRows]] = []
    for each in needs:
        text, need = each.demand, each.need
        same = next((texts for texts, other in alike if other == need), None)
        if same is None:
            alike.append(([text], need))
        else:
            same.append(text)
    lines = [line for texts, need in alike for line in _lines(texts, need)]
    return (*lines, *_assumed([need for _, need in alike]))


def _assumed(needs: Sequence[RowsNeeded | NoRows]) -> Iterator[str]:
    """What the numbers rest on."""
    counted = [need for need in needs if not isinstance(need, Enum)]
    if counted:
        yield "if rows are independent draws and the model was fixed before them"
    for name in dict.fromkeys(need.law for need in counted if need.law is not None):
        yield (
            f"these are errors of frequencies; for rates under `{name}`, a distribution estimated from the rows, "
            "an error is bounded only if its structure is right"
        )


def _lines(texts: Sequence[str], need: RowsNeeded | NoRows) -> Iterator[str]:
    demands = "; ".join(texts)
    if isinstance(need, Enum):
        yield f"{demands}: {need.value}"
        return
    rates = f"{need.rates:,} rate{'' if need.rates == 1 else 's'}"
    error, sure = shown(need.error, percent=True), shown(need.confidence, percent=True)
    yield f"{demands}: {need.rows:,} rows behind each of {rates} for an error of {error} with {sure} confidence"
    if need.at_hand is None:
        yield "  how many of the rows are favoured the model decides; `fairdsl check` counts them"
        return
    for each in need.at_hand[:_LISTED]:
        yield f"  {each.group}: {each.rows:,} row{'' if each.rows == 1 else 's'}, {_error(each.error)}"
    if len(need.at_hand) > _LISTED:
        yield f"  and {len(need.at_hand) - _LISTED:,} more with as many rows or more"
    if need.in_all is not None:
        yield f"  about {need.in_all:,} rows in all, if {need.at_hand[0].group} is as rare as at hand"


def _error(error: Fraction) -> str:
    return "which say nothing" if error >= 1 else f"error {shown(error, percent=True, towards=Towards.UP)}"


def sizes_in_words(sizes: Sequence[DemandSizes]) -> tuple[str, ...]:
    """A line for each demand and each number of rows; nothing without demands."""
    lines = [line for each in sizes for line in _size_lines(each)]
    found = [each.found for each in sizes if isinstance(each.found, SampleSizes)]
    if found:
        lines.append("if rows are independent draws, the model was fixed before them, and all rates stay as they are")
    for name in dict.fromkeys(each.law for each in found if each.law is not None):
        lines.append(f"numbers of the rows themselves, and not under `{name}`, which was estimated from them")
    return tuple(lines)


def _size_lines(each: DemandSizes) -> Iterator[str]:
    found = each.found
    if isinstance(found, Enum):
        yield f"{each.demand}: {found.value}"
        return
    sure = shown(found.confidence, percent=True)
    yield f"{each.demand}: {_between(found)} in the rows; with {sure} confidence"
    for size in found.sizes:
        verdict = "" if size.verdict is None else f", {size.verdict.value}"
        yield f"  {size.rows:,} row{'' if size.rows == 1 else 's'}: {_between(size)}{verdict}"


def _between(found: AtSize | SampleSizes) -> str:
    if found.low is None or found.high is None:
        return "no interval is known"
    if found.low == found.high:
        return shown(found.low)
    return f"{shown(found.low, towards=Towards.DOWN)} .. {shown(found.high, towards=Towards.UP)}"
