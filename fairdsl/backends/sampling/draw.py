"""Units drawn one batch after the other and counted, in an order that the seed alone decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.units import Judged, Units
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.numerics.evaluate import Points
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.threads import one_blas_thread

if TYPE_CHECKING:
    from fairdsl.backends.sampling.people import People

#: Candidates of a batch, and violating pairs that are kept, at most.
_BATCH, _PAIRS = 2**15, 512
#: Candidates after which none is expected to be in question, if none was.
_BARREN = 2**17


class Sample:
    """The units that were drawn so far.

    Candidates are uniform over what the conditions leave of each attribute, or the units of ``people`` from a
    distribution; those in which nobody is compared are drawn again, so that the units are distributed as those in
    question are. ``candidates`` counts both; of ``size`` units ``unfair`` are, and ``doubtful`` may be.
    """

    def __init__(self, units: Units, seed: int, people: People | None = None) -> None:
        self._units, self._rng, self._people = units, np.random.default_rng(seed), people
        self.how = units.how
        self.candidates = self.size = self.unfair = self.doubtful = 0
        self.pairs: list[tuple[Point, Point]] = []

    @property
    def barren(self) -> bool:
        """Whether many were drawn, and none is in question."""
        return not self.size and self.candidates >= _BARREN

    def grow(self, wanted: int) -> None:
        """One batch more, of which at most ``wanted`` units are kept, the first ones."""
        # Enough for what is wanted if as many are in question as were until now; no more than a batch.
        rate = (self.size + 1) / (self.candidates + 1)
        count = min(_BATCH, max(64, int(wanted / rate * 1.02) + 1))
        with one_blas_thread():
            drawn, places = self._drawn(count)
            judged = self._units.judge(drawn)
        present = np.flatnonzero(judged.in_question)
        kept = present[:wanted]
        # The candidates behind the last one that is kept were not needed.
        self.candidates += count if len(present) <= wanted else int(places[kept[-1]]) + 1
        self._count(judged, kept)

    def _drawn(self, count: int) -> tuple[Points, NDArray[np.intp]]:
        """Candidates, and which of so many they are: of people those who are asked about."""
        if self._people is None:
            return self._units.draw(count, self._rng), np.arange(count)
        crowd = self._people.draw(count)
        (values,) = crowd.values
        people = values.keep(range(self._units.width))
        places = np.flatnonzero(mask(self._units.counted, {Who.EACH: people}) & ~crowd.lost)
        return people.at(places), places

    def _count(self, judged: Judged, rows: np.ndarray) -> None:
        met = int(judged.unfair[rows].sum())
        self.size += len(rows)
        self.unfair += met
        self.doubtful += int(judged.doubtful[rows].sum())
        # The pairs stand in the order of the unfair units, so those of the counted units come first.
        room = min(met, _PAIRS - len(self.pairs))
        self.pairs.extend(zip(judged.a.at(slice(room)).points(), judged.b.at(slice(room)).points(), strict=True))
