"""Operators that choose: a class by the highest score, the side of a threshold.

A choice is certain at run time where the scores are farther apart than their errors; elsewhere it is any class whose
score may be the highest, and the error of a label is the distance to the farthest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.arithmetic import negated
from fairdsl.models.float32.call import ML, Call, Handler, Handlers
from fairdsl.models.float32.directed import difference
from fairdsl.models.float32.values import Choice, NoBoundError, Rounded, Value, aligned, constant, moved, told_apart

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


def highest(scores: Rounded, labels: Sequence[int | str], *, gap: float = 0.0, ties_last: bool = False) -> Rounded:
    """The label of the highest of the scores [individuals, classes], in a tensor of one element.

    Ties go to the first (or last) class; the runtime may be wrong by ``gap`` beyond the errors of the scores.
    """
    count = scores.low.shape[-1]
    least, most = scores.reach
    if gap:
        least, most = least - gap, most + gap  # both sides, so that rounding of these sums does not matter
    exact = _may_win(scores.low, scores.high, ties_last)
    at_run_time = exact | _may_win(least, most, ties_last)
    doubtful = np.isnan(least) | ~np.isfinite(scores.error)
    at_run_time |= doubtful.any(axis=-1, keepdims=True)
    numbers, texts = _numbered(labels)
    low, high = _least(numbers, exact), _greatest(numbers, exact)
    apart = np.maximum(_greatest(numbers, at_run_time) - low, high - _least(numbers, at_run_time))
    same = np.asarray((scores.error == 0).all(axis=-1) & (gap == 0))
    error = np.where(same | (at_run_time.sum(axis=-1) == 1), 0.0, apart)
    choice = Choice(scores, tuple(labels), gap) if count == len(set(labels)) else None
    return Rounded(low[:, None], high[:, None], error[:, None], "int64", texts, choice=choice)


def _may_win(low: Floats, high: Floats, ties_last: bool) -> Booleans:
    """Which scores in [low, high] may be the highest, where ties go to the first or the last."""
    count = low.shape[-1]
    found = np.ones(low.shape, dtype=np.bool_)
    for mine in range(count):
        for other in range(count):
            if other != mine:
                first = other < mine if not ties_last else other > mine
                loses = low[:, other] >= high[:, mine] if first else low[:, other] > high[:, mine]
                found[:, mine] &= ~loses
    return found


def _numbered(labels: Sequence[int | str]) -> tuple[Floats, tuple[str, ...]]:
    """The labels as numbers; texts by their positions."""
    if any(isinstance(label, str) for label in labels):
        return told_apart([str(label) for label in labels])
    return np.array([float(label) for label in labels]), ()


def _least(numbers: Floats, possible: Booleans) -> Floats:
    return np.asarray(np.where(possible, numbers, np.inf).min(axis=-1), dtype=np.float64)


def _greatest(numbers: Floats, possible: Booleans) -> Floats:
    return np.asarray(np.where(possible, numbers, -np.inf).max(axis=-1), dtype=np.float64)


def above(score: Rounded, labels: Sequence[int | str], threshold: float = 0.0, *, ties_last: bool = False) -> Rounded:
    """The second label where the single score exceeds the threshold (or meets it: ``ties_last``), else the first."""
    column = score.low.reshape(len(score.low), 1), score.high.reshape(len(score.low), 1)
    error, nothing = score.error.reshape(len(score.low), 1), np.zeros((len(score.low), 1))
    # Compared as it is: only the enclosure of the difference is computed, not what the runtime would make of it.
    low, high = difference(column, (nothing + threshold, nothing + threshold)) if threshold else column
    sides = [np.concatenate([nothing, end], axis=1) for end in (low, high, error)]
    pair = Rounded(sides[0], sides[0] if score.low is score.high else sides[1], sides[2], score.dtype)
    return highest(pair, labels, ties_last=ties_last)


def ranked(value: Rounded) -> tuple[Rounded, float]:
    """Scores [individuals, classes] in the order of the tensor's elements, and what the runtime adds to errors."""
    numbers = flat(value)
    logits = value.logits
    if logits is None:
        return numbers, 0.0
    scores = flat(logits.scores)
    if logits.joint:
        return scores, logits.slip
    if _opposite(scores) and logits.slip < 2.0**-8:
        # p > 1 - p where the score exceeds the logit of 1/2 + slip, which is below 4.1 slip; of the difference twice.
        return scores, 8.2 * logits.slip
    return numbers, 0.0


def _opposite(scores: Rounded) -> bool:
    """Whether there are two scores, each the other's negative, at run time too."""
    if scores.low.shape[-1] != 2 or not np.array_equal(scores.error[:, 0], scores.error[:, 1]):
        return False
    return np.array_equal(scores.low[:, 0], -scores.high[:, 1]) and np.array_equal(scores.high[:, 0], -scores.low[:, 1])


def flat(scores: Rounded) -> Rounded:
    """The scores as [individuals, columns]."""
    found = moved(scores, lambda positions: positions.reshape(-1))
    assert isinstance(found, Rounded)
    return found


def _place_of(highest_one: bool) -> Handler:
    """The place of the highest number, or of the lowest."""

    def handler(call: Call) -> list[Value]:
        value = call.rounded(0)
        axis = int(call.attribute("axis", 0))
        if not value.shape or value.shape[axis] != value.size or value.size < 2:
            raise NoBoundError("it chooses for several individuals at once")
        scores, gap = ranked(value)
        scores, last = scores if highest_one else negated(scores), bool(call.attribute("select_last_index", 0))
        found = highest(scores, range(value.size), gap=gap, ties_last=last)
        shape = list(value.shape)
        if call.attribute("keepdims", 1):
            shape[axis] = 1
        else:
            del shape[axis]
        return [moved(found, lambda positions: positions.reshape(shape))]

    return handler


def _comparison(greater: bool, equal: bool) -> Handler:
    def handler(call: Call) -> list[Value]:
        left, right = aligned(*_sides(call))
        if not greater:
            left, right = right, left
        return [_exceeds(left, right, equal)]

    return handler


def _sides(call: Call) -> tuple[Rounded, Rounded]:
    left, right = call.rounded(0), call.rounded(1)
    if left.texts or right.texts:
        raise NoBoundError("it compares texts")
    return left, right


def _exceeds(left: Rounded, right: Rounded, equal: bool) -> Rounded:
    """``left > right`` (or >=), which the runtime decides without rounding anything."""

    def may(ends: tuple[Floats, Floats], others: tuple[Floats, Floats]) -> tuple[Booleans, Booleans]:
        if equal:
            return ends[1] >= others[0], ends[0] < others[1]
        return ends[1] > others[0], ends[0] <= others[1]

    true, false = may(left.ends, right.ends)
    true_there, false_there = may(left.reach, right.reach)
    known = (left.error + right.error == 0) | ((true_there != false_there) & np.isfinite(left.error + right.error))
    low, high = (~false).astype(np.float64), true.astype(np.float64)
    found = Rounded(low, high, np.where(known, 0.0, 1.0), "bool")
    if found.size != 1:
        return found
    return replace(found, choice=_sided(left, right, equal))


def _sided(left: Rounded, right: Rounded, equal: bool) -> Choice:
    """The comparison as a choice between 0 and the difference."""
    del equal  # a tie is not a margin
    slip = 0.0
    for side, other in ((left, right), (right, left)):
        if side.logits is not None and not side.logits.joint and _is_half(other):
            score = side.logits.scores
            slip = 4.1 * side.logits.slip
            score = score if side is left else negated(score)
            return _pair(score.ends, score.error, score.dtype, slip)
    return _pair(difference(left.ends, right.ends), left.error + right.error, left.dtype, slip)


def _is_half(value: Rounded) -> bool:
    return bool((value.low == 0.5).all() and (value.high == 0.5).all() and not value.error.any())


def _pair(ends: tuple[Floats, Floats], error: Floats, dtype: str, gap: float) -> Choice:
    count = max(len(ends[0]), len(error))
    columns = [np.broadcast_to(end.reshape(len(end), 1), (count, 1)) for end in (*ends, error)]
    nothing = np.zeros((count, 1))
    low, high, error = (np.concatenate([nothing, column], axis=1) for column in columns)
    return Choice(Rounded(low, high, error, dtype), (0, 1), gap)


def _binarizer(call: Call) -> list[Value]:
    """1 where a number exceeds the threshold."""
    value = call.rounded(0)
    threshold = np.float32(call.attribute("threshold", 0.0))
    left, right = aligned(value, constant(np.asarray(threshold)))
    found = _exceeds(left, right, equal=False)
    return [replace(found, dtype=value.dtype)]


HANDLERS: Handlers = {
    ("", "ArgMax"): _place_of(highest_one=True),
    ("", "ArgMin"): _place_of(highest_one=False),
    ("", "Greater"): _comparison(greater=True, equal=False),
    ("", "Less"): _comparison(greater=False, equal=False),
    ("", "GreaterOrEqual"): _comparison(greater=True, equal=True),
    ("", "LessOrEqual"): _comparison(greater=False, equal=True),
    (ML, "Binarizer"): _binarizer,
}
