"""Reports from answers, and what changed between two reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

from fairdsl.api.paths import AnyPath, by_name

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.comparing import Comparison
    from fairdsl.report.model import Report

__all__ = ["compare", "recover"]


def recover(
    *paths: AnyPath,
    answers: Sequence[AnyPath] = (),
    spec: AnyPath | None = None,
    models: Mapping[str, AnyPath] | None = None,
    data: Mapping[str, AnyPath] | None = None,
    memory: int = 2 << 30,
    timeout: float | None = None,
) -> Report:
    """The report on solver files from the answers to them, or on interval jobs from their results.

    Args:
        paths: the folder of solver files; or interval jobs and results, or folders with them.
        answers: files with solvers' outputs, instead of those in the folder.
        spec: the spec that the solver files were written from, where it is not where it was.
        models: files that replaced the spec's when the solver files were written, by model name.
        data: the same of distributions.
        memory: bytes that joining results of interval jobs may use.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        The report that :func:`check` would give. A missing answer, or shard, counts as undecided.

    Raises:
        SpecError: files that do not belong together, or the time was up.
    """
    from pathlib import Path

    from fairdsl.backends.intervals.errors import nothing_to_recover
    from fairdsl.clock import Deadline, phase
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.recovering import recover_answers, recover_results, solver_folder

    places = [Path(fspath(path)) for path in paths]
    if len(places) == 1 and places[0].is_dir() and solver_folder(places[0]):
        with phase("reading the answers", Deadline.after(timeout)):
            return recover_answers(
                places[0],
                answers=[Path(fspath(path)) for path in answers],
                spec=None if spec is None else fspath(spec),
                models=by_name(models),
                data=by_name(data),
            )
    if answers or spec is not None or models or data:
        if len(places) == 1 and places[0].is_dir():
            raise DiagnosticError(nothing_to_recover([str(places[0])], "the folder has no manifest of solver files"))
        raise ValueError("`answers`, `spec`, `models` and `data` belong to one folder of solver files")
    with phase("joining the results", Deadline.after(timeout)):
        return recover_results(places, memory)


def compare(
    before: AnyPath | Report, after: AnyPath | Report, *, tolerance: float | Fraction | None = None
) -> Comparison:
    """What changed between two reports: files, verdicts, numbers; and whether any of it got worse.

    Args:
        before: a report, or the path of the JSON that ``fairdsl check --json`` wrote.
        after: another one.
        tolerance: how much further from its ideal a metric may be than before; without it only verdicts decide.

    Returns:
        Every change, with bounds of the difference and what is certain of it.

    Raises:
        SpecError: a file that is no report, a report without verdicts, or reports with no demand in common.
    """
    from fractions import Fraction

    from fairdsl.comparing import compare_reports

    if tolerance is not None and tolerance < 0:
        raise ValueError("`tolerance` is a number from 0")
    # A float is meant as it is written: 0.05 is one in twenty.
    limit = None if tolerance is None else Fraction(str(tolerance))
    return compare_reports(_report_or_path(before), _report_or_path(after), limit)


def _report_or_path(report: AnyPath | Report) -> str | Report:
    return fspath(report) if isinstance(report, str | PathLike) else report
