"""One model of all that a demand names: the models side by side, and attributes as further scores."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.ensemble import Inputs
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import ByHighest, Layer, Model


def side_by_side(models: Sequence[Model], attributes: Sequence[int]) -> Model | None:
    """One model whose scores are those of all, and the attributes; None where two have trees as arrays."""
    if len(models) == 1 and not attributes:
        return models[0]
    trees = [model for model in models if model.ensemble is not None]
    if len(trees) > 1:
        return None
    listed: list[Input] = [item for model in models for item in model.listed]
    listed += [AttributeInput(attribute) for attribute in attributes]
    inputs: Sequence[Input] = tuple(listed)
    if trees and trees[0].ensemble is not None:
        inputs = Inputs(listed, trees[0].ensemble)
    depth = max(len(model.layers) for model in models)
    layers: list[Layer] = []
    for level in range(depth):
        blocks, columns, start = list[Layer](), list[NDArray[np.intp]](), 0
        for model in models:
            block = _block(model, level)
            width = len(model.listed) if level == 0 else block.weight.shape[1]
            own = np.arange(start, start + width)
            start += width
            if level == 0 and model.ensemble is not None:
                own = np.concatenate([own, np.arange(len(listed), len(inputs))])
            blocks.append(block)
            columns.append(own)
        for _ in attributes:
            blocks.append(_identity(1))
            columns.append(np.arange(start, start + 1))
            start += 1
        layers.append(_diagonal(blocks, columns, len(inputs) if level == 0 else start))
    groups: list[tuple[int, ...]] = []
    start = 0
    for model in models:
        groups += [tuple(start + place for place in group) for group in model.groups]
        start += len(model.listed)
    return Model(
        name=", ".join(model.name for model in models),
        outcomes=(),
        inputs=inputs,
        layers=tuple(layers),
        rule=ByHighest(),
        groups=tuple(groups),
    )


def _block(model: Model, level: int) -> Layer:
    """A model's layer; behind its last one its scores ride along."""
    return model.layers[level] if level < len(model.layers) else _identity(model.score_count)


def _identity(width: int) -> Layer:
    one = ExactArray.from_floats(np.ones(width))
    return Layer(weight=ExactArray.from_floats(np.eye(width)), bias=ExactArray.from_floats(np.zeros(width)), slope=one)


def _diagonal(blocks: Sequence[Layer], columns: Sequence[NDArray[np.intp]], width: int) -> Layer:
    """The layers as one, each reading its own columns."""
    exact = all(block.weight.is_float for block in blocks)
    weight = np.zeros((sum(block.width for block in blocks), width), dtype=np.float64 if exact else object)
    if not exact:
        weight[:] = Fraction(0)
    row = 0
    for block, own in zip(blocks, columns, strict=True):
        weight[row : row + block.width, own] = block.weight.floats if exact else block.weight.exact
        row += block.width
    return Layer(
        weight=ExactArray.from_floats(weight) if exact else ExactArray.from_fractions(weight),
        bias=ExactArray.joined([block.bias for block in blocks]),
        slope=ExactArray.joined([block.slope for block in blocks]),
    )
