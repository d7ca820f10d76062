"""Layers compute what the units say, whatever weights are 0: units that nothing reads, branches that vanish."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.expr import Relation
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.models.basis import TREE_RELATIONS, Affine, Basis, Dense, Part, Pick, Trees
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind
from tests.models.graph_values import forms, scores, unit_values

Random = np.random.Generator
#: How many weights of a part are 0.
SHARES = (0.0, 0.3, 0.8, 1.0)


def numbers(rng: Random, *shape: int) -> np.ndarray:
    found = rng.integers(-6, 7, shape) / 4
    return np.where(rng.random(shape) < SHARES[int(rng.integers(4))], 0.0, found)


def part(rng: Random, rows: int, width: int) -> Part:
    if rng.random() < 0.5:
        return Dense(numbers(rng, rows, width))
    return Pick(rng.integers(-1, width, rows), numbers(rng, rows))


def value(rng: Random, basis: Basis, rows: int, among: list[int]) -> Affine:
    """An affine value over some of the blocks."""
    chosen = [number for number in among if rng.random() < 0.6]
    parts = {number: part(rng, rows, basis.width(number)) for number in chosen}
    return Affine((1, rows), parts, numbers(rng, rows))


def drawn(rng: Random) -> tuple[Basis, Affine, int]:
    """Blocks in a random order, an output over some of them, and how many numbers the inputs take."""
    basis, width = Basis(), 0
    for _ in range(int(rng.integers(1, 3))):
        width += (size := int(rng.integers(1, 4)))
        basis.input((1, size))
    early = list(range(len(basis.blocks)))
    for _ in range(int(rng.integers(0, 6))):
        among = list(range(len(basis.blocks)))
        if rng.random() < 0.2:
            features = value(rng, basis, 2, early)
            shape = TreeShape(np.array([0]), np.array([1, 1, 3, 3, 4]), np.array([2, 1, 4, 3, 4]))
            relation = np.array([TREE_RELATIONS.index(Relation.GT), 0, TREE_RELATIONS.index(Relation.LE), 0, 0])
            threshold = np.array([0, 0, 0.5, 0, 0])
            feature = np.array([0, 0, 1, 0, 0])
            basis.plant(Trees("Trees", "trees", features, shape, feature, relation.astype(np.int8), threshold))
            early.append(len(basis.blocks) - 1)
            continue
        argument = value(rng, basis, int(rng.integers(1, 4)), among)
        basis.bend(argument, np.abs(numbers(rng, argument.size)) / 2)
    return basis, value(rng, basis, int(rng.integers(1, 4)), list(range(len(basis.blocks)))), width


@given(seed=st.integers(0, 2**32))
def test_layers_are_what_the_units_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    basis, result, width = drawn(rng)
    output = GraphOutput(name="y", kind=OutputKind.SCORE, scores=result)
    graph = ImportedGraph(path="", sha256="", inputs=(), basis=basis, outputs=(output,), runnable=False)
    for _ in range(3):
        row = [Fraction(int(v), 2) for v in rng.integers(-6, 7, width)]
        assert scores(graph, output, row) == forms(result, unit_values(basis.blocks, row))
