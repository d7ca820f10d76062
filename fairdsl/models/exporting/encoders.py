"""Encoders of texts that skl2onnx does not write: seldom categories as one, and those who have none with a code.

A category that nobody had in the training counts as scikit-learn counts it: as a seldom one, by a code of its own, or
as none of them. Where scikit-learn fails for it, so does the one-hot encoder of a file, and ordinals have the code -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fairdsl.models.exporting.nodes import Nodes


def is_text(values: Any) -> bool:
    """Whether there is a text among the values."""
    listed = np.asarray(values)
    return listed.dtype.kind in "OU" and any(isinstance(each, str) for each in listed.ravel())


def has_nan(values: Any) -> bool:
    """Whether NaN or None is among the values."""
    return any(each is None or each != each for each in np.asarray(values, dtype=object).ravel())


def encodes_otherwise(encoder: Any) -> bool:
    """Whether it was fitted on texts, and does what skl2onnx does not write."""
    columns = getattr(encoder, "categories_", ())
    if not len(columns) or not all(map(is_text, columns)):
        return False
    return getattr(encoder, "_infrequent_enabled", False) or (
        type(encoder).__name__ == "OrdinalEncoder" and any(map(has_nan, columns))
    )


def width_of_codes(encoder: Any) -> int:
    """How many columns come out."""
    if not hasattr(encoder, "drop"):
        return len(encoder.categories_)
    return sum(matrix.shape[1] for _, matrix, _ in _columns_of(encoder))


def ordinals(scope: Any, operator: Any, container: Any) -> None:
    """A code a column: that of the category, of all seldom ones, of those who have none, or of who is not known."""
    nodes, encoder = Nodes(scope, container), operator.raw_operator
    codes = []
    for place, (column, values) in enumerate(zip(_columns(nodes, operator), encoder.categories_, strict=True)):
        # None is a category like any; of NaN alone it is told which code it has.
        lacking = encoder._missing_indices.get(place, -1)
        merged = _merged(encoder, place, len(values))
        listed = [encoder.encoded_missing_value if code == lacking else code for code in merged]
        unknown = -1 if encoder.unknown_value is None else encoder.unknown_value
        codes.append(
            nodes.add(
                "LabelEncoder",
                [column],
                keys_strings=_names(values),
                values_floats=[float(code) for code in listed],
                default_float=float(unknown),
            )
        )
    nodes.add("Concat", codes, operator.outputs[0].full_name, axis=1)


def one_hot(scope: Any, operator: Any, container: Any) -> None:
    """A column for each frequent category, and one for all others."""
    nodes, encoder, hot = Nodes(scope, container), operator.raw_operator, list[str]()
    zeros = int(encoder.handle_unknown != "error")
    for column, (names, matrix, rest) in zip(_columns(nodes, operator), _columns_of(encoder), strict=True):
        spread = nodes.add("OneHotEncoder", [column], cats_strings=names, zeros=zeros)
        known = nodes.add("Reshape", [spread, nodes.stored(np.array([-1, len(names)]))])
        hot.append(nodes.add("Add", [nodes.add("MatMul", [known, nodes.stored(matrix)]), nodes.stored(rest[None, :])]))
    nodes.add("Concat", hot, operator.outputs[0].full_name, axis=1)


def _columns_of(encoder: Any) -> Iterator[tuple[list[str], Any, Any]]:
    """Of each column the categories, what each adds to the columns that come out, and what nobody known has there."""
    for place, values in enumerate(encoder.categories_):
        merged = _merged(encoder, place, len(values))
        seldom = encoder._infrequent_indices[place]
        rest = np.zeros(max(merged) + 1)
        if seldom is not None and encoder.handle_unknown in ("infrequent_if_exist", "warn"):
            rest[-1] = 1.0
        matrix = np.eye(len(rest))[merged] - rest
        dropped = None if encoder._drop_idx_after_grouping is None else encoder._drop_idx_after_grouping[place]
        if dropped is not None:
            matrix, rest = np.delete(matrix, int(dropped), axis=1), np.delete(rest, int(dropped))
        yield _names(values), matrix, rest


def _merged(encoder: Any, place: int, count: int) -> list[int]:
    """The code of each category of a column, all seldom ones having the last."""
    if not getattr(encoder, "_infrequent_enabled", False):
        return list(range(count))
    mapping = encoder._default_to_infrequent_mappings[place]
    if mapping is None:
        return list(range(count))
    # Of ordinals NaN, which comes last, is counted among no category.
    return [*map(int, mapping), *range(len(mapping), count)]


def _names(values: Any) -> list[str]:
    return ["" if has_nan([value]) else str(value) for value in values]


def _columns(nodes: Nodes, operator: Any) -> Iterator[str]:
    """The columns one by one, each [n, 1]."""
    for given in operator.inputs:
        wide = given.type.shape[1]
        for place in range(wide):
            if wide == 1:
                yield given.full_name
            else:
                yield nodes.add("ArrayFeatureExtractor", [given.full_name, nodes.stored(np.array([place]))])
