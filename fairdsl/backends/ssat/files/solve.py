"""Instances of stochastic satisfiability and of counting, answered with their value, or with bounds of it.

file --its text--> text --read--> instance and factor --solved--> value
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.encoding import Solving
from fairdsl.backends.solved import Bounds, Choosing, Solved, Work
from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.errors import not_sdimacs
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.options import SsatOptions
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source.reading import content_of
from fairdsl.verdict import Reason

__all__ = ["EMBEDDED", "Read", "solve_text", "solve_value"]

#: A text and its path -> the instance, and the factor by which the file's value is the instance's.
Read = Callable[[str, str], tuple[Instance, Fraction]]
#: The solver's name, where no other is asked for.
EMBEDDED = "the embedded solver"


def solve_value(path: Path, form: str, how: Solving, observer: Observer, read: Read) -> Solved:
    """Read an instance and answer it: with the value of what ``read`` finds, times its factor.

    Raises DiagnosticError (E0640 to E0645) for a file that is not one, and for a solver that there is not, or that
    does not answer such instances.
    """
    try:
        text = content_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is not UTF-8"
        raise DiagnosticError(not_sdimacs(str(path), what, None, "save it as plain text")) from error
    return solve_text(text, path, form, how, observer, read)


def solve_text(text: str, path: Path, form: str, how: Solving, observer: Observer, read: Read) -> Solved:
    """The same of what stands, or would stand, in the file."""
    instance, factor = read(text, str(path))
    solver = how.budget.options[SsatOptions].solver
    found = _found(instance, solver, how.budget, observer)
    choice = None if found.choice is None else found.choice.items()
    bounds = Bounds(
        variables=instance.variables,
        clauses=len(instance.clauses),
        low=found.low * factor,
        high=found.high * factor,
        reason=found.reason,
        choice=None
        if choice is None
        else tuple(
            Choosing(variable=variable, true=truth, name=instance.names.get(variable)) for variable, truth in choice
        ),
        detail=found.detail,
        work=found.work,
        notes=tuple(_notes(instance)),
    )
    return Solved(format=form, file=path, solver=solver or EMBEDDED, seconds=found.seconds, found=bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a solver found: ``detail`` is what it has to say, ``work`` what the embedded one did."""

    low: Fraction
    high: Fraction
    reason: Reason | None
    choice: Mapping[int, bool] | None
    seconds: float
    detail: str = ""
    work: Work | None = None


def _found(instance: Instance, solver: str | None, budget: Budget, observer: Observer) -> _Found:
    """The answer of a solver: of the embedded one, or of the one that ``solver`` names."""
    if solver is not None:
        from fairdsl.backends.ssat.solvers import external_value

        said = external_value(instance, solver, budget.remaining)
        return _Found(
            low=said.low,
            high=said.high,
            reason=said.reason,
            choice=said.choice,
            seconds=said.seconds,
            detail=said.detail,
        )
    closed, numbers = instance.closed_up()
    solved = Engine(closed, memory=budget.memory).solve(deadline=budget.deadline, observer=observer)
    return _Found(
        low=solved.low,
        high=solved.high,
        reason=solved.reason,
        choice=None if solved.choice is None else {numbers[each - 1]: truth for each, truth in solved.choice.items()},
        seconds=solved.statistics.seconds,
        work=Work(**{one.name: getattr(solved.statistics, one.name) for one in fields(Work)}),
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
