"""SDIMACS instances, answered with their value, or with bounds of it.

file --read_sdimacs--> instance --answer_with--> answer
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.ssat.engine import Engine, Statistics
from fairdsl.backends.ssat.errors import not_sdimacs
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.sdimacs import read_sdimacs
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Reason

__all__ = ["EMBEDDED", "SolvedStochastic", "StochasticAnswer", "answer_with", "solve_stochastic"]

#: The solver's name, where no other is asked for.
EMBEDDED = "the embedded solver"


@dataclass(frozen=True, slots=True, kw_only=True)
class StochasticAnswer:
    """Bounds of a value, equal where it is known exactly; ``detail`` says what a solver has to say about them.

    ``reason``: why the value is not known better. ``choice``: truths of the outermost existential variables that
    attain it. ``statistics`` are the embedded solver's.
    """

    low: Fraction
    high: Fraction
    reason: Reason | None
    choice: Mapping[int, bool] | None
    solver: str
    detail: str
    seconds: float
    statistics: Statistics | None

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedStochastic:
    """A file, the instance in it, and the answer; ``notes`` say how the file was understood."""

    file: Path
    instance: Instance
    answer: StochasticAnswer
    notes: tuple[str, ...]


def solve_stochastic(path: Path, *, solver: str | None = None, budget: Budget, observer: Observer) -> SolvedStochastic:
    """Read an instance and answer it; raises DiagnosticError (E0640 to E0645) for a file that is none."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is not UTF-8"
        raise DiagnosticError(not_sdimacs(str(path), what, None, "save it as plain text")) from error
    instance = read_sdimacs(text, str(path))
    answer = answer_with(instance, solver=solver, budget=budget, observer=observer)
    return SolvedStochastic(file=path, instance=instance, answer=answer, notes=tuple(_notes(instance)))


def answer_with(instance: Instance, *, solver: str | None, budget: Budget, observer: Observer) -> StochasticAnswer:
    """The answer of a solver: of the embedded one, or of the one that ``solver`` names.

    Raises DiagnosticError for a solver that there is not, or that does not answer such instances.
    """
    if solver is not None:
        from fairdsl.backends.ssat.solvers import external_value

        found = external_value(instance, solver, budget.remaining)
        return StochasticAnswer(
            low=found.low,
            high=found.high,
            reason=found.reason,
            choice=found.choice,
            solver=solver,
            detail=found.detail,
            seconds=found.seconds,
            statistics=None,
        )
    solved = Engine(instance, memory=budget.memory).solve(deadline=budget.deadline, observer=observer)
    return StochasticAnswer(
        low=solved.low,
        high=solved.high,
        reason=solved.reason,
        choice=solved.choice,
        solver=EMBEDDED,
        detail="",
        seconds=solved.statistics.seconds,
        statistics=solved.statistics,
    )


def _notes(instance: Instance) -> list[str]:
    """What is taken for granted where the file leaves something open."""
    bound = {bound.variable for bound in instance.prefix}
    free = sorted({abs(literal) for clause in instance.clauses for literal in clause} - bound)
    if not free:
        return []
    some = ", ".join(str(variable) for variable in free[:5]) + (", .." if len(free) > 5 else "")
    taken = "is bound by no line and is" if len(free) == 1 else "are bound by no line and are"
    return [f"{'variable' if len(free) == 1 else 'variables'} {some} {taken} existential and outermost"]
