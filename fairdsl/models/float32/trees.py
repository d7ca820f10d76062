"""Tree ensembles: which leaves can be reached, and how far apart the sums of their votes can be.

A test compares what the tree is given with a stored number and rounds nothing. So where the features are exact the
runtime reaches the same leaves, and only the sum of the votes is rounded; not even that where all votes are multiples
of a power of two and their sums have few enough bits. Where a feature may be off, the runtime can take the other
branch of a test that lies within the error, and then any leaf below that test.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.arithmetic import as_float32, divided, plus
from fairdsl.models.float32.call import ML, Call, Handlers
from fairdsl.models.float32.choosing import above, flat, highest
from fairdsl.models.float32.forest import Forest, forest_of
from fairdsl.models.float32.heads import labels_of, transformed, two_columns
from fairdsl.models.float32.precision import OUTWARD, finite_error, gamma, precision_of
from fairdsl.models.float32.values import NoBoundError, Rounded, Value, constant

Floats = NDArray[np.float64]
#: Numbers of a block of individuals and nodes at most.
_BLOCK = 1 << 22
_SINGLE, _DOUBLE = precision_of("float32"), precision_of("float64")


def _sums(call: Call, prefix: str, columns: int) -> tuple[Rounded, Forest]:
    """The sums of the votes [1, columns], in float32."""
    forest = forest_of(call, prefix, columns)
    value = call.rounded(0)
    if value.dtype != "float64":
        value = as_float32(value)
    if forest.features >= value.size:
        raise NoBoundError("its trees test a feature that is not there")
    low, high, apart, size = _reached(forest, flat(value))
    terms = forest.terms
    with np.errstate(all="ignore"):
        slack = np.where(forest.exact_below(size, _DOUBLE), 0.0, gamma(terms + 2, _DOUBLE) * size + 2.0**-1000)
        whole = forest.exact_below(size + apart, _SINGLE)
        own = np.where(whole, 0.0, gamma(np.maximum(terms - 1, 0), _SINGLE) * (size + apart))
        error = np.where(apart + own == 0, 0.0, (apart + own) * OUTWARD)
    error = finite_error(error, size + apart, _SINGLE)
    ends = (np.where(slack == 0, end, end + sign * slack * OUTWARD) for end, sign in ((low, -1), (high, 1)))
    least, most = (end[:, None, :] for end in ends)
    return Rounded(least, most, error[:, None, :]), forest


def _reached(forest: Forest, value: Rounded) -> tuple[Floats, Floats, Floats, Floats]:
    """Of the sums [individuals, columns]: least, greatest, how far the runtime's votes are apart from the exact ones,
    and the size of the votes."""
    leaves, certain = forest.descend(value)
    votes = forest.votes[leaves]  # [individuals, trees, columns]
    low = votes.sum(axis=1)
    high, apart, size = low.copy(), np.zeros_like(low), np.abs(votes).sum(axis=1)
    for rows in _blocks(np.flatnonzero(~certain), len(forest.feature)):
        low[rows], high[rows], apart[rows], size[rows] = forest.spread(value, rows)
    return low, high, apart, size


def _blocks(rows: NDArray[np.intp], nodes: int) -> Iterator[NDArray[np.intp]]:
    step = max(1, _BLOCK // max(1, nodes))
    return (rows[start : start + step] for start in range(0, len(rows), step))


def _with_base(scores: Rounded, base: Floats) -> Rounded:
    return plus(scores, constant(base.astype(np.float32)[None, :])) if base.size else scores


def _tree_classifier(call: Call) -> list[Value]:
    labels = labels_of(call, "classlabels_int64s")
    base, transform = call.numbers("base_values"), call.attribute("post_transform", "NONE")
    if len(labels) < 2:
        raise NoBoundError("it does not choose")
    scores, forest = _sums(call, "class", len(labels))
    if len(labels) == 2:
        return _of_two(scores, forest, base, labels, transform)
    if base.size not in (0, len(labels)) or not (base.size or forest.always.all()):
        raise NoBoundError("some label may get no vote")
    scores = _with_base(scores, base)
    return [highest(flat(scores), labels), transformed(scores, transform)]


def _of_two(
    scores: Rounded, forest: Forest, base: Floats, labels: tuple[int | str, ...], transform: str
) -> list[Value]:
    """All votes are for the first entry, and count for the second label."""
    if forest.voted[1] or base.size > 1:
        raise NoBoundError("it has two labels and votes for the second one")
    score = Rounded(scores.low[..., :1], scores.high[..., :1], scores.error[..., :1])
    score = _with_base(score, base)
    label = above(score, labels, 0.0 if forest.negative else 0.5)
    return [label, two_columns(score, transform, mirrored=forest.negative)]


def _tree_regressor(call: Call) -> list[Value]:
    columns = int(call.attribute("n_targets", 1))
    base, transform = call.numbers("base_values"), call.attribute("post_transform", "NONE")
    scores, forest = _sums(call, "target", columns)
    if base.size not in (0, columns):
        raise NoBoundError("its base values do not fit")
    aggregate = call.attribute("aggregate_function", "SUM")
    if aggregate == "AVERAGE":
        scores = _averaged(scores, len(forest.roots))
    elif aggregate != "SUM":
        raise NoBoundError(f"it takes the {aggregate} of its trees")
    scores = _with_base(scores, base)
    if columns == 1:
        if transform == "PROBIT":
            raise NoBoundError("its score goes through PROBIT")
        return [scores]
    if not (base.size or forest.always.all()) and transform != "NONE":
        raise NoBoundError("some target may get no vote")
    return [transformed(scores, transform)]


def _averaged(scores: Rounded, trees: int) -> Rounded:
    return divided(scores, constant(np.asarray(np.float32(trees))))


HANDLERS: Handlers = {
    (ML, "TreeEnsembleClassifier"): _tree_classifier,
    (ML, "TreeEnsembleRegressor"): _tree_regressor,
}
