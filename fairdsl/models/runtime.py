"""Running the deployed file in its own float32: the only owner of onnxruntime.

Witnesses are replayed one individual at a time, as a single applicant is decided; the batched path of
:meth:`Runtime.decide_array` is for searching, and may differ from it in the last bit of a score, since
matrix kernels add in another order for other batch sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Deployed, Feed, Readout
from fairdsl.models import errors
from fairdsl.models.features import feature_matrix, feature_values, rounded
from fairdsl.source import Span

__all__ = ["Runtime"]

_BATCH = 4096


class Runtime:
    """A deployed file, ready to run: single-threaded, silent, one session per file and digest."""

    def __init__(self, deployed: Deployed, span: Span | None = None) -> None:
        """Open the file; raises DiagnosticError (E0514) if onnxruntime refuses it or it has changed.

        ``span`` is the place in the spec that names the file, for the diagnostic.
        """
        self._deployed = deployed
        try:
            self._session = _session(deployed.path, deployed.sha256)
        except _CannotRunError as problem:
            raise DiagnosticError(errors.cannot_run(deployed.path, str(problem), span)) from problem
        self._shapes = {item.name: tuple(item.shape) for item in self._session.get_inputs()}
        self._batch = _fixed_batch(self._shapes)

    def decide(self, points: Sequence[Point]) -> list[int]:
        """The outcome's index for every individual, each run alone."""
        return [int(self._decisions(self._run_exactly(point))[0]) for point in points]

    def scores(self, points: Sequence[Point]) -> NDArray[np.float64]:
        """The numbers that decide, [n, columns]: for DIFFERENCE the one difference, else the output itself.

        Each individual is run alone. A LABEL output gives the position of the label among the outcomes.
        """
        rows = [self._numbers(self._run_exactly(point)) for point in points]
        return np.concatenate(rows) if rows else np.zeros((0, 1))

    def decide_array(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Outcomes of many individuals, [n, attributes] to [n], in batches."""
        batches = [self._decisions(output) for output in self._in_batches(points)]
        return np.concatenate(batches) if batches else np.zeros(0, dtype=np.int64)

    def scores_array(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """What :meth:`scores` gives, for many individuals in batches."""
        batches = [self._numbers(output) for output in self._in_batches(points)]
        return np.concatenate(batches) if batches else np.zeros((0, 1))

    def _in_batches(self, points: NDArray[np.float64]) -> Iterator[NDArray[Any]]:
        """The output for every individual, batch by batch."""
        size = self._batch or _BATCH
        for start in range(0, points.shape[0], size):
            rows = feature_matrix(self._deployed.features, points[start : start + size])
            count = rows.shape[0]
            if self._batch and count < size:  # the file wants full batches
                rows = np.concatenate([rows, np.zeros((size - count, rows.shape[1]))])
            feeds = {feed.name: self._tensor(feed, rows) for feed in self._deployed.feeds}
            yield self._run(feeds)[:count]

    def _run_exactly(self, point: Point) -> NDArray[Any]:
        """The output for one individual, with features computed exactly and rounded once."""
        values = feature_values(self._deployed.features, point)
        feeds = {}
        for feed in self._deployed.feeds:
            row = [rounded(values[i], feed.dtype) for i in feed.features]
            full = np.array([row] * (self._batch or 1), dtype=feed.dtype)
            feeds[feed.name] = self._shaped(feed, full)
        output = self._run(feeds)
        return output[:1]

    def _tensor(self, feed: Feed, rows: NDArray[np.float64]) -> NDArray[Any]:
        return self._shaped(feed, rows[:, list(feed.features)].astype(feed.dtype))

    def _shaped(self, feed: Feed, rows: NDArray[Any]) -> NDArray[Any]:
        """[n, width] in the rank that the file wants."""
        shape = self._shapes[feed.name]
        if len(shape) <= 1:
            return rows.reshape(-1) if shape else rows.reshape(())
        rest = [d if isinstance(d, int) and d > 0 else -1 for d in shape[1:]]
        return rows.reshape([rows.shape[0], *rest])

    def _run(self, feeds: dict[str, NDArray[Any]]) -> NDArray[Any]:
        """The output as [n, columns] (labels: [n, 1])."""
        try:
            (output,) = self._session.run([self._deployed.output], feeds)
        except Exception as problem:  # onnxruntime raises classes of its own per failure
            raise DiagnosticError(errors.cannot_run(self._deployed.path, _short(problem))) from problem
        if isinstance(output, list):  # ZipMap: one dictionary of classes an individual
            output = np.array([list(row.values()) for row in output])
        count = max((tensor.shape[0] if tensor.ndim > 1 else 1) for tensor in feeds.values())
        if self._batch is None and all(len(shape) == 1 for shape in self._shapes.values()):
            count = max(tensor.size for tensor in feeds.values())
        array = np.asarray(output)
        return array.reshape(count if array.size % max(count, 1) == 0 else 1, -1)

    def _numbers(self, output: NDArray[Any]) -> NDArray[np.float64]:
        match self._deployed.readout:
            case Readout.LABEL:
                return self._decisions(output).astype(np.float64)[:, None]
            case Readout.DIFFERENCE:
                chosen = output[:, 1:2] - output[:, 0:1]
            case Readout.CHANNEL:
                chosen = output[:, self._deployed.channel, None]
            case Readout.SCORE | Readout.HIGHEST:
                chosen = output
        return np.asarray(chosen, dtype=np.float64)

    def _decisions(self, output: NDArray[Any]) -> NDArray[np.int64]:
        deployed = self._deployed
        match deployed.readout:
            case Readout.LABEL:
                return self._outcomes(output[:, 0])
            case Readout.HIGHEST:
                return self._outcomes(np.argmax(output, axis=1))
            case Readout.DIFFERENCE:
                true = _compare(output[:, 1], deployed.relation, output[:, 0])
            case Readout.SCORE | Readout.CHANNEL:
                threshold = np.asarray(rounded(deployed.threshold or Fraction(0), str(output.dtype)))
                column = output[:, deployed.channel if deployed.readout is Readout.CHANNEL else 0]
                true = _compare(column, deployed.relation, threshold.astype(output.dtype))
        return np.where(true, deployed.granted, deployed.otherwise).astype(np.int64)

    def _outcomes(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The outcomes that labels stand for; ValueError for a label that stands for none."""
        if not self._deployed.labels:
            return values.astype(np.int64)
        outcomes = np.full(len(values), -1, dtype=np.int64)
        for outcome, label in enumerate(self._deployed.labels):
            outcomes[values == label] = outcome
        if (outcomes < 0).any():
            raise ValueError(f"`{values[outcomes < 0][0]}` is no label of the file")
        return outcomes


def _compare(left: NDArray[Any], relation: Relation | None, right: NDArray[Any]) -> NDArray[np.bool_]:
    match relation:
        case Relation.GT:
            return left > right
        case Relation.GE:
            return left >= right
        case Relation.LT:
            return left < right
        case Relation.LE:
            return left <= right
        case _:
            raise ValueError(f"no decision compares by {relation}")


def _fixed_batch(shapes: dict[str, tuple[Any, ...]]) -> int | None:
    """The batch size that the file fixes; a plain vector of features is a batch of one."""
    for shape in shapes.values():
        if len(shape) == 0 or (len(shape) == 1 and isinstance(shape[0], int)):
            return 1
        if isinstance(shape[0], int) and shape[0] > 0:
            return shape[0]
    return None


@lru_cache(maxsize=16)
def _session(path: str, digest: str) -> Any:
    import onnxruntime

    from fairdsl.models.onnx_import.file import file_digest

    found = file_digest(path)
    if found != digest:
        raise _CannotRunError("the file has changed since it was read")
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(Path(path)), options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # onnxruntime raises classes of its own per failure
        raise _CannotRunError(_short(problem)) from problem


class _CannotRunError(Exception):
    """Why a session could not be opened."""


def _short(problem: Exception) -> str:
    """The first line of what onnxruntime says, without the paths of the machine that built it."""
    lines = str(problem).strip().splitlines()
    first = lines[0] if lines else type(problem).__name__
    return re.sub(r"\S*/\S+\.(?:cc|h):\d+\s*", "", first)[:200]
