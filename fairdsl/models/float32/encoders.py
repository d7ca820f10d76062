"""Operators of ai.onnx.ml that look numbers up: codes, tables, shares of a sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.call import ML, Call, Handlers
from fairdsl.models.float32.moving import cut, relabelled
from fairdsl.models.float32.precision import OUTWARD, gamma
from fairdsl.models.float32.values import Logits, NoBoundError, Rounded, Value, told_apart

Floats = NDArray[np.float64]
#: The kinds of keys and values of a table, with their usual defaults.
_KINDS: tuple[tuple[str, str, Any], ...] = (
    ("int64s", "int64", -1),
    ("floats", "float", 0.0),
    ("strings", "string", ""),
)
#: What dividing two shares by the same sum adds to the lead that a share needs.
_GAP = 2.0**-21


def _one_hot_encoder(call: Call) -> list[Value]:
    """1 for the category that the number, cut to a whole one, is equal to."""
    value = call.rounded(0)
    categories = call.attribute("cats_strings" if value.texts else "cats_int64s", None)
    if categories is None:
        raise NoBoundError("its categories are of another type than what it is given")
    codes = _codes(value, categories)
    value = value if value.texts else cut(value, np.dtype(np.int64))
    low, high, least, most = (end[..., None] for end in (*value.ends, *value.reach))
    certain, possible = (low == codes) & (high == codes), (low <= codes) & (codes <= high)
    doubtful = (value.error[..., None] > 0) & (least <= codes) & (codes <= most)
    return [Rounded(certain.astype(np.float64), possible.astype(np.float64), doubtful.astype(np.float64))]


def _label_encoder(call: Call) -> list[Value]:
    """The entry of a table whose key was given, a default for all others."""
    keys, entries, default = _table(call)
    value = call.value(0)
    if not isinstance(value, Rounded):
        raise NoBoundError("it looks up what the file holds")
    codes = _codes(value, keys)
    numbers, texts = _numbers((*entries, default))
    low, high = _hull(value.ends, codes, numbers)
    there = _hull(value.reach, codes, numbers)
    apart = np.maximum(there[1] - low, high - there[0])
    error = np.where(value.error == 0, 0.0, np.where(np.isfinite(value.error), apart, np.inf))
    dtype = "int64" if texts or all(isinstance(entry, int) for entry in entries) else "float32"
    found = Rounded(low, high, error, dtype, texts)
    if value.choice is None:
        return [found]
    table = dict(zip(keys, entries, strict=True))
    labels = [table.get(label, default) for label in value.choice.labels]
    whole = all(isinstance(label, str) or label == int(label) for label in labels)
    named = [label if isinstance(label, str) else int(label) for label in labels] if whole else []
    return [replace(found, choice=relabelled(value.choice, named)) if whole else found]


def _table(call: Call) -> tuple[Sequence[Any], Sequence[Any], Any]:
    keys = next((found for kind, _, _ in _KINDS if (found := call.attribute(f"keys_{kind}", None)) is not None), None)
    for kind, single, usual in _KINDS:
        entries = call.attribute(f"values_{kind}", None)
        if keys is not None and entries is not None:
            if len(set(keys)) != len(keys):
                raise NoBoundError("its table has a key twice")
            usual = "_Unused" if kind == "strings" else usual
            return keys, entries, call.attribute(f"default_{single}", usual)
    raise NoBoundError("its table is not given by lists of keys and values")


def _codes(value: Rounded, keys: Sequence[Any]) -> Floats:
    """The keys as the numbers that stand for them; NaN for those that no text of the value is."""
    if not value.texts:
        if any(isinstance(key, str) for key in keys):
            raise NoBoundError("it looks up texts where numbers are given")
        return np.array(keys, dtype=np.float64)
    places = {text: place for place, text in enumerate(value.texts)}
    return np.array([places.get(key, np.nan) for key in keys], dtype=np.float64)


def _numbers(entries: Sequence[Any]) -> tuple[Floats, tuple[str, ...]]:
    if any(isinstance(entry, str) for entry in entries):
        return told_apart([str(entry) for entry in entries])
    return np.array(entries, dtype=np.float64), ()


def _hull(ends: tuple[Floats, Floats], codes: Floats, numbers: Floats) -> tuple[Floats, Floats]:
    """The least and the greatest entry of numbers between the ends; the last one is the default."""
    low, high = (end[..., None] for end in ends)
    possible = (low <= codes) & (codes <= high)
    other = (low < high) | ~possible.any(axis=-1, keepdims=True)
    possible = np.concatenate([possible, other], axis=-1)
    least = np.where(possible, numbers, np.inf).min(axis=-1)
    return least, np.where(possible, numbers, -np.inf).max(axis=-1)


def _normalizer(call: Call) -> list[Value]:
    """Shares of a sum that is 1 but for rounding: probabilities stay what they are."""
    value = call.rounded(0)
    logits = value.logits
    if call.attribute("norm", "MAX") != "L1" or logits is None or not (logits.joint or _complementary(logits.scores)):
        raise NoBoundError("it divides by a norm of the individual's own numbers")
    axes = tuple(range(1, value.low.ndim))
    total = value.error.sum(axis=axes, keepdims=True) * OUTWARD + gamma(value.size, value.precision) * 1.01
    largest = value.high + value.error
    error = value.error + largest * np.where(total < 0.5, total / (1 - total), np.inf) + value.precision.roundoff * 2
    error = np.where(np.isnan(error), np.inf, error * OUTWARD)
    behind = Logits(logits.scores, logits.slip + _GAP if logits.joint else 2 * logits.slip + _GAP, logits.joint)
    return [replace(value, error=error, logits=behind)]


def _complementary(scores: Rounded) -> bool:
    """Whether there are two scores, each the other's negative."""
    low, high = (end.reshape(len(end), -1) for end in scores.ends)
    return low.shape[1] == 2 and np.array_equal(low[:, 0], -high[:, 1]) and np.array_equal(high[:, 0], -low[:, 1])


HANDLERS: Handlers = {
    (ML, "OneHotEncoder"): _one_hot_encoder,
    (ML, "LabelEncoder"): _label_encoder,
    (ML, "Normalizer"): _normalizer,
}
