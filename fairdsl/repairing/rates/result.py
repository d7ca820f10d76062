"""What a repair of rates came to, as data: the document ``fairdsl.repaired-rates/1``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.ir.numbers import shown, span
from fairdsl.repairing.measure import OnRows
from fairdsl.repairing.rates.thresholds import Threshold
from fairdsl.repairing.rates.weights import Weight
from fairdsl.repairing.result import ROWS_CONFIDENCE, CheckedDemand, Ending, Made
from fairdsl.repairing.rule import Choice, chosen
from fairdsl.repairing.wording import CHOICES, ENDINGS, change, heading, on_new_rows, percent, row, verdicts
from fairdsl.report.words import cell
from fairdsl.verdict import Judgement, Named


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
        return rates_summary(self)


#: What becomes of models in other words than where pairs are asked about.
_CHOICES = CHOICES | {Choice.AS_FAIR: "misses as much, more accurate"}
_ENDINGS = ENDINGS | {
    Ending.ROUNDS: "every recipe was tried",
    Ending.NOTHING_LEFT: "the rows to choose by meet what is required",
}


def rates_summary(repaired: RepairedRates) -> Iterator[str]:
    """Lines of text, none of which names a place on this machine or a time."""
    yield from heading(repaired)
    first = repaired.candidates[0].numbers
    for place, number in enumerate(first, start=1):
        yield row("asked" if place == 1 else "", f"{place}  {number.text}")
    columns = "".join(f"{place:>14}" for place in range(1, len(first) + 1))
    yield ""
    yield f"    {'recipe':<14}{columns}{'accuracy':>11}"
    for candidate in repaired.candidates:
        yield from _candidate(candidate)
    yield ""
    best = repaired.best
    yield row("best", best.recipe or "no candidate improved on the original model")
    yield from _made(best)
    confidence = shown(ROWS_CONFIDENCE, percent=True)
    for place, (was, now) in enumerate(zip(repaired.before, repaired.after, strict=True)):
        numbers = change(repaired, _number(was), _number(now))
        told = f"{was.text}   {numbers} ({confidence} each): {_JUDGED[now.judgement]}"
        yield row("" if place else "new rows", told)
    meant = "the estimator's scores and these thresholds say" if best.thresholds else "the estimator does"
    yield from on_new_rows(repaired, best.differing, meant)
    yield row("ended", _ENDINGS[repaired.ending])
    yield from verdicts(repaired)


#: What an interval of new rows says of a requirement.
_JUDGED = {
    Judgement.HOLDS: "met",
    Judgement.VIOLATED: "missed",
    Judgement.UNKNOWN: "may be met or missed",
    Judgement.MEASURED: "measured",
    Judgement.VACUOUS: "about nobody",
    Judgement.REFUSED: "no number",
}


def _candidate(candidate: RateCandidate) -> Iterator[str]:
    head = f"    {candidate.recipe or 'none':<14}"
    if candidate.rows is None:
        yield f"{head}{CHOICES[candidate.choice]}: {candidate.detail}"
        return
    numbers = "".join(f"{_number(number):>14}" for number in candidate.numbers)
    yield f"{head}{numbers}{percent(candidate.rows.correct, candidate.rows.rows):>11}  {_CHOICES[candidate.choice]}"


def _number(demand: CheckedDemand) -> str:
    """``0.8123``, or ``[0.78, 0.85]``: what is judged."""
    value = demand.value
    if value is None or value.low is None or value.high is None:
        return "-"
    said = span(value.low, value.high, between=", ")
    return said if value.exact is not None else f"[{said}]"


def _made(candidate: RateCandidate) -> Iterator[str]:
    """How the model differs from the first one."""
    if candidate.thresholds:
        limits = ", ".join(f"{_group(each.group)} above {float(each.above):.4g}" for each in candidate.thresholds)
        yield row("", f"a score for each group: {limits}; above {float(candidate.thresholds[0].before):g} before")
    if candidate.weights:
        weights = (f"{_group(each.group)} and {each.outcome} {float(each.weight):.3f}" for each in candidate.weights)
        yield row("", f"weights of rows: {', '.join(weights)}")


def _group(group: Named) -> str:
    return " and ".join(f"{name} = {cell(value)}" for name, value in group.items()) or "everybody"
