"""Symbolic tensors: exact affine maps over *units*, the building blocks of networks.

A :class:`Basis` numbers blocks of units. A block is a graph input, or what an activation node adds: ``h = max(z, 0) +
slope * min(z, 0)`` of its argument ``z``, or a curve of it; or it holds the indicators of an encoder, or the leaves of
trees, which are inputs of the layers as well. An :class:`Affine` is a tensor whose every element is ``bias + sum over
blocks of (row of the part) . units``. Parts that only select and scale units stay in the sparse form :class:`Pick`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Curve
from fairdsl.ir.opaque import Kernel
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.models import exact
from fairdsl.models.exact import Array
from fairdsl.models.marks import Absent, Ends

Indices = NDArray[np.int64]

#: Products of matrices above this many multiplications are not folded: linear units carry the value.
_FOLD_LIMIT = 2_000_000
#: More entries than this in one matrix are refused before they exhaust the memory.
_ENTRY_LIMIT = 1 << 26


class TooLargeError(ValueError):
    """A tensor or matrix of the graph is larger than the importer is made for."""


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """Row i is ``scale[i] * unit[units[i]]``; -1 stands for no unit. Both arrays are [rows]."""

    units: Indices
    scale: Array


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """Row i is ``matrix[i] . units``; the matrix is [rows, width of the block]."""

    matrix: Array


Part = Pick | Dense
Unit = tuple[int, int]  # a unit by its block and its place there


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """A tensor of exact affine forms; ``parts`` maps block numbers to their rows, ``bias`` is [size]."""

    shape: tuple[int, ...]
    parts: Mapping[int, Part]
    bias: Array

    @property
    def size(self) -> int:
        """How many elements the tensor has."""
        return prod(self.shape)

    @classmethod
    def constant(cls, values: Array) -> Affine:
        """A tensor that depends on nothing."""
        return cls(values.shape, {}, values.reshape(-1))


@dataclass(frozen=True, slots=True)
class Comparison:
    """``feature RELATION threshold``, the feature by its position."""

    feature: int
    relation: Relation
    threshold: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Indicators:
    """Units that are 1 where their test holds and 0 elsewhere, one a test.

    ``features`` is over graph inputs and earlier indicators; ``node`` of this ``operator`` is where they come from.
    """

    operator: str
    node: str
    features: Affine
    tests: tuple[Comparison, ...]

    @property
    def width(self) -> int:
        """How many units there are."""
        return len(self.tests)


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """Units that are 1 where their leaf is reached and 0 elsewhere: of each tree exactly one.

    ``features``, ``operator`` and ``node`` as of indicators. Of leaves the arrays after ``shape`` say nothing.
    """

    operator: str
    node: str
    features: Affine
    #: How the nodes hang together; unit i is leaf i.
    shape: TreeShape
    #: Which feature a node tests, [nodes].
    feature: Indices
    #: How, as a position in ``TREE_RELATIONS``, [nodes].
    relation: NDArray[np.int8]
    #: Against which number, exactly, [nodes].
    threshold: NDArray[np.float64]

    @property
    def width(self) -> int:
        """How many units there are."""
        return self.shape.leaves


#: What the numbers in ``Trees.relation`` represent.
TREE_RELATIONS = (Relation.LE, Relation.LT, Relation.GT, Relation.GE, Relation.EQ, Relation.NE)


@dataclass(frozen=True, slots=True, eq=False)
class KernelTerms:
    """Units ``v_j = sum_i coefficients[j, i] K(vectors[i], features) + offsets[j]`` of a kernel machine.

    ``vectors`` is [n, features.size], ``coefficients`` [units, n]. ``node`` of the file, of this ``operator``, is
    where they come from.
    """

    operator: str
    node: str
    kernel: Kernel
    gamma: float
    coef0: float
    degree: int
    features: Affine
    vectors: Array
    coefficients: Array
    offsets: Array


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """What a node reads as integers: the numbers of ``value``, without a fraction and among ``codes``."""

    operator: str
    node: str
    value: Affine
    codes: frozenset[int] | None = None
    otherwise: str = "it fails beyond its table"  # what it does of other codes


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """A list in which a node looks up what fills the graph's number at ``place``: the text of each code, or the code.

    Whatever is not ``known`` is none of them to the node, or has one code for all such.
    """

    place: int
    texts: Mapping[int, str] | None
    known: frozenset[str | int]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Units that enter the basis together; without an ``argument`` they are an input, what tests, or ``terms``."""

    width: int
    argument: Affine | None
    slope: Array
    curve: Curve = Curve.LEAKY
    indicators: Indicators | None = None
    trees: Trees | None = None
    terms: KernelTerms | None = None

    @property
    def testing(self) -> Indicators | Trees | None:
        """What jumps between 0 and 1, if the units do."""
        return self.trees if self.trees is not None else self.indicators

    @property
    def given(self) -> bool:
        """Whether the units are filled in from outside: a graph input."""
        return self.argument is None and self.testing is None and self.terms is None


@dataclass(slots=True)
class Basis:
    """The blocks found so far; ``whole`` is what they take for granted about the numbers of an individual."""

    blocks: list[Block] = field(default_factory=list)
    whole: list[Whole] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    absent: Absent | None = None
    few: dict[Unit, tuple[Fraction, ...]] = field(default_factory=dict)  # the values of inputs that have few
    ends: dict[Unit, Ends] = field(default_factory=dict)  # between which numbers inputs lie
    tables: dict[Unit, Affine] = field(default_factory=dict)  # an indicator for each of them, where they are used

    def input(self, shape: tuple[int, ...]) -> Affine:
        """Add a graph input; the result is its tensor."""
        return self._append(Block(prod(shape), None, exact.zeros((0,))), shape)

    def indicate(self, indicators: Indicators) -> Affine:
        """Add indicators; the result is their vector. ValueError where a feature depends on units that bend."""
        self._check_early(indicators.features)
        width = indicators.width
        return self._append(Block(width, None, exact.zeros((0,)), indicators=indicators), (width,))

    def plant(self, trees: Trees) -> Affine:
        """Add the leaves of trees; the result is their vector. ValueError where a feature depends on such units."""
        self._check_early(trees.features)
        return self._append(Block(trees.width, None, exact.zeros((0,)), trees=trees), (trees.width,))

    def _check_early(self, features: Affine) -> None:
        if not self.early(features):
            raise ValueError("indicators read inputs and earlier indicators only")

    def machine(self, terms: KernelTerms) -> Affine:
        """Add the values of a kernel machine; the result is their row."""
        return self._append(Block(len(terms.offsets), None, exact.zeros((0,)), terms=terms), (1, len(terms.offsets)))

    def early(self, value: Affine) -> bool:
        """Whether the value depends on graph inputs and indicators only."""
        return all(self.blocks[number].argument is None and self.blocks[number].terms is None for number in value.parts)

    def bend(self, argument: Affine, slope: Array) -> Affine:
        """Add leaky units of ``argument`` ([size] slopes between 0 and 1); the result is their tensor."""
        return self._append(Block(argument.size, argument, slope), argument.shape)

    def squash(self, argument: Affine, curve: Curve) -> Affine:
        """Add curved units of ``argument``; the result is their tensor."""
        return self._append(Block(argument.size, argument, exact.zeros((argument.size,)), curve), argument.shape)

    def relu(self, argument: Affine) -> Affine:
        """Add ReLU units of ``argument``."""
        return self.bend(argument, exact.zeros((argument.size,)))

    def carry(self, argument: Affine) -> Affine:
        """Give ``argument`` units of its own, of slope 1: they change nothing."""
        return self.bend(argument, np.ones(argument.size))

    def units(self, block: int, shape: tuple[int, ...]) -> Affine:
        """The units of a block, in this shape."""
        places = np.arange(self.width(block), dtype=np.int64)
        return Affine(shape, {block: Pick(places, np.ones(places.size))}, exact.zeros(places.shape))

    def width(self, block: int) -> int:
        """Number of units of a block."""
        return self.blocks[block].width

    def _append(self, block: Block, shape: tuple[int, ...]) -> Affine:
        self.blocks.append(block)
        return self.units(len(self.blocks) - 1, shape)


def take(value: Affine, indices: Indices) -> Affine:
    """The elements at flat positions ``indices``, in the shape of ``indices``."""
    flat = indices.reshape(-1)
    _check_size(flat.size)
    parts: dict[int, Part] = {}
    for block, part in value.parts.items():
        match part:
            case Pick(units, factors):
                parts[block] = Pick(units[flat], factors[flat])
            case Dense(matrix):
                _check_size(flat.size * matrix.shape[1])
                parts[block] = Dense(matrix[flat])
    return Affine(indices.shape, parts, value.bias[flat])


def stack(values: Sequence[Affine], basis: Basis) -> Affine:
    """The elements of all values one after the other, as a vector."""
    sizes = [value.size for value in values]
    _check_size(sum(sizes))
    parts: dict[int, Part] = {}
    for block in sorted({block for value in values for block in value.parts}):
        parts[block] = _stacked([value.parts.get(block, _nothing(value.size)) for value in values], basis.width(block))
    return Affine((sum(sizes),), parts, _joined([value.bias for value in values]))


def add(left: Affine, right: Affine, basis: Basis) -> Affine:
    """The elementwise sum of two tensors of the same shape."""
    parts = dict(left.parts)
    for block, part in right.parts.items():
        mine = parts.get(block)
        parts[block] = part if mine is None else _sum(mine, part, basis.width(block))
    return Affine(left.shape, parts, exact.add(left.bias, right.bias))


def scale(value: Affine, factors: Array) -> Affine:
    """Every element times its own factor ([size])."""
    parts: dict[int, Part] = {}
    for block, part in value.parts.items():
        match part:
            case Pick(units, own):
                parts[block] = Pick(units, exact.multiply(own, factors))
            case Dense(matrix):
                parts[block] = Dense(exact.multiply(matrix, factors[:, None]))
    return Affine(value.shape, parts, exact.multiply(value.bias, factors))


def apply(matrix: Array, value: Affine, shape: tuple[int, ...], basis: Basis) -> Affine:
    """``matrix @ value`` with the value as a vector; ``matrix`` is [prod(shape), value.size].

    Where folding two matrices would cost too much, the value first gets linear units of its own.
    """
    dense = [part.matrix.shape[1] for part in value.parts.values() if isinstance(part, Dense)]
    if matrix.size * sum(dense) > _FOLD_LIMIT:
        value = basis.carry(value)
    parts: dict[int, Part] = {}
    for block, part in value.parts.items():
        match part:
            case Pick():
                parts[block] = Dense(_times_pick(matrix, part, basis.width(block)))
            case Dense(inner):
                parts[block] = Dense(exact.matmul(matrix, inner))
    bias = exact.zeros((matrix.shape[0],)) if exact.is_zero(value.bias) else exact.matmul(matrix, value.bias)
    return Affine(shape, parts, bias)


def dense(part: Part, width: int) -> Array:
    """The rows of a part as a matrix [rows, width]."""
    if isinstance(part, Dense):
        return part.matrix
    _check_size(part.units.size * width)
    out = exact.zeros((part.units.size, width))
    out = out if exact.is_float(part.scale) else exact.to_fractions(out)
    rows = np.flatnonzero(part.units >= 0)
    out[rows, part.units[rows]] = part.scale[rows]
    return out


def _times_pick(matrix: Array, part: Pick, width: int) -> Array:
    present = np.flatnonzero(part.units >= 0)
    units, factors = part.units[present], part.scale[present]
    columns = matrix[:, present]
    if not (exact.is_float(factors) and np.all(factors == 1.0)):
        columns = exact.multiply(columns, factors[None, :])
    _check_size(matrix.shape[0] * width)
    out = exact.zeros((matrix.shape[0], width))
    out = out if exact.is_float(columns) else exact.to_fractions(out)
    if (units[1:] > units[:-1]).all():
        out[:, units] = columns
        return out
    _, first = np.unique(units, return_index=True)
    out[:, units[first]] = columns[:, first]
    for extra in np.setdiff1d(np.arange(units.size), first):  # a unit picked more than once: sum up
        column = exact.add(out[:, units[extra]], columns[:, extra])
        out = out if exact.is_float(column) == exact.is_float(out) else exact.to_fractions(out)
        out[:, units[extra]] = column if exact.is_float(out) else exact.to_fractions(column)
    return out


def _sum(left: Part, right: Part, width: int) -> Part:
    if isinstance(left, Pick) and isinstance(right, Pick) and np.array_equal(left.units, right.units):
        return Pick(left.units, exact.add(left.scale, right.scale))
    return Dense(exact.add(dense(left, width), dense(right, width)))


def _stacked(rows: Sequence[Part], width: int) -> Part:
    picks = [part for part in rows if isinstance(part, Pick)]
    if len(picks) == len(rows):
        return Pick(np.concatenate([p.units for p in picks]), _joined([p.scale for p in picks]))
    return Dense(_joined([dense(part, width) for part in rows]))


def _joined(arrays: Sequence[Array]) -> Array:
    if not all(exact.is_float(values) for values in arrays):
        arrays = [exact.to_fractions(values) for values in arrays]
    return np.concatenate(arrays)


def _nothing(rows: int) -> Pick:
    return Pick(np.full(rows, -1, dtype=np.int64), np.ones(rows))


def _check_size(entries: int) -> None:
    if entries > _ENTRY_LIMIT:
        raise TooLargeError(f"a matrix of {entries} entries")
