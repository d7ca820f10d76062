"""Which class each column of a file's scores or probabilities belongs to, where the file shows it.

A `ZipMap` names its columns. Beside a label, the columns are compared with the scores that choose it: the column that
rises with the chance of a label is that label's, whatever the order in which the file writes them. Where the numbers
that both are made of do not show it, as of a label that is the lowest column, inputs are drawn.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.declaration import Label
from fairdsl.models.basis import Affine, Basis, add, dense, scale, take
from fairdsl.models.classes.known import Classes
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind

#: Two directions are the same if the cosine between them is 1 up to this.
_ALIKE = 1e-9
#: Inputs that are drawn, small whole numbers and others of all sizes; of either label so many have to be among them.
_DRAWN, _FEW = 400, 10
#: How much more often a number has to be greater than smaller.
_MOSTLY = 0.5


def classes_of(graph: ImportedGraph, output: GraphOutput) -> Classes:
    """The classes of an output with a column each, or of a label."""
    if output.kind is OutputKind.LABEL:
        return Classes(output.name, output.labels)
    return Classes.of_columns(output.name, output.labels or _beside(graph, output), output.width)


def rising_class(graph: ImportedGraph, output: GraphOutput) -> Label | None:
    """The label that becomes likelier as the one number of an output rises; None where the file does not show it."""
    for label in _labels(graph, 2):
        sign = _direction(_steps(label.scores, graph.basis), _row(output.scores, graph.basis))
        sign = sign or _drawn_direction(graph, label, output)
        if sign:
            return label.labels[1 if sign > 0 else 0]
    return None


def _beside(graph: ImportedGraph, output: GraphOutput) -> tuple[Label, ...]:
    """The labels of the columns by the label beside them; by its order where the numbers do not show another."""
    for label in _labels(graph, output.width):
        if output.width < 2:
            continue
        sign = _direction(_steps(label.scores, graph.basis), _steps(output.scores, graph.basis))
        sign = sign or (_drawn_direction(graph, label, output) if output.width == 2 else 0)
        return label.labels[::-1] if sign < 0 and output.width == 2 else label.labels
    return ()


def _labels(graph: ImportedGraph, width: int) -> list[GraphOutput]:
    return [other for other in graph.outputs if other.kind is OutputKind.LABEL and other.width == width]


def _direction(one: NDArray[np.float64], other: NDArray[np.float64]) -> int:
    """1 where two vectors point the same way, -1 where they point opposite ways, else 0."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    product = float(one @ other)
    if not lengths or abs(product) < (1 - _ALIKE) * lengths:
        return 0
    return 1 if product > 0 else -1


def _drawn_direction(graph: ImportedGraph, label: GraphOutput, output: GraphOutput) -> int:
    """1 where the last number of an output is mostly greater under the second label than under the first, -1 where it
    is mostly smaller, of inputs that are drawn; else 0."""
    from fairdsl.models.confirm.units import Reader  # models that are written in a spec need nothing about files

    reader = Reader(graph.basis.blocks)
    width = sum(block.width for block in graph.basis.blocks if block.given)
    rng = np.random.default_rng(0)
    small = rng.integers(0, 6, (_DRAWN, width)).astype(np.float64)
    units = reader.at(np.concatenate([small, rng.normal(size=(_DRAWN, width)) * 10 ** rng.uniform(0, 3, (_DRAWN, 1))]))
    second = np.argmax(units.affine(label.scores), axis=1) == 1
    numbers = units.affine(output.scores)
    risen = numbers[:, -1] - (numbers[:, 0] if output.width > 1 else 0.0)
    if min(np.count_nonzero(second), np.count_nonzero(~second)) < _FEW:
        return 0
    above = float(np.sign(risen[second][:, None] - risen[~second]).mean())
    return 0 if abs(above) < _MOSTLY else int(np.sign(above))


def _steps(scores: Affine, basis: Basis) -> NDArray[np.float64]:
    """What each further score has more than the first one."""
    later = np.arange(1, scores.size, dtype=np.int64)
    first = scale(take(scores, np.zeros(later.size, dtype=np.int64)), np.full(later.size, -1.0))
    return _row(add(take(scores, later), first, basis), basis)


def _row(value: Affine, basis: Basis) -> NDArray[np.float64]:
    """All coefficients, those of a block at the place of the block."""
    width = sum(basis.width(block) for block in range(len(basis.blocks)))
    found = np.zeros((value.size, width))
    starts = np.cumsum([0, *(basis.width(block) for block in range(len(basis.blocks)))])
    for block, part in value.parts.items():
        found[:, starts[block] : starts[block] + basis.width(block)] = dense(part, basis.width(block)).astype(
            np.float64
        )
    return found.reshape(-1)
