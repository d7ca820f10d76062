"""Which other binding would agree better with recorded decisions: inputs exchanged, codes permuted, outcomes inverted.

Exchanging two unnamed columns of the file is the same as exchanging two attributes of every individual, and permuting
the codes of a category the same as renaming its values; so the model is asked about changed individuals, and nothing of
it is built anew. The best change is taken and the search goes on from there: two categories may be permuted at once.
What was found is only told where all of it together is clearly better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.binding import BoundBy
from fairdsl.ir.domain import Attribute, Category, Domain
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Model

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
#: Of individuals in place of those in some rows: which rows agree.
Judge = Callable[[FloatArray, NDArray[np.intp]], BoolArray]

#: A number's factor, and what is added to it, on the way to the file's column.
_Scale = tuple[float, float]

#: Steps that are taken at most, and columns that are exchanged.
_STEPS, _COLUMNS = 4, 40
#: Categories with so many values are permuted in every way; those with more by exchanging and moving single values.
_EVERY, _LARGEST = 4, 12
#: Individuals that are asked about, in each step, over all changes; but so many for each at least and at most.
_ASKED, _LEAST, _MOST = 400_000, 200, 2_000


@dataclass(frozen=True, slots=True)
class _Change:
    """Individuals in place of others; ``attribute`` and ``codes`` are those of a permuted category."""

    of: Callable[[FloatArray], FloatArray]
    exchanged: tuple[int, int] | None = None
    attribute: int = -1
    codes: tuple[float, ...] = ()


def better_binding(
    model: Model,
    domain: Domain,
    points: FloatArray,
    agrees: Judge,
    wrong: BoolArray,
    inverted: Judge | None = None,
    *,
    least: float = 0.5,
    deviations: float = 3.0,
) -> str | None:
    """The change of the binding with which clearly more rows agree, in words; None where nothing helps.

    ``agrees`` judges the rows if others are asked about in place of ``points``, ``inverted`` the same with the outcomes
    exchanged. ``wrong`` are the rows that nothing explains. Clearly more are at least the share ``least`` of those that
    were wrong, and so many standard ``deviations`` of what chance brings.
    """
    if np.count_nonzero(wrong) < 3:
        return None
    rows = np.arange(len(points))
    before = agrees(points, rows)
    changes = list(_changes(model, domain))
    words, after = _improved(domain, points, agrees, changes)
    if inverted is not None and before.mean() < 0.5:
        further, turned = _improved(domain, points, inverted, changes)
        if turned.sum() > after.sum():
            words, after = ["the outcomes the other way round (labels look inverted)", *further], turned
    won, lost = np.count_nonzero(after & ~before), np.count_nonzero(before & ~after)
    more = won - lost
    if not words or more < least * np.count_nonzero(~before) or more <= deviations * np.sqrt(won + lost):
        return None
    return f"with {' and '.join(words)}, {np.count_nonzero(after):,} of {len(after):,} rows would agree"


def _improved(
    domain: Domain, points: FloatArray, agrees: Judge, changes: Sequence[_Change]
) -> tuple[list[str], BoolArray]:
    """The changes that are taken one after the other, in words, and which rows agree then."""
    rows = np.arange(len(points))
    words: list[str] = []
    orders: dict[int, tuple[float, ...]] = {}
    now = agrees(points, rows)
    for _ in range(_STEPS):
        best = _best(points, changes, agrees, now) if not now.all() else None
        if best is None:
            break
        points = best.of(points)
        now = agrees(points, rows)
        if best.exchanged is not None:
            first, second = (domain.attributes[place].name for place in best.exchanged)
            words.append(f"`{first}` and `{second}` exchanged")
        else:
            orders[best.attribute] = _composed(domain.attributes[best.attribute], orders, best)
    return [*words, *(_order_in_words(domain.attributes[place], codes) for place, codes in orders.items())], now


def _best(points: FloatArray, changes: Sequence[_Change], agrees: Judge, now: BoolArray) -> _Change | None:
    """The change with which the most rows of a sample agree, if more of all rows do."""
    sample = _sample(now, max(_LEAST, min(_MOST, _ASKED // max(len(changes), 1))))
    best, most = None, np.count_nonzero(now[sample])
    for change in changes:
        count = np.count_nonzero(agrees(change.of(points[sample]), sample))
        if count > most:
            best, most = change, count
    if best is None or np.count_nonzero(agrees(best.of(points), np.arange(len(points)))) <= np.count_nonzero(now):
        return None
    return best


def _sample(agreeing: BoolArray, most: int) -> NDArray[np.intp]:
    """So many rows, spread over the table: as many that agree as that do not, as far as there are."""
    wrong, right = np.flatnonzero(~agreeing), np.flatnonzero(agreeing)
    half = most // 2
    room = max(half, most - len(right)), max(half, most - len(wrong))
    chosen = [_spread(rows, count) for rows, count in zip((wrong, right), room, strict=True)]
    return np.sort(np.concatenate(chosen))


def _spread(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """At most so many of the rows, evenly."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]


# ---- changes -------------------------------------------------------------------------------------


def _changes(model: Model, domain: Domain) -> Iterator[_Change]:
    unnamed, coded = _read(model, domain)
    for (first, of_first), (second, of_second) in combinations([*unnamed.items()][:_COLUMNS], 2):
        yield _Change(_exchange(first, second, of_first, of_second), exchanged=(first, second))
    for attribute in coded:
        kind = domain.attributes[attribute].type
        assert isinstance(kind, Category)
        codes = tuple(float(value.code) for value in kind.values)
        for order in _orders([value.name for value in kind.values]):
            chosen = tuple(codes[place] for place in order)
            yield _Change(_recode(attribute, codes, chosen), attribute=attribute, codes=chosen)


def _read(model: Model, domain: Domain) -> tuple[dict[int, _Scale], list[int]]:
    """The attributes that fill columns without names, with how, and the categories that are read by their codes."""
    unnamed: dict[int, _Scale] = {}
    coded: list[int] = []
    texts: set[int] = set()
    if model.deployed is None:
        forms: Sequence[Form] = [Form.of(item) for item in model.listed]
    else:
        forms = model.deployed.features
        texts = {feature for feed in model.deployed.feeds if feed.texts for feature in feed.features}
    by_name = model.binding is None or model.binding.by is BoundBy.NAME
    for place, form in enumerate(forms):
        match form.terms:
            case ((AttributeInput(attribute=attribute), factor),) if place not in texts:
                if not by_name:
                    unnamed.setdefault(attribute, (float(factor), float(form.constant)))
                if isinstance(domain.attributes[attribute].type, Category):
                    coded.append(attribute)
    return unnamed, list(dict.fromkeys(coded))


def _exchange(first: int, second: int, of_first: _Scale, of_second: _Scale) -> Callable[[FloatArray], FloatArray]:
    """Each gets the number that makes its column what the other's was, scaled as that one is."""

    def changed(points: FloatArray) -> FloatArray:
        fed = points.copy()
        if of_first == of_second:
            fed[:, [first, second]] = points[:, [second, first]]
            return fed
        columns = [factor * points[:, at] + constant for at, (factor, constant) in (first_read, second_read)]
        for (at, (factor, constant)), column in zip((second_read, first_read), columns, strict=True):
            fed[:, at] = (column - constant) / factor
        return fed

    first_read, second_read = (first, of_first), (second, of_second)

    return changed


def _recode(attribute: int, codes: Sequence[float], chosen: Sequence[float]) -> Callable[[FloatArray], FloatArray]:
    def changed(points: FloatArray) -> FloatArray:
        fed = points.copy()
        for code, instead in zip(codes, chosen, strict=True):
            fed[points[:, attribute] == code, attribute] = instead
        return fed

    return changed


def _orders(names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Permutations of the values: all of a few, of more the alphabet, and one value exchanged or moved."""
    count = len(names)
    places = tuple(range(count))
    if count <= _EVERY:
        yield from (order for order in permutations(places) if order != places)
        return
    ranks = {place: rank for rank, place in enumerate(sorted(places, key=lambda place: names[place]))}
    yield tuple(ranks[place] for place in places)
    yield places[::-1]
    if count > _LARGEST:
        return
    for first, second in combinations(places, 2):
        swapped = list(places)
        swapped[first], swapped[second] = second, first
        yield tuple(swapped)
    for start in places:
        for end in places:
            if abs(start - end) > 1:
                moved = [place for place in places if place != start]
                moved.insert(end, start)
                yield tuple(moved)


def _composed(attribute: Attribute, orders: dict[int, tuple[float, ...]], change: _Change) -> tuple[float, ...]:
    """The codes that the values have after this change and those before it."""
    kind = attribute.type
    assert isinstance(kind, Category)
    own = tuple(float(value.code) for value in kind.values)
    step = dict(zip(own, change.codes, strict=True))
    return tuple(step[code] for code in orders.get(change.attribute, own))


def _order_in_words(attribute: Attribute, codes: Sequence[float]) -> str:
    kind = attribute.type
    assert isinstance(kind, Category)
    pairs = sorted(zip(codes, (value.name for value in kind.values), strict=True))
    return f"the codes of `{attribute.name}` as {', '.join(f'{name} = {code:g}' for code, name in pairs)}"
