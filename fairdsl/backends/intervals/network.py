"""A model's layers as arrays: exact contributions to the first layer, one row for each pair of rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Predicate, Relation, variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.predicates import holds_for
from fairdsl.numerics.rounding import float_above, float_below, kept

__all__ = ["Decision", "FirstLayer", "decision_of", "indicated"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ObjectArray = NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """The last layer as one row for each pair of rival outcomes, see :class:`~.task.Task`."""

    layer: Layer
    rivals: Integers
    margin: Floats
    strict: bool


def decision_of(model: Model) -> Decision:
    """Rows whose signs decide: the score minus its threshold, or differences of scores.

    ``score < t`` is the complement of ``score >= t``, and whoever gets which outcome does not matter for
    whether two individuals get the same one.
    """
    last, rule = model.layers[-1], model.rule
    weight, bias = last.weight.exact, last.bias.exact
    if isinstance(rule, ByThreshold):
        middle = (rule.low + rule.high) / 2
        open_by = [float_below(middle - rule.high), float_above(middle - rule.low)]
        rows, offsets = weight, bias - middle
        rivals, margin = [(1, 0)], np.array([open_by]) + 0.0
        strict = rule.relation in (Relation.GT, Relation.LE)
    else:
        rivals = list(combinations(range(model.score_count), 2))
        rows = np.array([weight[i] - weight[j] for i, j in rivals], dtype=object).reshape(len(rivals), -1)
        offsets = np.array([bias[i] - bias[j] for i, j in rivals], dtype=object)
        margin = np.zeros((len(rivals), 2))
        strict = False  # the lower index wins a tie
    layer = Layer(
        weight=ExactArray.from_fractions(rows),
        bias=ExactArray.from_fractions(offsets),
        slope=ExactArray.from_floats(np.ones(len(rivals))),
    )
    return Decision(layer=layer, rivals=np.array(rivals, dtype=np.int64), margin=margin, strict=strict)


def indicated(predicate: Predicate, sets: Sequence[ValueSet]) -> frozenset[int]:
    """The attributes on which an indicator depends, apart from those with a single value."""
    return frozenset(v.attribute for v in variables(predicate) if sets[v.attribute].count != 1)


class FirstLayer:
    """What each attribute contributes to the first layer's units, exactly: numerators over one denominator."""

    def __init__(self, model: Model, layer: Layer, sets: Sequence[ValueSet]) -> None:
        weight, weight_denominator = layer.weight.scaled
        bias, bias_denominator = layer.bias.scaled
        self._weight, self._denominator = weight * bias_denominator, weight_denominator * bias_denominator
        #: The constant part.
        self.bias: ObjectArray = bias * weight_denominator
        self.units = layer.width
        #: Whether some number that :meth:`floats` returned is not the exact one.
        self.rounded = False
        self._direct: dict[int, ObjectArray] = {}
        self._indicators: dict[int, list[tuple[Predicate, int]]] = {}
        self._single = {
            index: values.low for index, values in enumerate(sets) if values.count == 1 and values.low is not None
        }
        for position, item in enumerate(model.inputs):
            if not any(self._weight[:, position]):
                continue
            match item:
                case AttributeInput(attribute):
                    column = self._weight[:, position]
                    self._direct[attribute] = self._direct.get(attribute, 0) + column
                case IndicatorInput(predicate):
                    self._add_indicator(predicate, position, sets)

    def _add_indicator(self, predicate: Predicate, position: int, sets: Sequence[ValueSet]) -> None:
        on = sorted(indicated(predicate, sets))
        if len(on) > 1:
            raise ValueError("an indicator of several attributes has no contribution of each")
        if on:
            self._indicators.setdefault(on[0], []).append((predicate, position))
        elif holds_for(predicate, self._point({})):
            self.bias = self.bias + self._weight[:, position]

    def _point(self, values: dict[int, Fraction]) -> tuple[Fraction, ...]:
        """An individual with the values of single-valued attributes and these; zeros elsewhere."""
        known = self._single | values
        return tuple(known.get(index, Fraction(0)) for index in range(1 + max(known, default=-1)))

    def linear(self, attribute: int) -> bool:
        """Whether the contribution is a multiple of the attribute's number."""
        return attribute not in self._indicators

    def slope(self, attribute: int) -> ObjectArray:
        """The contribution of the number 1, [units]; of a linear attribute."""
        column = self._direct.get(attribute)
        return np.zeros(self.units, dtype=object) if column is None else column

    def contributions(self, attribute: int, values: Sequence[int | Fraction]) -> ObjectArray:
        """What each value contributes, [values, units]."""
        listed = np.array([*values, None], dtype=object)[:-1]
        out: ObjectArray = listed[:, None] * self.slope(attribute)[None, :]
        for predicate, position in self._indicators.get(attribute, ()):
            holding = [holds_for(predicate, self._point({attribute: Fraction(value)})) for value in values]
            out[np.array(holding, dtype=np.bool_)] += self._weight[:, position]
        return out

    def floats(self, numerators: ObjectArray) -> Floats:
        """The nearest float64 of each number; of none but zero it is zero, so that what moves a unit can be seen."""
        # Dividing Python integers rounds correctly, as does converting a Fraction.
        listed = numerators.ravel().tolist()
        flat = [self._nearest(value) for value in listed]
        self.rounded = self.rounded or any(
            not self._is(value, found) for value, found in zip(listed, flat, strict=True)
        )
        return np.array(flat, dtype=np.float64).reshape(numerators.shape)

    def _nearest(self, value: int | Fraction) -> float:
        found = value / self._denominator if isinstance(value, int) else float(value / self._denominator)
        return kept(found, value)

    def _is(self, value: int | Fraction, found: float) -> bool:
        """Whether the float is the number itself."""
        numerator, denominator = found.as_integer_ratio()
        return value * denominator == numerator * self._denominator
