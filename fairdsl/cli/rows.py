"""What ``fairdsl explain --error`` says of rows, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairdsl.report.numbers import Towards, above, nearest, ratio, shown

if TYPE_CHECKING:
    from fairdsl.metrics import RowsNeeded

__all__ = ["rows_in_words", "rows_to_json"]

#: Groups that are listed at most; those with the fewest rows come first.
_LISTED = 8

Needs = Sequence[tuple[str, "RowsNeeded | None"]]


def rows_in_words(needs: Needs) -> tuple[str, ...]:
    """Lines for each demand, those that need the same together; nothing without demands."""
    alike: list[tuple[list[str], RowsNeeded | None]] = []
    for text, need in needs:
        same = next((texts for texts, other in alike if other == need), None)
        if same is None:
            alike.append(([text], need))
        else:
            same.append(text)
    lines = [line for texts, need in alike for line in _lines(texts, need)]
    return (*lines, "if rows are independent draws and the model was fixed before them") if lines else ()


def _lines(texts: Sequence[str], need: RowsNeeded | None) -> Iterator[str]:
    demands = "; ".join(texts)
    if need is None:
        yield f"{demands}: no number is known beforehand; `with confidence` says which error the rows at hand leave"
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


def _error(error: Fraction) -> str:
    return "which say nothing" if error >= 1 else f"error {shown(error, percent=True, towards=Towards.UP)}"


def rows_to_json(needs: Needs) -> list[dict[str, Any]]:
    """The same, group by group; errors are rounded up."""
    return [{"demand": text} | ({} if need is None else _needed(need)) for text, need in needs]


def _needed(need: RowsNeeded) -> dict[str, Any]:
    return {
        "error": {"value": nearest(need.error), "exact": ratio(need.error)},
        "confidence": {"value": nearest(need.confidence), "exact": ratio(need.confidence)},
        "rates": need.rates,
        "rows": need.rows,
        "at_hand": None
        if need.at_hand is None
        else [{"group": each.group, "rows": each.rows, "error": above(each.error)} for each in need.at_hand],
    }
