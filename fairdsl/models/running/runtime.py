"""Running the deployed file in its own float32.

Witnesses are replayed one individual at a time, as a single applicant is decided; the batched path of
:meth:`Runtime.decide_array` is for searching, and may differ from it in the last bit of a score, since
matrix kernels add in another order for other batch sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import Work, spend
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Point
from fairdsl.ir.model import Deployed, Feed
from fairdsl.models import errors
from fairdsl.models.features import feature_matrix, feature_values, is_plain, rounded
from fairdsl.models.readout import decisions_of, numbers_of
from fairdsl.models.running.session import Session, session_beside, session_here
from fairdsl.numerics.evaluate import points_of
from fairdsl.source import Span

#: Threads of a run in parallel, where sums are taken in parts, and so rounded in another way than in one thread.
THREADS = 2
_BATCH = 4096
#: What is counted where effort is given.
_RUNS = Work("runs of deployed files", 3)
#: Types of outputs that may be a table: a tensor, or a ZipMap's dictionary an individual.
_TABLES = ("tensor(", "seq(map(")


class Runtime:
    """A deployed file, ready to run: in one thread unless told otherwise, silent, one session per file and digest."""

    def __init__(self, deployed: Deployed, span: Span | None = None, *, threads: int = 1) -> None:
        """Open the file; raises DiagnosticError (E0514) if onnxruntime refuses it or it has changed.

        ``span`` is the place in the spec that names the file, for the diagnostic. With several ``threads`` sums are
        taken in parts, and so rounded in another way.
        """
        self._deployed = deployed
        try:
            self._session = _session(deployed.path, deployed.sha256, threads, deployed.unread)
        except _CannotRunError as problem:
            found = errors.cannot_run(deployed.path, str(problem), span)
            raise DiagnosticError(errors.of_float64(found) if _takes_float64(deployed) else found) from problem
        self._shapes = {item.name: tuple(item.shape) for item in self._session.get_inputs()}
        self._batch = _fixed_batch(self._shapes) or (1 if deployed.alone else None)

    def decide(self, points: Sequence[Point]) -> list[int]:
        """The outcome's index for every individual, each run alone."""
        return list(map(int, decisions_of(self._deployed, self.answers_exactly(points))))

    def scores(self, points: Sequence[Point]) -> NDArray[np.float64]:
        """The numbers that decide, [n, columns]: for DIFFERENCE the one difference, else the output itself.

        Each individual is run alone. A LABEL output gives the position of the label among the outcomes.
        """
        return numbers_of(self._deployed, self.answers_exactly(points))

    @property
    def batch(self) -> int | None:
        """How many individuals the file takes at a time; None: as many as there are."""
        return self._batch

    def decide_array(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """Outcomes of many individuals, [n, attributes] to [n], in batches."""
        return decisions_of(self._deployed, self.answers(points))

    def scores_array(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """What :meth:`scores` gives, for many individuals in batches."""
        return numbers_of(self._deployed, self.answers(points))

    def answers(self, points: NDArray[np.float64], *, alone: bool = False) -> NDArray[Any]:
        """The output itself for many individuals, [n, columns]: in batches, or each of them run alone.

        Of nobody it is one column, for only an answer tells how many there are.
        """
        if alone and not (self._plain and self._batch in (None, 1)):
            return self.answers_exactly(points_of(points))
        outputs = list(self._in_batches(points, size=int(alone)))
        return np.concatenate(outputs) if outputs else np.zeros((0, 1))

    def answers_exactly(self, points: Sequence[Point]) -> NDArray[Any]:
        """The output itself, each individual run alone, with features computed exactly and rounded once."""
        outputs = [self._run_exactly(point) for point in points]
        return np.concatenate(outputs) if outputs else np.zeros((0, 1))

    def outputs(self, point: Point) -> dict[str, NDArray[Any]]:
        """All outputs of the file for one individual, [1, columns] each; those that are not tables are left out."""
        feeds = self._feeds_exactly(point)
        tables = [item.name for item in self._session.get_outputs() if item.type.startswith(_TABLES)]
        found = {name: self._run(feeds, name) for name in tables}
        return {name: array[:1] for name, array in found.items() if len(array) == (self._batch or 1)}

    def fed(self, points: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
        """What the file is given for many individuals: for each input [n, numbers of one individual]."""
        rows = feature_matrix(self._deployed.features, points)
        return {feed.name: self._elements(feed, rows) for feed in self._deployed.feeds}

    def tables(
        self, fed: Mapping[str, NDArray[Any]], names: Sequence[str], *, alone: bool = False
    ) -> list[NDArray[Any]]:
        """Those outputs, [n, columns] each, for individuals that are ``fed`` in batches, or each of them ``alone``.

        Raises DiagnosticError (E0514) where the file fails, or gives nothing that belongs to one individual each.
        """
        count = len(next(iter(fed.values())))
        size = self._batch or (1 if alone else _BATCH)
        found: list[list[NDArray[Any]]] = [[] for _ in names]
        for start in range(0, count, size):
            have = min(size, count - start)
            chosen = {name: rows[start : start + size] for name, rows in fed.items()}
            if self._batch and have < size:
                repeated = [*range(have), *[have - 1] * (size - have)]
                chosen = {name: rows[repeated] for name, rows in chosen.items()}
            feeds = {feed.name: self._shaped(feed, chosen[feed.name]) for feed in self._deployed.feeds}
            for place, output in zip(found, self._outputs(self._session, feeds, names), strict=True):
                place.append(self._rows(output, self._batch or have)[:have])
        return [np.concatenate(parts) for parts in found]

    def steps(self, fed: Mapping[str, NDArray[Any]], names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """What the nodes of the file compute on the way for one individual, by tensor."""
        session = _exposed(self._deployed.path, self._deployed.sha256, tuple(names))
        repeated = {name: np.repeat(rows[:1], self._batch or 1, axis=0) for name, rows in fed.items()}
        feeds = {feed.name: self._shaped(feed, repeated[feed.name]) for feed in self._deployed.feeds}
        outputs = zip(names, self._outputs(session, feeds, names), strict=True)
        return {name: output for name, output in outputs if isinstance(output, np.ndarray)}

    def _outputs(self, session: Any, feeds: dict[str, NDArray[Any]], names: Sequence[str]) -> list[Any]:
        try:
            return list(session.run(list(names), feeds))
        except Exception as problem:  # onnxruntime raises classes of its own per failure
            raise DiagnosticError(errors.cannot_run(self._deployed.path, _short(problem))) from problem

    def _rows(self, output: Any, count: int) -> NDArray[Any]:
        """An output as [count, columns]."""
        if isinstance(output, list):  # ZipMap: one dictionary of classes an individual
            output = np.array([list(row.values()) for row in output])
        table = np.asarray(output)
        if table.size % count or (count > 1 and table.shape[0] != count):
            reason = f"it gives a tensor of shape {list(table.shape)} for {count} individuals"
            raise DiagnosticError(errors.cannot_run(self._deployed.path, reason))
        return table.reshape(count, -1)

    @property
    def _plain(self) -> bool:
        """Whether all features are attributes as they stand, so that float64 rounds none of them before the file."""
        return all(is_plain(form) for form in self._deployed.features)

    def _in_batches(self, points: NDArray[np.float64], size: int = 0) -> Iterator[NDArray[Any]]:
        """The output for every individual, in batches of a size: the file's own, or as large as is worth while.

        Features are computed of many at once, also for a file that takes one individual at a time.
        """
        size = size or self._batch or _BATCH
        at_once = size * max(
            1, _BATCH // size
        )  # features of many at once: files that take one at a time take their time
        for first in range(0, len(points), at_once):
            rows = feature_matrix(self._deployed.features, points[first : first + at_once])
            tensors = [(feed, self._elements(feed, rows)) for feed in self._deployed.feeds]
            for start in range(0, len(rows), size):
                count = min(size, len(rows) - start)
                part: slice | NDArray[np.intp] = slice(start, start + count)
                if self._batch and count < size:  # the file wants full batches, and of nobody outside the domain
                    part = np.minimum(np.arange(start, start + size), len(rows) - 1)
                yield self._run({feed.name: self._shaped(feed, tensor[part]) for feed, tensor in tensors})[:count]

    def _run_exactly(self, point: Point) -> NDArray[Any]:
        """The output for one individual, with features computed exactly and rounded once."""
        return self._run(self._feeds_exactly(point))[:1]

    def _feeds_exactly(self, point: Point) -> dict[str, NDArray[Any]]:
        """What the file is given for one individual, as often as the file's batch has room."""
        values = feature_values(self._deployed.features, point)
        feeds = {}
        for feed in self._deployed.feeds:
            chosen = [values[i] for i in feed.features]
            if feed.texts:
                full = _texts(feed, np.array([[float(value) for value in chosen]]))
            else:
                full = np.array([[rounded(value, feed.dtype) for value in chosen]], dtype=feed.dtype)
                for column, code in enumerate(feed.missing):
                    if chosen[column] == code:
                        full[0, column] = np.nan
            feeds[feed.name] = self._shaped(feed, np.repeat(full, self._batch or 1, axis=0))
        return feeds

    def _elements(self, feed: Feed, rows: NDArray[np.float64]) -> NDArray[Any]:
        """What the feed takes of the features of each row, [n, width]."""
        chosen = rows[:, list(feed.features)]
        for column, code in enumerate(feed.missing):
            if code is not None:
                chosen[chosen[:, column] == float(code), column] = np.nan
        return _texts(feed, chosen) if feed.texts else chosen.astype(feed.dtype)

    def _shaped(self, feed: Feed, rows: NDArray[Any]) -> NDArray[Any]:
        """[n, width] in the rank that the file wants."""
        shape = self._shapes[feed.name]
        if len(shape) <= 1:
            return rows.reshape(-1) if shape else rows.reshape(())
        rest = [d if isinstance(d, int) and d > 0 else -1 for d in shape[1:]]
        return rows.reshape([rows.shape[0], *rest])

    def _run(self, feeds: dict[str, NDArray[Any]], name: str = "") -> NDArray[Any]:
        """The output (or the one of that name) as [n, columns] (labels: [n, 1])."""
        spend(_RUNS)
        (output,) = self._outputs(self._session, feeds, [name or self._deployed.output])
        if isinstance(output, list):  # ZipMap: one dictionary of classes an individual
            output = np.array([list(row.values()) for row in output])
        count = max((tensor.shape[0] if tensor.ndim > 1 else 1) for tensor in feeds.values())
        if self._batch is None and all(len(shape) == 1 for shape in self._shapes.values()):
            count = max(tensor.size for tensor in feeds.values())
        array = np.asarray(output)
        return array.reshape(count if array.size % max(count, 1) == 0 else 1, -1)


def _texts(feed: Feed, rows: NDArray[np.float64]) -> NDArray[Any]:
    """The texts that stand for the numbers, [n, width]."""
    found = np.full(rows.shape, "", dtype=object)
    for column, texts in enumerate(feed.texts):
        for number, text in texts:
            found[rows[:, column] == number, column] = text
    return found


def numbers_fed(feed: Feed, rows: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers behind what a feed is given, [n, width]: of a text the code that it stands for."""
    if not feed.texts:
        return np.asarray(rows.astype(np.float64))
    found = np.full(rows.shape, np.nan)
    for column, texts in enumerate(feed.texts):
        for number, text in texts:
            found[rows[:, column] == text, column] = number
    return found


def _fixed_batch(shapes: dict[str, tuple[Any, ...]]) -> int | None:
    """The batch size that the file fixes; a plain vector of features is a batch of one."""
    for shape in shapes.values():
        if len(shape) == 0 or (len(shape) == 1 and isinstance(shape[0], int)):
            return 1
        if isinstance(shape[0], int) and shape[0] > 0:
            return shape[0]
    return None


@lru_cache(maxsize=16)
def _session(path: str, digest: str, threads: int, unread: bool) -> Session:
    from fairdsl.models.onnx_import.file import whole_content

    content = whole_content(path, digest)
    if content is None:
        raise _CannotRunError("the file has changed since it was read")
    return _opened(content, threads, unread)


@lru_cache(maxsize=2)
def _exposed(path: str, digest: str, names: tuple[str, ...]) -> Any:
    """A session of a copy of the file that gives all these tensors."""
    import onnx

    from fairdsl.models.onnx_import.file import whole_model

    model = whole_model(path, digest)
    given = {output.name for output in model.graph.output}
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in given)
    try:
        return _opened(model.SerializeToString())
    except _CannotRunError as problem:
        raise DiagnosticError(errors.cannot_run(path, str(problem))) from problem


def _takes_float64(deployed: Deployed) -> bool:
    """Whether the file takes float64, for which few steps of classical models are implemented."""
    return any(feed.dtype == "float64" for feed in deployed.feeds)


def _opened(model: bytes, threads: int = 1, unread: bool = False) -> Session:
    try:
        if unread:
            return session_beside(model, threads)
        return session_here(model, threads)
    except Exception as problem:  # onnxruntime raises classes of its own per failure
        raise _CannotRunError(_short(problem)) from problem


class _CannotRunError(Exception):
    """Why a session could not be opened."""


def _short(problem: Exception) -> str:
    """The first line of what onnxruntime says, without the paths of the machine that built it."""
    lines = str(problem).strip().splitlines()
    first = lines[0] if lines else type(problem).__name__
    return re.sub(r"\S*/\S+\.(?:cc|h):\d+\s*", "", first)[:200]
