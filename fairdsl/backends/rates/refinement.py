"""The refinement of a job: the share of those who are drawn, and beside it that of the domain, which takes less.

Which boxes are cut depends on their numbers alone, so every machine begins with the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fairdsl.backends.rates.anytime import Narrowing
from fairdsl.backends.rates.closed import Closed
from fairdsl.backends.rates.kept import restored, stored
from fairdsl.backends.rates.recheck import claimed, confirm
from fairdsl.backends.rates.weighing import Weighed, Weighing, known_of
from fairdsl.backends.refining.recheck import Checked, Recheck, said_of, sample
from fairdsl.backends.refining.refinement import State
from fairdsl.verdict import Known

#: The share of the domain has one box in so many, and so many boxes at least.
_BESIDE, _LEAST = 4, 1 << 14


class Refinement(Weighing):
    """What is known of a job's people, and of the domain."""

    def __init__(self, task: Closed) -> None:
        self.task = task
        self._people = Weighed.of(task.people.cases, kept=True)
        self._domain = [] if task.beside is None else Weighed.of(task.beside.cases, kept=True)
        super().__init__([*self._people, *self._domain])

    @classmethod
    def resume(cls, task: Closed, state: State, *, memory: int = 0) -> Refinement:
        """Go on from what :meth:`state`, or :meth:`fork`, returned; boxes have the room that they have."""
        found = cls(task)
        found.take(state)
        return found

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many that share out the open boxes, with what tells them from others as arrays."""
        return [{**each, **_outline(each)} for each in super().fork(parts)]

    @property
    def finished(self) -> bool:
        """Whether nothing is left of the people, and of the domain nothing that it has time for."""
        return all(cover.finished for cover in _covers(self._people)) and not self._domain_waits

    @property
    def waiting(self) -> list[Narrowing]:
        """Boxes of the people, and now and then of the domain."""
        waiting = [cover for cover in _covers(self._people) if not (cover.finished or cover.full)]
        return [*waiting, *(self._of_domain if self._domain_waits else [])]

    @property
    def _of_domain(self) -> list[Narrowing]:
        return [cover for cover in _covers(self._domain) if not (cover.finished or cover.full)]

    @property
    def _domain_waits(self) -> bool:
        spent, beside = (sum(cover.boxes for cover in _covers(each)) for each in (self._people, self._domain))
        return beside * _BESIDE < spent + _LEAST and bool(self._of_domain)

    def known(self) -> Known:
        """Masses of people: at least so many are treated fairly, and unfairly."""
        return known_of(self._people)

    def known_of_domain(self) -> Known | None:
        """The same of the domain."""
        return None if self.task.beside is None else known_of(self._domain)

    # ---- Files -------------------------------------------------------------------------------------------------------

    def stored(self, begun: State) -> Mapping[str, Any]:
        """What a file keeps of a part that had ``begun``: a tree for each event."""
        return {
            f"{place}/{name}": array
            for place, (before, cover) in enumerate(zip(begun["known"], self.covers, strict=True))
            for name, array in stored(before, cover.cover.state()).items()
        }

    @classmethod
    def opened(cls, task: Closed, begun: State, kept: State, how: Recheck) -> tuple[Refinement, Checked]:
        """A part as a file kept it; ValueError where it is no refinement of what it had ``begun``, or claims too much.

        By the share that ``violating`` says probabilities of people may be wrong in all, of whatever kind.
        """
        found = cls(task)
        covers = [each.cover for each in found.covers]
        trees = [
            restored(cover, before, _under(kept, place))
            for place, (cover, before) in enumerate(zip(covers, begun["known"], strict=True))
        ]
        claims = [claimed(str(place), *each) for place, each in enumerate(trees)]
        drawn, wrong = sample(claims, how)
        for place, (cover, before, (tree, _)) in enumerate(zip(covers, begun["known"], trees, strict=True)):
            if len(nodes := drawn.get(str(place), np.zeros(0, dtype=np.int64))):
                confirm(cover, before, tree, nodes)
        lost, sampled = said_of(claims, drawn, wrong, how)
        own = len(_covers(found._people))
        of_people, of_domain = (
            sum((lost[str(place)] for place in places), start=Fraction(0))
            for places in (range(own), range(own, len(covers)))
        )
        return found, Checked(violating=of_people, beside=of_domain, sampled=sampled)


def _covers(cases: Sequence[Weighed]) -> list[Narrowing]:
    return [cover for case in cases for cover in case.covers]


def _outline(state: State) -> State:
    """The ranges of open boxes as arrays, event by event."""
    return {
        f"{place}/{name}": getattr(known.open, name)
        for place, known in enumerate(state["known"])
        for name in ("start", "stop", "root", "column", "at")
    }


def _under(kept: State, place: int) -> Mapping[str, Any]:
    prefix = f"{place}/"
    return {name.removeprefix(prefix): array for name, array in kept.items() if name.startswith(prefix)}
