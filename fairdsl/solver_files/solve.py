"""One solver file, answered by a solver of ours: its encoding does it, what it states becomes a report."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path

from fairdsl.backends.answer_files import write_whole
from fairdsl.backends.contract import Observer
from fairdsl.backends.encoding import Solving, encoding_of
from fairdsl.backends.errors import not_of_its_kind
from fairdsl.backends.formats import format_of, formats
from fairdsl.backends.solved import AnsweredDemand, Ended, Solved
from fairdsl.clock import NEVER, phase
from fairdsl.diagnostics import DiagnosticError
from fairdsl.report.model import ExitCode, Recovered, Report
from fairdsl.solver_files.manifest import files_named
from fairdsl.solver_files.report import report_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedFile(Solved):
    """What became of a solver file; where it states its demand, with the report on that."""

    @property
    def report(self) -> Report | None:
        """The report that `check` would give on the file's demand; None of a file that is a part of a demand."""
        if not isinstance(self.found, AnsweredDemand):
            return None
        report = report_of([self.found])
        if report.spec.sha256 is None:  # written by hand, and its own spec
            return report
        return replace(report, recovered=Recovered(folder=str(self.file), spec_named=False, computed=True))

    @property
    def exit_code(self) -> ExitCode:
        """What the shell is told: what a report says, else whether something is open or was interrupted."""
        report = self.report
        if report is not None:
            return report.exit_code
        match self.ended:
            case Ended.ANSWERED:
                return ExitCode.HOLDS
            case Ended.OPEN:
                return ExitCode.UNKNOWN
            case Ended.INTERRUPTED:
                return ExitCode.INTERRUPTED


def solve_file(path: Path, how: Solving, observer: Observer) -> SolvedFile:
    """Answer a solver file; the answer is written where its format keeps answers, or where ``how`` says.

    Raises DiagnosticError for a file of no format (E0607), for one that is damaged, for an earlier answer in the way.
    """
    form = _form(path)
    encoding = encoding_of(form)
    # What saves checkpoints ends by itself, however long it then takes to write down what it has.
    deadline = NEVER if "checkpoint" in encoding.options else how.budget.deadline
    with phase("solving", deadline):
        found = encoding.solve(path, how, observer)
    solved = SolvedFile(**{one.name: getattr(found, one.name) for one in fields(found)})
    if how.output is not None and solved.answer is None:
        solved = replace(solved, answer=how.output)
        write_whole(how.output, solved.to_json().encode())
    return solved


def foreign_option(path: Path, given: Collection[str]) -> str | None:
    """The first of these options of :class:`Solving` that files like this one have no use for, in a sentence."""
    form = _form(path)
    foreign = sorted(set(given) - encoding_of(form).options)
    if not foreign:
        return None
    name = foreign[0]
    users = [other for other in formats() if name in encoding_of(other).options]
    return f"{name.replace('_', '-')} is about files of {_listed(users)}; `{path}` is a file of {form}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _form(path: Path) -> str:
    """The file's format; DiagnosticError for a manifest, and for a file that no format knows."""
    named = files_named(path) if path.suffix == ".json" else None
    if named is not None:
        ours = next((file for name in named if format_of(file := path.with_name(name)) is not None), None)
        instead = "give the files that it names, one by one" + ("" if ours is None else f": `fairdsl solve {ours}`")
        what = "it is the manifest of a folder of solver files, and says what each of them asks"
        raise DiagnosticError(not_of_its_kind(str(path), "a file to solve", what, instead))
    form = format_of(path)
    if form is None:
        endings = ", ".join(dict.fromkeys(f".{form.extension}" for form in formats().values()))
        write = f"solver files end with {endings}: write some with `fairdsl compile SPEC --to FORMAT -o DIR`"
        what = "its name ends as that of no format of solver files"
        raise DiagnosticError(not_of_its_kind(str(path), "a file to solve", what, write))
    return form
