"""A threshold for each group: the scores stay, and who is given the favourable outcome changes.

The file is written around that of the estimator (:mod:`fairdsl.models.onnx_written.thresholds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.codec import Lower
from fairdsl.ir.ensemble import attributes_of_form
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Deployed, Model, Readout
from fairdsl.metrics import cells_of, key_of
from fairdsl.metrics.words import Names
from fairdsl.models.features import feature_matrix
from fairdsl.models.onnx_written.nodes import NotWrappedError
from fairdsl.models.onnx_written.thresholds import GroupKey, scored_file, thresholds_file
from fairdsl.models.running.runtime import Runtime
from fairdsl.repairing.parts import Part
from fairdsl.repairing.rates.choice import ScoredRows, best_thresholds
from fairdsl.repairing.rates.subject import Asked, RateSubject
from fairdsl.verdict import Named

#: One row in so many may be decided otherwise by the scores than by the class.
_TOLERATED = 100
#: Groups of one file.
_MOST = 64
#: Whole numbers up to it are float32 numbers.
_WHOLE = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Above which score a group is given the favourable outcome."""

    #: The group.
    group: Named
    #: The score, or the probability.
    above: Lower
    #: What it is for everybody before.
    before: Lower


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The bytes of a file with a threshold for each group, and whom it is to favour among the rows, [rows]."""

    content: bytes
    thresholds: tuple[Threshold, ...]
    favoured: NDArray[np.bool_]


def thresholds_of(
    subject: RateSubject, model: Model, demands: Sequence[Asked], part: Part, least: int, budget: Budget
) -> Thresholds:
    """The best thresholds over the scores of a model's file, which decide at least so many rows of ``part`` rightly.

    ``demands`` are about these rows. Raises NotWrappedError where the file has no scores, or does not read the groups.
    """
    deployed, favourable = decides_by_class(model)
    if any(each.metric.rate.is_mean for each in demands):
        raise NotWrappedError("means of scores do not depend on thresholds")
    first, second = subject.classes
    scored = scored_file(deployed.path, deployed.output, (first, second), favourable)
    groups, runtime, points = _Groups.of(demands[0], deployed), Runtime(deployed), part.rows.values.floats
    fed = runtime.fed(points)
    scores = scored.numbers(runtime.tables(fed, [scored.scores])[0])
    before = _before(scores, runtime.decide_array(points) == favourable)
    rows = ScoredRows(
        scores=scores,
        groups=groups.key.groups(np.asarray(fed[scored.input], dtype=np.float32)),
        right=part.rows.outcomes == favourable,
    )
    found = best_thresholds(rows, len(groups.names), before, demands, least, budget)
    listed = (
        Threshold(group=name, above=Fraction(float(limit)), before=Fraction(before))
        for name, limit in zip(groups.names, found, strict=True)
    )
    return Thresholds(
        content=thresholds_file(scored, groups.key, found),
        thresholds=tuple(listed),
        favoured=rows.scores > found[rows.groups],
    )


def decides_by_class(model: Model) -> tuple[Deployed, int]:
    """The model's file and its favourable outcome; NotWrappedError where it is not a file with a class of two."""
    deployed, favourable = model.deployed, model.favourable
    if deployed is None:
        raise NotWrappedError("the model's file is not an ONNX file")
    if deployed.readout is not Readout.LABEL or favourable is None or len(model.outcomes) != 2:
        raise NotWrappedError("the model does not decide by `OUTCOME when class = ...`, with one of two favourable")
    return deployed, favourable


def _before(scores: NDArray[np.float32], favoured: NDArray[np.bool_]) -> float:
    """The threshold of the file itself, 0 or of probabilities 1/2; raises NotWrappedError where it is neither."""
    differing = {limit: int(np.count_nonzero((scores > limit) != favoured)) for limit in (0.0, 0.5)}
    limit = min(differing, key=lambda each: differing[each])
    if differing[limit] * _TOLERATED > len(scores):
        raise NotWrappedError(f"{differing[limit]:,} of {len(scores):,} rows have another class than their scores say")
    return limit


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The groups, as they follow each other along a number of the file's input, and what they are called."""

    key: GroupKey
    names: tuple[Named, ...]

    @classmethod
    def of(cls, asked: Asked, deployed: Deployed) -> _Groups:
        """Raises NotWrappedError where the file does not read what the groups are made of."""
        rows, across = asked.rows, asked.question.across
        cells = [cells_of(rows, column) for column in across]
        ranges = any(rows.columns[column].values is None for column in across)
        if len(deployed.feeds) != 1:
            raise NotWrappedError("the file takes several inputs")
        if prod(map(len, cells)) > _MOST:
            raise NotWrappedError(f"there are more than {_MOST} groups")
        if ranges and len(across) > 1:
            raise NotWrappedError("ranges of a number have thresholds alone, not together with another attribute")
        # As digits: what the last column says counts by itself, that before it by as many as that may be, and so on.
        begins = [[_begin(cell.low) for cell in of_column] for of_column in cells]
        spans = [max(each) - min(each) + 1 for each in begins]
        scales = [prod(spans[place + 1 :]) for place in range(len(across))]
        if not ranges and scales[0] * spans[0] > _WHOLE:
            raise NotWrappedError("the codes of the groups are too far apart")
        called, found = Names(rows), []
        for places in product(*(range(len(each)) for each in cells)):
            number = sum(scale * each[at] for scale, each, at in zip(scales, begins, places, strict=True))
            values = (key_of(each[at]) for each, at in zip(cells, places, strict=True))
            found.append((number, called(tuple(zip(across, values, strict=True)))))
        found.sort(key=lambda each: each[0])
        read = [_columns(asked, column, deployed) for column in across]
        factors = sum(scale * each for scale, each in zip(scales, read, strict=True))
        numbers = np.array([number for number, _ in found], dtype=np.float32)
        return cls(GroupKey(np.asarray(factors, dtype=np.float32), numbers), tuple(name for _, name in found))


def _begin(low: Fraction | None) -> float:
    return float(np.finfo(np.float32).min) if low is None else float(low)


def _columns(asked: Asked, column: int, deployed: Deployed) -> NDArray[np.float64]:
    """The factors [columns] by which the file's input adds up to an attribute, as it is or as indicators of values."""
    attributes = asked.problem.domain.attributes
    name = asked.rows.columns[column].name
    if column >= len(attributes) or attributes[column].missing is not None:
        raise NotWrappedError(f"`{name}` is derived from other columns, or may be missing")
    forms = [deployed.features[place] for place in deployed.feeds[0].features]
    factors = np.zeros(len(forms))
    plain = Form.of(AttributeInput(column))
    if plain in forms:
        factors[forms.index(plain)] = 1.0
        return factors
    values = [float(value) for value in attributes[column].values or ()]
    people = np.zeros((len(values), len(attributes)))
    people[:, column] = values
    shown = feature_matrix(tuple(forms), people)
    own = [at for at, form in enumerate(forms) if attributes_of_form(form) == {column}]
    for place, value in enumerate(values):
        indicators = [at for at in own if np.array_equal(shown[:, at], np.eye(len(values))[place])]
        if value and not indicators:
            raise NotWrappedError(f"the file does not read `{name}`, by which it would have to tell groups apart")
        factors[indicators[:1]] = value
    if not values:
        raise NotWrappedError(f"the file does not read `{name}`, by which it would have to tell groups apart")
    return factors
