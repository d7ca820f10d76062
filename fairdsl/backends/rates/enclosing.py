"""Questions answered from joint probabilities that become more precise until they decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fairdsl.backends.rates.linear.window import OutOfTimeError
from fairdsl.ir.population import Population
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.metrics.joint import Counted, Joint, Key
from fairdsl.metrics.value import decided, value_of
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

__all__ = ["BACKEND", "Asked", "Enclosing", "nothing"]

#: The name of the backend that computes rates of groups.
BACKEND = "rates"


class Enclosing(Protocol):
    """The joint probabilities of one subject, enclosed more and more closely."""

    @property
    def joint(self) -> Joint | None:
        """What is known; None before the first step."""

    @property
    def exact(self) -> bool:
        """Whether it was computed in exact arithmetic."""

    @property
    def in_words(self) -> str:
        """What is computed, for the report."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it is an enclosure, where that is no matter of precision."""

    def improve(self) -> bool:
        """One step; False when there is nothing left to do. Raises OutOfTimeError at the deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question about groups, and the rows of data by key, where there are any.

    ``enough`` says of a value whether it decides all that is asked.
    """

    question: GroupMetric
    threshold: Threshold | None
    population: Population
    counts: Mapping[Key, Counted] = field(default_factory=dict)
    enough: Callable[[Value | Refused], bool] = lambda _: False

    def answer(self, enclosings: Sequence[Enclosing]) -> Value | Refused | Unknown:
        """The metric of one subject, or of the first less the second, refined until it is decided."""
        reason = Reason.INCOMPLETE
        try:
            while [each for each in enclosings if each.improve()]:  # every one of them is asked to
                value = self._value(enclosings, None)
                if value is not None and (self._decided(enclosings, value) or self.enough(value)):
                    return value
        except OutOfTimeError:
            reason = Reason.TIMEOUT
        value = self._value(enclosings, reason)
        return nothing(reason) if value is None else value

    def _value(self, enclosings: Sequence[Enclosing], reason: Reason | None) -> Value | Refused | None:
        """What is known of the metric; None before something is."""
        joints = self._joints(enclosings)
        if joints is None:
            return None
        exact = all(each.exact for each in enclosings)
        how = "in exact arithmetic" if exact else "in float64 with a bound on the error"
        words = " and ".join(dict.fromkeys(each.in_words for each in enclosings))
        notes = tuple(dict.fromkeys(note for each in enclosings for note in each.notes))
        evidence = Evidence(backend=BACKEND, method=f"{words}, {how}", notes=notes)
        return value_of(self.question, joints[0], self.population, evidence, without=joints[1], reason=reason)

    def _decided(self, enclosings: Sequence[Enclosing], value: Value | Refused) -> bool:
        joints = self._joints(enclosings)
        assert joints is not None, "a value is one of joints"
        return decided(self.question, self.threshold, joints[0], self.population, without=joints[1], value=value)

    def _joints(self, enclosings: Sequence[Enclosing]) -> tuple[Joint, Joint | None] | None:
        known = [each.joint for each in enclosings]
        joints = [joint for joint in known if joint is not None]
        if len(joints) < len(known):
            return None
        return replace(joints[0], counts=self.counts or joints[0].counts), joints[1] if len(joints) > 1 else None


def nothing(reason: Reason, detail: str | None = None) -> Unknown:
    """What is said where no bound is known."""
    if reason is not Reason.TIMEOUT:
        reason, detail = Reason.MEMORY_OUT, detail or "the tables of the distribution are too large"
    detail = detail or "the budget ended before any bound was known"
    return Unknown(reason=reason, detail=detail, evidence=Evidence(backend=BACKEND, method="joint probabilities"))
