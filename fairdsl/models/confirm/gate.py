"""The gate: no reading of a model file is trusted before the file itself was run beside it.

Both are run on the same individuals, and every output that was read has to be what the file gives, within what rounding
explains; so have the decisions. Where they are not, the file is refused, with the first tensor that differs.

Ties: whom the file gives which label where two classes have the same score.

Whether the file rounds on its way to a tie is seen by looking: where all numbers of its tensors are the exact ones, it
has rounded nothing, so its label is not a matter of rounding but of what its operators mean. A curve behind the scores
may still draw others level with the highest ones, so the label has to be one of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.domain import Domain
from fairdsl.ir.model import Deployed, Model
from fairdsl.ir.reading import Reading
from fairdsl.models import errors
from fairdsl.models.basis import Affine
from fairdsl.models.binding.absent import filled_in, given_forms
from fairdsl.models.confirm.compare import Bounds, Difference, compare_decisions, compare_outputs
from fairdsl.models.confirm.directed import activating, borders_of, in_leaves
from fairdsl.models.confirm.errors import misread
from fairdsl.models.confirm.expected import Expected, Texts, expect
from fairdsl.models.confirm.individuals import Draw, everybody, how_many, spread
from fairdsl.models.confirm.remembered import entry_of, recall, remember
from fairdsl.models.confirm.steps import first_difference, made_by
from fairdsl.models.confirm.units import Reader, Units
from fairdsl.models.features import feature_matrix, is_plain
from fairdsl.models.float32 import Rounded, analysed
from fairdsl.models.float32.feeds import fed_as_given
from fairdsl.models.graph import ImportedGraph
from fairdsl.models.onnx_import.file import torn_weights
from fairdsl.models.running.runtime import Runtime, numbers_fed
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.threads import one_blas_thread
from fairdsl.source import Span

#: So many individuals are looked at for each output.
_LOOKED_AT = 4


def tied_rows(expected: Sequence[Expected]) -> NDArray[np.int64]:
    """Individuals with a tie of the highest scores behind some label, a few for each output."""
    rows = [
        np.flatnonzero(wanted.tied.any(axis=1) & ~wanted.sure)[:_LOOKED_AT]
        for wanted in expected
        if isinstance(wanted, Texts)
    ]
    return np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)


def compare_ties(
    graph: ImportedGraph,
    units: Units,
    expected: Sequence[Expected],
    steps: Callable[[Sequence[str]], Mapping[str, NDArray[Any]]],
) -> Difference | None:
    """A label that the one individual of ``units`` gets otherwise in the file, which rounds nothing of its scores."""
    affine = {name: value for name, value in graph.values.items() if isinstance(value, Affine) and value.size}
    names = [name for node in (graph.raw.nodes if graph.raw else ()) for name in node.outputs if name in affine]
    labels = [output.name for output in graph.outputs]
    found = steps([*names, *(name for name in labels if name not in names)])
    for name in names:
        mine = units.affine(affine[name])
        if name in found and not np.array_equal(
            np.asarray(found[name], dtype=np.float64).reshape(-1)[: mine.size], mine[0]
        ):
            return None
    for name, wanted in zip(labels, expected, strict=True):
        if isinstance(wanted, Texts) and name in found:
            theirs = found[name].reshape(-1)[0]
            if wanted.tied_otherwise(0, theirs):
                return Difference(0, name, 0, theirs, wanted.values[0, 0])
    return None


FloatArray = NDArray[np.float64]

#: So many individuals are fed to the file alone as well, and not among others.
_ALONE = 16
#: The part of them who lack a value that somebody may lack.
_LACKING = 0.25


def confirm(model: Model, graph: ImportedGraph, domain: Domain, span: Span | None) -> Reading:
    """Hold the model and all that was read of its file against the file; raises DiagnosticError where they differ."""
    deployed = model.deployed
    assert deployed is not None, "the model is from a file that can be run"
    entry = entry_of(model, deployed, graph, domain)
    known = recall(entry)
    if known is not None:
        return known
    with one_blas_thread():
        reading = _Gate(model, deployed, graph, domain, span).confirmed()
    remember(entry, reading)
    return reading


class _Gate:
    def __init__(
        self, model: Model, deployed: Deployed, graph: ImportedGraph, domain: Domain, span: Span | None
    ) -> None:
        self._model, self._deployed, self._graph, self._domain, self._span = model, deployed, graph, domain, span
        self._runtime = Runtime(deployed, span)
        self._reader = Reader(graph.basis.blocks)
        self._evaluator = BatchEvaluator(model)
        self._bounded = True
        self._forms = given_forms(graph, deployed.features, domain)
        self._names = [output.name for output in graph.outputs]

    def confirmed(self) -> Reading:
        points = self._individuals()
        fed = self._runtime.fed(points)
        batch = self._in_batches(fed)
        some = spread(len(points), _ALONE if batch is not None else len(points))
        single = self._runtime.tables(_at(fed, some), self._names, alone=True)
        self._compare(points[some], _at(fed, some), single)
        if batch is None:
            return Reading(individuals=len(points), bounded=self._bounded, alone=True)
        different = self._difference(points, fed, batch)
        if different is not None:
            # Whoever is asked alone counts: then it is the batch that answers otherwise.
            row = np.array([different.row])
            self._compare(points[row], _at(fed, row), self._runtime.tables(_at(fed, row), self._names, alone=True))
            raise DiagnosticError(self._not_steady(points, different))
        return Reading(individuals=len(points), bounded=self._bounded)

    def _in_batches(self, fed: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]] | None:
        """All outputs, many individuals at once; None where the file takes one at a time only."""
        try:
            return self._runtime.tables(fed, self._names)
        except DiagnosticError:
            return None

    def _compare(self, points: FloatArray, fed: Mapping[str, NDArray[Any]], found: Sequence[NDArray[Any]]) -> None:
        different = self._difference(points, fed, found)
        if different is not None:
            raise DiagnosticError(self._misread(points, fed, different))

    def _difference(
        self, points: FloatArray, fed: Mapping[str, NDArray[Any]], found: Sequence[NDArray[Any]]
    ) -> Difference | None:
        units = self._units(points, fed)
        bounds = self._bounds(fed)
        self._bounded &= all(_finite(bounds.get(name)) for name in self._names)
        different, expected = compare_outputs(self._graph, units, found, bounds)
        for row in tied_rows(expected) if different is None else ():
            different = different or self._at_tie(points, fed, int(row))
        if different is not None:
            return different
        decisive = self._names.index(self._deployed.output)
        return compare_decisions(
            self._evaluator,
            self._deployed,
            points,
            found[decisive],
            expected[decisive],
            lambda: np.asarray(units.unsure_fed | units.unsure, dtype=np.bool_),
        )

    def _at_tie(self, points: FloatArray, fed: Mapping[str, NDArray[Any]], row: int) -> Difference | None:
        """A tie of scores that file and reading resolve differently."""
        one = _at(fed, np.array([row]))
        units = self._units(points[[row]], one)
        expected = [expect(output, units) for output in self._graph.outputs]
        different = compare_ties(self._graph, units, expected, lambda names: self._runtime.steps(one, names))
        return None if different is None else replace(different, row=row)

    def _units(self, points: FloatArray, fed: Mapping[str, NDArray[Any]]) -> Units:
        """What was read, evaluated on what the file is fed."""
        features = self._features(fed)
        meant = feature_matrix(self._forms, points)
        return self._reader.at(features, np.abs(features - meant) + 1e-15 * np.abs(meant) * ~self._plain)

    @property
    def _plain(self) -> NDArray[np.bool_]:
        """Which features are attributes as they stand: float64 rounds nothing of them."""
        plain = np.zeros(len(self._forms), dtype=np.bool_)
        plain[: len(self._deployed.features)] = [is_plain(form) for form in self._deployed.features]
        return plain

    def _features(self, fed: Mapping[str, NDArray[Any]]) -> FloatArray:
        """The features [n, width] in the order of the file's inputs, as the numbers that it is fed."""
        tensors = [numbers_fed(feed, fed[feed.name]) for feed in self._deployed.feeds]
        return filled_in(self._graph.basis.absent, np.concatenate(tensors, axis=1)) if tensors else np.zeros((0, 0))

    def _bounds(self, fed: Mapping[str, NDArray[Any]]) -> Bounds:
        """What the file rounds of its tensors where it is fed exactly this."""
        if self._graph.raw is None or self._graph.basis.absent is not None:
            return {}
        return analysed(self._graph.raw, fed_as_given(self._deployed, fed))

    def _individuals(self) -> FloatArray:
        """Whom both are run on, each once, [n, attributes]."""
        most = how_many(self._graph.basis.blocks)
        all_of_them = everybody(self._domain, most)
        if all_of_them is not None:
            return all_of_them
        forms = {number: self._forms[columns] for number, columns in self._reader.columns.items()}
        draw = Draw(self._domain, borders_of(self._graph.basis.blocks, forms))
        chosen = [draw.corners(64), draw.each_value(), in_leaves(self._graph.basis.blocks, forms, draw)]
        usual = self._of_whom_some_lack(draw.random(most))
        chosen.append(activating(self._reader, forms, draw, usual[:256], self._fed_features))
        special = _different(np.concatenate(chosen))
        special = special[spread(len(special), most * 3 // 4)]
        return _different(np.concatenate([special, usual, draw.random(most)]))[:most]

    def _of_whom_some_lack(self, points: FloatArray) -> FloatArray:
        """The individuals, a quarter of whom have no value of each attribute that may be missing."""
        for place, attribute in enumerate(self._domain.attributes):
            if attribute.missing is not None:
                lacking = np.random.default_rng(place).random(len(points)) < _LACKING
                points[lacking, place] = float(attribute.missing)
        return points

    def _fed_features(self, points: FloatArray) -> FloatArray:
        return self._features(self._runtime.fed(points))

    def _misread(
        self,
        points: FloatArray,
        fed: Mapping[str, NDArray[Any]],
        different: Difference,
    ) -> Diagnostic:
        row = np.array([different.row])
        one = _at(fed, row)
        units = self._units(points[row], one)
        step = first_difference(self._graph, units, self._bounds(one), lambda names: self._runtime.steps(one, names))
        if step is None and different.tensor is not None:
            step = made_by(self._graph, different)
        who = self._domain.show(points_of(points[row])[0])
        return misread(self._deployed.path, who, different, step, self._span, torn_weights(self._deployed.path))

    def _not_steady(self, points: FloatArray, different: Difference) -> Diagnostic:
        shown = self._domain.show(points_of(points[[different.row]])[0])
        who = ", ".join(f"{name} = {value}" for name, value in shown.items())
        said = f"of {who}: {different.file} among others, {different.reading} alone"
        return errors.not_steady(self._model.name, said, self._span, "run to confirm what was read of it")


def _finite(bound: Rounded | None) -> bool:
    return bound is not None and bool(np.isfinite(bound.error).all())


def _at(fed: Mapping[str, NDArray[Any]], rows: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    return {name: tensor[rows] for name, tensor in fed.items()}


def _different(rows: FloatArray) -> FloatArray:
    """Every row once, where it comes first."""
    return rows[np.sort(np.unique(rows, axis=0, return_index=True)[1])]
