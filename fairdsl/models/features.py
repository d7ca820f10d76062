"""What a model reads, computed from individuals: exactly for one, in float64 for many, and folded away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.ensemble import Inputs
from fairdsl.ir.expr import Who
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput, Input
from fairdsl.ir.model import Deployed, Layer
from fairdsl.models import exact
from fairdsl.models.binding.early import Bound
from fairdsl.numerics.predicates import holds_for, mask

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Integers up to this size are float16, float32 and float64 numbers.
_EVERY_INTEGER = 2**11


def feature_values(forms: Sequence[Form], point: Point) -> list[Fraction]:
    """Every feature of one individual, exactly."""
    return [_form_value(form, point) for form in forms]


def _form_value(form: Form, point: Point) -> Fraction:
    if not form.constant and len(form.terms) == 1:
        ((item, factor),) = form.terms
        value = _input_value(item, point)
        return value if factor == 1 else factor * value
    return sum((factor * _input_value(item, point) for item, factor in form.terms), form.constant)


def _input_value(item: Input, point: Point) -> Fraction:
    if isinstance(item, AttributeInput):
        return point[item.attribute]
    return Fraction(holds_for(item.predicate, point))


def rounded(value: Fraction, dtype: str) -> float | int:
    """The number of the dtype nearest to ``value`` (integers: the value itself, which must be one)."""
    if not dtype.startswith("float"):
        return int(value)
    if value.denominator == 1 and abs(value.numerator) <= _EVERY_INTEGER:
        return float(value.numerator)
    nearest = float(value)
    if dtype == "float64":
        return nearest
    kind = np.dtype(dtype).type
    guess = kind(nearest)
    # Only where float64 lands halfway between two numbers of the type does it hide which of them is nearer.
    beyond = 2.0 * nearest - float(guess)
    if float(guess) == nearest or float(kind(beyond)) != beyond or Fraction(nearest) == value:
        return float(guess)
    neighbours = [guess, np.nextafter(guess, kind(-np.inf)), np.nextafter(guess, kind(np.inf))]
    return float(min(neighbours, key=lambda x: abs(Fraction(float(x)) - value)))


def feature_matrix(forms: Sequence[Form], points: FloatArray) -> FloatArray:
    """All features of many individuals ([n, attributes] to [n, features]), in float64.

    Attributes read as they are stay exact; forms with arithmetic are rounded by float64 once per step.
    """
    columns: dict[Input, NDArray[Any]] = {}
    out = np.empty((points.shape[0], len(forms)))
    for position, form in enumerate(forms):
        total: NDArray[Any] = np.full(points.shape[0], float(form.constant))
        for item, factor in form.terms:
            if item not in columns:
                columns[item] = _column(item, points)
            total = total + float(factor) * columns[item]
        out[:, position] = total
    return out


def features_open(deployed: Deployed, points: FloatArray) -> BoolArray:
    """Individuals [n] of whom a feature that float64 computes may be another number of the file's type than the exact
    one, rounded once.
    """
    open_ = np.zeros(points.shape[0], dtype=np.bool_)
    computed = [place for place, form in enumerate(deployed.features) if not is_plain(form)]
    if not computed:
        return open_
    rows = feature_matrix(deployed.features, points)
    for feed in deployed.feeds:
        for place in set(computed).intersection(feed.features):
            form = deployed.features[place]
            sizes = [abs(float(factor)) * np.abs(_column(item, points)) for item, factor in form.terms]
            error = (len(sizes) + 2) * 2.0**-52 * (abs(float(form.constant)) + sum(sizes))
            low, high = ((rows[:, place] + off).astype(feed.dtype) for off in (-error, error))
            open_ |= (low != high) | bool(feed.texts)
    return open_


def is_plain(form: Form) -> bool:
    """Whether it is an attribute or indicator as it stands, which float64 does not round."""
    return len(form.terms) == 1 and not form.constant and form.terms[0][1] == 1


def _column(item: Input, points: FloatArray) -> NDArray[Any]:
    if isinstance(item, AttributeInput):
        return points[:, item.attribute]
    return mask(item.predicate, {Who.EACH: points}).astype(np.float64)


def fold(layer: Layer, forms: Sequence[Form], bound: Bound) -> tuple[Sequence[Input], Layer]:
    """The layer over the inputs that the forms speak of, instead of over the forms themselves.

    The layer reads the forms and then the units of ``bound``. The inputs come in the order in which the forms first
    name them, then those indicators whose truth is not known, then the leaves of trees; all arithmetic is exact.
    """
    inputs = tuple(dict.fromkeys(item for form in forms for item, _ in form.terms))
    undecided = [(place, unit) for place, unit in bound.indicators if not isinstance(unit, bool)]
    weight = layer.weight.floats if layer.weight.is_float else layer.weight.exact
    read, units = weight[:, : len(forms)], weight[:, len(forms) :]
    bias = layer.bias.floats if layer.bias.is_float else layer.bias.exact
    if tuple(forms) != tuple(Form.of(item) for item in inputs):
        read, bias = _over(inputs, forms, read, bias)
    for place in [*(place for place, unit in bound.indicators if unit is True), *bound.always.tolist()]:
        bias = exact.add(bias, units[:, place])
    parts = [read, units[:, [place for place, _ in undecided]], units[:, bound.leaves]]
    if not all(exact.is_float(part) for part in parts):
        parts = [exact.to_fractions(part) for part in parts]
    folded = exact.to_exact_array(np.concatenate(parts, axis=1))
    layer = replace(layer, weight=folded, bias=exact.to_exact_array(bias))
    listed = (*inputs, *(IndicatorInput(unit) for _, unit in undecided))
    return (listed if bound.ensemble is None else Inputs(listed, bound.ensemble)), layer


def _over(
    inputs: Sequence[Input], forms: Sequence[Form], weight: exact.Array, bias: exact.Array
) -> tuple[exact.Array, exact.Array]:
    """Weights of the forms as weights of the inputs that they speak of, and the bias with the forms' constants."""
    place = {item: position for position, item in enumerate(inputs)}
    columns: list[exact.Array] = [exact.zeros((len(weight),)) for _ in inputs]
    for position, form in enumerate(forms):
        column = weight[:, position]
        for item, factor in form.terms:
            columns[place[item]] = exact.add(columns[place[item]], _times(column, factor))
        if form.constant:
            bias = exact.add(bias, _times(column, form.constant))
    if not all(exact.is_float(column) for column in columns):
        columns = [exact.to_fractions(column) for column in columns]
    return np.stack(columns, axis=1) if columns else exact.zeros((len(weight), 0)), bias


def _times(column: exact.Array, factor: Fraction) -> exact.Array:
    if factor == 1:
        return column
    return exact.multiply(column, exact.from_rationals(np.array([factor], dtype=object)))
