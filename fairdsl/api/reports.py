"""Reports that were written, and what changed between two of them."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from fairdsl.api.paths import AnyPath
from fairdsl.source.numbers import read_number

if TYPE_CHECKING:
    from collections.abc import Collection
    from fractions import Fraction

    from fairdsl.comparing import Comparison
    from fairdsl.report.model import Report


def compare(
    before: AnyPath | Report,
    after: AnyPath | Report,
    *,
    tolerance: float | Fraction | None = None,
    removed: Collection[str] = (),
) -> Comparison:
    """What changed between two reports: files, verdicts, numbers; and whether any of it got worse.

    Args:
        before: a report, or the path of the JSON that ``fairdsl check --json`` wrote.
        after: another one.
        tolerance: how much further from its ideal a metric may be than before; without it only verdicts decide.
        removed: properties of which nothing that is not asked any more got worse: it was removed on purpose.

    Returns:
        Every change, with bounds of the difference and what is certain of it.

    Raises:
        SpecError: a file that is not a report, a report without verdicts, or reports with no demand in common.
    """

    from fairdsl.comparing import compare_reports

    if tolerance is not None and tolerance < 0:
        raise ValueError("`tolerance` is a number from 0")
    # A float is meant as it is written: 0.05 is one in twenty.
    limit = None if tolerance is None else read_number(str(tolerance))
    return compare_reports(_report_or_path(before), _report_or_path(after), limit, removed)


def _report_or_path(report: AnyPath | Report) -> str | Report:
    return fspath(report) if isinstance(report, str | PathLike) else report


def read_report(path: AnyPath) -> Report:
    """The report in a JSON file that ``fairdsl check --json`` or :meth:`Report.save` wrote.

    Raises:
        SpecError: a file that is not a report, is damaged, or follows another schema.
    """
    from fairdsl.comparing.read import read_report as read

    return read(fspath(path))
