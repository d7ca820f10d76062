"""Instances of stochastic satisfiability and of counting, answered with their value, or with bounds of it.

file --read--> instance and factor --solved--> value
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.encoding import Ended, Solved, Solving
from fairdsl.backends.ssat.engine import Engine, Statistics
from fairdsl.backends.ssat.errors import not_sdimacs
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.options import SsatOptions
from fairdsl.backends.ssat.sdimacs import decimal_of, digits_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.numbers import above, below, nearest, ratio
from fairdsl.source.reading import content_of
from fairdsl.verdict import Reason

__all__ = ["EMBEDDED", "Read", "SolvedValue", "solve_value"]

#: A text and its path -> the instance, and the factor by which the file's value is the instance's.
Read = Callable[[str, str], tuple[Instance, Fraction]]
#: The solver's name, where no other is asked for.
EMBEDDED = "the embedded solver"
#: A fraction with more digits is not shown beside its decimal.
_SHORT = 40
#: A fraction with more bits is left out of the JSON object.
_MOST_BITS = 200_000
#: What of the embedded solver's statistics is told.
_COUNTS = ("decisions", "propagations", "components", "cache_hits", "cache_entries")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolvedValue(Solved):
    """Bounds of an instance's value, equal where it is known exactly."""

    instance: Instance
    low: Fraction
    high: Fraction
    #: Why the value is not known better; None where it is known.
    reason: Reason | None
    #: Truths of the outermost existential variables that attain the value, where the solver names them.
    choice: Mapping[int, bool] | None
    solver: str
    #: What the solver has to say about the bounds.
    detail: str
    #: Those of the embedded solver; None of another one.
    statistics: Statistics | None
    #: How the file was understood where it leaves something open.
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the value is known."""
        return self.low == self.high

    @property
    def ended(self) -> Ended:
        """What is not known for sure is open."""
        return Ended.ANSWERED if self.reason is None else Ended.OPEN

    @property
    def heading(self) -> tuple[str, str, str]:
        """The file, the value or its bounds, and the instance's size."""
        size = f"{_counted(self.instance.variables, 'variable')}, {_counted(len(self.instance.clauses), 'clause')}"
        return str(self.file), self._value(), size

    @property
    def lines(self) -> Sequence[tuple[str, str | Reason]]:
        """The choice that attains the value, and the effort."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[tuple[str, str | Reason]]:
        yield from (("choose", truth) for truth in self._choice())
        if self.reason is not None:
            yield "unknown", self.reason
        if self.detail:
            yield "how", self.detail
        effort, done = f"{self.solver} in {self.seconds:.1f} s", self.statistics
        if done is not None:
            known = f", {done.cache_hits:,} of them known before" if done.cache_hits else ""
            effort += f"; {_counted(done.decisions, 'decision')}, {_counted(done.components, 'component')}{known}"
        yield "solved by" if self.reason is None else "tried by", effort
        yield from (("note", note) for note in self.notes)
        if self.answer is not None:
            yield "answer", str(self.answer)

    def _value(self) -> str:
        """A decimal, with the fraction where it is short and says more; or both bounds, rounded outward."""
        if not self.exact:
            return f"from {below(self.low)} to {above(self.high)}"
        value = self.low
        if value.denominator == 1:
            return digits_of(value.numerator)
        short = value.denominator.bit_length() * 3 < _SHORT * 10
        text, written_out = _decimal(value)
        if not short:
            return text if written_out else f"about {text}"
        return f"{text} = {ratio(value)}" if written_out else f"{ratio(value)}, about {text}"

    def _choice(self) -> list[str]:
        """Named choices in words; all choices by number where nothing has a name."""
        choice, names = self.choice, self.instance.names
        if not choice:
            return []
        if not any(variable in names for variable in choice):
            return [" ".join(str(variable if truth else -variable) for variable, truth in choice.items())]
        return [
            f"{'' if truth else 'not '}{names.get(variable, f'variable {variable}')}"
            for variable, truth in choice.items()
        ]

    def plain(self) -> dict[str, Any]:
        """The same as data."""
        choice = None if self.choice is None else self.choice.items()
        counts = None if self.statistics is None else asdict(self.statistics)
        return {
            "instance": str(self.file),
            "variables": self.instance.variables,
            "clauses": len(self.instance.clauses),
            "value": {"low": below(self.low), "high": above(self.high)},
            "exact": ratio(self.low) if self.exact and _written_out(self.low) else None,
            "reason": None if self.reason is None else self.reason.value,
            "choice": None
            if choice is None
            else [
                {"variable": variable, "name": self.instance.names.get(variable), "true": truth}
                for variable, truth in choice
            ],
            "solver": self.solver,
            "detail": self.detail,
            "seconds": round(self.seconds, 3),
            "statistics": None if counts is None else {name: counts[name] for name in _COUNTS},
            "notes": list(self.notes),
        }


def solve_value(path: Path, how: Solving, observer: Observer, read: Read) -> SolvedValue:
    """Read an instance and answer it: with the value of what ``read`` finds, times its factor.

    Raises DiagnosticError (E0640 to E0645) for a file that is not one, and for a solver that there is not, or that
    does not answer such instances.
    """
    try:
        text = content_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is not UTF-8"
        raise DiagnosticError(not_sdimacs(str(path), what, None, "save it as plain text")) from error
    instance, factor = read(text, str(path))
    solved = _solved(path, instance, how.budget.options[SsatOptions].solver, how.budget, observer)
    return replace(solved, low=solved.low * factor, high=solved.high * factor, notes=tuple(_notes(instance)))


def _solved(path: Path, instance: Instance, solver: str | None, budget: Budget, observer: Observer) -> SolvedValue:
    """The answer of a solver: of the embedded one, or of the one that ``solver`` names."""
    if solver is not None:
        from fairdsl.backends.ssat.solvers import external_value

        found = external_value(instance, solver, budget.remaining)
        return SolvedValue(
            file=path,
            answer=None,
            instance=instance,
            low=found.low,
            high=found.high,
            reason=found.reason,
            choice=found.choice,
            solver=solver,
            detail=found.detail,
            seconds=found.seconds,
            statistics=None,
        )
    closed, numbers = instance.closed_up()
    solved = Engine(closed, memory=budget.memory).solve(deadline=budget.deadline, observer=observer)
    return SolvedValue(
        file=path,
        answer=None,
        instance=instance,
        low=solved.low,
        high=solved.high,
        reason=solved.reason,
        choice=None if solved.choice is None else {numbers[each - 1]: truth for each, truth in solved.choice.items()},
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


def _written_out(value: Fraction) -> bool:
    """Whether documents have the fraction."""
    return max(value.numerator.bit_length(), value.denominator.bit_length()) <= _MOST_BITS


def _decimal(value: Fraction) -> tuple[str, bool]:
    """Up to 15 places, and whether that is all there is."""
    text = decimal_of(value)
    if len(text) <= 17 and Fraction(text) == value:
        return text, True
    number = nearest(value)
    # Numbers below the least float are above 0 all the same.
    return (f"{number:.12g}" if number else ratio(value)), False


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
