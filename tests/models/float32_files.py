"""Holding the error analysis of a file against onnxruntime: every tensor that the file computes, on given rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from fairdsl.models.float32 import Rounded, analysed
from fairdsl.models.onnx_import.file import RawGraph, read_file
from tests.models.model_files import saved

Rows = np.ndarray[Any, Any]


def exposed(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy in which every tensor that a node makes is an output."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    have = {output.name for output in copy.graph.output}
    for node in copy.graph.node:
        for name in node.output:
            if name and name not in have:
                copy.graph.output.append(onnx.ValueInfoProto(name=name))
    return copy


def at_run_time(model: onnx.ModelProto, feeds: dict[str, Rows], *, expose: bool = True) -> dict[str, list[Rows]]:
    """What onnxruntime makes of every tensor, each individual alone."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    content = (exposed(model) if expose else model).SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    shapes = {item.name: item.shape for item in session.get_inputs()}
    count = len(next(iter(feeds.values())))
    found: dict[str, list[Rows]] = {name: [] for name in names}
    for row in range(count):
        fed = {
            name: rows[row : row + 1] if len(shapes[name]) > 1 else rows[row].reshape([1] * len(shapes[name]))
            for name, rows in feeds.items()
        }
        for name, value in zip(names, session.run(names, fed), strict=True):
            # A ZipMap gives a dictionary an individual.
            found[name].append(np.array([[*value[0].values()]]) if isinstance(value, list) else np.asarray(value))
    return found


def opened(model: onnx.ModelProto, folder: Path) -> RawGraph:
    return read_file(saved(model, folder), None)


def exactly(rows: Rows) -> Rounded:
    """Features that the file is given as they are."""
    numbers = rows.astype(np.float64)
    return Rounded(numbers, numbers, np.zeros(numbers.shape))


def within(raw: RawGraph, model: onnx.ModelProto, feeds: dict[str, Rows]) -> dict[str, tuple[float, float]]:
    """Assert that every tensor lies within its bounds; the largest bound and the largest deviation that was seen of
    each tensor that is a number."""
    bounds = analysed(raw, {name: exactly(rows) for name, rows in feeds.items()})
    inside(bounds, at_run_time(model, feeds))
    inside(bounds, at_run_time(model, feeds, expose=False))  # as it is deployed: the runtime may join operators
    found = {}
    for name, values in at_run_time(model, feeds).items():
        if name in bounds and values[0].dtype.kind == "f":
            bound = bounds[name]
            middle = (bound.low + bound.high) / 2
            seen = max(float(np.abs(v - middle[row % len(middle)]).max()) for row, v in enumerate(values))
            finite = bound.error[np.isfinite(bound.error)]
            found[name] = (float(finite.max()) if finite.size else np.inf, seen)
    return found


def inside(bounds: Any, computed: dict[str, list[Rows]]) -> None:
    """Assert that what was computed lies within the error of the enclosure of the exact values."""
    for name, values in computed.items():
        bound = bounds.get(name)
        if bound is None:
            continue
        for row, value in enumerate(values):
            place = row % len(bound.low)
            low, high, error = bound.low[place], bound.high[place], bound.error[place]
            if value.dtype.kind in "OSU":
                value = np.array([bound.texts.index(str(text)) for text in value.ravel()]).reshape(value.shape)
            number = value.astype(np.float64)
            assert number.size == low.size, (name, number.shape, low.shape)
            number = number.reshape(low.shape)
            off = np.maximum(low - number, number - high)
            assert ((off <= error) | np.isinf(error)).all(), (name, number, low, high, error)
            assert (low <= high).all(), (name, low, high)
