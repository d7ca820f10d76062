"""What a file is fed: the exact features of a box of individuals, or of some of them, and how they are rounded.

Features are computed exactly and rounded once, or, for many individuals at a time, in float64; the errors cover both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Deployed, Feed
from fairdsl.models.features import feature_values
from fairdsl.models.float32.precision import carried_and_rounded, precision_of
from fairdsl.models.float32.values import Rounded
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["fed_box", "fed_points"]

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


def fed_box(deployed: Deployed, sets: Sequence[ValueSet]) -> Mapping[str, Rounded] | None:
    """One box: every individual whose attributes have these values. None where a feed takes text."""
    ranges = [_range(form, sets) for form in deployed.features]
    return _fed(deployed, lambda feed: [_box(ranges[feature], feed.dtype) for feature in feed.features])


def fed_points(deployed: Deployed, points: Sequence[tuple[Fraction, ...]]) -> Mapping[str, Rounded] | None:
    """Some individuals, one row each."""
    rows = [feature_values(deployed.features, point) for point in points]
    listed = [[_Range(row[i], row[i], (row[i],)) for row in rows] for i in range(len(deployed.features))]

    def columns(feed: Feed) -> list[tuple[Floats, Floats, Floats]]:
        found = []
        for feature in feed.features:
            ends = [_box(item, feed.dtype) for item in listed[feature]]
            low, high, error = (np.concatenate(parts) for parts in zip(*ends, strict=True))
            found.append((low, high, error))
        return found

    return _fed(deployed, columns)


def _fed(deployed: Deployed, columns: object) -> Mapping[str, Rounded] | None:
    assert callable(columns)
    if any(feed.texts for feed in deployed.feeds):
        return None
    found = {}
    for feed in deployed.feeds:
        low, high, error = (np.stack(parts, axis=1) for parts in zip(*columns(feed), strict=True))
        high = low if np.array_equal(low, high) else high
        found[feed.name] = Rounded(low, high, error, feed.dtype)
    return found


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
