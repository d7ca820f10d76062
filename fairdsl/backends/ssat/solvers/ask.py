"""An instance answered by a solver that others wrote.

    instance --plain--> plain instance --rounded--> decimals --solver's run--> what it printed --widened--> bounds

What is settled on the way needs no solver. A run that crashed, was too slow or printed no answer leaves the value
unknown: 0 to 1, with the reason.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.backends.ssat import errors
from fairdsl.backends.ssat.instance import Instance, Quantifier
from fairdsl.backends.ssat.plain import Plain, plain, rounded
from fairdsl.backends.ssat.solvers.adapters import Adapter, Printed, solver_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.processes import Ran, run
from fairdsl.verdict import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a solver found: the value lies from ``low`` to ``high``; 0 to 1 where it found nothing.

    ``exact``: they are one number, by exact arithmetic. ``detail`` says in words what the numbers rest on, or why
    there are none; ``reason`` is set where the solver gave less than a value. ``choice`` are truths of the
    outermost existential variables (by the caller's numbers) that the solver says attain a value within the
    bounds: its word, unchecked, and None where it names none.
    """

    low: Fraction
    high: Fraction
    detail: str
    choice: Mapping[int, bool] | None = None
    reason: Reason | None = None
    seconds: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the value is one number."""
        return self.low == self.high


def external_value(instance: Instance, command: str, seconds: float) -> Found:
    """The value of the instance by the solver that ``command`` names (:func:`solver_of`), in at most so long.

    Raises DiagnosticError where there is no such solver, or where it is known to get such instances wrong.
    """
    solver = solver_of(command)
    adapter, moved = solver.adapter, Fraction(0)
    left = plain(instance)
    if left.settled is None and adapter.digits is not None:
        decimals, moved = rounded(left.instance, adapter.digits)
        before, left = left.factor, left.then(plain(decimals))
        moved *= before
    if left.settled is not None:
        detail = "decided by unit propagation, without a solver"
        return _found(instance, left, Printed(low=Fraction(1), high=Fraction(1), choice={}), moved, detail)
    unfit = adapter.unfit(left.instance)
    if unfit is not None:
        raise DiagnosticError(errors.unfit_prefix(adapter.name, unfit))
    try:
        ran = run(lambda folder: adapter.command(solver.program, folder, left.instance), seconds)
    except OSError as error:
        reason = f"`{solver.program}` cannot be started: {(error.strerror or str(error)).lower()}"
        instead = "check that it runs on this machine"
        raise DiagnosticError(errors.missing_solver(adapter.name, reason, instead)) from error
    return _understood(instance, left, adapter, ran, moved)


def _understood(instance: Instance, left: Plain, adapter: Adapter, ran: Ran, moved: Fraction) -> Found:
    """What a run says about the whole instance."""
    failure = _failure(adapter.name, ran)
    if failure is not None:
        return replace(failure, seconds=ran.seconds)
    printed = adapter.read(ran.output, left.instance)
    if printed is None:
        detail = f"{adapter.name} printed neither a value nor bounds"
        return _unknown(Reason.MALFORMED, detail + (f": {ran.error}" if ran.error else ""), ran.seconds)
    if printed.solved:
        found = _found(instance, left, printed, moved, f"{adapter.name}, {adapter.about}")
    else:
        detail = f"{adapter.name} gave bounds only"
        found = replace(_found(instance, left, printed, moved, detail), reason=Reason.INCOMPLETE, choice=None)
    return replace(found, seconds=ran.seconds)


def _failure(name: str, ran: Ran) -> Found | None:
    """What is known after a run that did not end well: nothing, and why."""
    if ran.flooded:
        return _unknown(Reason.MALFORMED, f"{name} printed too much")
    if ran.code is None:
        return _unknown(Reason.TIMEOUT, f"{name} took longer than its time")
    if ran.code == 0:
        return None
    said = f": {ran.error}" if ran.error else ""
    # A shell script around a solver turns signal n into code 128 + n.
    number = -ran.code if ran.code < 0 else ran.code - 128
    ended = {each.value: f"was ended by {each.name}" for each in signal.Signals}.get(number)
    return _unknown(Reason.ENGINE_CRASHED, f"{name} {ended or f'ended with code {ran.code}'}{said}")


def _unknown(reason: Reason, detail: str, seconds: float = 0.0) -> Found:
    return Found(low=Fraction(0), high=Fraction(1), detail=detail, reason=reason, seconds=seconds)


def _found(instance: Instance, left: Plain, printed: Printed, moved: Fraction, detail: str) -> Found:
    """The numbers led back through the normal form: times its factor, as far apart as rounding may have moved it."""
    low, high = left.factor * printed.low - moved, left.factor * printed.high + moved
    return Found(
        low=max(Fraction(0), low),
        high=min(Fraction(1), high),
        detail=detail,
        choice=outermost_choice(instance, left, printed.choice or {}),
    )


def outermost_choice(instance: Instance, left: Plain, truths_left: Mapping[int, bool]) -> dict[int, bool] | None:
    """Truths of all outermost existential variables, from those of what was left; dropped ones may have any."""
    bound = {each.variable for each in instance.prefix}
    outer = [variable for variable in range(1, instance.variables + 1) if variable not in bound]
    if instance.prefix and instance.prefix[0].quantifier is Quantifier.EXISTS:
        outer += [each.variable for each in next(instance.blocks)[1]]
    truths = dict(left.fixed)
    truths |= {left.numbers[variable - 1]: truth for variable, truth in truths_left.items()}
    if not outer or any(variable in left.numbers and variable not in truths for variable in outer):
        return None
    return {variable: truths.get(variable, False) for variable in sorted(outer)}
