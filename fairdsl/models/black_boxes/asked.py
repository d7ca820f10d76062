"""Asking a black box: files that are only run, and Python functions.

The definition of such a model is its answers. Nothing is proved about real arithmetic: there is no formula that could
be computed in it. A file's answer about an individual is the one that it gives when it is run on this individual alone;
in a batch a matrix kernel may add in another order, which can change the last bit of a score. So what is searched for
is asked in batches, and what counts is asked again: of a file one by one, of a function, where a call may be dear, in
other batches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Boolean, Category, Domain, Integer, Point, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Who
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.opaque import Answers, BlackBox
from fairdsl.models import errors
from fairdsl.models.black_boxes.pace import Pace
from fairdsl.models.black_boxes.reading import Asked, answers_of, in_words
from fairdsl.models.running.runtime import THREADS, Runtime
from fairdsl.numerics.evaluate import Points, Settled, decisions_by, margins_by
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Individuals of a census between two looks at the clock; and of the batches in which a function is asked again.
_CHUNK, _OTHER = 512, 61
#: So many are asked about one by one in several ways.
_FEW = 512
#: Individuals that are asked about when the model is opened.
_TRIED = 16
#: How far scores of one individual may be apart, relative to scores of 1 and more, and be the same but for rounding.
_APART = 1e-4


class BlackBoxEvaluator:
    """Answers of one black box, in the form in which engines evaluate models."""

    chunk = _CHUNK

    def __init__(self, model: Model) -> None:
        """ValueError where the model is not a black box."""
        if not isinstance(model.opaque, BlackBox):
            raise ValueError("the model is not a black box")
        self.model = model
        self._box = model.opaque
        self._asked = Asked(model.name, model.opaque.domain, model.opaque.scores, model.span)
        self._runtime = None if model.deployed is None else Runtime(model.deployed, model.span)
        self._paces = (Pace(), Pace())  # of a file: in batches, and one by one

    @property
    def domain(self) -> Domain:
        """Whom it is asked about."""
        return self._box.domain

    def ask(self, points: FloatArray, *, alone: bool = False) -> Answers:
        """The answers about individuals [n, attributes]; ``alone``: about each of them by itself."""
        if not len(points):
            return Answers(np.empty(0, dtype=np.int64), np.empty((0, self._box.scores)))
        if self._runtime is not None:
            parts = self._paces[alone].parts(len(points))
            return _joined([self._run(points[part], alone, self._runtime) for part in parts])
        if self._box.call is None:
            raise ValueError("a black box is a file or a function")
        call = self._box.call
        return _joined([call(points[[row]]) for row in range(len(points))]) if alone else call(points)

    def _run(self, points: FloatArray, alone: bool, runtime: Runtime) -> Answers:
        """The file's answers."""
        deployed = self.model.deployed
        if deployed is None:
            raise ValueError("there is no file to run")
        return answers_of(self._asked, deployed, runtime.answers(points, alone=alone), points)

    def ask_exactly(self, points: Sequence[Point]) -> Answers:
        """The answers about each of the individuals by itself, with features computed exactly and rounded once.

        A function is asked twice: DiagnosticError (E0518) where it does not answer alike, for what is shown of it rests
        on these answers.
        """
        floats = np.array([[float(value) for value in point] for point in points], dtype=np.float64)
        deployed = self.model.deployed
        if self._runtime is None or deployed is None:
            answers, again = self.ask(floats, alone=True), self.ask(floats, alone=True)
            _compare(self, floats, "asked about alone, twice", answers, again, 0.0)
            return answers
        output = self._runtime.answers_exactly(points)
        return answers_of(self._asked, deployed, output, floats)

    def ask_again(self, points: FloatArray) -> Answers:
        """The answers, asked for in another way than in one batch: of a file one by one, of a function in small batches
        from the last to the first.
        """
        if self._runtime is not None or not len(points):
            return self.ask(points, alone=True)
        backwards = points[::-1]
        found = _joined([self.ask(backwards[start : start + _OTHER]) for start in range(0, len(points), _OTHER)])
        return Answers(found.decisions[::-1], found.scores[::-1])

    def approximate(self, points: FloatArray) -> FloatArray:
        """Scores [n, k] to steer by, which come to its decisions by the model's rule.

        Of a model that gives none 1 for the outcome and 0 for the others. A score between the threshold and what the
        output's own type makes of that is moved to the side on which it was decided.
        """
        answers, rule = self.ask(points), self.model.rule
        if self._box.scores:
            if isinstance(rule, ByThreshold):
                _move_across(rule, answers)
            return answers.scores
        return np.asarray(answers.decisions[:, None] == np.arange(len(self.model.outcomes)), dtype=np.float64)

    def approximate_decisions(self, scores: FloatArray) -> IntArray:
        """The outcomes [n] that rows of scores come to."""
        return decisions_by(self.model.rule, scores)

    def margins(self, scores: FloatArray) -> FloatArray:
        """How far each row of scores is from another decision, roughly."""
        return margins_by(self.model.rule, scores)

    def settled(self, points: Points) -> Settled:
        """The answers, which leave nothing in doubt: the scores are those that it gives."""
        return _settled(self.ask(ExactRows.of(points).floats))

    def decisions_however_run(self, points: FloatArray) -> IntArray:
        """The outcomes [n]; of a file UNDECIDED where it answers about an individual alone otherwise than about many,
        or in one thread otherwise than in two.
        """
        deployed = self.model.deployed
        if self._runtime is None or deployed is None or not len(points):
            return self.ask(points).decisions
        parallel = Runtime(deployed, self.model.span, threads=THREADS)
        runs = [(self._runtime, True), (self._runtime, False), (parallel, False)]
        runs += [(parallel, True)] if len(points) <= _FEW else []  # one by one is what takes long
        first, *others = (self._asked_in(runtime, points, alone) for runtime, alone in runs)
        return np.where(np.any([first != other for other in others], axis=0), UNDECIDED, first)

    def _asked_in(self, runtime: Runtime, points: FloatArray, alone: bool) -> IntArray:
        found = [self._run(points[part], alone, runtime) for part in self._paces[alone].parts(len(points))]
        return _joined(found).decisions

    def settled_alone(self, points: Points) -> Settled:
        """The answers about each individual by itself."""
        return _settled(self.ask(ExactRows.of(points).floats, alone=True))


def _move_across(rule: ByThreshold, answers: Answers) -> None:
    """Move scores whose decision is not the one that the rule comes to next to its threshold, in place."""
    wrong = np.flatnonzero(decisions_by(rule, answers.scores) != answers.decisions)
    if not wrong.size:
        return
    up = answers.decisions[wrong] == rule.above
    below, above = float_below(rule.low), float_above(rule.high)
    answers.scores[wrong, 0] = np.where(up, np.nextafter(above, np.inf), np.nextafter(below, -np.inf))


def _settled(answers: Answers) -> Settled:
    errors_of_scores = np.zeros_like(answers.scores)
    return Settled(decisions=answers.decisions, scores=answers.scores, errors=errors_of_scores, doubled=0, exactly=0)


def _joined(parts: list[Answers]) -> Answers:
    if len(parts) == 1:
        return parts[0]
    return Answers(np.concatenate([p.decisions for p in parts]), np.concatenate([p.scores for p in parts]))


def check_steady(model: Model) -> None:
    """Ask about a few individuals twice in a batch, and one by one; DiagnosticError (E0518) where answers differ.

    The same batch has to be answered alike to the last bit; scores of one individual may be rounded in another way.
    """
    evaluator = BlackBoxEvaluator(model)
    points = some_of(evaluator.domain)
    if not len(points):
        return
    first, again = evaluator.ask(points), evaluator.ask(points)
    _compare(evaluator, points, "the same batch asked again", first, again, 0.0)
    _compare(evaluator, points, "asked about alone", first, evaluator.ask(points, alone=True), _APART)


def _compare(
    evaluator: BlackBoxEvaluator, points: FloatArray, how: str, one: Answers, other: Answers, apart: float
) -> None:
    """Scores are compared where there are any: of two that differ by rounding alone, the decisions may differ too."""
    if one.scores.shape[1]:
        limit = apart * np.maximum(1.0, np.abs(one.scores))
        differing = (np.abs(one.scores - other.scores) > limit).any(axis=1)
    else:
        differing = one.decisions != other.decisions
    if not differing.any():
        return
    row = int(np.flatnonzero(differing)[0])
    model = evaluator.model
    said = " and ".join(_said(model, answers, row) for answers in (one, other))
    whom = in_words(evaluator.domain, points[row])
    raise DiagnosticError(errors.not_steady(model.name, f"{how}: {said} about {whom}", model.span))


def _said(model: Model, answers: Answers, row: int) -> str:
    scores = answers.scores[row].tolist()
    return ", ".join(f"{score:.9g}" for score in scores) if scores else f"`{model.outcomes[answers.decisions[row]]}`"


def some_of(domain: Domain) -> FloatArray:
    """A few individuals of the domain, always the same ones."""
    rng = np.random.default_rng(0)
    columns = []
    for attribute in domain.attributes:
        match attribute.type:
            case Category(values=values):
                columns.append(rng.choice([float(value.code) for value in values], 64 * _TRIED))
            case Integer(low=low, high=high):
                columns.append(np.clip(np.rint(rng.uniform(low, high, 64 * _TRIED)), low, high))
            case Boolean():
                columns.append(rng.integers(0, 2, 64 * _TRIED).astype(np.float64))
            case Real(low=low, high=high):
                least = float(low) if low is not None else (float(high) if high is not None else 0.0) - 1.0
                most = float(high) if high is not None else least + 2.0
                columns.append(np.clip(rng.uniform(least, most, 64 * _TRIED).astype(np.float32), least, most))
    points = np.column_stack(columns).astype(np.float64)
    return points[mask(domain.where, {Who.EACH: points})][:_TRIED]
