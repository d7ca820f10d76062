"""What operators make of a class that was chosen: its label is mapped, and the class stays the same.

Two classes whose labels a map makes equal are one class from there on, whose score is the higher one of theirs. All
labels go through :func:`mapped`, which follows that exactly or refuses, so no file's answers are told apart that the
file does not tell apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairdsl.models.basis import Affine, stack, take
from fairdsl.models.onnx_import.activations import larger
from fairdsl.models.onnx_import.chosen import by_choice
from fairdsl.models.onnx_import.values import TEXT, Constant, Labelled, NodeCall, UnreadableError

#: Whole numbers that onnxruntime writes digit by digit in every type that it casts to text.
_WRITTEN_OUT = 10**7
#: Types to which labels are cast here as onnxruntime casts them.
_NUMERIC = frozenset(
    (
        "bool",
        *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
        "float16",
        "float32",
        "float64",
    )
)
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")

Label = int | str


def mapped(
    call: NodeCall,
    chosen: Labelled,
    labels: Sequence[Label | float],
    dtype: str,
    shape: tuple[int, ...] | None = None,
) -> Labelled:
    """The class with another label in the place of each; refuses labels that are not whole numbers, or all the same."""
    names = tuple(_label(label) for label in labels)
    shape = chosen.shape if shape is None else shape
    if len(set(names)) == len(names):
        return Labelled(chosen.scores, names, shape, dtype, chosen.ties_last)
    merged = tuple(dict.fromkeys(names))
    if len(merged) == 1:
        raise UnreadableError(f"it gives all of its classes the label {merged[0]}, so its answer never changes")
    runs = [[i for i, name in enumerate(names) if name == label] for label in merged]
    if any(run != list(range(run[0], run[-1] + 1)) for run in runs):
        raise UnreadableError(
            "it gives the same label to classes that are not next to each other, so ties have no order among labels",
            "export the classes in the order of their labels",
        )
    highest = [_highest(call, chosen.scores, run) for run in runs]
    scores = stack(highest, call.basis)
    return Labelled(Affine((1, len(runs)), scores.parts, scores.bias), merged, shape, dtype)


def _highest(call: NodeCall, scores: Affine, run: Sequence[int]) -> Affine:
    """The highest one of some scores."""
    found = take(scores, np.array([run[0]]))
    for position in run[1:]:
        found = larger(call, found, take(scores, np.array([position])))
    return found


def _label(label: Label | float) -> Label:
    if isinstance(label, str):
        return label
    if not np.isfinite(label) or int(label) != label:
        raise UnreadableError("its table holds classes that are not whole numbers")
    return int(label)


def looked_up(
    call: NodeCall, chosen: Labelled, table: Constant, axis: int, shape: tuple[int, ...], *, from_the_end: bool
) -> Labelled | Affine:
    """The entries of a table at the positions that the labels are, in this shape: other labels, or, as soon as one of
    them is not a whole number, numbers. ``from_the_end``: whether -1 is the last one.
    """
    if len(table.array.ravel()) != table.shape[axis]:
        raise UnreadableError("its table has more than one row")
    entries = table.array.reshape(-1).tolist()
    first = -len(entries) if from_the_end else 0
    positions = [label for label in chosen.labels if isinstance(label, int) and first <= label < len(entries)]
    if chosen.dtype not in ("int32", "int64") or len(positions) != len(chosen.labels):
        raise UnreadableError("its table does not have one entry for every class")
    dtype = TEXT if table.text else str(table.array.dtype)
    found = [entries[position] for position in positions]
    if not table.text and any(int(entry) != entry for entry in found):
        return by_choice(call, chosen, [[Fraction(entry)] for entry in found], shape)
    return mapped(call, chosen, found, dtype, shape)


def cast(call: NodeCall, chosen: Labelled, dtype: np.dtype[np.generic] | None) -> Labelled:
    """The labels in another type, as onnxruntime casts them; ``dtype`` None is text."""
    if dtype is None:
        return mapped(call, chosen, [_written(label, chosen.dtype) for label in chosen.labels], TEXT)
    if dtype.name not in _NUMERIC:
        raise UnreadableError(f"it casts a class to {dtype.name}")
    labels = [_number(label, chosen.dtype) for label in chosen.labels]
    source = np.dtype(np.int64 if chosen.dtype == TEXT else chosen.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.array([int(label) for label in labels]).astype(source).astype(dtype)
    if source.kind == "f" and dtype.kind in "iu" and not _fits(labels, dtype):
        raise UnreadableError(f"it casts a class to {dtype.name}, which does not hold it")
    return mapped(call, chosen, found.tolist(), dtype.name)


def _fits(labels: Sequence[Label], dtype: np.dtype[np.generic]) -> bool:
    limits = np.iinfo(dtype)  # type: ignore[type-var]
    return all(limits.min <= int(label) <= limits.max for label in labels)


def _written(label: Label, dtype: str) -> Label:
    """A label as text; a float that is 0 is `0` or `-0`."""
    if isinstance(label, int) and np.dtype(dtype).kind == "f" and not 0 < abs(label) <= _WRITTEN_OUT:
        raise UnreadableError(f"it writes the class {label} as text, which is not always that number")
    return str(label)


def _number(label: Label, dtype: str) -> Label:
    """A label as a number."""
    if dtype == TEXT and not _NUMBER.fullmatch(str(label)):
        raise UnreadableError(f"it turns the class `{label}` into a number")
    return int(label)
