"""Operators of ai.onnx.ml that prepare features: codes, thresholds and tables as indicators of what is filled in.

They are not continuous, so they are read where they stand before all units of a network: over graph inputs, and
what is affine in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod

import numpy as np

from fairdsl.diagnostics.wording import listed
from fairdsl.ir.expr import Relation
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Comparison, Indicators, Lookup, Whole, apply, stack, take
from fairdsl.models.binding.absent import filled, marks_of
from fairdsl.models.graph import MISSING
from fairdsl.models.onnx_import.arithmetic import plus
from fairdsl.models.onnx_import.chosen import slopes
from fairdsl.models.onnx_import.labels import mapped
from fairdsl.models.onnx_import.shaping import joined
from fairdsl.models.onnx_import.values import (
    TEXT,
    Constant,
    Handlers,
    Labelled,
    NodeCall,
    Softmaxed,
    Text,
    UnreadableError,
    Value,
)
from fairdsl.models.onnx_import.written import above

_ML = "ai.onnx.ml"
#: So many categories are named in a remedy at most.
_LISTED = 8

_Entry = int | float | str


def _binarizer(call: NodeCall) -> Value:
    """``1 where x > threshold``: of one score the class of an output, of several numbers an indicator each."""
    value = call.affine(0)
    threshold = Fraction(call.number("threshold", 0.0))
    if value.size == 1:
        chosen = above(call, value, threshold, (0, 1))
        return Labelled(chosen.scores, chosen.labels, value.shape, "float32")
    tests = [Comparison(i, Relation.GT, threshold) for i in range(value.size)]
    return _indicators(call, _early(call), tests, value.shape)


def _one_hot_encoder(call: NodeCall) -> Value:
    """One indicator a category, along a new last axis; an unknown category has none.

    Numbers are cast to integers before they are looked up, so they have to be whole; with ``zeros`` 0, as
    scikit-learn's encoder is exported unless it is to ignore unknown categories, each has to be a category.
    """
    given = call.value(0)
    categories = call.attribute("cats_strings" if isinstance(given, Text) else "cats_int64s", None)
    if categories is None:
        raise UnreadableError("its categories are of another type than what it is given")
    if isinstance(given, Text):
        if not call.attribute("zeros", 1):
            _check_known(given, categories)
        _look_up(call, given.codes, categories, given.texts)
        rows = [_where(call, given, category) for category in categories]
        return _across(call, rows, given.shape)
    value = _early(call)
    _look_up(call, value, categories)
    listed = None if call.attribute("zeros", 1) else frozenset(int(code) for code in categories)
    fails = "it fails for unknown categories (`zeros` is 0)"
    call.basis.whole.append(Whole(call.node.operator, call.node.where, value, listed, fails))
    tests = [Comparison(i, Relation.EQ, Fraction(code)) for i in range(value.size) for code in categories]
    return _indicators(call, value, tests, (*value.shape, len(categories)))


def _check_known(given: Text, categories: Sequence[str]) -> None:
    unknown = sorted({text for table in given.texts for text in table.values()} - set(categories))
    if unknown:
        raise UnreadableError(
            f"it fails for unknown categories (`zeros` is 0), and `{unknown[0]}` may be filled in",
            f"declare only values that the model was trained on, {listed(categories, _LISTED)}, or train with "
            "`handle_unknown='ignore'`",
        )


def _look_up(
    call: NodeCall, given: Affine, known: Iterable[_Entry], texts: Sequence[Mapping[int, str]] | None = None
) -> None:
    """Note what is looked up as it is given, for who binds the file to tell what it does not know."""
    listed_ones, basis = frozenset(entry for entry in known if not isinstance(entry, float)), call.basis
    if listed_ones <= {MISSING}:  # whether a text is missing is asked
        return
    for element, slope in enumerate(slopes(given)):
        if len(slope) == 1 and slope[0][1] == 1 and not given.bias[element] and basis.blocks[slope[0][0][0]].given:
            ((block, unit),) = (place for place, _ in slope)
            texts_of_it = None if texts is None else texts[element]
            basis.lookups.append(Lookup(sum(map(basis.width, range(block))) + unit, texts_of_it, listed_ones))


def _where(call: NodeCall, given: Text, text: str) -> Affine:
    """For each element whether it is this text: 1, else 0."""
    tests, rows = [], []
    for element, table in enumerate(given.texts):
        for code, name in table.items():
            if name == text:
                rows.append(element)
                tests.append(Comparison(element, Relation.EQ, Fraction(code)))
    size = len(given.texts)
    if not tests:
        return Affine.constant(np.zeros(size))
    units = _indicators(call, given.codes, tests, (len(tests),))
    matrix = np.zeros((size, len(tests)))
    matrix[rows, np.arange(len(tests))] = 1.0
    return apply(matrix, units, (size,), call.basis)


def _across(call: NodeCall, columns: Sequence[Affine], shape: tuple[int, ...]) -> Affine:
    """Vectors of one size as the last axis of a tensor."""
    size, width = prod(shape), len(columns)
    positions = np.arange(size * width, dtype=np.int64).reshape(width, size).T.reshape(*shape, width)
    return take(stack(columns, call.basis), positions)


def _label_encoder(call: NodeCall) -> Value:
    """A table: the value of the key that was filled in, a default for all others."""
    keys, values, default = _table(call)
    chosen = call.value(0)
    if isinstance(chosen, Labelled):
        return _other_labels(call, chosen, keys, values, default)
    if isinstance(chosen, Constant):
        return _of_stored(chosen, keys, values, default)
    if isinstance(chosen, Text):
        return _of_text(call, chosen, keys, values, default)
    value = _early(call)
    if any(isinstance(entry, str) for entry in (*keys, *values, default)):
        raise UnreadableError("its table holds text")
    if len(set(keys)) != len(keys):
        raise UnreadableError("its table has a key twice")
    _check_numbers((*keys, *values, default))
    _look_up(call, value, [int(key) for key in keys if key == int(key)])
    codes = [Fraction(key) for key in keys]
    tests = [Comparison(i, Relation.EQ, code) for i in range(value.size) for code in codes]
    units = _indicators(call, value, tests, (value.size * len(codes),))
    steps = [Fraction(entry) - Fraction(default) for entry in values]
    matrix = np.full((value.size, units.size), Fraction(0), dtype=object)
    for row in range(value.size):
        matrix[row, row * len(codes) : (row + 1) * len(codes)] = steps
    found = apply(exact.from_rationals(matrix), units, value.shape, call.basis)
    return plus(call, found, Affine.constant(exact.from_rationals(np.array([Fraction(default)], dtype=object))))


def _of_stored(given: Constant, keys: Sequence[_Entry], values: Sequence[_Entry], default: _Entry) -> Constant:
    """What a table says of what lies in the file."""
    table = dict(zip(keys[::-1], values[::-1], strict=True))
    found = [table.get(entry, default) for entry in given.array.reshape(-1).tolist()]
    text = isinstance(default, str)
    return Constant(np.array(found, dtype=object if text else None).reshape(given.shape), text)


def _of_text(call: NodeCall, given: Text, keys: Sequence[_Entry], values: Sequence[_Entry], default: _Entry) -> Value:
    """The entry of the text that was filled in: other text, or a number."""
    if "keys_strings" not in call.node.attributes or len(set(keys)) != len(keys):
        raise UnreadableError("its keys are not texts, or one is there twice")
    table = dict(zip(keys, values, strict=True))
    found = [{code: table.get(text, default) for code, text in texts.items()} for texts in given.texts]
    if isinstance(default, str):
        return Text(given.codes, tuple({code: str(entry) for code, entry in texts.items()} for texts in found))
    _check_numbers([entry for entries in found for entry in entries.values()])
    _look_up(call, given.codes, keys, given.texts)
    tests = [
        Comparison(element, Relation.EQ, Fraction(code))
        for element, entries in enumerate(found)
        for code, entry in entries.items()
        if Fraction(entry) != 0
    ]
    if not tests:
        return Constant(np.zeros(given.shape))
    units = _indicators(call, given.codes, tests, (len(tests),))
    matrix = np.full((len(found), len(tests)), Fraction(0), dtype=object)
    for place, test in enumerate(tests):
        matrix[test.feature, place] = Fraction(found[test.feature][int(test.threshold)])
    return apply(exact.from_rationals(matrix), units, given.shape, call.basis)


def _check_numbers(entries: Iterable[_Entry]) -> None:
    """Raises UnreadableError where one of them is NaN: that stands for no number, and a table's is not a gap."""
    if not all(np.isfinite(entry) for entry in entries if not isinstance(entry, str)):
        raise UnreadableError(
            "it gives somebody NaN for a code",
            "encode who has no category, or an unknown one, by a number: `encoded_missing_value=-1`",
        )


def _other_labels(
    call: NodeCall, chosen: Labelled, keys: Sequence[_Entry], values: Sequence[_Entry], default: _Entry
) -> Labelled:
    """The class under the labels of the table."""
    kinds = {"keys_int64s": "int64", "keys_floats": "float32", "keys_strings": TEXT}
    if any(name in call.node.attributes and chosen.dtype != kind for name, kind in kinds.items()):
        raise UnreadableError("its keys are of another type than the classes")
    if len(set(keys)) != len(keys):
        raise UnreadableError("its table has a key twice")
    table = dict(zip(keys, values, strict=True))
    labels = [table.get(label, default) for label in chosen.labels]
    kind = "float32" if "values_floats" in call.node.attributes else "int64"
    return mapped(call, chosen, labels, TEXT if isinstance(default, str) else kind)


def _table(call: NodeCall) -> tuple[Sequence[_Entry], Sequence[_Entry], _Entry]:
    """Keys, values and default of a LabelEncoder."""
    kinds = (("int64s", "int64", -1), ("floats", "float", 0.0), ("strings", "string", "_Unused"))
    keys = next((found for kind, _, _ in kinds if (found := call.attribute(f"keys_{kind}", None)) is not None), None)
    for kind, single, usual in kinds:
        values = call.attribute(f"values_{kind}", None)
        if values is not None and keys is not None:
            return keys, values, call.attribute(f"default_{single}", usual)
    raise UnreadableError("its table is not given by lists of keys and values")


def _feature_vectorizer(call: NodeCall) -> Value:
    """All inputs side by side."""
    values = [call.affine(i) for i in range(len(call.inputs))]
    rows = [take(value, np.arange(value.size, dtype=np.int64)[None, :]) for value in values]
    return joined(call, rows, 1)


def _imputer(call: NodeCall) -> Value:
    """What is missing gets a number; where nothing is, an imputer that replaces NaN changes nothing."""
    replaced = call.attribute("replaced_value_float", None)
    if replaced is None or not np.isnan(replaced):
        raise UnreadableError("it replaces a number by another one", "declare the attribute without this number")
    value = call.value(0)
    numbers = call.attribute("imputed_value_floats", None)
    if not isinstance(value, Affine) or not marks_of(call.basis, value).any():
        return value
    if numbers is None or value.size % len(numbers) or not np.isfinite(numbers).all():
        raise UnreadableError("it does not say which numbers are filled in")
    return _without_missing(call, value, [Fraction(float(number)) for number in numbers] * (value.size // len(numbers)))


def _without_missing(call: NodeCall, value: Affine, numbers: Sequence[Fraction]) -> Affine:
    try:
        return filled(call.basis, value, numbers)
    except ValueError as problem:
        raise UnreadableError(f"it reads {problem}") from problem


def _normalizer(call: NodeCall) -> Value:
    """Probabilities that sum to 1 stay what they are when divided by their sum."""
    value = call.value(0)
    if isinstance(value, Softmaxed) and call.attribute("norm", "MAX") == "L1":
        return value
    raise UnreadableError(
        "it divides by a norm of the individual's own numbers",
        "train on features that are scaled one by one, with StandardScaler or MinMaxScaler",
    )


def _early(call: NodeCall) -> Affine:
    value = call.affine(0)
    if not call.basis.early(value):
        raise UnreadableError("it encodes a number that units of a network compute")
    return value


def _indicators(call: NodeCall, value: Affine, tests: Sequence[Comparison], shape: tuple[int, ...]) -> Affine:
    """An indicator a test."""
    found = call.basis.indicate(Indicators(call.node.operator, call.node.where, value, tuple(tests)))
    return take(found, np.arange(len(tests), dtype=np.int64).reshape(shape))


HANDLERS: Handlers = {
    (_ML, "Binarizer"): _binarizer,
    (_ML, "OneHotEncoder"): _one_hot_encoder,
    (_ML, "LabelEncoder"): _label_encoder,
    (_ML, "FeatureVectorizer"): _feature_vectorizer,
    (_ML, "Imputer"): _imputer,
    (_ML, "Normalizer"): _normalizer,
}
