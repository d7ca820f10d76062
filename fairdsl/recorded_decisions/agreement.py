"""How many rows of recorded decisions a model agrees with, and which it does not.

The deployed file decides where there is one, each doubtful row alone, as an applicant is decided. A row that disagrees
is explained where it proves nothing about the reading: its score ties, or exact arithmetic decides as was recorded and
only the file's float32 does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.data.errors import named_at, not_the_pinned_data
from fairdsl.data.table import read_table
from fairdsl.data.texts import read_texts
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.agreement import Agreement, Disagreement
from fairdsl.ir.declaration import DecisionClause, ModelDeclaration, Recorded, WhenProbability, WhenScore
from fairdsl.ir.domain import Attribute, Domain, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import ByThreshold, Model, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.models.evaluators import evaluator_of
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import Settled, points_of
from fairdsl.recorded_decisions import errors
from fairdsl.recorded_decisions.alternatives import Judge, better_binding
from fairdsl.recorded_decisions.codes import Decisions, NumberKind, Numbers, UnreadableError, high_place, read_cells
from fairdsl.source import Span
from fairdsl.source.reading import NamedPath

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Rows that are listed at most, and rows that are decided again alone.
_LISTED, _ALONE = 5, 2_000
#: Whoever recorded the decisions may have computed in float64, and the file holds float32: scores as near to the
#: threshold as this, beside their size, come out on either side.
_TIE = 2.0**-20


def held_against(model: Model, declaration: ModelDeclaration, domain: Domain, recorded: Recorded) -> Agreement:
    """The agreement, with its findings; raises DiagnosticError where the table or the column cannot be read."""
    try:
        table, texts = read_table(recorded.path, domain), read_texts(recorded.path, recorded.column)
    except DiagnosticError as problem:
        if not isinstance(recorded.path, NamedPath):
            raise  # it stands on the command line
        raise DiagnosticError(*named_at(problem.diagnostics, recorded.span)) from problem
    if recorded.sha256 not in (None, texts.sha256):
        place = recorded.digest_span or recorded.span
        raise DiagnosticError(not_the_pinned_data(recorded.path, str(recorded.sha256), texts.sha256, place))
    answering = _Answering(model, declaration.decision, table.values)
    try:
        kind = None if answering.number is None else answering.number.kind
        cells = read_cells(texts.cells, model, declaration, kind)
    except UnreadableError as problem:
        row = 1 + texts.cells.index(problem.cells[0])
        raise DiagnosticError(
            errors.not_decisions(
                recorded, model.name, str(problem), problem.cells, row, problem.help_text, texts.heading
            )
        ) from problem
    held = answering.decisions(cells) if isinstance(cells, Decisions) else answering.numbers(cells)
    listed = [_disagreement(held, domain, table.values, row) for row in held.order()[:_LISTED]]
    agreement = Agreement(
        model=model.name,
        path=recorded.path,
        sha256=texts.sha256,
        column=recorded.column,
        reading=held.reading,
        rows=table.rows,
        agreeing=int(np.count_nonzero(~held.wrong)),
        ties=int(np.count_nonzero(held.explained)),
        agreeing_exactly=held.exactly,
        asked=recorded.share,
        disagreements=tuple(listed),
        better=better_binding(
            model, domain, table.values.floats, held.agrees, held.wrong & ~held.explained, held.inverted
        ),
    )
    return replace(agreement, findings=tuple(_findings(agreement, recorded.span)))


def _findings(agreement: Agreement, span: Span) -> list[Diagnostic]:
    found = []
    if not agreement.kept:
        found.append(
            errors.does_not_agree(
                agreement.model,
                agreement.in_words(),
                agreement.asked,
                [row.in_words() for row in agreement.disagreements],
                span,
            )
        )
    if agreement.better is not None:
        found.append(errors.another_binding(agreement.model, agreement.better, span))
    return found


def many_decided(model: Model, points: FloatArray, runtime: Runtime | None = None) -> NDArray[np.int64]:
    """The outcomes of many individuals, in batches and as near as floats are: by the deployed file, else by what was
    read."""
    if model.deployed is not None:
        return (runtime or Runtime(model.deployed, model.span)).decide_array(points)
    evaluator = evaluator_of(model)
    return evaluator.approximate_decisions(evaluator.approximate(points))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Held:
    """Which rows are wrong, which of these are explained, and how rows are judged when others are fed in."""

    wrong: BoolArray
    explained: BoolArray
    exactly: int | None
    reading: str
    agrees: Judge
    #: The same if the outcomes were the other way round; None for more than two.
    inverted: Judge | None
    #: Of a row: what was recorded and what is computed.
    said: Callable[[int], tuple[str, str]]

    def order(self) -> list[int]:
        """The wrong rows, those first that nothing explains."""
        plain = np.flatnonzero(self.wrong & ~self.explained).tolist()
        return [*plain, *np.flatnonzero(self.wrong & self.explained).tolist()]


@dataclass(frozen=True, slots=True)
class _Number:
    """A number that a model gives for individuals, with its name in words."""

    kind: NumberKind
    name: str
    compute: Callable[[FloatArray], FloatArray]


class _Answering:
    """A model asked about the rows of a table: the deployed file where there is one, and exact arithmetic."""

    def __init__(self, model: Model, clause: DecisionClause, points: ExactRows) -> None:
        self._model, self._points = model, points
        self._runtime = None if model.deployed is None else Runtime(model.deployed, model.span)
        self._evaluator = evaluator_of(model)
        self._exact: Settled | None = None
        #: The number that the model gives beside its decisions; None where it gives none.
        self.number = self._number(clause)

    def decide(self, points: FloatArray) -> NDArray[np.int64]:
        """The outcomes of many individuals, in batches."""
        return many_decided(self._model, points, self._runtime)

    def decisions(self, recorded: Decisions) -> _Held:
        """Outcomes against outcomes."""
        wanted = recorded.outcomes
        exact = self._evaluator.settled(self._points)
        found = exact.decisions.copy() if self._runtime is None else self._runtime.decide_array(self._points.floats)
        wrong = np.flatnonzero(found != wanted)
        if self._runtime is not None and wrong.size:
            again = wrong[:_ALONE]
            found[again] = self._runtime.decide(points_of(self._points.at(again)))
        mistaken = found != wanted
        opaque = isinstance(self._model.opaque, BlackBox)
        doubtful = self._ties(exact) | (exact.decisions == wanted) | (exact.decisions < 0)
        outcomes = self._model.outcomes
        return _Held(
            wrong=mistaken,
            explained=mistaken & doubtful & (not opaque),
            exactly=None if opaque else int(np.count_nonzero(exact.decisions == wanted)),
            reading=recorded.reading,
            agrees=lambda points, rows: self.decide(points) == wanted[rows],
            inverted=(lambda points, rows: self.decide(points) == 1 - wanted[rows]) if len(outcomes) == 2 else None,
            said=lambda row: (_outcome(outcomes, wanted[row]), _outcome(outcomes, found[row])),
        )

    def numbers(self, recorded: Numbers) -> _Held:
        """Numbers against numbers."""
        assert self.number is not None
        name, compute = self.number.name, self.number.compute
        found = compute(self._points.floats)

        def agrees(points: FloatArray, rows: NDArray[np.intp]) -> BoolArray:
            return np.asarray(np.abs(compute(points) - recorded.numbers[rows]) <= recorded.tolerance)

        def inverted(points: FloatArray, rows: NDArray[np.intp]) -> BoolArray:
            return np.asarray(np.abs(1 - compute(points) - recorded.numbers[rows]) <= recorded.tolerance)

        wrong = np.abs(found - recorded.numbers) > recorded.tolerance
        return _Held(
            wrong=wrong,
            explained=np.zeros_like(wrong),
            exactly=None,
            reading=f"{name}, within {recorded.tolerance:.2g}",
            agrees=agrees,
            inverted=inverted if self.number.kind is NumberKind.PROBABILITY else None,
            said=lambda row: (f"{recorded.numbers[row]:.6g}", f"{found[row]:.6g}"),
        )

    def _ties(self, exact: Settled) -> BoolArray:
        """Rows whose score lies on the threshold as far as can be told, or whose two highest scores are equal."""
        margins = self._evaluator.margins(exact.scores)
        if not exact.scores.shape[1]:
            return np.zeros(len(margins), dtype=np.bool_)
        size = np.maximum(1.0, np.abs(exact.scores).max(axis=1))
        return np.asarray(np.abs(margins) <= exact.errors.sum(axis=1) + _TIE * size)

    def _number(self, clause: DecisionClause) -> _Number | None:
        model, runtime = self._model, self._runtime
        high = high_place(clause) if isinstance(clause, WhenScore | WhenProbability) else 1
        probability = f"the probability of `{model.outcomes[high]}`"
        kind = NumberKind.SCORE if isinstance(clause, WhenScore) else NumberKind.PROBABILITY
        name = "the score" if kind is NumberKind.SCORE else probability
        if runtime is not None and model.deployed is not None:
            if model.deployed.readout in (Readout.CHANNEL, Readout.SCORE):
                return _Number(kind, name, lambda points: runtime.scores_array(points)[:, 0])
        elif isinstance(clause, WhenScore) and isinstance(model.rule, ByThreshold) and model.score_count == 1:
            return _Number(kind, name, lambda points: self._evaluator.approximate(points)[:, 0])
        if model.logits is None or model.score_count != 1 or not isinstance(model.rule, ByThreshold):
            return None
        scale = float(model.logits.scale) * (1 if high == model.rule.above else -1)
        # The logistic function, by a form that never overflows.
        return _Number(
            NumberKind.PROBABILITY,
            probability,
            lambda points: 0.5 + 0.5 * np.tanh(scale / 2 * self._evaluator.approximate(points)[:, 0]),
        )


def _outcome(outcomes: Sequence[str], decision: int) -> str:
    return outcomes[decision] if decision >= 0 else "undecided"


def _disagreement(held: _Held, domain: Domain, points: ExactRows, row: int) -> Disagreement:
    (point,) = points_of(points.at(slice(row, row + 1)))
    individual = {
        attribute.name: _shown(attribute, value) for attribute, value in zip(domain.attributes, point, strict=True)
    }
    recorded, computed = held.said(row)
    return Disagreement(
        row=row + 1,
        individual=individual,
        recorded=recorded,
        computed=computed,
        tie=bool(held.explained[row]),
    )


def _shown(attribute: Attribute, value: Fraction) -> str:
    """The value in the spec's words, a number that is not a short decimal in nine digits."""
    exact = attribute.show(value)
    return f"{float(value):.9g}" if "/" in exact and isinstance(attribute.type, Real) else exact
