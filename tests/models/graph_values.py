"""What an imported graph says a file outputs for one individual, and whether onnxruntime says the same."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, isfinite, log
from typing import Any

import numpy as np
import onnxruntime

from fairdsl.ir.model import Curve
from fairdsl.ir.opaque import Kernel
from fairdsl.models.basis import TREE_RELATIONS, Affine, Block, Indicators, KernelTerms, Pick, Trees
from fairdsl.models.graph import GraphOutput, ImportedGraph, OutputKind
from fairdsl.models.schedule import first_blocks, lay_out
from tests.curve_floats import FUNCTIONS, logistic

Row = Sequence[Fraction]
#: Relative to the largest number about: within it float32 may differ, and decisions may.
BAND = 1e-4


def forms(value: Affine, units: dict[int, list[Fraction]]) -> list[Fraction]:
    """The elements of an affine value, by the definition."""
    out = [Fraction(bias) for bias in value.bias.tolist()]
    for block, part in value.parts.items():
        for row in range(value.size):
            if isinstance(part, Pick):
                if part.units[row] >= 0:
                    out[row] += Fraction(part.scale[row]) * units[block][int(part.units[row])]
            else:
                out[row] += sum(Fraction(w) * u for w, u in zip(part.matrix[row], units[block], strict=True) if w)
    return out


def bent(curve: Curve, slope: Fraction, z: Fraction) -> Fraction:
    if curve is Curve.LEAKY:
        return max(z, Fraction(0)) + slope * min(z, Fraction(0))
    return Fraction(FUNCTIONS[curve](float(z)))


def indicated(indicators: Indicators, units: dict[int, list[Fraction]]) -> list[Fraction]:
    features = forms(indicators.features, units)
    return [Fraction(test.relation.compares(features[test.feature], test.threshold)) for test in indicators.tests]


def leaves(trees: Trees, units: dict[int, list[Fraction]]) -> list[Fraction]:
    """1 for the leaves that are reached from the roots, by the file's own tests."""
    features, shape = forms(trees.features, units), trees.shape
    found = [Fraction(0)] * trees.width
    for root in shape.roots.tolist():
        node = root
        while shape.yes[node] != node:
            relation = TREE_RELATIONS[trees.relation[node]]
            holds = relation.compares(features[trees.feature[node]], Fraction(float(trees.threshold[node])))
            node = int(shape.yes[node] if holds else shape.no[node])
        found[int(shape.leaf[node])] = Fraction(1)
    return found


def machine(terms: KernelTerms, units: dict[int, list[Fraction]]) -> list[Fraction]:
    features = [float(v) for v in forms(terms.features, units)]
    dots = np.asarray(terms.vectors, dtype=float) @ features
    match terms.kernel:
        case Kernel.RBF:
            distances = ((np.asarray(terms.vectors, dtype=float) - features) ** 2).sum(axis=1)
            values = np.exp(-terms.gamma * distances)
        case Kernel.POLY:
            values = (terms.gamma * dots + terms.coef0) ** terms.degree
        case Kernel.SIGMOID:
            values = np.tanh(terms.gamma * dots + terms.coef0)
        case Kernel.LINEAR:
            values = dots
    sums = np.asarray(terms.coefficients, dtype=float) @ values + np.asarray(terms.offsets, dtype=float)
    return [Fraction(v) for v in sums]


def unit_values(blocks: Sequence[Block], row: Row) -> dict[int, list[Fraction]]:
    """The units of all blocks, one block after the other."""
    units: dict[int, list[Fraction]] = {}
    start = 0
    for number, block in enumerate(blocks):
        if block.indicators is not None:
            units[number] = indicated(block.indicators, units)
        elif block.trees is not None:
            units[number] = leaves(block.trees, units)
        elif block.terms is not None:
            units[number] = machine(block.terms, units)
        elif block.argument is None:
            units[number] = list(row[start : start + block.width])
            start += block.width
        else:
            slopes = [Fraction(s) for s in block.slope.tolist()]
            sums = zip(slopes, forms(block.argument, units), strict=True)
            units[number] = [bent(block.curve, slope, z) for slope, z in sums]
    return units


def scores(graph: ImportedGraph, output: GraphOutput, row: Row) -> list[Fraction]:
    """The scores behind an output, by the layers that are laid out for it."""
    blocks = graph.basis.blocks
    units = unit_values(blocks, row)
    values = [value for number in first_blocks(blocks, output.scores) for value in units[number]]
    for layer in lay_out(blocks, output.scores):
        following = []
        rows = zip(layer.weight.exact, layer.bias.exact, layer.slope.exact, layer.curve_codes, strict=True)
        for weights, bias, slope, curve in rows:
            z = sum((w * v for w, v in zip(weights, values, strict=True) if w), Fraction(bias))
            following.append(bent(Curve(curve), slope, z))
        values = following
    return values


def session(content: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def differs(output: GraphOutput, exact: Sequence[Fraction], found: Any, exactly: bool = False) -> str | None:
    """How the file's own output differs from the reading; None where it does not.

    ``exactly``: float32 makes no error here, so that ties are ties as well.
    """
    if isinstance(found, list):  # of a ZipMap
        found = np.array([list(row.values()) for row in found])
    found = np.asarray(found).ravel().tolist()
    if output.kind is OutputKind.LABEL:
        return _label(output, exact, found, exactly)
    match output.kind:
        case OutputKind.SCORE | OutputKind.PROBABILITY:
            numbers = [float(v) for v in exact]
        case OutputKind.SIGMOID:
            numbers = [logistic(v) for v in exact]
        case OutputKind.SOFTMAX:
            powers = [exp(float(v - max(exact))) for v in exact]
            numbers = [power / sum(powers) for power in powers]
        case OutputKind.LOG_SOFTMAX:
            away = [float(v - max(exact)) for v in exact]
            numbers = [each - log(sum(map(exp, away))) for each in away]
    if len(numbers) != len(found):
        return f"{output.name}: {len(numbers)} numbers read, and {len(found)} given"
    largest = max([1.0, *(abs(v) for v in numbers)])
    near = all(isfinite(f) and abs(n - f) <= BAND * largest for n, f in zip(numbers, found, strict=True))
    return None if near else f"{output.name}: read {numbers}, given {found}"


def _label(output: GraphOutput, exact: Sequence[Fraction], found: list[Any], exactly: bool) -> str | None:
    best = max(exact)
    chosen = [i for i, value in enumerate(exact) if value == best][-1 if output.ties_last else 0]
    band = 0 if exactly else BAND * max(1.0, *(abs(float(v)) for v in exact))
    if found == [output.labels[chosen]]:
        return None
    near = {label for label, value in zip(output.labels, exact, strict=True) if best - value <= band}
    return None if band and found[0] in near else f"{output.name}: read {output.labels[chosen]}, given {found}"
