"""Short ways to write problems in tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import Budget
from fairdsl.backends.solved import Asked
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer, Real, Type
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Compare, Linear, Member, Predicate, Relation, Variable, Who
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity


def with_memory(budget: Budget, size: int) -> Budget:
    """The budget with so many bytes of memory: fewer than a user may ask for, so that small problems meet the limit."""
    object.__setattr__(budget.options.run, "memory", size)
    return budget


def integer(low: int, high: int) -> Integer:
    return Integer(low=low, high=high)


def real(low: object = None, high: object = None) -> Real:
    return Real(low=None if low is None else Fraction(low), high=None if high is None else Fraction(high))


def category(*codes: int) -> Category:
    return Category(values=tuple(CategoryValue(name=f"v{code}", code=code) for code in codes))


def domain(where: Predicate = TRUE, **types: Type) -> Domain:
    return Domain(
        name="People",
        attributes=tuple(Attribute(name=name, type=kind) for name, kind in types.items()),
        where=where,
    )


BOOLEAN = Boolean()


def linear(terms: Mapping[int, object], relation: str, right: object = 0, who: Who = Who.EACH) -> Compare:
    """``sum of coefficient * attribute RELATION right``."""
    left = Linear.of({Variable(i, who): Fraction(c) for i, c in terms.items()}, -Fraction(right))
    return Compare(left=left, relation=Relation(relation))


def member(index: int, *values: int, who: Who = Who.EACH) -> Member:
    return Member(variable=Variable(index, who), values=frozenset(Fraction(value) for value in values))


def layer(weight: Sequence[Sequence[object]], bias: Sequence[object], slope: object = 0) -> Layer:
    exact = np.array([[Fraction(w) for w in row] for row in weight], dtype=object)
    return Layer(
        weight=ExactArray.from_fractions(exact.reshape(len(bias), -1)),
        bias=ExactArray.from_fractions([Fraction(b) for b in bias]),
        slope=ExactArray.from_fractions([Fraction(slope)] * len(bias)),
    )


def model(*layers: Layer, attributes: int, relation: str = ">", threshold: object = 0) -> Model:
    """Layers given as hidden ones; the last must have slope 1."""
    limit = Fraction(threshold)
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(index) for index in range(attributes)),
        layers=layers,
        rule=ByThreshold(relation=Relation(relation), low=limit, high=limit, granted=1, otherwise=0),
        favourable=1,
    )


def score(weights: Sequence[object], bias: object = 0, relation: str = ">", threshold: object = 0) -> Model:
    """A linear score."""
    return model(layer([weights], [bias], 1), attributes=len(weights), relation=relation, threshold=threshold)


def problem(
    people: Domain, rule: Model, *differ: int, quantity: Quantity = Quantity.HOLDS, **clauses: object
) -> Problem:
    clauses.setdefault("mode", Differ.ANY)
    question = Pair(differ=differ, **clauses)
    return Problem(name="p", domain=people, model=rule, question=question, quantity=quantity)


def point(*values: object) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in values)


#: A demand in words, for encodings that write it down.
ASKED = Asked(
    spec="people.fair",
    spec_sha256="ab" * 32,
    title=None,
    model="m",
    model_path=None,
    model_sha256=None,
    property="alike",
    sentence="Everybody is treated alike.",
    clauses=("differ in sex",),
    formula="for all a, b: m(a) = m(b)",
    demand="measure fair_share",
    metric="fair_share",
    threshold=None,
    required=False,
)
