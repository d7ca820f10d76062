"""Metrics of groups by their definitions: everybody of a small population, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.verdict import Rate, Refused, Unknown, Value, Verdict
from tests.oracle import outcome, true_for, values_of

ZERO = Fraction(0)
#: An engine that gives no reason knows its number to this width.
PRECISE = Fraction(1, 10**6)
#: The values of some columns.
Values = tuple[Fraction, ...]


@dataclass(frozen=True)
class Person:
    """Somebody of the population; ``chance`` is the probability of being favoured (0 or 1 unless columns are drawn)."""

    mass: Fraction
    group: Values
    stratum: Values
    label: Fraction | None
    chance: Fraction


def rate(people: Sequence[Person]) -> Fraction:
    """The favourable share of some people; ZeroDivisionError where there is nobody."""
    return sum((one.mass * one.chance for one in people), ZERO) / sum((one.mass for one in people), ZERO)


class NoComparisonError(Exception):
    """What is left out leaves nothing to compare."""


@dataclass(frozen=True)
class Truth:
    """The metric lies in [low, high], and is that number where the two are equal; None: there is no number."""

    ends: tuple[Fraction, Fraction] | None
    rates: Mapping[tuple[Values, Values, Fraction | None], Fraction]


def everybody(problem: Problem, *, drawn: Sequence[int] = ()) -> list[Person]:
    """All people who count; the model reads uniform values of the columns ``drawn``."""
    question, people = problem.question, list[Person]()
    assert isinstance(question, GroupMetric)
    for point, mass in individuals(problem):
        each = {Who.EACH: point}
        if not mass or not (true_for(problem.domain.where, each) and true_for(question.given, each)):
            continue
        read = [[value] for value in point[: len(problem.domain.attributes)]]
        for column in drawn:
            read[column] = [Fraction(value) for value in values_of(problem.domain.attributes[column].type)]
        favoured = [outcome(problem.model, one) == problem.model.favourable for one in product(*read)]
        label = point[-1] if problem.population is not None and problem.population.has_label else None
        group, stratum = (tuple(point[column] for column in some) for some in (question.across, question.given_each))
        people.append(Person(mass, group, stratum, label, Fraction(sum(favoured), len(favoured))))
    return people


def individuals(problem: Problem) -> Iterator[tuple[Point, Fraction]]:
    """The values of all columns, with their probability."""
    population = problem.population
    assert population is not None
    if not isinstance(population, Network):
        rows = population.sample.values.points()
        yield from ((row, Fraction(1, len(rows))) for row in rows)
        return
    for cells in product(*(range(len(column)) for column in population.cells)):
        mass = Fraction(1)
        for factor in population.factors:
            row = factor.rows.get(tuple(cells[parent] for parent in factor.parents))
            mass *= ZERO if row is None else row[cells[factor.column]]  # type: ignore[index]
        yield tuple(column[cell].low or ZERO for column, cell in zip(population.cells, cells, strict=True)), mass


def gap(rates: Sequence[Fraction]) -> Fraction:
    return max(rates) - min(rates)


#: What each metric makes of the rates of the groups.
OF_RATES: dict[str, Callable[[Sequence[Fraction]], Fraction]] = {
    "statistical_parity": gap,
    "equal_opportunity": gap,
    "equalized_odds": gap,
    "predictive_parity": gap,
    "disparate_impact": lambda rates: min(rates) / max(rates),
    "most_favoured": max,
    "least_favoured": min,
}
#: Metrics whose several numbers are all of them, not the worst.
ALL_OF = {"acceptance_rate", "most_favoured", "least_favoured"}
LABELLED = {"equalized_odds", "equal_opportunity", "predictive_parity"}
METRICS = [*OF_RATES, "acceptance_rate"]


def truth(problem: Problem) -> Truth:
    """The metric by its definition (docs/semantics.md, section 4)."""
    question = problem.question
    assert isinstance(question, GroupMetric)
    people = everybody(problem)
    rates = _rates(problem, people)
    left_out = {at for at, found in rates.items() if found is None}
    kept = {at: found for at, found in rates.items() if found is not None}
    if left_out and question.excluding is None:
        return Truth(None, kept)
    try:
        number = _number(question, kept)
        if question.influence:
            drawn = _rates(problem, everybody(problem, drawn=question.influence))
            other = _number(question, {at: found for at, found in drawn.items() if found is not None and at in kept})
            number = (number[0] - other[1], number[1] - other[0])
    except (ZeroDivisionError, NoComparisonError):
        return Truth(None, kept)
    return Truth(number, kept)


def _rates(problem: Problem, people: Sequence[Person]) -> dict[tuple[Values, Values, Fraction | None], Fraction | None]:
    """The rate of every declared group, in every stratum and of every label that the metric reads; None: nobody."""
    question, population = problem.question, problem.population
    assert isinstance(question, GroupMetric)
    assert population is not None
    columns = [[Fraction(value) for value in values_of(column.type)] for column in population.columns]
    labels: list[Fraction | None] = [None]
    if question.metric.name == "equalized_odds":
        labels = [*columns[-1]]
    elif question.metric.name == "equal_opportunity":
        labels = [question.deserving]
    found: dict[tuple[Values, Values, Fraction | None], Fraction | None] = {}
    for stratum in product(*(columns[column] for column in question.given_each)):
        for group in product(*(columns[column] for column in question.across)):
            inside = [one for one in people if (one.group, one.stratum) == (group, stratum)]
            for label in labels:
                asked = [one for one in inside if label is None or one.label == label]
                if question.metric.name == "predictive_parity":  # of the favoured, the share that deserve it
                    asked = [replace(one, mass=one.mass * one.chance, chance=deserves(question, one)) for one in inside]
                try:
                    found[group, stratum, label] = rate(asked)
                except ZeroDivisionError:
                    found[group, stratum, label] = None
    return found


def deserves(question: GroupMetric, one: Person) -> Fraction:
    return Fraction(one.label == question.deserving)


def _number(
    question: GroupMetric, rates: Mapping[tuple[Values, Values, Fraction | None], Fraction]
) -> tuple[Fraction, Fraction]:
    """The worst of all strata and labels: the greatest gap, the smallest ratio; of rates all there are."""
    if question.metric.name == "acceptance_rate":
        if not rates:
            raise NoComparisonError
        return min(rates.values()), max(rates.values())
    numbers = []
    for stratum in {at[1] for at in rates}:
        for label in {at[2] for at in rates}:
            compared = [found for at, found in rates.items() if at[1:] == (stratum, label)]
            if len(compared) > 1 or (compared and question.metric.name in ALL_OF):
                numbers.append(OF_RATES[question.metric.name](compared))
    if not numbers:
        raise NoComparisonError
    if question.metric.name in ALL_OF:
        return min(numbers), max(numbers)
    worst = min(numbers) if question.metric.name == "disparate_impact" else max(numbers)
    return worst, worst


def disagreement(known: Truth, verdict: Verdict) -> str | None:
    """What is wrong with a verdict about groups, if anything; Unknown is never wrong."""
    match verdict:
        case Unknown():
            return None
        case Refused():
            return None if known.ends is None else f"refused, and the metric is {known.ends}"
        case Value() if known.ends is None:
            return "a number, where there is none" if verdict.defined else None
        case Value():
            return _wrong_number(verdict, known.ends) or _wrong_rate(verdict.rates, known)
    return f"{verdict} is not an answer to a question about groups"


def _wrong_number(value: Value, ends: tuple[Fraction, Fraction]) -> str | None:
    if not value.defined:
        return None if value.reason is not None else "undefined, and no reason is given"
    if not value.low <= ends[0] <= ends[1] <= value.high:
        return f"{ends} outside [{value.low}, {value.high}]"
    if value.reason is None and (value.high - value.low) - (ends[1] - ends[0]) > PRECISE:
        return f"[{value.low}, {value.high}] is all that is said, and no reason is given"
    return None


def _wrong_rate(rates: Sequence[Rate], known: Truth) -> str | None:
    seen = set()
    for each in rates:
        group, given = (tuple(value for _, value in some) for some in (each.group, each.given))
        at = next((key for key in known.rates if key[0] == group and (*key[1], *_label(key)) == given), None)
        if at is None:
            return f"a rate of {group} given {given}, of which there is none"
        seen.add(at)
        if not each.low <= known.rates[at] <= each.high:
            return f"the rate {known.rates[at]} of {group} given {given} outside [{each.low}, {each.high}]"
    missing = known.rates.keys() - seen
    return f"no rate of {missing}" if missing else None


def _label(key: tuple[Values, Values, Fraction | None]) -> tuple[Fraction, ...]:
    return () if key[2] is None else (key[2],)
