"""Indicators of a file, bound to the domain: tests of features become predicates over attributes.

A test ``feature <= t`` has the feature's form put in: a linear comparison of attributes. Where the form reads
indicators itself (a tree after a one-hot encoder) it is a case distinction over their truth values. Everything is
exact. What a tree's path, or the domain alone, leaves impossible is dropped: so of the leaves of a tree those
remain that can be reached, and of each way to them the tests that are not settled before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np

from fairdsl.ir.domain import Attribute, Domain, Real
from fairdsl.ir.expr import FALSE, TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, conjoin
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput, Input
from fairdsl.models.basis import Affine, Block, Comparison, Indicators, Pick
from fairdsl.numerics.leaves import opposite

__all__ = ["Bound", "EntangledError", "bind_indicators", "early_forms", "form_of", "one_hot_groups", "unit_forms"]

#: Indicators that one tested feature may read at most: their truth values are gone through.
_MOST_INDICATORS = 8

_Ends = tuple[Fraction | None, Fraction | None]


class EntangledError(ValueError):
    """A feature that ``node`` tests reads too many indicators at once."""

    def __init__(self, count: int, operator: str, node: str) -> None:
        super().__init__(f"it tests a sum of {count} indicators")
        self.operator = operator
        self.node = node


@dataclass(frozen=True, slots=True)
class Bound:
    """The indicators of some blocks, side by side: a predicate each, or a truth value where it is known.

    ``groups`` are positions among them of which exactly one holds; units that never hold are left out.
    """

    units: tuple[Predicate | bool, ...]
    groups: tuple[tuple[int, ...], ...]


def bind_indicators(blocks: Sequence[Block], wanted: Sequence[int], forms: Sequence[Form], domain: Domain) -> Bound:
    """The indicators of the blocks ``wanted``, where ``forms`` fill the graph inputs.

    Raises EntangledError.
    """
    units: list[Predicate | bool] = []
    groups: list[tuple[int, ...]] = []
    for number, indicators, found in _in_order(blocks, wanted, unit_forms(blocks, forms), domain):
        if number in wanted:
            for group in indicators.groups:
                alive = (len(units) + unit for unit in group if found[unit] is not False)
                groups.append(tuple(alive))
            units.extend(found)
    return Bound(tuple(units), tuple(groups))


def early_forms(
    blocks: Sequence[Block], wanted: Sequence[int], forms: Sequence[Form], domain: Domain
) -> dict[int, Sequence[Form]]:
    """The forms of the units of every graph input, and of the indicators up to the blocks ``wanted``.

    Raises EntangledError.
    """
    units_of = unit_forms(blocks, forms)
    for _ in _in_order(blocks, wanted, units_of, domain):
        pass
    return units_of


def _in_order(
    blocks: Sequence[Block], wanted: Sequence[int], units_of: dict[int, Sequence[Form]], domain: Domain
) -> Iterator[tuple[int, Indicators, list[Predicate | bool]]]:
    """The blocks of indicators up to those ``wanted``, bound; their forms go to ``units_of``."""
    for number, block in enumerate(blocks[: max(wanted, default=-1) + 1]):
        if block.indicators is not None:
            found = _bound(block.indicators, units_of, domain)
            units_of[number] = [_form(unit) for unit in found]
            yield number, block.indicators, found


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


def unit_forms(blocks: Sequence[Block], forms: Sequence[Form]) -> dict[int, Sequence[Form]]:
    """The forms of the units of every graph input, by the number of its block."""
    found: dict[int, Sequence[Form]] = {}
    start = 0
    for number, block in enumerate(blocks):
        if block.argument is None and block.indicators is None:
            found[number] = forms[start : start + block.width]
            start += block.width
    return found


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


def _form(unit: Predicate | bool) -> Form:
    return Form((), Fraction(unit)) if isinstance(unit, bool) else Form.of(IndicatorInput(unit))


def _bound(indicators: Indicators, units: Mapping[int, Sequence[Form]], domain: Domain) -> list[Predicate | bool]:
    forms = {test.feature: Form() for test in indicators.tests}
    for feature in forms:
        forms[feature] = form_of(indicators.features, feature, units)
    attributes = domain.attributes
    tests = [_tested(indicators, forms[test.feature], test, attributes) for test in indicators.tests]
    found: list[Predicate | bool] = [False] * len(indicators.units)
    grouped = {unit for group in indicators.groups for unit in group}
    start = {index: attribute.bounds for index, attribute in enumerate(attributes)}
    for unit in range(len(found)):
        if unit not in grouped:
            _descend(indicators, [unit], tests, start, attributes, found)
    for group in indicators.groups:
        _descend(indicators, group, tests, start, attributes, found)
    return found


def _descend(
    indicators: Indicators,
    group: Sequence[int],
    tests: Sequence[Predicate],
    start: Mapping[int, _Ends],
    attributes: Sequence[Attribute],
    found: list[Predicate | bool],
) -> None:
    """Go down a tree with what the way leaves of every attribute; enter the leaves that are reached."""
    opposites: dict[int, Predicate] = {}
    stack: list[tuple[Sequence[int], int, tuple[Predicate, ...], Mapping[int, _Ends]]] = [(group, 0, (), start)]
    while stack:
        units, depth, way, ends = stack.pop()
        literals = indicators.units[units[0]]
        if depth == len(literals):
            # The leaves of a tree keep their way as it is, test after test: the tree can be read off them again.
            found[units[0]] = not way or (way[0] if len(group) == len(way) == 1 else And(way))
            continue
        test = literals[depth][0]
        yes = [unit for unit in units if indicators.units[unit][depth][1]]
        no = [unit for unit in units if not indicators.units[unit][depth][1]]
        opposites.setdefault(test, opposite(tests[test]))
        sides = [(yes, tests[test]), (no, opposites[test])]
        truths = [_settled(predicate, ends, attributes) for _, predicate in sides]
        for (below, predicate), truth, other in zip(sides, truths, reversed(truths), strict=True):
            if not below or truth is False:
                continue
            implied = truth is True or other is False
            following = ends if implied else _narrowed(predicate, ends, attributes)
            stack.append((below, depth + 1, way if implied else (*way, predicate), following))


def _settled(predicate: Predicate, ends: Mapping[int, _Ends], attributes: Sequence[Attribute]) -> bool | None:
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


def _narrowed(predicate: Predicate, ends: Mapping[int, _Ends], attributes: Sequence[Attribute]) -> Mapping[int, _Ends]:
    """The ends of the attributes' values where the predicate holds."""
    match predicate:
        case Compare(left=Linear(terms=((variable, _),)) as left, relation=relation):
            index, limit = variable.attribute, -left.constant
            low, high = ends[index]
            whole = not isinstance(attributes[index].type, Real)
            if relation in (Relation.LE, Relation.LT):
                top = Fraction(ceil(limit) - 1) if whole and relation is Relation.LT else limit
                return {**ends, index: (low, top if high is None else min(high, top))}
            if relation in (Relation.GE, Relation.GT):
                least = Fraction(floor(limit) + 1) if whole and relation is Relation.GT else limit
                return {**ends, index: (least if low is None else max(low, least), high)}
    return ends


def _tested(of: Indicators, form: Form, test: Comparison, attributes: Sequence[Attribute]) -> Predicate:
    """``form RELATION threshold`` over the attributes."""
    terms = [(item.attribute, factor) for item, factor in form.terms if isinstance(item, AttributeInput)]
    indicators = [(item.predicate, factor) for item, factor in form.terms if isinstance(item, IndicatorInput)]
    if len(indicators) > _MOST_INDICATORS:
        raise EntangledError(len(indicators), of.operator, of.node)
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
    upper = relation in (Relation.LE, Relation.LT)
    left = Linear.of({variable: Fraction(1)}, -border)
    return Compare(left=left, relation=Relation.LE if upper else Relation.GT)
