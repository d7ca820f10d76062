"""What a repair came to, as data: the document ``fairdsl.repaired/2``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from fairdsl.clock import meter_in_force
from fairdsl.codec import Document, Lower
from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.model import Model
from fairdsl.ir.question import Precision
from fairdsl.models.evaluators import decided
from fairdsl.numerics.binomial import clopper_pearson, paired_difference
from fairdsl.options import Options, Run
from fairdsl.options.commands import REPAIR_SECONDS, Repair
from fairdsl.repairing.measure import Measured, OnRows, Rate, on_rows
from fairdsl.repairing.rule import Choice, chosen
from fairdsl.repairing.subject import Rows, Trainee
from fairdsl.report.model import Report
from fairdsl.report.shown import Worded
from fairdsl.report.words import in_percent
from fairdsl.verdict import Interval, Judgement

#: Of the intervals for whom the rows were drawn from.
ROWS_CONFIDENCE = Fraction(95, 100)


class Ending(Enum):
    """Why no more was tried."""

    ROUNDS = "rounds"  # as many as asked for
    NOTHING_LEFT = "nothing_left"  # a rate of exactly 0, and no unfair row
    NOTHING_TO_ADD = "nothing_to_add"
    TIME = "time"
    EFFORT = "effort"  # all that was given is spent
    INTERRUPTED = "interrupted"

    @classmethod
    def of_the_budget(cls) -> Ending:
        """Whether it is the time or the effort that ends what ends now."""
        meter = meter_in_force()
        return cls.TIME if meter is None or meter.late else cls.EFFORT


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked for."""

    #: Which rows to add.
    recipe: str = Repair.recipe
    #: How often to try each recipe.
    rounds: int = Repair.rounds
    #: The accuracy that may be lost.
    loss: Fraction = Repair.max_accuracy_loss
    #: How close an estimate of the rate has to come.
    within: Fraction = Repair.within
    #: The confidence of all estimates together.
    confidence: Fraction = Repair.confidence
    #: What a recipe that searches adds in the first round, of the rows that are trained on; in every round twice as
    #: much as in the one before.
    share: Fraction = Repair.add
    #: Of every random choice.
    seed: int = Repair.seed
    #: Seconds for all of it; not part of the document, which says what the same repair comes to anywhere.
    timeout: float | None = field(default=Repair.timeout, compare=False)
    #: Units of work for the measurements and searches of all rounds; None: they have time.
    effort: int | None = Repair.effort

    @property
    def options(self) -> Options:
        """The limits and the seed, as engines have them."""
        unset = REPAIR_SECONDS if self.effort is None else None
        seconds = unset if self.timeout is None else self.timeout
        return Options(Run(timeout=seconds, effort=self.effort, seed=self.seed, jobs=1))

    def precision(self, measurements: int) -> Precision:
        """Of one of so many measurements: the union bound divides what they may miss."""
        return Precision(within=self.within, confidence=1 - (1 - self.confidence) / measurements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model that was trained, and its fate."""

    #: In which round; 0: on the table's rows alone.
    round: int
    #: Which rows were added; empty for none.
    recipe: str
    #: How many.
    added: int
    #: Why it became the best model, or why not.
    choice: Choice
    #: What it is like; None where it could not be trained or exported.
    measured: Measured | None = None
    #: Rows that the file decides otherwise than the estimator.
    differing: int = 0
    #: Why it failed.
    detail: str = ""

    @property
    def kept(self) -> bool:
        """Whether it became the best model."""
        return chosen(self.choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A model and the one in its place on the same rows."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = (
        "confidence", "unfair_before", "unfair_after", "correct_before", "correct_after", "correct_change",
    )  # fmt: skip

    #: The model.
    before: OnRows
    #: The one in its place.
    after: OnRows
    #: Decisions that differ.
    changed: int
    #: Rows that only the one in its place decides rightly.
    gained: int
    #: Rows that only the model decided rightly.
    lost: int

    def __post_init__(self) -> None:
        apart = self.gained - self.lost == self.after.correct - self.before.correct
        if not apart or min(self.gained, self.lost) < 0 or self.gained + self.lost > self.changed:
            raise ValueError(
                "who is decided rightly by one model alone is decided otherwise, and accuracies differ by them"
            )
        if not self.changed <= self.before.rows == self.after.rows:
            raise ValueError("both models decide the same rows")

    @classmethod
    def of(cls, subject: Trainee, before: Model, after: Model, rows: Rows) -> Self:
        """Two models on the rows."""
        first, second = (decided(model, rows.values) for model in (before, after))
        right, now = first == rows.outcomes, second == rows.outcomes
        return cls(
            before=on_rows(subject, before, rows, first),
            after=on_rows(subject, after, rows, second),
            changed=int(np.count_nonzero(first != second)),
            gained=int(np.count_nonzero(now & ~right)),
            lost=int(np.count_nonzero(right & ~now)),
        )

    @property
    def confidence(self) -> Fraction:
        """Of each of the intervals for whom the rows were drawn from."""
        return ROWS_CONFIDENCE

    @property
    def unfair_before(self) -> Interval | None:
        """The share of the model's unfair ones among those in the target; None without rows."""
        return interval_of(self.before.unfair, self.before.in_target)

    @property
    def unfair_after(self) -> Interval | None:
        """That of the one in its place."""
        return interval_of(self.after.unfair, self.after.in_target)

    @property
    def correct_before(self) -> Interval | None:
        """The accuracy of the model."""
        return interval_of(self.before.correct, self.before.rows)

    @property
    def correct_after(self) -> Interval | None:
        """That of the one in its place."""
        return interval_of(self.after.correct, self.after.rows)

    @property
    def correct_change(self) -> Interval | None:
        """By how much the accuracy changed: both decide the same rows, so this is known better than either of them."""
        if not self.after.rows:
            return None
        return Interval(*paired_difference(self.gained, self.lost, self.after.rows, float(ROWS_CONFIDENCE)))

    def judged(self, loss: Fraction) -> Judgement:
        """Whether no more than ``loss`` of the accuracy is lost: of whom the rows were drawn from, not of the rows."""
        change = self.correct_change
        if change is None or change.low is None or change.high is None:
            return Judgement.UNKNOWN
        if change.low >= -loss:
            return Judgement.HOLDS
        return Judgement.VIOLATED if change.high < -loss else Judgement.UNKNOWN


def interval_of(count: int, whole: int) -> Interval | None:
    """For whom the rows were drawn from; None without rows."""
    return Interval(*clopper_pearson(count, whole, float(ROWS_CONFIDENCE))) if whole else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How many rows there were for what."""

    #: Rows to train on.
    train: int
    #: Rows to choose by.
    choose: int
    #: Rows to report on.
    report: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDemand:
    """What ``check`` says of the new file about a demand."""

    #: The line as the spec writes it, on one line.
    text: str
    #: What it comes to.
    judgement: Judgement
    #: The number that was judged or measured; None where there is none.
    value: Interval | None = None
    #: Whether that is written in percent.
    percent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedProperty:
    """What ``check`` says of the new file about a property."""

    #: The property.
    name: str
    #: What its demands come to together.
    judgement: Judgement
    #: Its demands.
    demands: tuple[CheckedDemand, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Made(Worded):
    """What repairs have in common: what was trained for what, the first model and the best one, and the new file."""

    #: The path of the spec.
    spec: str
    #: The property that the model is trained for.
    property_name: str
    #: Its name in the spec.
    model: str
    #: What it decides between.
    outcomes: tuple[str, ...]
    #: The table that it learns from.
    train: str
    #: The table's digest.
    train_sha256: str
    #: Who trains.
    estimator: str
    #: What was asked for.
    settings: Settings
    #: What the rows were for.
    split: Split
    #: The first model and the best one, on other rows.
    compared: Compared
    #: Why no more was tried.
    ending: Ending
    #: The model's file, in the folder.
    file: str
    #: Its digest.
    sha256: str | None
    #: Whether the spec names another file by its digest, so that this one is not checked.
    pinned: bool
    #: What ``check`` says of the new file; None where it was not asked, or answers with findings alone.
    checked: tuple[CheckedProperty, ...] | None
    #: Findings about the spec and the new file.
    diagnostics: tuple[Diagnostic, ...]
    #: The folder; not part of the document.
    output: Path = field(default=Path(), compare=False)
    #: All that ``check`` says, with how long it took; not part of the document.
    report: Report | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired(Made, Document):
    """What a repair came to: everything that is the same whenever and wherever the same repair runs."""

    SCHEMA: ClassVar[str] = "fairdsl.repaired/2"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("improved", "reduction", "accuracy")

    #: In the order in which they were trained, the first on the table's rows alone.
    candidates: tuple[Candidate, ...]
    #: Whether some search ended by its time, so that another run may differ.
    by_the_clock: bool

    def __post_init__(self) -> None:
        kept = [candidate for candidate in self.candidates if candidate.kept]
        if not kept or not all(_has_rate(one) for one in (self.candidates[0], kept[-1])):
            raise ValueError("the first model and the best one are kept, and have rates")

    @property
    def best(self) -> Candidate:
        """The model that is written."""
        return [candidate for candidate in self.candidates if candidate.kept][-1]

    @property
    def improved(self) -> bool:
        """Whether it is another one than the first."""
        return self.best.round > 0

    @property
    def rates(self) -> tuple[Rate, Rate]:
        """The rates over the domain of the first model and of the best one."""
        first, best = self.candidates[0].measured, self.best.measured
        assert first is not None
        assert best is not None
        assert first.rate is not None
        assert best.rate is not None
        return first.rate, best.rate

    @property
    def reduction(self) -> Lower | None:
        """By how much at least the rate fell, as a part of what it was; None where the first may be 0."""
        first, best = self.rates
        return 1 - best.high / first.low if first.low > 0 else None

    @property
    def accuracy(self) -> Judgement:
        """Whether no more accuracy is lost than allowed, on the rows to report on; unknown where it is not known."""
        return self.compared.judged(self.settings.loss) if self.improved else Judgement.HOLDS

    def lines(self) -> Iterator[str]:
        """What ``fairdsl repair`` prints, but for the folder."""
        from fairdsl.repairing.wording import summary

        return summary(self)


def _has_rate(candidate: Candidate) -> bool:
    return candidate.measured is not None and candidate.measured.rate is not None


def checked_by(report: Report) -> tuple[CheckedProperty, ...]:
    """What a report says, without how long it took and how it was done."""
    return tuple(
        CheckedProperty(
            name=item.name,
            judgement=item.judgement,
            demands=tuple(
                CheckedDemand(
                    text=" ".join(demand.text.split()),
                    judgement=demand.judgement,
                    value=demand.value,
                    percent=in_percent(demand),
                )
                for demand in item.demands
            ),
        )
        for item in report.properties
    )
