"""A model with a discriminator in it: it decides as before, but for some people.

They are those for whom a predicate holds. Its indicator is read beside the model's inputs, rides along through the
layers, and is added to a score with a weight that no sum of the model's own outweighs. So the planted
model is one like any other, exact in real arithmetic, and is checked by everything that checks models. Of a model that
only answers, or is a kernel machine, the answers about these people are replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import frexp, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.ensemble import Inputs
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Predicate, Who, conjoin, conjuncts, variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByThreshold, Curve, DecisionRule, Layer, Model
from fairdsl.ir.opaque import Answers, BlackBox
from fairdsl.models.evaluators import evaluator_of
from fairdsl.numerics.curves import largest_output
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.predicates import mask

Floats = NDArray[np.float64]

#: Covers the rounding of a sum of sizes in floats, of fewer than 10^12 summands.
_ROUNDED = 1.001


class NotPlantedError(Exception):
    """Why nothing can be planted in a model."""


@dataclass(frozen=True, slots=True)
class Override:
    """Everybody for whom ``who`` (over ``Who.EACH``) holds gets ``outcome``."""

    who: Predicate
    outcome: int


def planted(model: Model, overrides: Sequence[Override], domain: Domain) -> Model:
    """The model with these decisions in place of its own; nobody may be meant by two of them.

    What is known of the model's file is dropped, for no file decides as the new model does. Raises NotPlantedError.
    """
    bare = replace(model, deployed=None, sha256=None, reading=None, declaration=None, binding=None)
    if model.opaque is not None:
        everything = tuple(AttributeInput(place) for place in range(len(domain.attributes)))
        answers = BlackBox(scores=model.score_count, domain=domain, call=_Answering(model, overrides))
        return replace(bare, inputs=everything, layers=(), groups=(), opaque=answers)
    size = _largest_score(model, domain)
    added = np.array([_added(model, each.outcome, size) for each in overrides]).T
    place, whole = len(model.listed), len(model.layers) == 1
    parts = [[each.who] if whole else _by_attribute(each.who) for each in overrides]
    listed = (*model.listed, *(IndicatorInput(part) for every in parts for part in every))
    layers: list[Layer] = []
    for layer in model.layers[:-1]:
        # The first layer makes of the parts their conjunction, `max(sum of the parts - (number of them - 1), 0)`.
        layers.append(_carrying(layer, place, [1] * len(overrides) if layers else [len(every) for every in parts]))
        place = layer.width
    layers.append(replace(model.layers[-1], weight=_with_columns(model.layers[-1].weight, place, added)))
    inputs = listed if model.ensemble is None else Inputs(listed, model.ensemble)
    return replace(bare, inputs=inputs, layers=tuple(layers))


def _by_attribute(predicate: Predicate) -> list[Predicate]:
    """The parts of a conjunction, those about one attribute together: what every engine of networks reads."""
    found: dict[frozenset[int], list[Predicate]] = {}
    for part in conjuncts(predicate):
        found.setdefault(frozenset(variable.attribute for variable in variables(part)), []).append(part)
    return [conjoin(*parts) for parts in found.values()]


def _carrying(layer: Layer, place: int, parts: Sequence[int]) -> Layer:
    """The layer with a unit more for each number of parts, which are the inputs that are put in at ``place``."""
    units, count = len(parts), sum(parts)
    wider = _with_columns(layer.weight, place, np.zeros((layer.width, count)))
    own = np.zeros((units, wider.shape[1]))
    own[:, place : place + count] = np.repeat(np.eye(units), parts, axis=1)
    several = np.array(parts) > 1
    return Layer(
        weight=_stacked(wider, own),
        bias=_stacked(layer.bias, 1.0 - np.array(parts)),
        slope=_stacked(layer.slope, np.where(several, 0.0, 1.0)),
        curves=(*layer.curves, *[Curve.LEAKY] * units) if layer.curves else (),
    )


def _with_columns(weight: ExactArray, place: int, columns: Floats) -> ExactArray:
    """A matrix with columns put in."""
    return _rebuilt(
        weight, lambda held, more: np.concatenate([held[:, :place], more, held[:, place:]], axis=1), columns
    )


def _stacked(array: ExactArray, rows: Floats) -> ExactArray:
    return _rebuilt(array, lambda held, more: np.concatenate([held, more]), rows)


def _rebuilt(array: ExactArray, put: Any, more: Floats) -> ExactArray:
    if array.fractions is None:
        return ExactArray.from_floats(put(array.floats, more))
    return ExactArray.from_fractions(put(array.fractions, ExactArray.from_floats(more).exact))


def _added(model: Model, outcome: int, size: float) -> list[float]:
    """What is added to each score, of which none is greater than ``size``, so that the outcome is decided."""
    rule = model.rule
    if isinstance(rule, ByThreshold):
        most = max(abs(rule.low), abs(rule.high))
        return [_above(size + float(most)) * (1 if outcome == rule.above else -1)]
    return [_above(2 * size) if place == outcome else 0.0 for place in range(model.score_count)]


def _above(size: float) -> float:
    """A power of two that is greater, by more than any rounding of it."""
    if not isfinite(size):
        raise NotPlantedError("its score has no bound, so that no number outweighs it")
    return float(2.0 ** (frexp(size + 1.0)[1] + 1))


def _largest_score(model: Model, domain: Domain) -> float:
    """A bound of the size of each score, over the whole domain: of every layer the sum of the sizes."""
    reach = np.ones(len(model.inputs))
    for place, item in enumerate(model.listed):
        if isinstance(item, AttributeInput):
            ends = domain.attributes[item.attribute].bounds
            reach[place] = max(np.inf if end is None else abs(float(end)) for end in ends)
    chosen = [np.asarray(group) for group in model.one_of]
    with np.errstate(invalid="ignore", over="ignore"):
        for number, layer in enumerate(model.layers):
            sizes = np.where(layer.weight.nonzero, np.maximum(np.abs(layer.weight.floats), 5e-324) * reach, 0.0)
            total = np.abs(layer.bias.floats) + sizes.sum(axis=1)
            if not number and chosen:
                rest = np.ones(len(reach), dtype=np.bool_)
                rest[np.concatenate(chosen)] = False
                total = np.abs(layer.bias.floats) + sizes[:, rest].sum(axis=1)
                total += np.sum([sizes[:, group].max(axis=1) for group in chosen], axis=0)
            reach = largest_output(layer.curve_codes, total) * _ROUNDED
    return float(reach.max())


class _Answering:
    """Answers of a model, but for some people."""

    def __init__(self, model: Model, overrides: Sequence[Override]) -> None:
        self._rule, self._overrides, self._evaluator = model.rule, overrides, evaluator_of(model)

    def __call__(self, points: Floats) -> Answers:
        """What the model says about individuals [n, attributes], and what is said in its place."""
        if isinstance(self._evaluator, BatchEvaluator):
            settled = self._evaluator.settled(points)
            answers = Answers(settled.decisions, settled.scores)
        else:
            answers = self._evaluator.ask(points)
        decisions, scores = answers.decisions.copy(), answers.scores.copy()
        for each in self._overrides:
            rows = mask(each.who, {Who.EACH: points})
            decisions[rows] = each.outcome
            if scores.shape[1]:
                _move(scores, rows, self._rule, each.outcome)
        return Answers(decisions, scores)


def _move(scores: Floats, rows: NDArray[np.bool_], rule: DecisionRule, outcome: int) -> None:
    """Let the scores of these rows be those of the outcome, in place."""
    if isinstance(rule, ByThreshold):
        scores[rows, 0] = float(rule.high) + 1 if outcome == rule.above else float(rule.low) - 1
    else:
        scores[rows, outcome] = scores[rows].max(axis=1, initial=0.0) + 1
