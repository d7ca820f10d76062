"""What ``fairdsl solve`` prints about an SDIMACS instance."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from fairdsl.cli.terminal import output_style

if TYPE_CHECKING:
    from fairdsl.backends.ssat.engine import Statistics
    from fairdsl.solving.stochastic import SolvedStochastic, StochasticAnswer

__all__ = ["as_json", "show"]

#: A fraction with more digits is not shown beside its decimal.
_SHORT = 40
#: A fraction with more bits is left out of the JSON object.
_MOST_BITS = 200_000


def show(solved: SolvedStochastic) -> None:
    """The value or its bounds, the choice that attains it, and the effort, on standard output."""
    style = output_style()
    answer, instance = solved.answer, solved.instance
    size = f"{_counted(instance.variables, 'variable')}, {_counted(len(instance.clauses), 'clause')}"
    click.echo(f"{solved.file}   {style.shown(_value(answer))}   {size}")
    for truth in _choice(solved):
        click.echo(f"    {'choose':<11}{truth}")
    if answer.reason is not None:
        from fairdsl.report.words import REASONS

        click.echo(f"    {'unknown':<11}{REASONS[answer.reason]}")
    if answer.detail:
        click.echo(f"    {'how':<11}{answer.detail}")
    done = answer.statistics
    effort = f"{answer.solver} in {answer.seconds:.1f} s"
    if done is not None:
        known = f", {done.cache_hits:,} of them known before" if done.cache_hits else ""
        effort += f"; {_counted(done.decisions, 'decision')}, {_counted(done.components, 'component')}{known}"
    click.echo(f"    {'solved by' if answer.reason is None else 'tried by':<11}{effort}")
    for note in solved.notes:
        click.echo(f"    {'note':<11}{note}")


def _value(answer: StochasticAnswer) -> str:
    """A decimal, with the fraction where it is short and says more; or both bounds, rounded outward."""
    from fairdsl.report.numbers import above, below, ratio

    if not answer.exact:
        return f"from {below(answer.low)} to {above(answer.high)}"
    value = answer.low
    short = value.denominator.bit_length() * 3 < _SHORT * 10
    text, written_out = _decimal(value)
    if not short or value.denominator == 1:
        return text if written_out else f"about {text}"
    return f"{text} = {ratio(value)}" if written_out else f"{ratio(value)}, about {text}"


def _decimal(value: Fraction) -> tuple[str, bool]:
    """Up to 15 places, and whether that is all there is."""
    from fairdsl.backends.ssat.sdimacs import decimal_of
    from fairdsl.report.numbers import nearest, ratio

    text = decimal_of(value)
    if len(text) <= 17 and Fraction(text) == value:
        return text, True
    number = nearest(value)
    # Numbers below the least float are above 0 all the same.
    return (f"{number:.12g}" if number else ratio(value)), False


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _choice(solved: SolvedStochastic) -> list[str]:
    """Named choices in words; all choices by number where nothing has a name."""
    choice, names = solved.answer.choice, solved.instance.names
    if not choice:
        return []
    if not any(variable in names for variable in choice):
        return [" ".join(str(variable if truth else -variable) for variable, truth in choice.items())]
    return [
        f"{'' if truth else 'not '}{names.get(variable, f'variable {variable}')}" for variable, truth in choice.items()
    ]


def as_json(solved: SolvedStochastic) -> dict[str, Any]:
    """The same as data."""
    from fairdsl.report.numbers import above, below

    answer, names = solved.answer, solved.instance.names
    choice = None if answer.choice is None else answer.choice.items()
    return {
        "instance": str(solved.file),
        "variables": solved.instance.variables,
        "clauses": len(solved.instance.clauses),
        "value": {"low": below(answer.low), "high": above(answer.high)},
        "exact": _ratio(answer.low) if answer.exact else None,
        "reason": None if answer.reason is None else answer.reason.value,
        "choice": None
        if choice is None
        else [{"variable": variable, "name": names.get(variable), "true": truth} for variable, truth in choice],
        "solver": answer.solver,
        "detail": answer.detail,
        "seconds": round(answer.seconds, 3),
        "statistics": None if answer.statistics is None else _counts(answer.statistics),
        "notes": list(solved.notes),
    }


def _ratio(value: Fraction) -> str | None:
    """``p/q`` with all digits, unless there are very many."""
    from fairdsl.backends.ssat.sdimacs import digits_of

    if value.denominator.bit_length() > _MOST_BITS:
        return None
    return f"{digits_of(value.numerator)}/{digits_of(value.denominator)}"


def _counts(done: Statistics) -> dict[str, int]:
    return {
        "decisions": done.decisions,
        "propagations": done.propagations,
        "components": done.components,
        "cache_hits": done.cache_hits,
        "cache_entries": done.cache_entries,
    }
