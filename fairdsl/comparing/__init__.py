"""``compare``: what changed between two reports, and whether any of it got worse.

    report file --read_report--> report \\
                                          --compared--> comparison --text, json--> output
    report file --read_report--> report /

A report is about the bytes that its digests name. Two reports on other data, another model or another spec are
therefore two sets of claims, and a comparison says of each number what is *certain* about its change: numbers are
known as intervals, and only where the two intervals have no number in common has the number surely changed.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction

from fairdsl.comparing.compare import compared
from fairdsl.comparing.model import Comparison
from fairdsl.comparing.read import read_report
from fairdsl.report.model import Report

__all__ = ["Comparison", "compare_reports"]


def compare_reports(
    before: str | Report, after: str | Report, tolerance: Fraction | None = None, removed: Collection[str] = ()
) -> Comparison:
    """What changed from one report to another; each is a report, or the path of its JSON.

    Raises DiagnosticError for files that are not reports, and for reports that cannot be compared.
    """
    first = before if isinstance(before, str) else "the report before"
    second = after if isinstance(after, str) else "the report after"
    old, new = (read_report(one) if isinstance(one, str) else one for one in (before, after))
    return compared((first, second), old, new, tolerance, removed)
