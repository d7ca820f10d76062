"""What a repair of rates came to, as data: the document ``fairdsl.repaired-rates/1``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.repairing.measure import OnRows
from fairdsl.repairing.rates.thresholds import Threshold
from fairdsl.repairing.rates.weights import Weight
from fairdsl.repairing.result import CheckedDemand, Made
from fairdsl.repairing.rule import Choice, chosen
from fairdsl.verdict import Judgement

__all__ = ["RateCandidate", "RepairedRates"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCandidate:
    """A model that was tried, and its fate."""

    #: How it was made; empty for the first one.
    recipe: str
    #: Why it became the best model, or why not.
    choice: Choice
    #: What each demand comes to on the rows to choose by; empty where it could not be measured.
    numbers: tuple[CheckedDemand, ...] = ()
    #: It on these rows; None where it could not be made.
    rows: OnRows | None = None
    #: Rows that the file decides otherwise than the estimator.
    differing: int = 0
    #: Why it failed.
    detail: str = ""
    #: How much rows counted that it was trained on.
    weights: tuple[Weight, ...] = ()
    #: Above which score groups are given the favourable outcome.
    thresholds: tuple[Threshold, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether it became the best model."""
        return chosen(self.choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairedRates(Made, Document):
    """What a repair of rates of groups came to: everything that is the same whenever and wherever it runs."""

    SCHEMA: ClassVar[str] = "fairdsl.repaired-rates/1"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("improved", "accuracy")

    #: In the order in which they were made, the first on the table's rows as they are.
    candidates: tuple[RateCandidate, ...]
    #: What each demand comes to on these rows with the first model; the interval is for whom they were drawn from.
    before: tuple[CheckedDemand, ...]
    #: What it comes to with the best one.
    after: tuple[CheckedDemand, ...]

    def __post_init__(self) -> None:
        if not self.candidates or not self.candidates[0].kept:
            raise ValueError("the first model is kept until there is a better one")

    @property
    def best(self) -> RateCandidate:
        """The model that is written."""
        return [candidate for candidate in self.candidates if candidate.kept][-1]

    @property
    def improved(self) -> bool:
        """Whether it is another one than the first."""
        return bool(self.best.recipe)

    @property
    def accuracy(self) -> Judgement:
        """Whether no more accuracy is lost than allowed, on the rows to report on; unknown where it is not known."""
        return self.compared.judged(self.settings.loss) if self.improved else Judgement.HOLDS

    def lines(self) -> Iterator[str]:
        """What ``fairdsl repair`` prints, but for the folder."""
        from fairdsl.repairing.rates.wording import rates_summary

        return rates_summary(self)
