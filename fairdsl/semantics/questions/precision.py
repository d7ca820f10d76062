"""``within 0.1% with confidence 99%``: how close an estimate of a share or of a metric of groups has to come."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.question import Precision
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

#: Where the spec does not say another.
CONFIDENCE = Fraction(95, 100)
#: No sample is certain; beyond this much certainty, intervals that were computed in float64 could not be distinguished.
_SUREST = 1 - Fraction(1, 10**9)


def precision_of(
    within: tree.Number | None, confidence: tree.Number | None, reporter: Reporter, *, share: bool = True
) -> Precision | None:
    """The precision that is asked for, ``within`` a distance or as a threshold needs; None after reporting.

    ``share``: it is one of a number between 0 and 1.
    """
    meant = True
    if within is not None and not (within.value > 0 and (within.value < Fraction(1, 2) or not share)):
        meant = False
        title = "a precision lies above 0% and below 50%" if share else "a precision lies above 0"
        reporter.report(errors.number_out_of_place(title, within.span, _instead_of(within)))
    # What is not a share at all has been reported where it is required.
    checked = confidence is not None and not 0 <= confidence.value <= 1
    if confidence is not None and not checked and not 0 < confidence.value <= _SUREST:
        meant = False
        title = "no sample is that certain" if confidence.value > _SUREST else "a confidence lies above 0%"
        reporter.report(errors.number_out_of_place(title, confidence.span, "write a confidence such as `95%`"))
    place = within or confidence
    if not meant or place is None:
        return None
    level = CONFIDENCE if confidence is None else confidence.value
    return Precision(within=None if within is None else within.value, confidence=level, span=place.span)


def words_of_precision(clause: tree.RequireClause | tree.MeasureItem) -> Span | None:
    """Where ``within 1% with confidence 95%`` stands; None where neither does."""
    numbers = [number for number in (clause.within, clause.confidence) if number is not None]
    if not numbers:
        return None
    demand = clause.demand if isinstance(clause, tree.RequireClause) else clause.metric
    text, start = clause.span.file.text, demand.span.end
    gap = len(text[start:]) - len(text[start:].lstrip())
    return clause.span.part(start + gap, numbers[-1].span.end)


def _instead_of(within: tree.Number) -> str:
    if within.value == 0:
        return "leave out `within` to ask for the exact share, or write a distance such as `0.1%`"
    if not within.percent and 0 < within.value < 50:
        return f"write `within {within.text}%` for percentage points"
    return "write a distance such as `0.1%`"
