"""A model's layers as arrays: exact contributions to the first layer, one row for each pair of rivals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.remainders import left_out
from fairdsl.ir.ensemble import reads_of
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.exact_rows import Column, ExactRows, Scaled
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below, kept

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ObjectArray = NDArray[Any]
#: Owners of indicators that depend on no attribute, and of inputs that are not indicators or not weighed.
_CONSTANT, _NOBODY = -1, -2


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


def moving_reads(model: Model, sets: Sequence[ValueSet]) -> NDArray[np.bool_]:
    """The attributes that each input depends on, without those of a single value, [inputs, attributes]."""
    moving = np.array([values.count != 1 for values in sets], dtype=np.bool_)
    return np.asarray(reads_of(model.inputs, len(sets)) & moving, dtype=np.bool_)


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
        # Of attributes with a single value that; the others have no say where they are left at zero.
        self._fixed = [(values.low if values.count == 1 else None) or Fraction(0) for values in sets]
        self._leaves = Leaves.of(model)
        # The attribute whose indicator an input is, by the input; of all that are weighed.
        self._owners = np.full(len(model.inputs), _NOBODY, dtype=np.int64)
        self._indicators = self._leaves.others[
            [isinstance(model.inputs[place], IndicatorInput) for place in self._leaves.others.tolist()]
        ]
        self._predicates = [model.inputs[place] for place in self._indicators.tolist()]
        reads = moving_reads(model, sets)
        weighed = (self._weight != 0).any(axis=0)
        for position, item in enumerate(model.listed):
            if weighed[position] and isinstance(item, AttributeInput):
                weighed[position] = False
                self._direct[item.attribute] = self._direct.get(item.attribute, 0) + self._weight[:, position]
        if (reads[weighed].sum(axis=1) > 1).any():
            raise ValueError("an indicator of several attributes has no contribution of each")
        self._owners[weighed] = np.where(reads[weighed].any(axis=1), reads[weighed].argmax(axis=1), _CONSTANT)
        self.bias = self.bias + self._indicated(_CONSTANT, ExactRows.of_columns(self._columns(1), 1))[0]

    def _columns(self, rows: int) -> list[Column]:
        return [Scaled.of_fractions([value]).at(np.zeros(rows, dtype=np.intp)) for value in self._fixed]

    def _indicated(self, owner: int, points: ExactRows) -> ObjectArray:
        """What the indicators of an attribute contribute at points, [points, units]."""
        total: ObjectArray = np.zeros((len(points), self.units), dtype=object)
        for position, item in zip(self._indicators.tolist(), self._predicates, strict=True):
            if self._owners[position] == owner and isinstance(item, IndicatorInput):
                total[mask(item.predicate, {Who.EACH: points})] += self._weight[:, position]
        for reached in self._leaves.reached(points).T:
            own = self._owners[reached] == owner
            total[own] += self._weight.T[reached[own]]
        return total

    def linear(self, attribute: int) -> bool:
        """Whether the contribution is a multiple of the attribute's number."""
        return not (self._owners == attribute).any()

    def slope(self, attribute: int) -> ObjectArray:
        """The contribution of the number 1, [units]; of a linear attribute."""
        column = self._direct.get(attribute)
        return np.zeros(self.units, dtype=object) if column is None else column

    def contributions(self, attribute: int, values: Sequence[int | Fraction]) -> ObjectArray:
        """What each value contributes, [values, units]."""
        listed = np.array([*values, None], dtype=object)[:-1]
        out: ObjectArray = listed[:, None] * self.slope(attribute)[None, :]
        if self.linear(attribute):
            return out
        columns = self._columns(len(values))
        columns[attribute] = Scaled.of_fractions([Fraction(value) for value in values])
        return out + self._indicated(attribute, ExactRows.of_columns(columns, len(values)))

    def floats(self, numerators: ObjectArray) -> Floats:
        """The nearest float64 of each number; of none but zero it is zero, so that what moves a unit can be seen."""
        # Dividing Python integers rounds correctly, as does converting a Fraction.
        listed = numerators.ravel().tolist()
        flat = [self._nearest(value) for value in listed]
        self.rounded = self.rounded or any(
            not self._is(value, found) for value, found in zip(listed, flat, strict=True)
        )
        return np.array(flat, dtype=np.float64).reshape(numerators.shape)

    def left_out(self, numerators: ObjectArray, floats: Floats) -> NDArray[np.int32]:
        """What the floats leave out of the numbers."""
        return left_out(floats, numerators, self._denominator)

    def _nearest(self, value: int | Fraction) -> float:
        found = value / self._denominator if isinstance(value, int) else float(value / self._denominator)
        return kept(found, value)

    def _is(self, value: int | Fraction, found: float) -> bool:
        """Whether the float is the number itself."""
        numerator, denominator = found.as_integer_ratio()
        return value * denominator == numerator * self._denominator
