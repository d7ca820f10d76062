"""The loop: train, export, measure, and keep what the rule prefers.

    rows --fit--> estimator --export--> file --measure--> rule --> best
             ^                                               |
             +------ rows of a recipe <-- search <-----------+

What is measured is always the file. The first model is trained on the table's rows alone, every other one on the rows
of the best so far and on those of a recipe (``published``: those of the table and of the recipe).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.search import STRATEGIES, evaluator_of, falsify
from fairdsl.backends.search import Ending as SearchEnding
from fairdsl.clock import interrupting
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.model import Model
from fairdsl.ir.question import Quantity
from fairdsl.repairing import errors
from fairdsl.repairing.estimators import Factory, fitted
from fairdsl.repairing.exporting import exported
from fairdsl.repairing.measure import Measured, measure
from fairdsl.repairing.parts import Parts
from fairdsl.repairing.recipes import RECIPES, Floats, Recipe, Situation
from fairdsl.repairing.result import Candidate, Compared, Ending, Settings
from fairdsl.repairing.rule import Allowed, Choice, chosen, judged
from fairdsl.repairing.subject import Subject
from fairdsl.repairing.training import Training

#: Seconds that one search may take, and the part of what is left.
_SEARCH, _PART = 30.0, 4
#: Units that may be drawn to find pairs by uniform draws alone.
_UNIFORM = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trained:
    """A model that was measured, and what it learnt from."""

    training: Training
    model: Model
    measured: Measured
    file: Path


class Rounds:
    """The state of a repair; :meth:`run` it, then read ``candidates`` and ``best``."""

    def __init__(
        self,
        subject: Subject,
        factory: Factory,
        parts: Parts,
        settings: Settings,
        folder: Path,
        budget: Budget,
        observer: Observer,
    ) -> None:
        self._subject, self._factory, self._parts = subject, factory, parts
        self._settings, self._folder, self._observer = settings, folder, observer
        self._recipes = RECIPES[settings.recipe]
        self._budget = budget
        self._tried: list[tuple[str, Path]] = []
        self._searched: dict[tuple[str, int], tuple[Floats, Floats]] = {}
        self.by_the_clock = False
        self.candidates: list[Candidate] = []
        self._first = self.best = self._begin()

    @property
    def training(self) -> Training:
        """What the best model learnt from."""
        return self.best.training

    def run(self) -> Ending:
        """Follow the rounds to an end; what is best by then stands, also after an interrupt."""
        try:
            with interrupting():
                for number in range(1, self._settings.rounds + 1):
                    ending = self._round(number)
                    if ending is not None:
                        return ending
        except KeyboardInterrupt:
            return Ending.INTERRUPTED
        return Ending.NOTHING_LEFT if self._nothing_left else Ending.ROUNDS

    def compared(self) -> Compared:
        """The first model and the best one on the rows that are left for that."""
        return Compared.of(self._subject, self._first.model, self.best.model, self._parts.report.rows)

    def _begin(self) -> _Trained:
        """The model without additions; what is wrong with it is wrong with the run."""
        training = Training(self._parts.fit.rows)
        self._observer.progress("repair", None, "the first model")
        first, differing = self._train(training)
        if first.measured.rate is None:
            reason = "the time ended before the rate was known, or nobody is asked about"
            help_text = "give more time with `--timeout`, or ask for less with `--within`"
            raise DiagnosticError(errors.not_repairable(reason, self._subject.pair.span, help_text))
        self.candidates.append(
            Candidate(round=0, recipe="", added=0, choice=Choice.FIRST, measured=first.measured, differing=differing)
        )
        return first

    @property
    def _nothing_left(self) -> bool:
        rate, rows = self.best.measured.rate, self.best.measured.rows
        return rate is not None and rate.exact and rate.number.high == 0 and not rows.unfair

    def _round(self, number: int) -> Ending | None:
        added = False
        for place, (name, recipe) in enumerate(self._recipes.items()):
            if self._nothing_left:
                return Ending.NOTHING_LEFT
            if self._budget.exhausted:
                return Ending.of_the_budget()
            rng = np.random.default_rng([self._settings.seed, number, place])
            added |= self._try(number, name, recipe, rng)
        return None if added else Ending.NOTHING_TO_ADD

    def _try(self, number: int, name: str, recipe: Recipe, rng: np.random.Generator) -> bool:
        """Train on what the recipe adds, and let the rule decide; False where it adds nothing."""
        self._observer.progress("repair", (number - 1) / self._settings.rounds, f"round {number}, {name}")
        situation = self._situation(number, rng)
        self._tried.append((name, self.best.file))
        candidate = Candidate(round=number, recipe=name, added=0, choice=Choice.FAILED)
        try:
            training = recipe(situation)
            if training is None:
                return False
            candidate = replace(candidate, added=training.added)
            found, differing = self._train(training)
        except DiagnosticError as error:
            reason = error.diagnostics[0]
            detail = "; ".join([reason.title, *reason.notes[:1]])
            self.candidates.append(replace(candidate, detail=detail))
            return True
        allowed = Allowed(
            first=self._first.measured,
            loss=self._settings.loss,
            labelled=len(np.unique(self._parts.choose.rows.outcomes)),
        )
        choice = judged(self.best.measured, found.measured, allowed)
        self.candidates.append(replace(candidate, choice=choice, measured=found.measured, differing=differing))
        if chosen(choice):
            self.best = found
        return True

    def _train(self, training: Training) -> tuple[_Trained, int]:
        """Fit, export, and measure the file; also how many rows the file decides otherwise than the estimator."""
        number = len(self.candidates)
        folder = self._folder / f"{number:03d}"
        folder.mkdir()
        path = folder / self._subject.file_name
        estimator = fitted(self._factory, self._subject, training.rows, self._settings.seed)
        rows = self._parts.choose.rows
        written = exported(self._factory, estimator, self._subject, path, rows)
        precision = self._settings.precision(1 + self._settings.rounds * len(self._recipes))
        measured = measure(self._subject, written.model, rows, precision, self._budget, self._observer)
        self.by_the_clock |= self._budget.exhausted and Ending.of_the_budget() is Ending.TIME
        return _Trained(training=training, model=written.model, measured=measured, file=path), written.differing

    def _situation(self, number: int, rng: np.random.Generator) -> Situation:
        return Situation(
            subject=self._subject,
            factory=self._factory,
            training=self.best.training,
            search=self._search,
            round=number,
            wanted=int(self._settings.share * len(self._parts.fit.rows)) * 2 ** (number - 1),
            tried=frozenset(name for name, file in self._tried if file == self.best.file),
            rng=rng,
        )

    def _search(self, count: int) -> tuple[Floats, Floats]:
        """At most so many pairs on which the best model discriminates, each unit once."""
        rate = self.best.measured.rate
        if count < 1 or (rate is not None and rate.exact and rate.number.high == 0):
            nobody = np.empty((0, len(self._subject.domain.attributes)))
            return nobody, nobody
        key = (str(self.best.file), count)
        if key not in self._searched:
            problem = self._subject.problem(self.best.model, Quantity.HOLDS)
            # Uniform counterexamples say most about the domain; where they are rare, any are better than few.
            usual = rate is not None and rate.number.low * _UNIFORM >= count
            seconds = min(_SEARCH, self._budget.remaining / _PART)
            result = falsify(
                problem,
                self._subject.pair,
                evaluator_of(problem.model),
                STRATEGIES["uniform" if usual else "portfolio"],
                count=count,
                budget=Budget.of(seconds, seed=self._settings.seed),
                observer=self._observer,
            )
            if result.ending is SearchEnding.INTERRUPTED:
                raise KeyboardInterrupt
            self.by_the_clock |= result.ending is SearchEnding.TIME
            self._searched[key] = (result.pairs.a, result.pairs.b)
        return self._searched[key]
