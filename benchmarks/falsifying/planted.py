"""Networks in which a protected attribute decides about one individual in a million, made from a seed.

All read the same attributes. The natural part of the first three is drawn by He's initialisation, does not read the
protected attribute s, and decides about half of everybody either way. What is planted:

* ``slice``: s has an ordinary, but tiny weight in the first layer. Violations lie along the decision boundary,
  everywhere.
* ``region``: s matters within a small part of the domain only, and little, more so towards its corner. Violations lie
  where the boundary crosses it. Elsewhere nothing depends on s.
* ``hill``: an alarm that goes off for nobody but in a corner, and there by s alone. The score is the highest of several
  cones: it rises to the corner from far away, and elsewhere to the tops of hills where nobody sets it off.
* ``corner``: s overrides the decision in a corner, and nothing depends on s anywhere else. No score outside the corner
  says that there is one; but it is a corner.
* ``needle``: the same somewhere in the middle. Nothing says that it is there.

In a corner, each of four attributes has one of its last two values, at the needle one of two others: one unit in a
million lies there, exactly. So ``hill``, ``corner`` and ``needle`` have that rate exactly, ``slice`` and ``region``
about: their weights are set by a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from wide_network import Weights

from falsifying.questions import Column

__all__ = ["COLUMNS", "PLANTS", "RATE", "planted"]

FloatArray = NDArray[np.float64]
#: The units of a layer by name: the weights of the units before it, and a bias.
Units = Mapping[str, tuple[Mapping[str, float], float]]

#: Ranges as in the census data.
COLUMNS = tuple(
    Column(name=name, low=low, high=high, protected=name == "sex")
    for name, low, high in (
        ("age", 1, 9),
        ("work", 0, 7),
        ("weight", 0, 39),
        ("school", 0, 15),
        ("marital", 0, 6),
        ("job", 0, 13),
        ("relation", 0, 5),
        ("race", 0, 4),
        ("sex", 0, 1),
        ("gain", 0, 99),
        ("loss", 0, 39),
        ("hours", 0, 99),
        ("country", 0, 39),
    )
)
RATE = 1e-6
_SEX = "sex"
_OTHERS = tuple(column for column in COLUMNS if not column.protected)
#: Two values each of 100, 40, 100 and 40 are a millionth.
_CORNER = tuple(column for column in COLUMNS if column.name in ("gain", "loss", "hours", "country"))
#: How far the region reaches, as a part of each of these ranges.
_REACH = 0.2
_HIDDEN = (16, 8)
_HILLS, _SPREAD = 7, 40.0
#: Individuals that the median score is taken of, and that a weight is set by.
_DRAWN = 2**18


def planted(kind: str, seed: int) -> Weights:
    """A network, [out, in] weights and biases by layer; ValueError for another kind."""
    if kind not in PLANTS:
        raise ValueError(f"there is no plant `{kind}`")
    return _dense(PLANTS[kind](np.random.default_rng(seed)))


def _slice(rng: np.random.Generator) -> list[Units]:
    natural = _Natural(rng)
    direction = rng.standard_normal(_HIDDEN[0])
    people = _people(rng, _DRAWN)
    # Few are between two scores that are close together, in proportion to how close they are.
    trial = 1e-3
    lower, upper = natural.scores(people), natural.scores(people, trial * direction)
    weight = trial * RATE / float(np.mean((lower > 0) != (upper > 0)))
    return natural.layers(weight * direction)


def _region(rng: np.random.Generator) -> list[Units]:
    natural = _Natural(rng)
    reaches = [_REACH * (column.high - column.low + 1) for column in _CORNER]
    depths = [
        1 - sum(steps / reach for steps, reach in zip(place, reaches, strict=True))
        for place in product(*(range(int(reach)) for reach in reaches))
    ]
    places = np.array(list(product(*(range(int(reach)) for reach in reaches))))[np.array(depths) > 0]
    inside = np.array([depth for depth in depths if depth > 0])
    share = len(inside) / np.prod([column.high - column.low + 1 for column in _CORNER])
    people, chosen = _people(rng, _DRAWN), rng.integers(0, len(inside), _DRAWN)
    for position, column in enumerate(_CORNER):
        people[:, COLUMNS.index(column)] = column.high - places[chosen, position]
    # s moves the score by up to this, times the depth, either way.
    force = float(np.quantile(np.abs(natural.scores(people)) / inside[chosen], RATE / share))
    spots = [
        _Spot(column.name, column.high, column.high, 1 / reach) for column, reach in zip(_CORNER, reaches, strict=True)
    ]
    return _overridden(natural, spots, force)


def _corner(rng: np.random.Generator) -> list[Units]:
    natural = _Natural(rng)
    spots = [_Spot(column.name, column.high - 1, column.high, 1.0) for column in _CORNER]
    return _overridden(natural, spots, 2 * natural.largest)


def _needle(rng: np.random.Generator) -> list[Units]:
    natural = _Natural(rng)
    spots = []
    for column in _CORNER:
        first = int(rng.integers(column.low + 1, column.high - 1))
        spots.append(_Spot(column.name, first, first + 1, 1.0))
    return _overridden(natural, spots, 2 * natural.largest)


@dataclass(frozen=True)
class _Spot:
    """Values of one attribute, and how much a step away from them counts."""

    name: str
    first: int
    last: int
    step: float


def _overridden(natural: _Natural, spots: list[_Spot], force: float) -> list[Units]:
    """The natural score, and ``force`` times the depth for s = 1, less as much for s = 0.

    The depth is 1 less all steps away from the spots; where that is positive.
    """
    first, second, last = natural.layers(np.zeros(_HIDDEN[0]))
    away: dict[str, tuple[dict[str, float], float]] = {_SEX: ({_SEX: 1.0}, 0.0)}
    steps: dict[str, float] = {}
    for spot in spots:
        for side, unit in (
            ("below", ({spot.name: -1.0}, float(spot.first))),
            ("above", ({spot.name: 1.0}, -float(spot.last))),
        ):
            away[f"{side} {spot.name}"] = unit
            steps[f"{side} {spot.name}"] = -spot.step
    depths = {"depth": (steps, 1.0), "depth and sex": ({**steps, _SEX: 1.0}, 0.0)}
    terms, bias = last["score"]
    return [
        {**first, **away},
        {**second, **depths},
        {"score": ({**terms, "depth and sex": 2 * force, "depth": -force}, bias)},
    ]


def _hill(rng: np.random.Generator) -> list[Units]:
    first: dict[str, tuple[dict[str, float], float]] = {_SEX: ({_SEX: 1.0}, 0.0)}
    cones: list[tuple[dict[str, float], float]] = [({}, 0.0)]
    for column in _CORNER:
        first[f"below {column.name}"] = ({column.name: -1.0}, float(column.high - 1))
        cones[0][0][f"below {column.name}"] = -max(1.0, _SPREAD / (column.high - column.low))
    for hill in range(_HILLS):
        falls: dict[str, float] = {}
        for column in rng.choice(np.array(_OTHERS, dtype=object), 6, replace=False):
            top, fall = (
                float(rng.integers(column.low, column.high, endpoint=True)),
                _SPREAD / (column.high - column.low),
            )
            for sign, side in ((-1.0, "below"), (1.0, "above")):
                unit = f"{side} {column.name} {hill}"
                first[unit] = ({column.name: sign}, -sign * top)
                falls[unit] = -fall
        cones.append((falls, -float(rng.uniform(1, 4))))
    return [first, *_highest(cones)]


def _highest(cones: list[tuple[dict[str, float], float]]) -> list[Units]:
    """max(p, q) = p + relu(q - p), pair by pair; a constant, added and taken away again, lets p pass a ReLU."""
    lift = 20 * _SPREAD
    layers: list[Units] = []
    while len(cones) > 1:
        units: dict[str, tuple[dict[str, float], float]] = {_SEX: ({_SEX: 1.0}, 0.0)}
        merged: list[tuple[dict[str, float], float]] = []
        for place in range(0, len(cones), 2):
            (p, at), (q, above) = cones[place], cones[place + 1]
            units[f"p{place}"] = (p, at + lift)
            units[f"q{place}"] = ({name: q.get(name, 0.0) - p.get(name, 0.0) for name in {**p, **q}}, above - at)
            merged.append(({f"p{place}": 1.0, f"q{place}": 1.0}, -lift))
        layers.append(units)
        cones = merged
    ((terms, bias),) = cones
    return [*layers, {"score": ({**terms, _SEX: 1.0}, bias - 0.5)}]


class _Natural:
    """Two hidden layers that do not read s; the median of a sample scores 0."""

    def __init__(self, rng: np.random.Generator) -> None:
        low, high = (
            np.array([getattr(column, end) for column in COLUMNS], dtype=np.float64) for end in ("low", "high")
        )
        one, two = _HIDDEN
        weight = rng.standard_normal((one, len(COLUMNS))) * np.sqrt(2 / len(COLUMNS)) / ((high - low) / 2)
        weight[:, [column.protected for column in COLUMNS]] = 0.0
        self._first = weight, rng.standard_normal(one) * 0.1 - weight @ ((high + low) / 2)
        self._second = rng.standard_normal((two, one)) * np.sqrt(2 / one), rng.standard_normal(two) * 0.1
        self._last, self._bias = rng.standard_normal(two) * np.sqrt(2 / two), 0.0
        self._bias = -float(np.median(self.scores(_people(rng, _DRAWN))))
        self._low, self._high = low, high

    def scores(self, people: FloatArray, moved: FloatArray | float = 0.0) -> FloatArray:
        """Scores where each unit of the first layer is moved by so much."""
        hidden = np.maximum(people @ self._first[0].T + self._first[1] + moved, 0)
        hidden = np.maximum(hidden @ self._second[0].T + self._second[1], 0)
        scores: FloatArray = hidden @ self._last + self._bias
        return scores

    @property
    def largest(self) -> float:
        """No score is larger, in either direction."""
        weight, bias = self._first
        middle, half = weight @ ((self._high + self._low) / 2) + bias, np.abs(weight) @ ((self._high - self._low) / 2)
        hidden = np.maximum(middle + half, 0)
        hidden = np.maximum(np.maximum(self._second[0], 0) @ hidden + self._second[1], 0)
        return float(np.abs(self._last) @ hidden + abs(self._bias))

    def layers(self, of_sex: FloatArray) -> list[Units]:
        """As units by name, with these weights of s."""
        names = [column.name for column in COLUMNS]
        weight = self._first[0].copy()
        weight[:, names.index(_SEX)] = of_sex
        first = {f"n{unit}": (_terms(names, weight[unit]), self._first[1][unit]) for unit in range(_HIDDEN[0])}
        second = {
            f"m{unit}": (_terms(list(first), self._second[0][unit]), self._second[1][unit])
            for unit in range(_HIDDEN[1])
        }
        return [first, second, {"score": (_terms(list(second), self._last), self._bias)}]


def _terms(names: list[str], weights: FloatArray) -> dict[str, float]:
    return dict(zip(names, weights.tolist(), strict=True))


def _people(rng: np.random.Generator, count: int) -> FloatArray:
    """Uniform over the domain, with s = 0."""
    drawn = [rng.integers(column.low, column.high, count, endpoint=True) for column in COLUMNS]
    return np.column_stack(
        [values * (not column.protected) for values, column in zip(drawn, COLUMNS, strict=True)]
    ).astype(np.float64)


def _dense(layers: list[Units]) -> Weights:
    before, found = [column.name for column in COLUMNS], []
    for units in layers:
        weight = np.zeros((len(units), len(before)), dtype=np.float32)
        for row, (terms, _) in enumerate(units.values()):
            for name, value in terms.items():
                weight[row, before.index(name)] = value
        found.append((weight, np.array([bias for _, bias in units.values()], dtype=np.float32)))
        before = list(units)
    return found


#: The makers of networks by kind.
PLANTS: Mapping[str, Callable[[np.random.Generator], list[Units]]] = MappingProxyType(
    {"slice": _slice, "region": _region, "hill": _hill, "corner": _corner, "needle": _needle}
)
