"""Is this a meaningful fairness question? Questions about nobody hold of any model, so they are errors.

What is found here is found by the ranges of the attributes, quickly and without a solver; what is said is
true, but a condition that excludes everybody in a more intricate way is left to the engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import prod

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Domain, Integer, show_number
from fairdsl.ir.expr import (
    TRUE,
    Compare,
    Linear,
    Member,
    Or,
    Predicate,
    Relation,
    Variable,
    Who,
    conjoin,
    conjuncts,
    rename,
    substitute,
    variables,
)
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.narrow import ValueSet, narrow
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.constant import place_of, report_constant
from fairdsl.source import Span

#: Attributes with at most so many values are gone through one by one.
_FEW = 16


def check_domain_is_inhabited(domain: Domain, reporter: Reporter) -> None:
    """A domain whose constraints exclude everybody is an error."""
    if domain.where == TRUE:
        return
    reported = len(reporter.diagnostics)
    report_constant(domain.where, domain, narrow(replace(domain, where=TRUE)), "constraint", reporter)
    if len(reporter.diagnostics) == reported and _nobody(narrow(domain)):
        _report_together("the domain", domain.where, "together the constraints leave nobody", reporter)


def check_among(target: Predicate, domain: Domain, reporter: Reporter) -> None:
    """Whether a demand about one individual is about anybody."""
    bare = narrow(domain)
    if _nobody(bare):
        return  # the domain's own constraints have been reported
    reported = len(reporter.diagnostics)
    report_constant(target, domain, bare, "condition", reporter)
    if len(reporter.diagnostics) == reported and _nobody(narrow(domain, target)):
        _report_together("`among`", target, "together the conditions leave nobody", reporter)


def check_pair(
    question: Pair, people: Sequence[Who], domain: Domain, differ_spans: Mapping[int, Span], reporter: Reporter
) -> None:
    """Whether any pair, or tuple of so many, can be in force: nothing empty, nothing fixed that must differ."""
    bare = narrow(domain)
    _check_relaxations(question, domain, reporter)
    if _nobody(bare):
        return  # the domain's own constraints have been reported
    reported = len(reporter.diagnostics)
    report_constant(question.target, domain, bare, "condition", reporter)
    sets = narrow(domain, question.target)
    if not _nobody(sets):
        _check_differing(question, domain, (bare, sets), differ_spans, reporter)
        _check_enough_values(question, people, domain, sets, differ_spans, reporter)
        if len(reporter.diagnostics) == reported:
            _check_pair_target(question, people, domain, reporter)
    elif len(reporter.diagnostics) == reported:
        _report_together("`among`", question.target, "together the conditions leave nobody", reporter)


def _report_together(what: str, predicate: Predicate, detail: str, reporter: Reporter) -> None:
    """Conditions that are all fine alone."""
    places = dict.fromkeys(place for part in conjuncts(predicate) if (place := place_of(part)) is not None)
    if places:
        first, *further = places
        reporter.report(errors.excludes_everybody(what, first, detail, further=further))


def _nobody(sets: tuple[ValueSet, ...]) -> bool:
    return any(value_set.count == 0 for value_set in sets)


def _single(value_set: ValueSet) -> Fraction | None:
    """The one value of a set that has one."""
    return value_set.low if value_set.low is not None and value_set.low == value_set.high else None


def _check_differing(
    question: Pair,
    domain: Domain,
    before_and_after: tuple[tuple[ValueSet, ...], tuple[ValueSet, ...]],
    spans: Mapping[int, Span],
    reporter: Reporter,
) -> None:
    """Every differing attribute needs two values: under `any` too, for else naming it says nothing.

    The value sets are those that the domain's constraints leave, and those that `among` leaves of them.
    """
    bare, sets = before_and_after
    for index in question.differ:
        value = _single(sets[index])
        if value is None:
            continue
        attribute = domain.attributes[index]
        if attribute.size == 1:
            reporter.report(
                errors.too_few_values(attribute.name, spans[index], attribute.span, mode=question.mode.value)
            )
            continue
        by_domain = _single(bare[index]) is not None
        cause = _restriction_of(index, domain.where if by_domain else conjoin(question.target, domain.where))
        shown = f"`{attribute.show(value)}`"
        reporter.report(errors.nothing_left_to_compare(attribute.name, shown, spans[index], cause, by_domain=by_domain))


def _check_enough_values(
    question: Pair,
    people: Sequence[Who],
    domain: Domain,
    sets: Sequence[ValueSet],
    spans: Mapping[int, Span],
    reporter: Reporter,
) -> None:
    """Each two of three individuals differ, so that there are three values, or combinations of values, at least."""
    counts = [sets[index].count for index in question.differ]
    if len(people) == 2 or None in counts or 1 in counts:  # of pairs a single value has been reported
        return
    alone = question.mode is Differ.EACH or len(counts) == 1
    left = min(filter(None, counts), default=0) if alone else prod(filter(None, counts))
    if left < len(people):
        names = [domain.attributes[index].name for index in question.differ]
        fewest = names[counts.index(left)] if alone else ", ".join(names)
        span = spans[question.differ[counts.index(left) if alone else 0]]
        reporter.report(errors.too_few_values(fewest, span, left=left, people=len(people)))


def _restriction_of(index: int, predicate: Predicate) -> Span | None:
    for part in conjuncts(predicate):
        if any(variable.attribute == index for variable in variables(part)):
            return place_of(part)
    return None


def _check_relaxations(question: Pair, domain: Domain, reporter: Reporter) -> None:
    for relaxation in question.relax:
        attribute = domain.attributes[relaxation.attribute]
        if relaxation.by is None or relaxation.span is None:
            continue
        low, high = attribute.known.bounds
        if relaxation.by == 0:
            detail = "allows no difference"
        elif isinstance(attribute.type, Integer) and relaxation.by < 1:
            detail = "allows no difference between whole numbers"
        elif low is not None and high is not None and relaxation.by > high - low:
            detail = f"reaches beyond its whole range {show_number(low)} .. {show_number(high)}"
        else:
            continue
        reporter.report(errors.relaxes_nothing(attribute.name, relaxation.span, detail))


# ---- conditions on the ordered pair ------------------------------------------------------------


def _check_pair_target(question: Pair, people: Sequence[Who], domain: Domain, reporter: Reporter) -> None:
    """``among a.age < b.age`` where ages are held equal leaves no pair, whatever the ranges."""
    span = place_of(question.pair_target)
    if span is None:
        return
    pairs, placed = _together(question, people, domain)
    condition = substitute(question.pair_target, placed)
    reported = len(reporter.diagnostics)
    report_constant(condition, pairs, narrow(pairs), "condition", reporter, of=_every(people))
    if len(reporter.diagnostics) == reported and _no_pair(question, pairs, condition):
        detail = "with all that is held equal, none is left"
        reporter.report(errors.excludes_everybody("this condition", span, detail, whom=_every(people)))


def _every(people: Sequence[Who]) -> str:
    return "every pair" if len(people) == 2 else f"all {len(people)} together"


def _no_pair(question: Pair, pairs: Domain, condition: Predicate) -> bool:
    """Propagation alone, or value by value of an attribute that differs: `a.sex = b.sex` leaves none."""
    if _nobody(narrow(pairs, condition)):
        return True

    def none_with(index: int, value: int) -> bool:
        fixed = Member(variable=Variable(index), values=frozenset({Fraction(value)}))
        return _nobody(narrow(pairs, condition, fixed))

    few = [(index, pairs.attributes[index].values or ()) for index in question.differ]
    return any(0 < len(values) <= _FEW and all(none_with(index, v) for v in values) for index, values in few)


def _together(question: Pair, people: Sequence[Who], domain: Domain) -> tuple[Domain, Callable[[Variable], Variable]]:
    """Tuples as one domain: what is held equal occurs once, what is not once for each individual."""
    relaxed = {relaxation.attribute: relaxation.by for relaxation in question.relax}
    free, width = sorted({*question.differ, *relaxed}), len(domain.attributes)

    def placed(variable: Variable) -> Variable:
        at, later = variable.attribute, 0 if variable.who is Who.EACH else people.index(variable.who)
        own = later and at in free
        return Variable(width + (later - 1) * len(free) + free.index(at) if own else at)

    def apart(index: int, one: Who, other: Who) -> Linear:
        return Linear.of({placed(Variable(index, one)): Fraction(1), placed(Variable(index, other)): Fraction(-1)})

    def individually(predicate: Predicate) -> list[Predicate]:
        return [substitute(rename(predicate, {Who.EACH: one}), placed) for one in people]

    compared: list[Predicate] = []
    for couple in combinations(people, 2):
        differ = tuple(Compare(left=apart(index, *couple), relation=Relation.NE) for index in question.differ)
        compared += differ if question.mode is Differ.EACH else (Or(differ),)
        compared += [
            Compare(left=apart(index, *couple).scaled(Fraction(sign)) - Linear(constant=by), relation=Relation.LE)
            for index, by in relaxed.items()
            if by is not None
            for sign in (1, -1)
        ]
    attributes = [*domain.attributes, *(domain.attributes[index] for _ in people[1:] for index in free)]
    where = conjoin(*individually(domain.where), *individually(question.target), *compared)
    return replace(domain, attributes=tuple(attributes), where=where), placed
