"""Models as documents and arrays, all of it exact: numbers that are float64 are kept as such, others as text, ``p/q``.

Whoever reads them follows what they say without looking, so it is looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.ensemble import RELATIONS, Ensemble, Inputs, attributes_of
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Predicate, Variable, Who, variables
from fairdsl.ir.feature import Input
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, Layer, Model
from fairdsl.ir.tree_shape import TreeShape

Arrays = Mapping[str, NDArray[Any]]

_NUMBER = re.compile(rb"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenModel:
    """The model; the arrays ``weight/N``, ``bias/N``, ``slope/N`` are its layers, those of ``tree/`` its trees."""

    #: Its name in the spec.
    name: str
    #: The digest of the file that it was read from.
    sha256: str | None
    #: What it decides for.
    outcomes: tuple[str, ...]
    #: What the first layer reads, the leaves of trees left out.
    inputs: tuple[Input, ...]
    #: Of which inputs exactly one is 1.
    groups: tuple[tuple[int, ...], ...]
    #: What the units of each layer compute; nothing where all are piecewise linear.
    curves: tuple[tuple[Curve, ...], ...]
    #: How scores become decisions.
    rule: ByThreshold | ByHighest
    #: What trees test that is not a comparison of one attribute with a number; null: there are no trees.
    tests: tuple[Predicate, ...] | None


def written_model(model: Model) -> tuple[WrittenModel, dict[str, NDArray[Any]]]:
    """The document, and the arrays beside it."""
    arrays: dict[str, NDArray[Any]] = {}
    for place, layer in enumerate(model.layers):
        arrays |= {f"{name}/{place}": numbers_of(getattr(layer, name)) for name in ("weight", "bias", "slope")}
    if (trees := model.ensemble) is not None:
        arrays |= {f"tree/{name}": getattr(trees.shape, name) for name in ("roots", "yes", "no")}
        arrays |= {"tree/columns": trees.columns, "tree/relations": trees.relations}
        arrays["tree/thresholds"] = numbers_of(trees.thresholds)
    return WrittenModel(
        name=model.name,
        sha256=model.sha256,
        outcomes=model.outcomes,
        inputs=tuple(model.listed),
        groups=model.groups,
        curves=tuple(layer.curves for layer in model.layers),
        rule=model.rule,
        tests=None if trees is None else trees.tests,
    ), arrays


def numbers_of(array: ExactArray) -> NDArray[Any]:
    """Exact numbers as float64, or as text where one of them is none."""
    if array.is_float:
        return array.floats
    text = ["/".join(map(str, number.as_integer_ratio())) for number in array.exact.ravel().tolist()]
    return np.array(text, dtype=np.bytes_).reshape(array.shape)


def model_from(said: WrittenModel, arrays: Arrays, given: int) -> Model:
    """The model; ValueError for what does not fit together, KeyError where an array is missing."""
    inputs: Sequence[Input] = said.inputs
    demand(all(0 <= column < given for item in inputs for column in attributes_of(item)), "an input is not there")
    if said.tests is not None:
        check_read(given, (variable for test in said.tests for variable in variables(test)))
        inputs = Inputs(said.inputs, _trees(said.tests, arrays, given))
    layers, below = list[Layer](), len(inputs)
    for place, curves in enumerate(said.curves):
        weight, bias, slope = (exact_in(arrays, f"{name}/{place}") for name in ("weight", "bias", "slope"))
        demand(len(weight.shape) == 2 and weight.shape[1] == below, "layers do not fit together")
        demand(bias.shape == slope.shape == weight.shape[:1], "layers do not fit together")
        demand(all(0 <= each <= 1 for each in slope.exact.tolist()), "a slope is not between 0 and 1")
        layers.append(Layer(weight=weight, bias=bias, slope=slope, curves=curves))
        below = weight.shape[0]
    demand(bool(layers) and below > 0 and bool(layers[-1].linear.all()), "the scores are not linear")
    places = [place for group in said.groups for place in group]
    demand(len(set(places)) == len(places), "an input is in two groups")
    demand(all(0 <= place < len(said.inputs) for place in places), "an input is not there")
    outcomes = range(len(said.outcomes))
    match said.rule:
        case ByThreshold(low=low, high=high, granted=granted, otherwise=otherwise):
            demand(below == 1 and low <= high, "the rule is not about its scores")
            demand(granted in outcomes and otherwise in outcomes and granted != otherwise, "an outcome is not there")
        case ByHighest(slack=slack):
            demand(below == len(outcomes) and not slack, "the rule is not about its scores")
    return Model(
        name=said.name,
        outcomes=said.outcomes,
        inputs=inputs,
        layers=tuple(layers),
        rule=said.rule,
        favourable=0,
        sha256=said.sha256,
        groups=said.groups,
    )


def _trees(tests: tuple[Predicate, ...], arrays: Arrays, given: int) -> Ensemble:
    roots, yes, no, columns, relations = (
        whole_in(arrays, f"tree/{name}", 1) for name in ("roots", "yes", "no", "columns", "relations")
    )
    nodes = np.arange(len(yes))
    demand(len(no) == len(columns) == len(relations) == len(nodes) > 0, "nodes of trees are missing")
    inner = yes != nodes
    forward = (yes > nodes) & (no > nodes) & (yes < len(nodes)) & (no < len(nodes))
    demand(bool(np.where(inner, forward, (yes == nodes) & (no == nodes)).all()), "a node follows a later one")
    below = np.sort(np.concatenate([roots, yes[inner], no[inner]]))
    demand(np.array_equal(below, nodes), "a node is reached twice, or never")
    demand(np.array_equal(TreeShape.in_order(roots, yes, no)[1], nodes), "nodes of trees are in another order")
    inside = (columns >= -len(tests)) & (columns < given) & (relations >= 0) & (relations < len(RELATIONS))
    demand(bool(inside[inner].all()), "a test is not there")
    thresholds = exact_in(arrays, "tree/thresholds")
    demand(thresholds.shape == nodes.shape, "nodes of trees are missing")
    return Ensemble(
        shape=TreeShape(roots, yes, no),
        columns=columns,
        relations=relations.astype(np.int8),
        thresholds=thresholds,
        tests=tests,
    )


def check_read(given: int, read: Iterable[Variable]) -> None:
    """ValueError where a condition on one individual reads what is not there."""
    fits = all(0 <= each.attribute < given and each.who is Who.EACH for each in read)
    demand(fits, "a condition is about an attribute that is not there")


def whole_in(arrays: Arrays, name: str, dimensions: int) -> NDArray[np.int64]:
    """An array of whole numbers; ValueError where it is none."""
    array = arrays[name]
    demand(array.ndim == dimensions and array.dtype.kind in "iu", f"`{name}` is not of whole numbers")
    return array.astype(np.int64)


def exact_in(arrays: Arrays, name: str) -> ExactArray:
    """An array of exact numbers; ValueError where it is none."""
    array = arrays[name]
    if array.dtype == np.float64:
        demand(bool(np.isfinite(array).all()), f"`{name}` is not of numbers")
        return ExactArray.from_floats(array)
    texts = array.ravel().tolist() if array.dtype.kind == "S" else [b""]
    demand(all(map(_NUMBER.fullmatch, texts)), f"`{name}` is not of numbers")
    try:
        numbers = np.array([Fraction(text.decode()) for text in texts], dtype=object)
    except ZeroDivisionError as error:
        raise ValueError(f"`{name}` is not of numbers") from error
    return ExactArray.from_fractions(numbers.reshape(array.shape))


def demand(fits: bool, otherwise: str) -> None:
    """ValueError unless it fits."""
    if not fits:
        raise ValueError(otherwise)
