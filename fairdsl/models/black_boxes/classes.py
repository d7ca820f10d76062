"""The classes of a file that is only run: by the names in it, and by what it answers about a few individuals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.declaration import Label
from fairdsl.models.black_boxes.reading import Kind, kind_of
from fairdsl.models.classes.known import Classes
from fairdsl.models.onnx_import.signature import Signature

#: Orders of more columns than this are not tried.
_MOST_ORDERED = 5

#: All outputs of the file about one individual, [1, columns] each.
Outputs = Mapping[str, NDArray[Any]]


def label_outputs(outputs: Outputs) -> list[str]:
    """The outputs that hold one whole number or text for each individual."""
    return [
        n for n, output in outputs.items() if output.shape[1] == 1 and kind_of(output) in (Kind.CLASSES, Kind.TEXTS)
    ]


def known_classes(name: str, signature: Signature, tried: Sequence[Outputs]) -> Classes:
    """What is known of the classes of an output: of a label its labels, of several columns which class each is of.

    Of one number it is the label that comes with high ones.

    Columns have the names of a ZipMap, or those of the label beside them, in the order in which its own columns are the
    highest; none at all where that is not clear.
    """
    columns = tried[0][name].shape[1] if tried else 1
    labels = label_outputs(tried[0]) if tried else []
    if name in labels:
        return _labels(name, signature, tried)
    if columns < 2:
        rising = _rising(_labels(labels[0], signature, tried), labels[0], name, tried) if labels else ()
        return Classes(name, rising, named=bool(rising))
    names = signature.columns.get(name, ())
    if names or not labels:
        return Classes.of_columns(name, names, columns)
    beside = _labels(labels[0], signature, tried)
    order = _order(beside, [row[labels[0]][0, 0] for row in tried], [row[name][0] for row in tried])
    return Classes(name, order, columns=True)


def _labels(name: str, signature: Signature, tried: Sequence[Outputs]) -> Classes:
    """The labels of an output: the list in the file that has all that were met, or else those that were met."""
    met = sorted({_label(row[name][0, 0]) for row in tried}, key=str)
    listed = next((labels for labels in signature.labels if {*met} <= {*labels}), None)
    if listed is not None:
        return Classes(name, listed)
    return Classes(name, tuple(met), complete=False)


def _label(value: Any) -> Label:
    return value if isinstance(value, str) else int(value)


def _order(beside: Classes, labels: Iterable[Any], columns: Sequence[NDArray[Any]]) -> tuple[Label, ...]:
    """The labels in the order of the columns; none where it is not clear.

    The order in which the file lists them is taken unless the numbers contradict it: of two columns, that of a label is
    higher where the label is given than where it is not.
    """
    known, met = beside.labels, [_label(value) for value in labels]
    if len(known) != len(columns[0]) or len(known) > _MOST_ORDERED:
        return ()
    if len(known) == 2 and len({*met}) == 2:
        gap = _gap(known[1], met, [float(row[1]) - float(row[0]) for row in columns])
        return () if not gap else known if gap > 0 else known[::-1]
    fitting = [
        order
        for order in permutations(known)
        if all(row[order.index(label)] == row.max() for label, row in zip(met, columns, strict=True))
    ]
    if known in fitting and beside.complete:
        return known
    return fitting[0] if len(fitting) == 1 else ()


def _rising(beside: Classes, label: str, name: str, tried: Sequence[Outputs]) -> tuple[Label, ...]:
    """The one of two labels that comes with higher numbers of an output; none where that is not clear."""
    met = [_label(row[label][0, 0]) for row in tried]
    if len(beside.labels) != 2 or len({*met}) != 2 or kind_of(tried[0][name]) is not Kind.NUMBERS:
        return ()
    gap = _gap(beside.labels[1], met, [float(row[name][0, 0]) for row in tried])
    return (beside.labels[1 if gap > 0 else 0],) if gap else ()


def _gap(label: Label, met: Sequence[Label], numbers: Sequence[float]) -> float:
    """By how much numbers are higher, on average, where the label is given than where it is not."""
    given = np.array([each == label for each in met])
    return float(np.mean(np.array(numbers)[given]) - np.mean(np.array(numbers)[~given]))
