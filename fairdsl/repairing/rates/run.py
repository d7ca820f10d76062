"""Trying the recipes one after the other: train, export, measure on rows, and keep what the rule prefers.

A model takes the place of the best one so far if, on the rows to choose by, it decides no fewer rightly than the first
model up to the loss allowed, gives more than one outcome, and misses less of what is required: fewer requirements, or
by less (of what is only measured, by how much the ideal). Of two that miss the same the more accurate one stays. These
are facts about rows that were chosen by; the report is on others, with intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fairdsl.backends.contract import Budget, Observer
from fairdsl.clock import interrupting
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.model import Model
from fairdsl.models.evaluators import decided
from fairdsl.models.onnx_written.nodes import NotWrappedError
from fairdsl.repairing.estimators import Factory, fitted
from fairdsl.repairing.exporting import exported
from fairdsl.repairing.measure import OnRows, on_rows
from fairdsl.repairing.parts import Parts
from fairdsl.repairing.rates.result import RateCandidate
from fairdsl.repairing.rates.subject import Asked, RateSubject, decisive, shortfall
from fairdsl.repairing.rates.thresholds import decides_by_class, thresholds_of
from fairdsl.repairing.rates.weights import weighed
from fairdsl.repairing.result import ROWS_CONFIDENCE, CheckedDemand, Compared, Ending, Settings
from fairdsl.repairing.rule import Choice, chosen
from fairdsl.source.writing import write_file
from fairdsl.verdict import Interval, Judgement, Value, judged


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A model that was measured: its estimator, its file, and how far it is from what is required."""

    estimator: Any
    model: Model
    file: Path
    rows: OnRows
    off: tuple[bool, Fraction]
    numbers: tuple[CheckedDemand, ...]


class RateRounds:
    """The state of a repair; :meth:`run` it, then read ``candidates`` and ``best``."""

    def __init__(
        self,
        subject: RateSubject,
        factory: Factory,
        parts: Parts,
        settings: Settings,
        folder: Path,
        budget: Budget,
        observer: Observer,
    ) -> None:
        self._subject, self._factory, self._parts = subject, factory, parts
        self._settings, self._folder, self._observer, self._budget = settings, folder, observer, budget
        self._made = 0
        observer.progress("repair", None, "the first model")
        fitted_, model, differing = self._fitted(None)
        self._first = self.best = self._measured(fitted_, model, self._path())
        self.candidates = [
            RateCandidate(
                recipe="", choice=Choice.FIRST, numbers=self.best.numbers, rows=self.best.rows, differing=differing
            )
        ]

    def run(self) -> Ending:
        """Try the recipes; what is best by then stands, also after an interrupt."""
        recipes = RATE_RECIPES[self._settings.recipe]
        try:
            with interrupting():
                for place, (name, recipe) in enumerate(recipes.items()):
                    if self._nothing_left:
                        return Ending.NOTHING_LEFT
                    if self._budget.exhausted:
                        return Ending.of_the_budget()
                    self._observer.progress("repair", place / len(recipes), name)
                    self._try(name, recipe)
        except KeyboardInterrupt:
            return Ending.INTERRUPTED
        return Ending.NOTHING_LEFT if self._nothing_left else Ending.ROUNDS

    def compared(self) -> Compared:
        """The first model and the best one on the rows that are left for that."""
        return Compared.of(self._subject, self._first.model, self.best.model, self._parts.report.rows)

    def reported(self, budget: Budget) -> tuple[tuple[CheckedDemand, ...], tuple[CheckedDemand, ...]]:
        """The demands on these rows, with intervals, of the first model and of the best one.

        ``budget`` is of the report: that of the recipes may be spent.
        """
        before, after = (
            tuple(
                _told(asked, asked.value(budget, ROWS_CONFIDENCE))
                for asked in (each.of(self._parts.report) for each in self._subject.asked(model))
            )
            for model in (self._first.model, self.best.model)
        )
        return before, after

    @property
    def _nothing_left(self) -> bool:
        return not self.best.off[0] and not self.best.off[1]

    def _try(self, name: str, recipe: _Recipe) -> None:
        """Make a model, and let the rule decide."""
        candidate = RateCandidate(recipe=name, choice=Choice.FAILED)
        try:
            candidate, found = recipe(self, candidate)
        except NotWrappedError as problem:
            self.candidates.append(replace(candidate, detail=str(problem)))
            return
        except DiagnosticError as error:
            reason = error.diagnostics[0]
            self.candidates.append(replace(candidate, detail="; ".join([reason.title, *reason.notes[:1]])))
            return
        choice = self._judged(found)
        self.candidates.append(replace(candidate, choice=choice, numbers=found.numbers, rows=found.rows))
        if chosen(choice):
            self.best = found

    def _judged(self, found: _Tried) -> Choice:
        if self._first.rows.correct - found.rows.correct > self._settings.loss * found.rows.rows:
            return Choice.INACCURATE
        labelled = len(np.unique(self._parts.choose.rows.outcomes))
        if labelled > 1 and sum(count > 0 for count in found.rows.decided) == 1:
            return Choice.ONE_OUTCOME
        if found.off < self.best.off:
            return Choice.FAIRER
        better = found.off == self.best.off and found.rows.correct > self.best.rows.correct
        return Choice.AS_FAIR if better else Choice.NOT_FAIRER

    def reweighed(self, candidate: RateCandidate) -> tuple[RateCandidate, _Tried]:
        """Trained on rows that count for so much that what is right does not depend on the group."""
        asked, fit = self._subject.asked(self._first.model)[0], self._parts.fit
        found = weighed(asked.of(fit), fit.rows.outcomes)
        estimator, model, differing = self._fitted(found.each)
        candidate = replace(candidate, weights=found.weights, differing=differing)
        return candidate, self._measured(estimator, model, self._path())

    def with_thresholds(self, candidate: RateCandidate) -> tuple[RateCandidate, _Tried]:
        """The best model so far, with a threshold for each group."""
        decides_by_class(self.best.model)
        choose, estimator = self._parts.choose, self.best.estimator
        scored = exported(self._factory, estimator, self._subject, self._new_path(), choose.rows, raw_scores=True)
        demands = [asked.of(choose) for asked in self._subject.asked(scored.model)]
        loss = int(self._settings.loss * len(choose.rows))
        least = self._first.rows.correct - loss
        found = thresholds_of(self._subject, scored.model, decisive(demands), choose, least, self._budget)
        path = self._new_path()
        write_file(path, found.content)
        model = self._subject.load(str(path))
        favoured = decided(model, choose.rows.values) == model.favourable
        differing = int(np.count_nonzero(favoured != found.favoured))
        if differing:
            raise NotWrappedError(f"the file decides {differing:,} of {len(favoured):,} rows otherwise than its scores")
        return replace(candidate, thresholds=found.thresholds), self._measured(estimator, model, path)

    def _fitted(self, weights: Any) -> tuple[Any, Model, int]:
        """An estimator, its model, and how many rows the file decides otherwise."""
        fit, choose = self._parts.fit.rows, self._parts.choose.rows
        estimator = fitted(self._factory, self._subject, fit, self._settings.seed, weights)
        written = exported(self._factory, estimator, self._subject, self._new_path(), choose)
        return estimator, written.model, written.differing

    def _new_path(self) -> Path:
        """Where the next file is written."""
        self._made += 1
        self._path().parent.mkdir()
        return self._path()

    def _path(self) -> Path:
        """Where the last file was written."""
        return self._folder / f"{self._made:03d}" / self._subject.file_name

    def _measured(self, estimator: Any, model: Model, file: Path) -> _Tried:
        choose = self._parts.choose
        demands = [asked.of(choose) for asked in self._subject.asked(model)]
        values = [asked.value(self._budget) for asked in demands]
        counting = decisive(demands)
        return _Tried(
            estimator=estimator,
            model=model,
            file=file,
            rows=on_rows(self._subject, model, choose.rows, decided(model, choose.rows.values)),
            off=max(shortfall(asked, value) for asked, value in zip(demands, values, strict=True) if asked in counting),
            numbers=tuple(_told(asked, value) for asked, value in zip(demands, values, strict=True)),
        )


def _told(asked: Asked, value: Value) -> CheckedDemand:
    """A demand over rows, and what its number comes to."""
    threshold = asked.demand.threshold
    judgement = Judgement.MEASURED if threshold is None else judged(value, threshold)
    return CheckedDemand(text=" ".join(asked.demand.text.split()), judgement=judgement, value=_interval(value))


def _interval(value: Value) -> Interval:
    """What is judged: with sampling error where that was asked for."""
    return Interval(*(value.sampling or value.number))


_Recipe = Callable[[RateRounds, RateCandidate], tuple[RateCandidate, _Tried]]

#: The recipes that a name represents, each with its own name.
RATE_RECIPES: Mapping[str, Mapping[str, _Recipe]] = MappingProxyType(
    {
        "portfolio": {"reweighing": RateRounds.reweighed, "thresholds": RateRounds.with_thresholds},
        "reweighing": {"reweighing": RateRounds.reweighed},
        "thresholds": {"thresholds": RateRounds.with_thresholds},
    }
)
