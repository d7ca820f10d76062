"""How wide influences are said to be of the deployed file, and how wide they have to be: random scores with ties.

    python benchmarks/deployed_influences.py

The table in Markdown of docs/rounding.md, by ``--draws`` (20) problems a line from ``--seed`` (0): two groups, whole
weights, three columns of five values, each with a law of its own a group, and ties that the file may decide either way.
What is needed is counted person by person: everybody on the threshold is favoured or not, the same under both
distributions, so the least and the greatest influence take those of whom one has more than the other. Beside it the
widths that leave both rates open by themselves. Ends with 1 if what is said is not what is needed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.deployed_influences import influences_near
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.population import Factor, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.numerics.cells import points
from fairdsl.prelude import metric_named
from fairdsl.verdict import Value

COLUMNS, SIZE = 3, 5
GROUPS = (0, 1)
#: A cell's share is a whole number up to this one, over their sum: nearly uniform laws, and very uneven ones.
UNEVEN = (2, 9, 100)
INFLUENCES = (1, 2)
#: How far the file may be off: only who lies on the threshold is within it.
ROOM = Fraction(1, 2)

RULE = ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0)
WIDENED = replace(RULE, low=-ROOM, high=ROOM)

Ends = tuple[Fraction, Fraction]


def _law(source: random.Random, uneven: int) -> tuple[Fraction, ...]:
    weights = [source.randint(1, uneven) for _ in range(SIZE)]
    return tuple([Fraction(weight, sum(weights)) for weight in weights])


def _problem(weights: list[int], laws: list[list[tuple[Fraction, ...]]], influences: int) -> Problem:
    """The influence of the first columns on the acceptance rates."""
    columns = tuple([Attribute(name=f"c{at}", type=Integer(low=0, high=SIZE - 1)) for at in range(COLUMNS)])
    people = Domain(name="People", attributes=(Attribute(name="sex", type=Boolean()), *columns), where=TRUE)
    factors = [Factor(column=0, parents=(), rows={(): (Fraction(1, 2), Fraction(1, 2))})]
    for at, law in enumerate(laws, start=1):
        factors.append(Factor(column=at, parents=(0,), rows={(sex,): law[sex] for sex in GROUPS}))
    score = Layer(
        weight=ExactArray.from_fractions(np.array([[Fraction(0), *map(Fraction, weights)]], dtype=object)),
        bias=ExactArray.from_fractions([Fraction(_bias(weights))]),
        slope=ExactArray.from_fractions([Fraction(1)]),
    )
    model = Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple([AttributeInput(index) for index in range(1 + COLUMNS)]),
        layers=(score,),
        rule=RULE,
        favourable=1,
    )
    question = GroupMetric(
        metric=metric_named("acceptance_rate"),
        across=(0,),
        population="law",
        influence=tuple(range(1, 1 + influences)),
    )
    cells = tuple([points(attribute.values or ()) for attribute in people.attributes])
    return Problem(
        name="p",
        domain=people,
        model=model,
        question=question,
        quantity=Quantity.METRIC,
        population=Network(name="law", columns=people.attributes, cells=cells, factors=tuple(factors)),
    )


def _bias(weights: list[int]) -> int:
    """Whoever has the middle cell of every column lies on the threshold."""
    return -(SIZE // 2) * sum(weights)


def _needed(weights: list[int], laws: list[tuple[Fraction, ...]], influences: int) -> Ends:
    """The least and the greatest influence in a group, whatever the file makes of those on the threshold."""
    low = high = Fraction(0)
    for person in product(range(SIZE), repeat=COLUMNS):
        others = prod((laws[at][person[at]] for at in range(influences, COLUMNS)), start=Fraction(1))
        own = prod((laws[at][person[at]] for at in range(influences)), start=Fraction(1))
        more = others * (own - Fraction(1, SIZE**influences))
        score = _bias(weights) + sum(weight * cell for weight, cell in zip(weights, person, strict=True))
        low += more if score > 0 else min(more, Fraction(0)) if score == 0 else 0
        high += more if score > 0 else max(more, Fraction(0)) if score == 0 else 0
    return low, high


def _problems(source: random.Random, uneven: int, influences: int, draws: int) -> Iterator[tuple[Ends, Ends, Ends]]:
    """By both rates, what is said, and what is needed: the least and the greatest influence in any group."""
    for _ in range(draws):
        weights = [source.choice((-3, -2, -1, 1, 2, 3)) for _ in range(COLUMNS)]
        laws = [[_law(source, uneven) for _ in GROUPS] for _ in range(COLUMNS)]
        problem, budget = _problem(weights, laws, influences), Budget.of(60.0)
        about = replace(problem, model=replace(problem.model, rule=WIDENED))
        rates = Rates().answer(about, Facts(), budget, Silent())
        said = influences_near(problem, WIDENED, budget)
        if not isinstance(rates, Value) or said is None:
            raise TypeError("no number")
        groups = [_needed(weights, [law[sex] for law in laws], influences) for sex in GROUPS]
        yield (rates.low, rates.high), said, (min(low for low, _ in groups), max(high for _, high in groups))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    alike = True
    print("| influence of | laws | both rates by themselves, mean width | said | needed |")
    print("| --- | --- | --- | --- | --- |")
    for influences, uneven in product(INFLUENCES, UNEVEN):
        found = list(_problems(random.Random(arguments.seed), uneven, influences, arguments.draws))
        alike &= all(said == needed for _, said, needed in found)
        widths = [float(sum(each[at][1] - each[at][0] for each in found) / len(found)) for at in range(3)]
        what = f"{influences} of {COLUMNS} columns | shares of 1 to {uneven}"
        print(f"| {what} | {' | '.join(f'{width:.3f}' for width in widths)} |")
    return 0 if alike else 1


if __name__ == "__main__":
    sys.exit(main())
