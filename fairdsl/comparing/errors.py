"""What comparing says: files that are not reports, and reports that cannot be compared."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic


def unreadable_report(path: str, what: str) -> Diagnostic:
    """A file that is not a report, is damaged, or follows another schema."""
    return Diagnostic(
        code="E0630",
        title=f"`{path}` cannot be read as a report",
        notes=(what,),
        why="half a report would pass over what the other half says",
        help="write the report with `fairdsl check SPEC --json`",
    )


def no_verdicts(path: str) -> Diagnostic:
    """A report on a spec with errors, or without properties."""
    return Diagnostic(
        code="E0631",
        title=f"`{path}` has no verdicts to compare",
        notes=("nothing was checked: its list of properties is empty",),
        why="nothing can get worse than no verdict, so the comparison would always pass",
        help="mend what its `diagnostics` name, and check again",
    )


def nothing_in_common(before: str, after: str) -> Diagnostic:
    """Reports on specs that ask altogether different things."""
    return Diagnostic(
        code="E0632",
        title=f"`{before}` and `{after}` have no demand in common",
        notes=("demands are the same where property and line have the same words",),
        why="a comparison of nothing would pass whatever the models do",
        help="compare reports on the same spec, with another model or other data",
    )
