"""Work before there are verdicts: what it is called, and the diagnostic where it does not finish in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from fairdsl.clock.deadline import _LABEL, GRACE, Deadline, look, until
from fairdsl.clock.errors import not_in_time
from fairdsl.clock.interrupts import interrupting
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Severity

_NOT_IN_TIME = not_in_time("", "").code


@contextmanager
def phase(name: str, deadline: Deadline) -> Iterator[None]:
    """A block that has to be finished by the deadline; DiagnosticError (E0625) where it is not.

    There is nothing to leave yet, so a signal ends it with KeyboardInterrupt.
    """
    with interrupting(), until(deadline, grace=GRACE) as scope:
        look()
        yield
    if scope.passed:
        raise DiagnosticError(not_in_time(name, scope.during))


@contextmanager
def doing(what: str) -> Iterator[None]:
    """A block that says what is going on, as in "opening the model `m`", in case it is not finished in time."""
    token = _LABEL.set(what)
    try:
        look()
        yield
    finally:
        _LABEL.reset(token)


def is_out_of_time(findings: Iterable[Diagnostic]) -> bool:
    """Whether nothing is wrong but that the time was up."""
    return {finding.code for finding in findings if finding.severity is Severity.ERROR} == {_NOT_IN_TIME}
