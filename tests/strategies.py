"""Random small problems: everything that can go wrong in a tiny space, ties at the threshold included."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, Who
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, Layer, Logits, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, Relaxation, SameDecision, ScoreGap, Sure

SMALL = st.integers(-3, 3).map(Fraction)
DYADIC = st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 2, 4]))
RATIONAL = st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 3, 5, 10]))
ORDERS = [Relation.LT, Relation.LE, Relation.GT, Relation.GE]
COMPARISONS = st.sampled_from([*ORDERS, Relation.EQ, Relation.NE])
#: Strategies that are drawn from often: making one takes longer than drawing from it.
NUMBERS = st.one_of(SMALL, RATIONAL)
KINDS = st.sampled_from(["category", "integer", "integer", "boolean"])
CODES = st.integers(-2, 7)
PARTS = st.sampled_from([1, 1, 1, 2, 2, 3, 0])
JOINED = st.sampled_from([And, Or])
SCALES = st.sampled_from([SMALL, SMALL, DYADIC, RATIONAL])
RISING = st.just(Fraction(1))
SLOPES = st.sampled_from([Fraction(s) for s in (0, 0, 1)] + [Fraction(1, 10)])
CURVES = st.sampled_from(Curve)
THRESHOLDS = st.one_of(st.just(Fraction(0)), SMALL, RATIONAL)
RELATIONS = st.sampled_from(ORDERS)
MODES = st.sampled_from(list(Differ))


@st.composite
def shares(draw: st.DrawFn, size: int, most: int = 5) -> tuple[Fraction, ...]:
    """So many parts of 1, of which some may be 0."""
    weights = draw(st.lists(st.integers(0, most), min_size=size, max_size=size).filter(any))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@cache
def terms(count: int, who: tuple[Who, ...]) -> st.SearchStrategy[dict[Variable, Fraction]]:
    """One to three attributes of somebody, with coefficients."""
    return st.dictionaries(
        st.builds(Variable, st.integers(0, count - 1), st.sampled_from(who)), NUMBERS, min_size=1, max_size=3
    )


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Attribute:
    kind = draw(KINDS)
    if kind == "boolean":
        return Attribute(name=name, type=Boolean())
    size = draw(st.integers(2, 4))
    if kind == "integer":
        low = draw(st.integers(-3, 2))
        return Attribute(name=name, type=Integer(low=low, high=low + size - 1))
    codes = draw(st.lists(CODES, min_size=size, max_size=size, unique=True))
    values = tuple(CategoryValue(name=f"v{code}".replace("-", "m"), code=code) for code in codes)
    return Attribute(name=name, type=Category(values=values))


@st.composite
def atoms(draw: st.DrawFn, columns: tuple[Attribute, ...], who: tuple[Who, ...]) -> Predicate:
    index = draw(st.integers(0, len(columns) - 1))
    values = [Fraction(value) for value in columns[index].values]
    if draw(st.booleans()):
        chosen = draw(st.frozensets(st.sampled_from(values), min_size=1, max_size=len(values)))
        return Member(variable=Variable(index, draw(st.sampled_from(who))), values=chosen)
    return Compare(left=Linear.of(draw(terms(len(columns), who)), draw(DYADIC)), relation=draw(COMPARISONS))


@st.composite
def predicates(draw: st.DrawFn, columns: tuple[Attribute, ...], who: tuple[Who, ...] = (Who.EACH,)) -> Predicate:
    # Not st.recursive: it is rebuilt for every domain, which takes longer than all the rest.
    parts = [draw(atoms(columns, who)) for _ in range(draw(PARTS))]
    parts = [Not(part) if draw(st.integers(0, 4)) == 0 else part for part in parts]
    joined = parts[0] if len(parts) == 1 else draw(JOINED)(tuple(parts))
    if len(parts) == 3:
        joined = draw(JOINED)((parts[0], type(joined)(tuple(parts[1:]))))
    return Not(joined) if draw(st.integers(0, 7)) == 0 else joined


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    count = draw(st.integers(2, 4))
    columns = tuple(draw(attributes(f"x{index}")) for index in range(count))
    where = draw(st.one_of(st.just(TRUE), st.just(TRUE), predicates(columns)))
    return Domain(name="People", attributes=columns, where=where)


@st.composite
def layers(draw: st.DrawFn, inputs: int, outputs: int, linear: bool, curved: bool = False) -> Layer:
    number = draw(SCALES)
    weight = np.empty((outputs, inputs), dtype=object)
    for cell in np.ndindex(weight.shape):
        weight[cell] = draw(number)
    slopes = RISING if linear else SLOPES
    curves = [draw(CURVES) for _ in range(outputs)] if curved else [Curve.LEAKY] * outputs
    return Layer(
        weight=ExactArray.from_fractions(weight),
        bias=ExactArray.from_fractions([draw(number) for _ in range(outputs)]),
        slope=ExactArray.from_fractions([Fraction(0) if curve else draw(slopes) for curve in curves]),
        curves=tuple(curves),
    )


@st.composite
def models(draw: st.DrawFn, domain: Domain, single_score: bool, widths: tuple[int, ...], curved: bool = False) -> Model:
    columns = domain.attributes
    inputs: list[AttributeInput | IndicatorInput] = [AttributeInput(index) for index in range(len(columns))]
    if draw(st.booleans()):
        inputs.append(IndicatorInput(draw(predicates(columns))))
    width = draw(st.sampled_from(widths))
    score_count = 1 if single_score or draw(st.integers(0, 3)) else draw(st.integers(2, 3))
    stack = [draw(layers(len(inputs), width, False, curved))] if width else []
    if curved and width and draw(st.booleans()):
        stack.append(draw(layers(width, width, False, curved)))
    stack.append(draw(layers(width or len(inputs), score_count, True)))
    if score_count > 1:
        names = tuple("abc"[:score_count])
        return Model(
            name="m", outcomes=names, inputs=tuple(inputs), layers=tuple(stack), rule=ByHighest(), favourable=0
        )
    threshold = draw(THRESHOLDS)
    granted = draw(st.integers(0, 1))
    rule = ByThreshold(
        relation=draw(RELATIONS),
        low=threshold,
        high=threshold,
        granted=granted,
        otherwise=1 - granted,
    )
    return Model(name="m", outcomes=("no", "yes"), inputs=tuple(inputs), layers=tuple(stack), rule=rule, favourable=1)


@st.composite
def relaxations(draw: st.DrawFn, domain: Domain, differ: tuple[int, ...]) -> tuple[Relaxation, ...]:
    chosen = []
    for index, attribute in enumerate(domain.attributes):
        if index in differ or draw(st.booleans()):
            continue
        by = draw(st.sampled_from([None, Fraction(0), Fraction(1), Fraction(3, 2), Fraction(2)]))
        if isinstance(attribute.type, Category):
            by = None
        chosen.append(Relaxation(attribute=index, by=by))
    return tuple(chosen)


@st.composite
def questions(draw: st.DrawFn, domain: Domain, gap: bool) -> Pair:
    columns = domain.attributes
    indices = st.integers(0, len(columns) - 1)
    differ = tuple(draw(st.lists(indices, min_size=1, max_size=min(3, len(columns)), unique=True)))
    target = draw(st.one_of(st.just(TRUE), predicates(columns)))
    both = predicates(columns, (Who.A, Who.B))
    pair_target = draw(st.one_of(st.just(TRUE), st.just(TRUE), st.just(TRUE), both))
    demand = SameDecision()
    if gap:
        limit = draw(st.one_of(st.integers(0, 6).map(Fraction), st.just(Fraction(1, 3))))
        demand = ScoreGap(relation=draw(st.sampled_from([Relation.LE, Relation.LT])), limit=limit)
    return Pair(
        differ=differ,
        mode=draw(MODES),
        relax=draw(st.one_of(st.just(()), relaxations(domain, differ))),
        target=target,
        pair_target=pair_target,
        demand=demand,
    )


#: Levels of confidence: one that every decision of two outcomes meets, one that ties can meet, and high ones.
LEVELS = [Fraction(text) for text in ("1/4", "1/3", "1/2", "3/5", "9/10", "99/100", "9999/10000")]


@st.composite
def sureness(draw: st.DrawFn) -> tuple[Sure, ...]:
    """What is asked of a, of b, or of both."""
    asked = draw(st.sampled_from([(Who.A,), (Who.B,), (Who.A, Who.B)]))
    relations = st.sampled_from([Relation.GE, Relation.GT])
    found = [Sure(who=who, relation=draw(relations), level=draw(st.sampled_from(LEVELS))) for who in asked]
    if len(found) == 2 and draw(st.booleans()):
        found[1] = replace(found[0], who=Who.B)
    return tuple(found)


@st.composite
def confident_problems(draw: st.DrawFn, quantity: Quantity | None = None, **choices: object) -> Problem:
    """A small problem that asks how sure the model is, whose scores are logits."""
    drawn = draw(problems(quantity, **choices))  # type: ignore[arg-type]
    halved = isinstance(drawn.model.rule, ByThreshold) and draw(st.integers(0, 3)) == 0
    logits = Logits(scale=Fraction(1, 2) if halved else Fraction(1))
    return replace(
        drawn,
        model=replace(drawn.model, logits=logits),
        question=replace(drawn.question, sure=draw(sureness())),
    )


@st.composite
def problems(
    draw: st.DrawFn,
    quantity: Quantity | None = None,
    widths: tuple[int, ...] = (0, 0, 2, 3),
    curved: bool = False,
) -> Problem:
    """A small problem; every clause of the language about pairs occurs. Width 0: a linear model.

    ``curved``: units may be sigmoids and tanhs.
    """
    domain = draw(domains())
    gap = draw(st.integers(0, 4)) == 0
    return Problem(
        name="p",
        domain=domain,
        model=draw(models(domain, single_score=gap, widths=widths, curved=curved)),
        question=draw(questions(domain, gap)),
        quantity=quantity or draw(st.sampled_from([Quantity.HOLDS, Quantity.FAIR_SHARE])),
    )
