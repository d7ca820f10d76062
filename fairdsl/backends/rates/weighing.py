"""Boxes of the events in which people are treated fairly, cut until nothing is left of them that is open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from fairdsl.backends.rates.anytime import WEIGHED, Narrowing
from fairdsl.backends.rates.people import Case
from fairdsl.backends.refining.refinement import State, Stepwise
from fairdsl.clock import UNITS
from fairdsl.ir.enclosure import Enclosure
from fairdsl.metrics.estimated import share_within
from fairdsl.metrics.joint import Bounds, Key
from fairdsl.metrics.sampling import USUAL
from fairdsl.verdict import Evidence, Known, Reason, Shares, Vacuous


@dataclass(frozen=True, slots=True)
class Weighed:
    """A case with the boxes of its events."""

    case: Case
    covers: tuple[Narrowing, ...]

    @classmethod
    def of(cls, cases: Iterable[Case], *, kept: bool = False) -> list[Weighed]:
        """Cases of which nothing is known yet; ``kept``: trees of their boxes are kept."""
        return [cls(each, tuple(Narrowing(one, each.groups, kept=kept) for one in each.subjects)) for each in cases]


class Weighing(Stepwise):
    """The boxes of some cases, and what they come to so far."""

    work = WEIGHED

    def __init__(self, cases: Sequence[Weighed]) -> None:
        super().__init__()
        self.cases = cases
        #: What there was when boxes were lent out.
        self._lent: State = {}

    @property
    def covers(self) -> Iterator[Narrowing]:
        """All that may narrow."""
        return (cover for case in self.cases for cover in case.covers)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be cut."""
        return all(cover.finished for cover in self.covers)

    def take(self, state: State) -> None:
        """Go on from what :meth:`state`, or :meth:`fork`, returned; boxes have the room that they have."""
        for cover, known in zip(self.covers, state["known"], strict=True):
            cover.cover.take(known)

    def state(self) -> State:
        """Everything needed to go on."""
        return {"known": [each.cover.state() for each in self.covers]}

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many that share out the open boxes."""
        self._lent = self.state()
        every = [each.cover.lent_out(parts) for each in self.covers]
        return [{"known": [each[part] for each in every]} for part in range(parts)]

    def join(self, states: Sequence[State]) -> None:
        """Take over what others found; may be called again with later states of the same parts."""
        for place, cover in enumerate(self.covers):
            cover.cover.take_back(self._lent["known"][place], [each["known"][place] for each in states])

    @property
    def nodes(self) -> int:
        """Boxes weighed so far."""
        return sum(cover.boxes for cover in self.covers)

    @property
    def units_a_node(self) -> float:
        """Times the effort of a box that is weighed, of those that take most."""
        return max((cover.cover.of_a_box for cover in self.covers), default=1.0)

    @property
    def seconds_a_node(self) -> float:
        """What a box may take."""
        return WEIGHED.units * self.units_a_node / UNITS

    @property
    def undecided(self) -> float:
        """The mass of those of whom nothing is known."""
        return float(self.known().undecided)

    def heaviest(self, limit: int) -> Sequence[float]:
        """What the boxes leave open of which most is open."""
        found: list[float] = np.concatenate(
            [np.zeros(0), *(each.cover.heaviest(limit) for each in self.covers)]
        ).tolist()
        return sorted(found, reverse=True)[:limit]

    def step(self, most: int | None = None) -> int:
        """Cut boxes of each event once; how many were weighed."""
        before = self.nodes
        for each in self.waiting:
            each.cover.improve()
        return self.nodes - before

    @property
    def full(self) -> bool:
        """Whether there is no room for more boxes."""
        return not self.finished and not self.waiting

    @property
    def waiting(self) -> list[Narrowing]:
        """What is cut next."""
        return [cover for cover in self.covers if not (cover.finished or cover.full)]

    def known(self) -> Known:
        """Masses of people: at least so many are treated fairly, and unfairly."""
        return known_of(self.cases)


def known_of(cases: Iterable[Weighed]) -> Known:
    """Masses of people: at least so many are treated fairly, and unfairly."""
    fair = unfair = undecided = vacuous = Fraction(0)
    for case in cases:
        joints = [cover.joint() for cover in case.covers]
        totals = [summed(joint.total) for joint in joints]
        whole = Bounds(low=max(each.low for each in totals), high=min(each.high for each in totals))
        if not case.case.compared:
            vacuous += whole.low
            continue
        events = [summed(joint.favourable) for joint in joints]
        least, most = sum(each.low for each in events), sum(each.high for each in events)
        surely = max(Fraction(0), whole.low - most)
        fair, unfair = fair + least, unfair + surely
        undecided += max(Fraction(0), whole.high - least - surely)
    return Known(fair=fair, unfair=unfair, undecided=undecided, vacuous=vacuous)


def shares_in(
    known: Known,
    *,
    unit: str,
    evidence: Evidence,
    reason: Reason | None,
    bound: Fraction | None,
    of_domain: Enclosure | None,
) -> Shares | Vacuous:
    """The share that masses come to, and the sampling error where probabilities are off by a ``bound`` at most."""
    if not known.possible:
        return Vacuous(evidence=evidence)
    parts = known.parts()
    return Shares(
        certified=parts.certified,
        falsified=parts.falsified,
        undecided=parts.undecided,
        vacuous=parts.vacuous,
        measure="probability",
        unit=unit,
        evidence=evidence,
        reason=reason if parts.undecided else None,
        sampling=None if bound is None else share_within(bound, known),
        confidence=None if bound is None else USUAL,
        of_domain=of_domain,
    )


def summed(by_key: Mapping[Key, Bounds]) -> Bounds:
    """What the masses of all keys come to."""
    low, high = (sum((getattr(each, end) for each in by_key.values()), Fraction(0)) for end in ("low", "high"))
    return Bounds(low=low, high=min(Fraction(1), high))
