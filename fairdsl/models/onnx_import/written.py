"""One table of what onnxruntime writes for the classifiers and regressors of ai.onnx.ml.

Trees, linear models and support vector machines come down to sums, a sum a class or target. What becomes of them is
the same few routines of the runtime for all three, and it is not always what ``post_transform`` says: of a single sum
it leaves out every transformation but PROBIT and, in a classifier, LOGISTIC. The table is about onnxruntime alone,
for that is what a file is run with; every row is held against it in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from fairdsl.models import exact
from fairdsl.models.basis import Affine, scale, stack, take
from fairdsl.models.onnx_import.activations import softmax
from fairdsl.models.onnx_import.arithmetic import negative, plus
from fairdsl.models.onnx_import.labels import mapped
from fairdsl.models.onnx_import.values import (
    TEXT,
    Labelled,
    Logistic,
    NodeCall,
    Probabilities,
    Unread,
    UnreadableError,
    Value,
)


class Columns(Enum):
    """What the runtime makes of its sums before a transformation: the second column of a single sum, if any."""

    SEVERAL = "a column for each of two or more sums"
    ALONE = "one column: the sum"
    UNCHANGED = "one column: the sum, whatever the transformation"
    SHARES = "two columns: 1 - sum and the sum"
    SIGNS = "two columns: -sum and the sum"


class _Transform(Enum):
    """A ``post_transform``; the runtime takes what it does not know for PROBIT."""

    NONE = "NONE"
    LOGISTIC = "LOGISTIC"
    SOFTMAX = "SOFTMAX"
    SOFTMAX_ZERO = "SOFTMAX_ZERO"
    PROBIT = "PROBIT"


_Form = Callable[[NodeCall, Affine], Value]


def _plain(call: NodeCall, sums: Affine) -> Value:
    return sums


def _logistic(call: NodeCall, sums: Affine) -> Value:
    return Logistic.of(sums, call.basis)


def _left_out(call: NodeCall, sums: Affine) -> Value:
    """The file calls the number a probability, and the runtime writes the sum itself."""
    return Probabilities(sums)


def _shares(call: NodeCall, sums: Affine) -> Value:
    return Probabilities(pair(call, plus(call, negative(sums), Affine.constant(np.ones(1))), sums))


def _signs(call: NodeCall, sums: Affine) -> Value:
    return pair(call, negative(sums), sums)


def _logistic_signs(call: NodeCall, sums: Affine) -> Value:
    return Logistic.of(pair(call, negative(sums), sums), call.basis)


def _unread(call: NodeCall, sums: Affine) -> Value:
    transform = call.attribute("post_transform", "NONE")
    return Unread(f"its scores go through `post_transform` {transform}, which is not read", sums.shape)


#: What is written, by the columns before the transformation and the transformation.
_WRITTEN: Mapping[tuple[Columns, _Transform], _Form] = {
    (Columns.SEVERAL, _Transform.NONE): _plain,
    (Columns.SEVERAL, _Transform.LOGISTIC): _logistic,
    (Columns.SEVERAL, _Transform.SOFTMAX): softmax,
    (Columns.SEVERAL, _Transform.SOFTMAX_ZERO): _unread,  # scores that are exactly 0 have no share: no continuous curve
    (Columns.SEVERAL, _Transform.PROBIT): _unread,
    (Columns.ALONE, _Transform.NONE): _plain,
    (Columns.ALONE, _Transform.LOGISTIC): _left_out,
    (Columns.ALONE, _Transform.SOFTMAX): _plain,
    (Columns.ALONE, _Transform.SOFTMAX_ZERO): _plain,
    (Columns.ALONE, _Transform.PROBIT): _unread,
    (Columns.UNCHANGED, _Transform.NONE): _plain,
    (Columns.UNCHANGED, _Transform.LOGISTIC): _left_out,
    (Columns.UNCHANGED, _Transform.SOFTMAX): _plain,
    (Columns.UNCHANGED, _Transform.SOFTMAX_ZERO): _plain,
    (Columns.UNCHANGED, _Transform.PROBIT): _left_out,
    (Columns.SHARES, _Transform.NONE): _shares,
    (Columns.SHARES, _Transform.LOGISTIC): _logistic_signs,
    (Columns.SHARES, _Transform.SOFTMAX): _shares,
    (Columns.SHARES, _Transform.SOFTMAX_ZERO): _shares,
    (Columns.SHARES, _Transform.PROBIT): _unread,  # the runtime writes one column of the two
    (Columns.SIGNS, _Transform.NONE): _signs,
    (Columns.SIGNS, _Transform.LOGISTIC): _logistic_signs,
    (Columns.SIGNS, _Transform.SOFTMAX): _signs,
    (Columns.SIGNS, _Transform.SOFTMAX_ZERO): _signs,
    (Columns.SIGNS, _Transform.PROBIT): _unread,
}


def written(call: NodeCall, sums: Affine, columns: Columns, *, shares: bool = False) -> Value:
    """The scores as the runtime writes them; ``sums`` is [1, n]. ``shares``: sums of probabilities, as votes are."""
    given = call.attribute("post_transform", "NONE")
    transform = next((item for item in _Transform if item.value == given), _Transform.PROBIT)
    found = _WRITTEN[columns, transform](call, sums)
    return Probabilities(found) if shares and isinstance(found, Affine) else found


def columns_of(sums: Affine) -> Columns:
    """The columns of a node that writes nothing but its sums."""
    return Columns.ALONE if sums.size == 1 else Columns.SEVERAL


def classes(call: NodeCall, whole: str) -> tuple[int | str, ...]:
    """The labels of a classifier; where a file lists text as well as numbers (``whole``), text counts."""
    listed = call.attribute("classlabels_strings", None) or call.attribute(whole, None) or ()
    return tuple(listed)


def above(call: NodeCall, total: Affine, threshold: Fraction, labels: tuple[int | str, ...]) -> Labelled:
    """The second label where the single sum exceeds the threshold, else the first."""
    limit = Affine.constant(exact.from_rationals(np.array([-threshold], dtype=object)))
    shifted = plus(call, total, limit)
    both = scale(take(shifted, np.zeros((1, 2), dtype=np.int64)), np.array([0.0, 1.0]))
    return highest(call, both, labels)


def highest(call: NodeCall, sums: Affine, labels: tuple[int | str, ...], *, ties_last: bool = False) -> Labelled:
    """The label whose sum is highest: the first of them in a tie, or the last of two."""
    positions = Labelled(sums, tuple(range(len(labels))), (1,), "int64", ties_last)
    return mapped(call, positions, labels, TEXT if isinstance(labels[0], str) else "int64")


def pair(call: NodeCall, first: Affine, second: Affine) -> Affine:
    """Two single numbers as one row."""
    both = stack([first, second], call.basis)
    return Affine((1, 2), both.parts, both.bias)


def floats(call: NodeCall, attribute: str) -> exact.Array:
    """A list of numbers as a vector (protobuf hands float32 over as float64, exactly)."""
    listed: Any = call.attribute(attribute, None)
    found = np.array([] if listed is None else listed, dtype=np.float64)
    if not np.isfinite(found).all():
        raise UnreadableError(f"its `{attribute}` are not all finite numbers")
    return found
