"""What a file is fed: the exact features of a box of individuals, or of some of them, and how they are rounded.

Features are computed exactly and rounded once, or, for many individuals at a time, in float64; the errors cover both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Deployed
from fairdsl.models.features import feature_values
from fairdsl.models.float32.precision import carried_and_rounded, precision_of
from fairdsl.models.float32.values import Rounded
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above, float_below

Floats = NDArray[np.float64]
#: Values that are looked at one by one, to see whether the type of the feed has them all.
_FEW = 4096


@dataclass(frozen=True, slots=True)
class _Range:
    """Exact values from ``low`` to ``high`` (None: unbounded); ``listed``: these alone; ``size`` of what is summed."""

    low: Fraction | None
    high: Fraction | None
    listed: Sequence[Fraction | int] | None
    size: Fraction = Fraction(0)


def fed_as_given(deployed: Deployed, fed: Mapping[str, NDArray[Any]]) -> dict[str, Rounded]:
    """What a file is given as it stands, [n, width] of each feed: exact, texts by their positions."""
    texts, places = _texts(deployed)
    found = {}
    for feed in deployed.feeds:
        given = fed[feed.name]
        if feed.texts:
            rows = np.array([places[text] for text in given.ravel().tolist()], dtype=np.float64).reshape(given.shape)
        else:
            rows = given.astype(np.float64)
        found[feed.name] = Rounded(rows, rows, np.zeros_like(rows), feed.dtype, texts if feed.texts else ())
    return found


def _texts(deployed: Deployed) -> tuple[tuple[str, ...], Mapping[str, int]]:
    """All texts that the file may be given, and the position of each among them."""
    named = (text for feed in deployed.feeds for table in feed.texts for _, text in table)
    texts = tuple(dict.fromkeys(named))
    return texts, {text: place for place, text in enumerate(texts)}


def fed_box(deployed: Deployed, sets: Sequence[ValueSet]) -> Mapping[str, Rounded]:
    """One box: every individual whose attributes have these values."""
    return _fed(deployed, [[_range(form, sets)] for form in deployed.features])


def fed_points(deployed: Deployed, points: Sequence[tuple[Fraction, ...]]) -> Mapping[str, Rounded]:
    """Some individuals, one row each."""
    rows = [feature_values(deployed.features, point) for point in points]
    listed = [[_Range(row[i], row[i], (row[i],)) for row in rows] for i in range(len(deployed.features))]
    return _fed(deployed, listed)


def _fed(deployed: Deployed, ranges: Sequence[Sequence[_Range]]) -> Mapping[str, Rounded]:
    """What the feeds are given where ``ranges`` are the values of each feature, row by row."""
    texts, places = _texts(deployed)
    found = {}
    for feed in deployed.feeds:
        columns = []
        for place, feature in enumerate(feed.features):
            if feed.texts:
                boxes = [_named(item, dict(feed.texts[place]), places) for item in ranges[feature]]
            else:
                boxes = [_box(item, feed.dtype) for item in ranges[feature]]
            columns.append([np.concatenate(parts) for parts in zip(*boxes, strict=True)])
        low, high, error = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
        high = low if np.array_equal(low, high) else high
        found[feed.name] = Rounded(low, high, error, feed.dtype, texts if feed.texts else ())
    return found


def _named(item: _Range, table: Mapping[int, str], places: Mapping[str, int]) -> tuple[Floats, Floats, Floats]:
    """The positions of the texts that stand for these codes: the least, the greatest, and no error."""
    codes = table if item.listed is None else [int(code) for code in item.listed]
    found = [places[table[code]] for code in codes]
    return np.array([float(min(found))]), np.array([float(max(found))]), np.zeros(1)


def _range(form: Form, sets: Sequence[ValueSet]) -> _Range:
    low: Fraction | None = form.constant
    high: Fraction | None = form.constant
    size = abs(form.constant)
    for item, factor in form.terms:
        values = sets[item.attribute] if isinstance(item, AttributeInput) else Finite((0, 1))
        ends = [None if end is None else factor * end for end in (values.low, values.high)]
        least, most = ends if factor > 0 else ends[::-1]
        low = None if low is None or least is None else low + least
        high = None if high is None or most is None else high + most
        size += max((abs(end) for end in ends if end is not None), default=Fraction(0))
    single = len(form.terms) == 1 and not form.constant and form.terms[0][1] == 1
    if not single:
        return _Range(low, high, None, size * (len(form.terms) + 1))
    item = form.terms[0][0]
    whole = sets[item.attribute] if isinstance(item, AttributeInput) else Finite((0, 1))
    return _Range(low, high, whole.values if isinstance(whole, Finite) else None, size)


def _box(item: _Range, dtype: str) -> tuple[Floats, Floats, Floats]:
    """Both ends and the error, one number each."""
    low = np.array([-np.inf if item.low is None else float_below(item.low)])
    high = np.array([np.inf if item.high is None else float_above(item.high)])
    precision = precision_of(dtype)
    if precision.whole:
        held = item.listed is not None and _all_whole(item.listed)
        inside = bool(np.abs([low, high]).max() <= precision.largest)
        return low, high, np.array([0.0 if held and inside else np.inf])
    if item.listed is not None and _held(item.listed, dtype):
        return low, high, np.zeros(1)
    # Float64 rounds before the feed's type does, in each step of a sum.
    double = np.array([float_above(item.size) * 2.0**-53 + 2.0**-1074])
    return low, high, carried_and_rounded(low, high, double, precision)


def _all_whole(values: Sequence[Fraction | int]) -> bool:
    return isinstance(values, range) or (len(values) <= _FEW and all(value == int(value) for value in values))


def _held(values: Sequence[Fraction | int], dtype: str) -> bool:
    """Whether the type has all of the numbers."""
    if not values:
        return True
    most = max(abs(Fraction(end)) for end in (values[0], values[-1]))
    if _all_whole(values) and most <= 1 / precision_of(dtype).roundoff:
        return True
    if len(values) > _FEW:
        return False
    kind = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        stored = [float(kind(float(value))) for value in values]
    return all(np.isfinite(number) and Fraction(number) == value for number, value in zip(stored, values, strict=True))
