"""The product network put together: two copies of the model, conditions beside them, and the numbers that are stored.

The copies read what :mod:`~fairdsl.backends.smt.vnnlib.clipping` computes before them; conditions read the inputs
themselves. Numbers are float32 where that is possible or changes little (``single``), otherwise float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce

from fairdsl.backends.smt.cases import Atom
from fairdsl.backends.smt.vnnlib.chain import Affine, Chain, FloatArray, beside, chained
from fairdsl.backends.smt.vnnlib.clipping import input_position
from fairdsl.backends.smt.vnnlib.constraints import Formula, Line
from fairdsl.backends.smt.vnnlib.shortfall import conditions_chain
from fairdsl.backends.smt.vnnlib.single import in_float32, rounded
from fairdsl.ir.model import Model

__all__ = ["Networks", "conditions_of", "networks"]


@dataclass(frozen=True)
class Networks:
    """The network as a file has it, and the parts that are in it side by side."""

    whole: Chain
    parts: tuple[Chain, ...]

    def errors(self, reach: FloatArray) -> tuple[float, ...]:
        """A bound for each output of what storing the network changed; inputs are at most ``reach`` in size.

        Each part by itself: where one is stored exactly, what rounds the other does not matter to it.
        """
        return tuple(error for part in self.parts for error in part.errors(reach).tolist())

    def in_float32(self, reach: FloatArray) -> Networks:
        """The networks rounded to float32 where they are not stored so and it changes little; otherwise as they are."""
        if self.whole.single:
            return self
        found = [rounded(part, reach) for part in self.parts]
        kept = tuple(part for part in found if part is not None)
        return Networks(_joined(kept), kept) if len(kept) == len(self.parts) else self


#: From the inputs to an output for each condition.
conditions_of = lru_cache(maxsize=128)(conditions_chain)


@lru_cache(maxsize=128)  # the partitions of a question differ in their boxes alone
def networks(
    model: Model,
    atoms: tuple[Atom, ...],
    inputs: tuple[Line, ...],
    first: tuple[Affine, ...],
    conditions: tuple[Formula, ...],
    columns: int,
) -> Networks:
    """The network from ``columns`` inputs to atoms and then conditions, its numbers as exact as they can be stored.

    ``inputs`` are what a's copy and then b's reads, in terms of the outputs of ``first``, or of the columns where that
    is empty. The copies with what comes first are at least as deep as the conditions.
    """
    rows, bias, layer = [], [], model.layers[0]
    width = len(first[-1].bias) if first else columns
    for read in (inputs[: len(model.inputs)], inputs[len(model.inputs) :]):
        for weights, constant in zip(layer.weight.exact, layer.bias.exact, strict=True):
            row, shift = _summed(weights, read, width)
            rows.append(row)
            bias.append(constant + shift)
    ways = [(*atom.a, *atom.b) for atom in atoms]
    copies = chained(Affine(rows, bias, width), model.layers, ways, [atom.constant for atom in atoms])
    pair = Chain((*(map_.stored() for map_ in first), *copies.layers))
    parts = (pair, conditions_of(conditions, columns, len(pair.layers) - 1)) if conditions else (pair,)
    whole = _joined(parts)
    return Networks(whole if whole.single else in_float32(whole) or whole, parts)


def _joined(parts: tuple[Chain, ...]) -> Chain:
    return reduce(beside, parts)


def _summed(weights: Sequence[Fraction], inputs: Sequence[Line], width: int) -> tuple[list[Fraction], Fraction]:
    row, shift = [Fraction(0)] * width, Fraction(0)
    for weight, line in zip(weights, inputs, strict=True):
        if weight:
            shift += weight * line.constant
            for name, factor in line.terms:
                row[input_position(name)] += weight * factor
    return row, shift
