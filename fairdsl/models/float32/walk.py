"""From a file and what it is fed to every tensor of it: what it is exactly, and how far off the runtime may be."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np

from fairdsl.models.float32 import (
    arithmetic,
    bending,
    choosing,
    curves,
    encoders,
    heads,
    machines,
    moving,
    products,
    reductions,
    smooth,
    trees,
)
from fairdsl.models.float32.call import Call, Handler
from fairdsl.models.float32.values import NoBoundError, Rounded, Value, of_file
from fairdsl.models.onnx_import.file import RawGraph, RawInput, RawNode

HANDLERS: dict[tuple[str, str], Handler] = {
    **arithmetic.HANDLERS,
    **products.HANDLERS,
    **bending.HANDLERS,
    **curves.HANDLERS,
    **smooth.HANDLERS,
    **reductions.HANDLERS,
    **choosing.HANDLERS,
    **moving.HANDLERS,
    **encoders.HANDLERS,
    **heads.HANDLERS,
    **trees.HANDLERS,
    **machines.HANDLERS,
}


def analysed(raw: RawGraph, feeds: Mapping[str, Rounded]) -> Mapping[str, Rounded]:
    """Every tensor of the graph of which something is known, by name, [individuals, *one individual's tensor].

    ``feeds``: of each input, [individuals, ...], the exact features (points or boxes) and how far off the numbers
    are that the file is given. One individual's tensor is as the file computes it for a batch of one, so its first axis
    is 1 where the file has batches. A tensor of which nothing is known is left out, as is text that the file holds.
    """
    values: dict[str, Value] = dict(raw.constants)
    for item in raw.inputs:
        if item.name in feeds:
            with suppress(ValueError):  # more or fewer numbers than the file takes: nothing is known of it
                values[item.name] = _fed(item, feeds[item.name])
    # A runtime may fold a normalisation into the product before it.
    folded = any(node.operator == "BatchNormalization" for node in raw.nodes)
    for node in raw.nodes:
        _compute(node, values, folded)
    return {name: _known(value) for name, value in values.items() if _is_known(value)}


def _fed(item: RawInput, feed: Rounded) -> Rounded:
    """The feed in the shape of one individual: the batch dimension, if there is one, is 1."""
    count = len(feed.low)
    if len(item.shape) > 1:
        shape = (1, *(d if d is not None else -1 for d in item.shape[1:]))
    else:
        shape = tuple(d if d is not None else 1 for d in item.shape)
    low = feed.low.astype(np.float64).reshape(count, *shape)
    high = low if feed.high is feed.low else feed.high.astype(np.float64).reshape(low.shape)
    error = np.broadcast_to(feed.error, feed.low.shape).astype(np.float64).reshape(low.shape)
    return replace(feed, low=low, high=high, error=error, dtype=item.dtype, logits=None, choice=None)


def _compute(node: RawNode, values: dict[str, Value], folded: bool) -> None:
    """One node; its outputs are left out where nothing is known of them."""
    handler = HANDLERS.get((node.domain, node.operator))
    if handler is None or any(name and name not in values for name in node.inputs):
        return
    inputs = [values[name] if name else None for name in node.inputs]
    call = Call(node, inputs, folded=folded)
    try:
        with np.errstate(all="ignore"):
            found = handler(call)
    except (NoBoundError, ArithmeticError, LookupError, TypeError, ValueError):
        return
    for name, value in zip(node.outputs, found, strict=False):
        if name:
            values[name] = value


def _is_known(value: Value) -> bool:
    return isinstance(value, Rounded) or value.dtype != object


def _known(value: Value) -> Rounded:
    return of_file(value)
