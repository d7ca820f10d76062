"""Shares over the rows of a table: of each row, whether the unit that it lies in is treated fairly.

Every row is judged by the definition (docs/semantics.md, section 3), so the share of the rows is exact. The rows
are in turn a sample of the population that they come from: if they were drawn from it independently of each other, and
of the model, the share among all that could have been drawn lies in Clopper and Pearson's interval.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.sampling.replays import replayed
from fairdsl.backends.units import Units, units_of
from fairdsl.ir.domain import Point
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, PairUnder, Quantity
from fairdsl.models.black_box_pace import asked_until
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.predicates import mask
from fairdsl.verdict import Estimate, Evidence, Reason, Shares, Unknown, Verdict

__all__ = ["OverRows"]

_CONFIDENCE = Fraction(95, 100)
#: Rows that are judged at once, and violating pairs that are kept.
_ROWS, _PAIRS = 2**9, 512


class OverRows:
    """Counts the rows of an empirical distribution that lie in unfair units."""

    name = "rows"
    about = Capability(
        questions=("pairs under the rows of a table: same decision; any, all, relax, target, where",),
        quantities=("fair_share", "discrimination_rate"),
        models=("every model that can be evaluated",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses questions that are not about rows, and people who cannot be listed."""
        question, population = problem.question, problem.population
        if not isinstance(question, PairUnder):
            return Refusal(why="it answers shares `under` the rows of a table", other=True)
        if not isinstance(population, Rows) or problem.quantity is Quantity.HOLDS:
            return Refusal(why="only shares of rows themselves are counted", span=question.span)
        if question.pair.sure:
            return Refusal(why="it does not ask how sure the model is", span=question.pair.sure[0].span)
        units = units_of(_plain(problem, question.pair), drawn=False)
        if isinstance(units, Refusal):
            return units
        return Offer(method=f"takes all {population.sample.rows:,} rows, {units.how}", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The share of the rows, and what it says of the population that they come from."""
        question, population = problem.question, problem.population
        if not isinstance(question, PairUnder) or not isinstance(population, Rows):
            raise ValueError("rows was asked what it refuses")
        plain = _plain(problem, question.pair)
        units = units_of(plain, drawn=False)
        if isinstance(units, Refusal):
            raise ValueError("rows was asked what it refuses")
        people = population.sample.values.keep(range(len(problem.domain.attributes)))
        people = people.at(mask(conjoin(problem.domain.where, question.pair.target), {Who.EACH: people}))
        evidence = Evidence(
            backend=self.name,
            method=f"{len(people):,} of {population.sample.rows:,} rows of `{population.name}` are in the target,"
            f" {units.how}",
            notes=("for the rows themselves; the interval is about whom they were drawn from",),
        )
        if not len(people):
            detail = "no row is in the target"
            return Unknown(reason=Reason.UNDEFINED, detail=detail, evidence=replace(evidence, vacuous=True))
        judged = _judge(units, people, budget, observer)
        witnesses = replayed(plain, judged.pairs)
        facts.witnesses.extend(witnesses)
        left = len(people) - judged.rows
        return replace(
            _shares(judged, len(people), population.name, evidence),
            witnesses=witnesses,
            reason=Reason.TIMEOUT if left else Reason.INCOMPLETE if judged.doubtful else None,
        )


def _plain(problem: Problem, pair: Pair) -> Problem:
    """The same question about pairs as such."""
    return replace(problem, question=pair, population=None)


class _Judged:
    """What is known of the first ``rows`` rows."""

    def __init__(self) -> None:
        self.rows = self.unfair = self.doubtful = self.alone = 0
        self.pairs: list[tuple[Point, Point]] = []


def _judge(units: Units, people: ExactRows, budget: Budget, observer: Observer) -> _Judged:
    found = _Judged()
    for start in range(0, len(people), _ROWS):
        if budget.exhausted:
            break
        judged = None
        with asked_until(budget.deadline):
            judged = units.judge(people.at(slice(start, start + _ROWS)))
        if judged is None:
            break
        found.rows += len(judged.present)
        met = int(judged.unfair.sum())
        found.unfair += met
        found.doubtful += int(judged.doubtful.sum())
        found.alone += int((judged.alone & ~judged.doubtful).sum())
        room = min(met, _PAIRS - len(found.pairs))
        found.pairs.extend(zip(judged.a.at(slice(room)).points(), judged.b.at(slice(room)).points(), strict=True))
        observer.progress("rows", found.rows / len(people), f"{found.unfair:,} of {found.rows:,} rows")
    return found


def _shares(judged: _Judged, total: int, name: str, evidence: Evidence) -> Shares:
    fair = judged.rows - judged.unfair - judged.doubtful
    estimate = None
    if judged.rows == total:  # the first rows of a file are no random ones
        low, _ = clopper_pearson(fair, total, float(_CONFIDENCE))
        _, high = clopper_pearson(fair + judged.doubtful, total, float(_CONFIDENCE))
        estimate = Estimate(sampled=total, unfair=judged.unfair, low=low, high=high, confidence=_CONFIDENCE)
    return Shares(
        certified=Fraction(fair, total),
        falsified=Fraction(judged.unfair, total),
        undecided=Fraction(total - fair - judged.unfair, total),
        vacuous=Fraction(judged.alone, total),
        measure="rows",
        unit=f"a row of `{name}` in the target",
        evidence=evidence,
        total=total,
        estimate=estimate,
    )
