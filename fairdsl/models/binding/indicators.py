"""Indicators of a file, bound to the domain: tests of features become predicates over attributes.

A test ``feature <= t`` has the feature's form put in: a linear comparison of attributes. Where the form reads
indicators itself (a tree after a one-hot encoder) it is a case distinction over their truth values. Everything is
exact. What the domain alone decides is a truth value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np

from fairdsl.ir.domain import Attribute, Domain, Real
from fairdsl.ir.expr import (
    FALSE,
    TRUE,
    Compare,
    Linear,
    Member,
    Not,
    Or,
    Predicate,
    Relation,
    Variable,
    conjoin,
    holds_at,
    opposite,
    variables,
)
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput, Input
from fairdsl.models.basis import Affine, Comparison, Indicators, Pick
from fairdsl.numerics.predicates import holds_for

#: Indicators that one tested feature may read at most: their truth values are gone through.
_MOST_INDICATORS = 8
#: An attribute whose indicators are tested may have so many values, each of which is gone through.
_MOST_VALUES = 4096

_Ends = tuple[Fraction | None, Fraction | None]


class EntangledError(ValueError):
    """A feature that ``node`` tests reads too many indicators at once."""

    def __init__(self, count: int, operator: str, node: str) -> None:
        super().__init__(f"it tests a sum of {count} indicators")
        self.operator = operator
        self.node = node


def bind_indicators(
    indicators: Indicators, units: Mapping[int, Sequence[Form]], domain: Domain
) -> list[Predicate | bool]:
    """A predicate for each indicator, or its truth where that is known.

    ``units`` are the forms of the units of the blocks that they read. Raises EntangledError.
    """
    forms: dict[int, Form] = {}
    for test in indicators.tests:
        if test.feature not in forms:
            forms[test.feature] = form_of(indicators.features, test.feature, units)
    ends = {index: attribute.bounds for index, attribute in enumerate(domain.attributes)}
    found: list[Predicate | bool] = []
    for test in indicators.tests:
        predicate = tested(indicators.operator, indicators.node, forms[test.feature], test, domain.attributes)
        truth = _settled(predicate, ends)
        found.append(predicate if truth is None else truth)
    return found


def one_hot_groups(inputs: Sequence[Input], domain: Domain) -> tuple[tuple[int, ...], ...]:
    """Positions of inputs that are one-hot codes of an attribute, each of its values having one."""
    codes: dict[int, dict[Fraction, int]] = {}
    for position, item in enumerate(inputs):
        match item:
            case IndicatorInput(Member(variable=variable, values=values)) if len(values) == 1:
                codes.setdefault(variable.attribute, {}).setdefault(next(iter(values)), position)
    complete = []
    for attribute, places in codes.items():
        every = domain.attributes[attribute].values
        if every is not None and len(every) == len(places) > 1 and all(Fraction(value) in places for value in every):
            complete.append(tuple(places.values()))
    return tuple(complete)


def form_of(value: Affine, element: int, units: Mapping[int, Sequence[Form]]) -> Form:
    """One element of a value as a form, given the forms of the units of every block that it reads."""
    total = Form((), Fraction(value.bias[element]))
    for block, part in value.parts.items():
        if isinstance(part, Pick):
            read = [(int(part.units[element]), part.scale[element])] if part.units[element] >= 0 else []
        else:
            read = [(int(unit), part.matrix[element, unit]) for unit in np.flatnonzero(part.matrix[element])]
        for unit, factor in read:
            total = total + units[block][unit].scaled(Fraction(factor))
    return total


def _settled(predicate: Predicate, ends: Mapping[int, _Ends]) -> bool | None:
    """The truth of a comparison of one attribute with a number, where the ends of its values tell it."""
    if predicate in (TRUE, FALSE):
        return predicate == TRUE
    match predicate:
        case Compare(left=Linear(terms=((variable, _),)) as left, relation=relation):
            low, high = ends[variable.attribute]
            limit = -left.constant
            match relation:
                case Relation.LE:
                    return True if high is not None and high <= limit else _never(low is not None and low > limit)
                case Relation.LT:
                    return True if high is not None and high < limit else _never(low is not None and low >= limit)
                case Relation.GT:
                    return True if low is not None and low > limit else _never(high is not None and high <= limit)
                case Relation.GE:
                    return True if low is not None and low >= limit else _never(high is not None and high < limit)
    return None


def _never(known: bool) -> bool | None:
    return False if known else None


def tested(operator: str, node: str, form: Form, test: Comparison, attributes: Sequence[Attribute]) -> Predicate:
    """``form RELATION threshold`` over the attributes; the test is one of ``node``. Raises EntangledError."""
    terms = [(item.attribute, factor) for item, factor in form.terms if isinstance(item, AttributeInput)]
    indicators = [(item.predicate, factor) for item, factor in form.terms if isinstance(item, IndicatorInput)]
    if len(terms) == len(indicators) == 1:
        apart = _value_apart(form, terms[0], indicators[0], test, attributes)
        if apart is not None:
            return apart
    if len(indicators) > 1:
        listed = _of_listed(form, test, attributes)
        if listed is not None:
            return listed
    if len(indicators) > _MOST_INDICATORS:
        raise EntangledError(len(indicators), operator, node)
    cases: list[Predicate] = []
    truths = list(product((True, False), repeat=len(indicators)))
    for truth in truths:
        constant = form.constant - test.threshold
        constant += sum((factor for holds, (_, factor) in zip(truth, indicators, strict=True) if holds), Fraction(0))
        held = _compared(terms, constant, test.relation, attributes)
        if held == FALSE:
            continue
        literals = [
            predicate if holds else opposite(predicate) for holds, (predicate, _) in zip(truth, indicators, strict=True)
        ]
        cases.append(conjoin(*literals, *([] if held == TRUE else [held])))
    if len(cases) == len(truths) and not terms:
        return TRUE
    return cases[0] if len(cases) == 1 else Or(tuple(cases))


def _value_apart(
    form: Form,
    term: tuple[int, Fraction],
    indicator: tuple[Predicate, Fraction],
    test: Comparison,
    attributes: Sequence[Attribute],
) -> Predicate | None:
    """The test of a number that has another one in the place of a single value: of what is missing."""
    (attribute, factor), (asked, more) = term, indicator
    match asked:
        case Member(variable=Variable(attribute=same), values=values) if same == attribute and len(values) == 1:
            (value,) = values
        case _:
            return None
    there = test.relation.compares(form.constant + factor * value + more, test.threshold)
    elsewhere = _compared([term], form.constant - test.threshold, test.relation, attributes)
    if holds_at(elsewhere, value) == there:
        return elsewhere
    return Or((asked, elsewhere)) if there else conjoin(elsewhere, opposite(asked))


def values_of(form: Form, attributes: Sequence[Attribute]) -> tuple[int, dict[int, Fraction]] | None:
    """The one attribute with few values that a form reads, as a code in a table does, and the form's value for each of
    them. None of any other form.
    """
    read: set[int] = set()
    for item, _ in form.terms:
        if isinstance(item, AttributeInput):
            read.add(item.attribute)
        else:
            read.update(variable.attribute for variable in variables(item.predicate))
    if len(read) != 1:
        return None
    (index,) = read
    size, values = attributes[index].size, attributes[index].values
    if size is None or size > _MOST_VALUES or values is None:
        return None
    found = dict.fromkeys(sorted(values), form.constant)
    blank = (Fraction(0),) * len(attributes)
    for item, factor in form.terms:
        match item:
            case IndicatorInput(predicate=Member(values=members)):  # as the entries of a table, of one value each
                for code in found.keys() & {int(member) for member in members if member.denominator == 1}:
                    found[code] += factor
            case _:
                for value in found:
                    point = (*blank[:index], Fraction(value), *blank[index + 1 :])
                    found[value] += factor * _at(item, point)
    return index, found


def _of_listed(form: Form, test: Comparison, attributes: Sequence[Attribute]) -> Predicate | None:
    """The test of a form that reads one attribute with few values alone: for which of them it holds."""
    known = values_of(form, attributes)
    if known is None:
        return None
    index, totals = known
    whole = list(totals)
    holding = [value for value, total in totals.items() if test.relation.compares(total, test.threshold)]
    variable = Variable(index)
    if not holding or len(holding) == len(whole):
        return TRUE if holding else FALSE
    if len(holding) > 1 and holding == whole[: len(holding)]:
        return _of_whole(variable, Relation.LE, Fraction(holding[-1]))
    if len(holding) > 1 and holding == whole[-len(holding) :]:
        return _of_whole(variable, Relation.GE, Fraction(holding[0]))
    return Member(variable=variable, values=frozenset(map(Fraction, holding)))


def _at(item: Input, point: tuple[Fraction, ...]) -> Fraction:
    return point[item.attribute] if isinstance(item, AttributeInput) else Fraction(holds_for(item.predicate, point))


def _compared(
    terms: Sequence[tuple[int, Fraction]], constant: Fraction, relation: Relation, attributes: Sequence[Attribute]
) -> Predicate:
    """``sum of terms + constant RELATION 0``; of one attribute in the form ``x RELATION number``."""
    if not terms:
        return TRUE if relation.compares(constant, Fraction(0)) else FALSE
    if len(terms) > 1:
        return Compare(
            left=Linear.of({Variable(index): factor for index, factor in terms}, constant), relation=relation
        )
    ((index, factor),) = terms
    limit = -constant / factor
    relation = relation if factor > 0 else relation.mirrored
    variable = Variable(index)
    if isinstance(attributes[index].type, Real):
        return Compare(left=Linear.of({variable: Fraction(1)}, -limit), relation=relation)
    return _of_whole(variable, relation, limit)


def _of_whole(variable: Variable, relation: Relation, limit: Fraction) -> Predicate:
    """A comparison of an integer: with a whole number, and as ``<=`` or ``>``."""
    match relation:
        case Relation.EQ | Relation.NE:
            if limit.denominator != 1:
                return FALSE if relation is Relation.EQ else TRUE
            member = Member(variable=variable, values=frozenset({limit}))
            return member if relation is Relation.EQ else Not(member)
        case Relation.LE | Relation.GT:
            border = Fraction(floor(limit))
        case Relation.LT | Relation.GE:
            border = Fraction(ceil(limit) - 1)
    upper = relation.downwards
    left = Linear.of({variable: Fraction(1)}, -border)
    return Compare(left=left, relation=Relation.LE if upper else Relation.GT)
