"""What a repair came to, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.question import Precision
from fairdsl.repairing.measure import Measured, OnRows, Rate
from fairdsl.repairing.rule import Choice, chosen
from fairdsl.report.model import Report

__all__ = ["Candidate", "Compared", "Ending", "Repaired", "Settings"]


class Ending(Enum):
    """Why no more was tried."""

    ROUNDS = "rounds"  # as many as asked for
    NOTHING_LEFT = "nothing_left"  # a rate of exactly 0, and no unfair row
    NOTHING_TO_ADD = "nothing_to_add"
    TIME = "time"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked for.

    ``loss`` is the accuracy that may be lost, ``within`` the distance of an estimate of the rate, ``confidence``
    that of all estimates together. A recipe that searches adds the ``share`` of the rows that are trained on, and in
    every round twice as many as in the one before.
    """

    recipe: str = "portfolio"
    rounds: int = 3
    loss: Fraction = Fraction(5, 1000)
    within: Fraction = Fraction(1, 1000)
    confidence: Fraction = Fraction(95, 100)
    share: Fraction = Fraction(1, 10)
    seed: int = 0
    timeout: float = 600.0

    def precision(self, measurements: int) -> Precision:
        """Of one of so many measurements: the union bound divides what they may miss."""
        return Precision(within=self.within, confidence=1 - (1 - self.confidence) / measurements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A model that was trained: in which round (0: on the table's rows alone), on how many added rows, and its fate.

    ``measured`` is None where it could not be trained or exported; ``detail`` says why. ``differing`` rows are decided
    otherwise by the file than by the estimator.
    """

    round: int
    recipe: str
    added: int
    choice: Choice
    measured: Measured | None = None
    differing: int = 0
    detail: str = ""

    @property
    def kept(self) -> bool:
        """Whether it became the best model."""
        return chosen(self.choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The first model and the best one on rows that neither trained nor chose them; ``changed`` decisions differ."""

    before: OnRows
    after: OnRows
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What a repair came to.

    ``candidates`` in the order in which they were trained, the first on the table's rows alone; ``split`` counts the
    rows to train on, to choose by and to report on. ``by_the_clock``: some search ended by its time, so that
    another run may differ. ``report`` is what ``check`` says of the new file, None where it was not asked
    (``pinned``: the spec names another file by its digest) or answers with the ``findings``.
    """

    spec: str
    property_name: str
    model: str
    outcomes: tuple[str, ...]
    train: str
    train_sha256: str
    estimator: str
    settings: Settings
    split: tuple[int, int, int]
    candidates: tuple[Candidate, ...]
    compared: Compared
    ending: Ending
    by_the_clock: bool
    output: Path
    file: str
    sha256: str | None
    pinned: bool
    report: Report | None
    findings: tuple[Diagnostic, ...]

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
    def reduction(self) -> Fraction | None:
        """By how much at least the rate fell, as a part of what it was; None where the first may be 0."""
        first, best = self.rates
        return 1 - best.high / first.low if first.low > 0 else None
