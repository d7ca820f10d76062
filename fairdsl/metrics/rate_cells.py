"""Which joint probabilities a rate is a quotient of: the cells of decision and label that are hits, and all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairdsl.ir.metric import Each, Event, Rate

__all__ = ["RateCells", "quotient_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCells:
    """The cells of decision and label that make a number, for the label values ``at`` the one and for others.

    Each is the set of decisions that count: favourable (True), unfavourable, both or none.
    """

    at: frozenset[bool]
    others: frozenset[bool]

    @classmethod
    def of(cls, *events: Event | None) -> RateCells:
        """Where all of the events are true; None is true of everybody."""
        at, others = (
            frozenset(
                favourable
                for favourable in (True, False)
                if all(event is None or event.holds(favourable=favourable, deserving=deserving) for event in events)
            )
            for deserving in (True, False)
        )
        return cls(at=at, others=others)

    def less(self, other: RateCells) -> RateCells:
        """What of it is not in the other."""
        return RateCells(at=self.at - other.at, others=self.others - other.others)


def quotient_of(rate: Rate) -> str:
    """The rate in terms of the joint probabilities of a key: ``favourable / total`` where no label plays a part."""
    given = Event.FAVOURABLE if rate.given is Each.DECISION else None if rate.given is Each.LABEL else rate.given
    hits, among = RateCells.of(given, rate.event), RateCells.of(given)
    if not rate.about_deserving:
        return f"{_AMOUNTS[hits.at]} / {_AMOUNTS[among.at]}"
    above, below = (" + ".join(_amounts(part)) for part in (hits, among))
    first = f"({above}) / ({below})"
    if rate.given is not Each.DECISION:
        return first
    rest = quotient_of(Rate(event=rate.event, given=Event.UNFAVOURABLE, along_paths=rate.along_paths))
    return f"{first} given the favourable decision, {rest} given the other"


_AMOUNTS = {
    frozenset({True}): "favourable",
    frozenset({False}): "(total - favourable)",
    frozenset({True, False}): "total",
}


def _amounts(part: RateCells) -> Iterator[str]:
    if part.at:
        yield f"{_AMOUNTS[part.at]} at the deserving value of the label"
    if part.others:
        yield f"{_AMOUNTS[part.others]} at its other values"
