"""From units to layers: blocks are laid out level by level, and values that skip a level ride along."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import look
from fairdsl.ir.model import Curve, Layer
from fairdsl.models import exact
from fairdsl.models.basis import Affine, Block, Pick
from fairdsl.models.exact import Array

Positions = dict[int, NDArray[np.int64]]


def lay_out(blocks: Sequence[Block], output: Affine) -> tuple[Layer, ...]:
    """The layers that compute ``output`` (as a vector); the last one is linear.

    The first layer reads the blocks of :func:`first_blocks` side by side, in that order.
    """
    levels = _levels(blocks, output)
    depth = max((level for level in levels.values()), default=0)
    last_use = _last_uses(blocks, output, levels, depth + 1)
    positions: Positions = {}
    width = 0
    for number in first_blocks(blocks, output):
        positions[number] = np.arange(width, width + blocks[number].width)
        width += blocks[number].width
    made: list[list[int]] = [[] for _ in range(depth + 1)]
    for number, level in levels.items():
        made[level].append(number)
    layers, below = list[Layer](), made[0]
    for level in range(1, depth + 1):
        look()
        carried = _carried(below, last_use, level)
        layers.append(_layer(blocks, made[level], carried, positions, width))
        positions, width = _positions(blocks, made[level], carried)
        below = sorted({*carried, *made[level]})
    weight = _rows(output, positions, width)
    layers.append(_make(weight, output.bias, np.ones(output.size), []))
    return tuple(layers)


def first_blocks(blocks: Sequence[Block], output: Affine) -> list[int]:
    """What the first layer reads: all graph inputs, used or not, and the indicators that the output depends on.

    Where the output depends on kernel machines, only what it does depend on.
    """
    levels = _levels(blocks, output)
    kernels = any(blocks[number].terms is not None for number in levels)
    return [
        number
        for number, block in enumerate(blocks)
        if block.argument is None and (number in levels or (block.given and not kernels))
    ]


def _levels(blocks: Sequence[Block], output: Affine) -> dict[int, int]:
    """The level of every block that the output depends on, in the order of the blocks; inputs have 0."""
    read: dict[int, list[int]] = {}
    needed = set(_used(output))
    for number in range(len(blocks) - 1, -1, -1):  # a block's argument only speaks of earlier blocks
        argument = blocks[number].argument
        if number in needed and argument is not None:
            read[number] = list(_used(argument))
            needed.update(read[number])
    levels: dict[int, int] = {}
    for number in sorted(needed):
        below = [levels[part] for part in read.get(number, [])]
        levels[number] = 0 if blocks[number].argument is None else 1 + max(below, default=0)
    return levels


def _used(value: Affine) -> dict[int, NDArray[np.int64]]:
    """The units that the value depends on, by their blocks: those with a weight that is not 0."""
    found: dict[int, NDArray[np.int64]] = {}
    for number, part in value.parts.items():
        if isinstance(part, Pick):
            units = part.units[(part.units >= 0) & (part.scale != 0)]
        else:
            units = np.flatnonzero(part.matrix.astype(np.bool_).any(axis=0))
        if units.size:
            found[number] = units
    return found


def _last_uses(
    blocks: Sequence[Block], output: Affine, levels: dict[int, int], end: int
) -> dict[int, NDArray[np.int64]]:
    """For every unit of every live block, the highest level that reads it (0: none)."""
    last = {number: np.zeros(blocks[number].width, dtype=np.int64) for number in levels}

    def note(value: Affine, level: int) -> None:
        for number, used in _used(value).items():
            last[number][used] = np.maximum(last[number][used], level)

    for number, level in levels.items():
        argument = blocks[number].argument
        if argument is not None:
            note(argument, level)
    note(output, end)
    return last


def _carried(below: Sequence[int], last_use: dict[int, NDArray[np.int64]], level: int) -> dict[int, NDArray[np.int64]]:
    """The units of the blocks ``below`` that are read above ``level``."""
    units = {number: np.flatnonzero(last_use[number] > level) for number in below}
    return {number: found for number, found in units.items() if found.size}


def _layer(
    blocks: Sequence[Block],
    own: Sequence[int],
    carried: dict[int, NDArray[np.int64]],
    positions: Positions,
    width: int,
) -> Layer:
    weights, biases, slopes = [], [], []
    curves: list[Curve] = []
    for number in own:
        argument = blocks[number].argument
        assert argument is not None, "inputs have level 0"
        weights.append(_rows(argument, positions, width))
        biases.append(argument.bias)
        slopes.append(blocks[number].slope)
        curves += [blocks[number].curve] * blocks[number].width
    for number, units in carried.items():
        identity = exact.zeros((units.size, width))
        identity[np.arange(units.size), positions[number][units]] = 1.0
        weights.append(identity)
        biases.append(exact.zeros((units.size,)))
        slopes.append(np.ones(units.size))
        curves += [Curve.LEAKY] * units.size
    return _make(_join(weights), _join(biases), _join(slopes), curves)


def _rows(value: Affine, positions: Positions, width: int) -> Array:
    """The value's weights over the layer below, whose units lie at ``positions`` (-1: not there, nor read)."""
    out = exact.zeros((value.size, width))
    for number, part in value.parts.items():
        place = positions.get(number)
        if place is None:  # every weight is 0
            continue
        if isinstance(part, Pick):
            rows = np.flatnonzero((part.units >= 0) & (part.scale != 0))
            out = _like(out, part.scale)
            entries = part.scale[rows]
            out[rows, place[part.units[rows]]] = entries if out.dtype == entries.dtype else _up(entries)
        else:
            present = np.flatnonzero(place >= 0)
            out = _like(out, part.matrix)
            block = part.matrix[:, present]
            out[:, place[present]] = block if out.dtype == block.dtype else _up(block)
    return out


def _positions(
    blocks: Sequence[Block], own: Sequence[int], carried: dict[int, NDArray[np.int64]]
) -> tuple[Positions, int]:
    positions: Positions = {}
    width = 0
    for number in own:
        positions[number] = np.arange(width, width + blocks[number].width)
        width += blocks[number].width
    for number, units in carried.items():
        place = np.full(blocks[number].width, -1, dtype=np.int64)
        place[units] = np.arange(width, width + units.size)
        positions[number] = place
        width += units.size
    return positions, width


def _like(out: Array, other: Array) -> Array:
    return exact.to_fractions(out) if exact.is_float(out) and not exact.is_float(other) else out


def _up(values: Array) -> Array:
    return exact.to_fractions(values)


def _join(arrays: Sequence[Array]) -> Array:
    if not all(exact.is_float(values) for values in arrays):
        arrays = [exact.to_fractions(values) for values in arrays]
    return np.concatenate(list(arrays))


def _make(weight: Array, bias: Array, slope: Array, curves: Sequence[Curve]) -> Layer:
    return Layer(
        weight=exact.to_exact_array(weight),
        bias=exact.to_exact_array(bias),
        slope=exact.to_exact_array(slope),
        curves=tuple(curves),
    )
