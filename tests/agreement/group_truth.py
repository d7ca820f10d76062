"""Metrics of groups by their definitions: everybody of a small population, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.verdict import Rate, Refused, Unknown, Value, Verdict
from fairdsl.verdict.named import Cell, cell_of
from tests.naive_metrics import NAIVE, Case, Naive, Person
from tests.naive_terms import TERMS
from tests.oracle import outcome, true_for, values_of

ZERO = Fraction(0)
#: An engine that gives no reason knows its number to this width.
PRECISE = Fraction(1, 10**6)
#: The values of some columns.
Values = tuple[Fraction, ...]


#: A group, a stratum, and what its rate is given.
At = tuple[Values, Values, Case]


@dataclass(frozen=True)
class Member:
    """Somebody of the population, and where."""

    group: Values
    stratum: Values
    person: Person


class NoComparisonError(Exception):
    """What is left out leaves nothing to compare."""


@dataclass(frozen=True)
class Truth:
    """The metric lies in [low, high], and is that number where the two are equal; None: there is no number."""

    ends: tuple[Fraction, Fraction] | None
    rates: Mapping[At, Fraction]


def everybody(problem: Problem, *, drawn: Sequence[int] = ()) -> list[Member]:
    """All people who count; the model reads uniform values of the columns ``drawn``."""
    question, people = problem.question, list[Member]()
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
        people.extend(Member(group, stratum, Person(mass / len(favoured), label, one)) for one in favoured)
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


def truth(problem: Problem) -> Truth:
    """The metric by its definition (docs/semantics.md, section 4)."""
    question = problem.question
    assert isinstance(question, GroupMetric)
    people = everybody(problem)
    rates = _rates(problem, people)
    left_out = {at for at, found in rates.items() if found is None}
    kept = {at: found for at, found in rates.items() if found is not None}
    if question.excluding is None and any(_refuses(problem, people, at) for at in left_out):
        return Truth(None, kept)
    try:
        number = _number(problem, people, kept)
        if question.influence and naive_of(question).every:
            now, rest = (_rates(problem, some) for some in (people, everybody(problem, drawn=question.influence)))
            each = [now[at] - rest[at] for at in kept]  # type: ignore[operator]
            number = min(each), max(each)
        elif question.influence:
            other = _number(problem, everybody(problem, drawn=question.influence), kept)
            number = (number[0] - other[1], number[1] - other[0])
    except (ZeroDivisionError, NoComparisonError):
        return Truth(None, kept)
    return Truth(number, kept)


def _refuses(problem: Problem, people: Sequence[Member], at: At) -> bool:
    """Whether a group without a rate leaves no number: not where the model decides who is in the rate, and everybody
    but the privileged is one group, which has a rate if any of its people does.
    """
    question = problem.question
    assert isinstance(question, GroupMetric)
    pooled = naive_of(question).signed and question.metric.rate.among_decided
    return not (pooled and at[0] != question.privileged and _inside(people, at[0], at[1]))


def naive_of(question: GroupMetric) -> Naive:
    if question.metric in TERMS:
        return TERMS[question.metric]
    return NAIVE[question.metric.name, question.privileged is not None]


def _inside(people: Sequence[Member], group: Values, stratum: Values) -> list[Person]:
    return [one.person for one in people if (one.group, one.stratum) == (group, stratum)]


def _labels(problem: Problem) -> list[Fraction]:
    assert problem.population is not None
    return [Fraction(value) for value in values_of(problem.population.columns[-1].type)]


def _rates(problem: Problem, people: Sequence[Member]) -> dict[At, Fraction | None]:
    """The rate of every declared group, in every stratum and case of the metric; None: nobody."""
    question, population = problem.question, problem.population
    assert isinstance(question, GroupMetric)
    assert population is not None
    columns = [[Fraction(value) for value in values_of(column.type)] for column in population.columns]
    found: dict[At, Fraction | None] = {}
    for stratum in product(*(columns[column] for column in question.given_each)):
        for group in product(*(columns[column] for column in question.across)):
            inside = _inside(people, group, stratum)
            for case, rate in naive_of(question).rates(columns[-1], question.deserving).items():
                try:
                    found[group, stratum, case] = rate(inside)
                except ZeroDivisionError:
                    found[group, stratum, case] = None
    return found


def _number(problem: Problem, people: Sequence[Member], kept: Mapping[At, Fraction]) -> tuple[Fraction, Fraction]:
    """The worst of all strata and cases, of the groups that count; of rates all there are."""
    question = problem.question
    assert isinstance(question, GroupMetric)
    naive = naive_of(question)
    if naive.every:
        if not kept:
            raise NoComparisonError
        now = _rates(problem, people)
        found = [rate for at in kept if (rate := now[at]) is not None]
        if len(found) < len(kept):
            raise NoComparisonError
        return min(found), max(found)
    strata = [_of_stratum(problem, people, stratum, kept) for stratum in {at[1] for at in kept}]
    numbers = [number for number in strata if number is not None]
    if not numbers:
        raise NoComparisonError
    if naive.worst is None:
        return min(numbers), max(numbers)
    return naive.worst(numbers), naive.worst(numbers)


def _of_stratum(
    problem: Problem, people: Sequence[Member], stratum: Values, kept: Mapping[At, Fraction]
) -> Fraction | None:
    """The metric of one stratum; None where too many groups are left out."""
    question = problem.question
    assert isinstance(question, GroupMetric)
    naive, numbers = naive_of(question), []
    for case, rate in naive.rates(_labels(problem), question.deserving).items():
        sides = [[at[0]] for at in kept if at[1:] == (stratum, case)]
        if naive.signed and sides:
            others = [group for [group] in sides if group != question.privileged]
            if not others or len(others) == len(sides):
                return None
            sides = [others, [question.privileged or ()]]
        if len(sides) > 1 or (sides and naive.alone):
            merged = [[one for group in side for one in _inside(people, group, stratum)] for side in sides]
            numbers.append(naive.compare([rate(side) for side in merged]))
    return naive.of_cases(numbers) if numbers else None


def disagreement(problem: Problem, known: Truth, verdict: Verdict) -> str | None:
    """What is wrong with a verdict about groups, if anything; Unknown is never wrong."""
    match verdict:
        case Unknown():
            return None
        case Refused():
            return None if known.ends is None else f"refused, and the metric is {known.ends}"
        case Value() if known.ends is None:
            return "a number, where there is none" if verdict.defined else None
        case Value():
            return _wrong_number(verdict, known.ends) or _wrong_rate(problem, verdict.rates, known)
    return f"{verdict} is not an answer to a question about groups"


def _wrong_number(value: Value, ends: tuple[Fraction, Fraction]) -> str | None:
    if not value.defined:
        return None if value.reason is not None else "undefined, and no reason is given"
    if not value.low <= ends[0] <= ends[1] <= value.high:
        return f"{ends} outside [{value.low}, {value.high}]"
    if value.reason is None and (value.high - value.low) - (ends[1] - ends[0]) > PRECISE:
        return f"[{value.low}, {value.high}] is all that is said, and no reason is given"
    return None


def _wrong_rate(problem: Problem, rates: Sequence[Rate], known: Truth) -> str | None:
    by_words = {_words(problem, at): rate for at, rate in known.rates.items()}
    seen = set()
    for each in rates:
        here = frozenset(each.group.items()), frozenset(each.given.items())
        if here not in by_words and (each.low, each.high) == (0, 1):
            continue  # nothing is said of a rate of nobody
        if here not in by_words:
            return f"a rate of {each.group} given {each.given}, of which there is none"
        seen.add(here)
        if not each.low <= by_words[here] <= each.high:
            return f"the rate {by_words[here]} of {each.group} given {each.given} outside [{each.low}, {each.high}]"
    missing = by_words.keys() - seen
    return f"no rate of {missing}" if missing else None


def _words(problem: Problem, at: At) -> tuple[frozenset[tuple[str, Cell]], frozenset[tuple[str, Cell]]]:
    """A group and what its rate is given, as a verdict writes them."""
    question, population = problem.question, problem.population
    assert isinstance(question, GroupMetric)
    assert population is not None
    group, stratum, (label, decision) = at

    def named(columns: Sequence[int], values: Sequence[Fraction]) -> frozenset[tuple[str, Cell]]:
        cells = ((population.columns[column], value) for column, value in zip(columns, values, strict=True))
        return frozenset((column.name, cell_of(column, value)) for column, value in cells)

    given = named(question.given_each, stratum)
    if label is not None:
        given |= named([len(population.columns) - 1], [label])
    if decision is not None:
        given |= {("model decision", "favourable" if decision else "unfavourable")}
    return named(question.across, group), given
