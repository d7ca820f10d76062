"""A report inside somebody's own Markdown file: a model card, or a README."""

from __future__ import annotations

#: What stands before and behind the report.
MARKERS = ("<!-- fairdsl -->", "<!-- /fairdsl -->")


def card_in(text: str, report: str) -> str | None:
    """The text with the report between the markers; None where it has no two of them, in that order."""
    begin, end = MARKERS
    before, found, rest = text.partition(begin)
    _, closed, behind = rest.partition(end)
    return f"{before}{begin}\n{report}{end}{behind}" if found and closed else None
