"""Where it fails: the open boxes of a refinement, summed up in a few sub-domains that people can read.

Sub-domains are found one by one, as in bump hunting (PRIM; Friedman and Fisher, Statistics and Computing 9,
1999): restrict a few attributes so that the mass gathers, take that mass away, look again. How well it
gathers is Kulldorff's scan statistic (Communications in Statistics 26, 1997): with m of the mass in v of the
volume, the divergence m log(m / v) + (1 - m) log((1 - m) / (1 - v)). It grows with concentration and with how
much is concentrated, so it needs no weights to be chosen. Restrictions are added greedily, to several
candidates at a time, and readjusted at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.axes import Axis
from fairdsl.backends.intervals.refine import OpenBox
from fairdsl.backends.intervals.scales import Scale, scale_of
from fairdsl.backends.intervals.task import Task
from fairdsl.ir.domain import Domain
from fairdsl.numerics.products import product
from fairdsl.verdict import Region

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
#: Which bins of an axis are kept, by the number of the scale.
Selection = Mapping[int, Integers]

#: Boxes and roots that the search looks at, the heaviest first; more would not be seen in the map.
BOXES = 4096
#: Restricted attributes of a region at most, and candidates that are pursued together.
_DEPTH, _BEAM = 3, 6
#: What a further restriction must multiply the divergence by, to be worth reading.
_WORTH = 1.1
#: Divergence below which the mass counts as spread evenly.
_EVEN = 0.01
#: Parts of the mass: what may stay unexplained, and what a region must hold.
_REST, _LEAST = 0.05, 0.01


def violation_map(
    boxes: Sequence[OpenBox], axes: Sequence[Axis], domain: Domain, task: Task, total: int, most: int = 10
) -> tuple[Region, ...]:
    """At most so many regions that hold the boxes' undecided and falsified units, the heaviest first.

    ``axes`` are the attributes of the boxes' positions. Amounts are fractions of ``total``, the units in question;
    each region counts all that lies in it, so where regions overlap, so do their amounts. Mass that is spread evenly
    gives the one region without restrictions. Components that share units count theirs once each. Deterministic.
    """
    heaviest = sorted(boxes, key=lambda box: -(box.undecided + box.falsified))[:BOXES]
    mass = np.array([box.undecided + box.falsified for box in heaviest], dtype=np.float64)
    if not mass.sum():
        return ()
    scales = [scale for number, axis in enumerate(axes) if (scale := scale_of(number, axis, domain, heaviest))]
    found = _search(_Field(scales, *_positions(heaviest), mass), _Field.of_roots(scales, task, BOXES), most) or [{}]
    everything = _Field(scales, *_positions(boxes), np.ones(len(boxes)))
    roots = _Field.of_roots(scales, task)
    regions = [_region(selection, everything, roots, boxes, total, domain) for selection in found]
    return tuple(sorted(regions, key=lambda region: -(region.falsified + region.undecided)))


def _positions(boxes: Sequence[OpenBox]) -> tuple[Integers, Integers]:
    low = np.array([box.low for box in boxes], dtype=np.int64).reshape(len(boxes), -1)
    return low, np.array([box.high for box in boxes], dtype=np.int64).reshape(len(boxes), -1)


class _Field:
    """Boxes with a weight, spread evenly over each of them."""

    def __init__(self, scales: Sequence[Scale], low: Integers, high: Integers, weight: Floats) -> None:
        self.scales, self._low, self._high, self.weight = scales, low, high, weight
        self._parts: dict[int, Floats] = {}

    @classmethod
    def of_roots(cls, scales: Sequence[Scale], task: Task, most: int | None = None) -> _Field:
        """The whole, as far as it was asked about, or its largest roots; each weighs what it holds."""
        volume = np.prod((task.high - task.low + 1).astype(np.float64), axis=1)
        kept = np.argsort(-volume, kind="stable")[:most]
        return cls(scales, task.low[kept], task.high[kept], volume[kept])

    def parts(self, number: int) -> Floats:
        """[boxes, bins]: which fraction of each box lies in each bin."""
        if number not in self._parts:
            self._parts[number] = self.scales[number].parts(self._low, self._high)
        return self._parts[number]

    def inside(self, selection: Selection) -> Floats:
        """Which fraction of each box lies in a region."""
        fraction = np.ones(len(self.weight))
        for number, bins in selection.items():
            fraction *= np.minimum(self.parts(number)[:, bins].sum(axis=1), 1.0)
        return fraction


def _search(field: _Field, roots: _Field, most: int) -> list[Selection]:
    """Region after region, each where what the ones before it left gathers best."""
    found: list[Selection] = []
    whole = float(field.weight.sum())
    while len(found) < most and field.weight.sum() > _REST * whole:
        selection, divergence = _best(field, roots)
        inside = field.inside(selection)
        if divergence < _EVEN or float(product(field.weight, inside)) < _LEAST * whole:
            break
        found.append(selection)
        field.weight = field.weight * (1 - inside)
    return found


def _best(field: _Field, roots: _Field) -> tuple[Selection, float]:
    """A region of few restrictions with a large divergence, and its divergence."""
    beam: list[tuple[Selection, float]] = [({}, 0.0)]
    best = beam[0]
    for _ in range(_DEPTH):
        grown: dict[tuple[tuple[int, bytes], ...], tuple[Selection, float]] = {}
        for selection, _ in beam:
            for number in range(len(field.scales)):
                if number not in selection:
                    candidate, divergence = _restricted(selection, number, field, roots)
                    key = tuple(sorted((axis, bins.tobytes()) for axis, bins in candidate.items()))
                    grown.setdefault(key, (candidate, divergence))
        beam = sorted(grown.values(), key=lambda entry: -entry[1])[:_BEAM]
        if not beam or beam[0][1] < _WORTH * best[1]:
            break
        best = beam[0]
    for number in sorted(best[0]):
        others = {axis: bins for axis, bins in best[0].items() if axis != number}
        best = max(best, _restricted(others, number, field, roots), key=lambda entry: entry[1])
    return best


def _restricted(selection: Selection, number: int, field: _Field, roots: _Field) -> tuple[Selection, float]:
    """The region with one more attribute restricted as is best."""
    mass, volume = (
        product(among.weight * among.inside(selection), among.parts(number)) / among.weight.sum()
        for among in (field, roots)
    )
    bins, divergence = field.scales[number].best(mass, volume)
    if len(bins) == len(field.scales[number].order):
        return selection, divergence
    return {**selection, number: bins}, divergence


def _region(
    selection: Selection, everything: _Field, roots: _Field, boxes: Sequence[OpenBox], total: int, domain: Domain
) -> Region:
    """What lies in a region, in parts of the whole."""
    inside = everything.inside(selection)
    share = Fraction(min(1.0, float(product(roots.weight, roots.inside(selection)) / roots.weight.sum())))
    falsified, undecided = (
        min(share, Fraction(float(product(np.array(amounts), inside))) / total)
        for amounts in ([box.falsified for box in boxes], [box.undecided for box in boxes])
    )
    restrictions = (roots.scales[number].restriction(bins) for number, bins in sorted(selection.items()))
    return Region(
        restricted=dict(one.named(domain) for one in restrictions if one is not None),
        share=share,
        falsified=falsified,
        undecided=min(undecided, share - falsified),
    )
