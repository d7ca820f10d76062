"""How wide influences are said to be of the deployed file, and how wide they have to be: random scores with ties.

    python benchmarks/deployed_influences.py

The table in Markdown of docs/rounding.md, by ``--draws`` (20) problems a line from ``--seed`` (0): two groups, whole
weights, three columns of five values, each with a law of its own a group, and ties that the file may decide either way.
What is needed is counted person by person: everybody on the threshold is favoured or not, the same under both
distributions, so the least and the greatest influence take those of whom one has more than the other. Ends with 1 if
what is said does not contain that.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.rates import Rates
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

Ends = tuple[Fraction, Fraction]


def _law(source: random.Random, uneven: int) -> tuple[Fraction, ...]:
    weights = [source.randint(1, uneven) for _ in range(SIZE)]
    return tuple([Fraction(weight, sum(weights)) for weight in weights])


def _problem(weights: list[int], laws: list[list[tuple[Fraction, ...]]], influences: int) -> Problem:
    """The influence of the first columns on the acceptance rates, of a file that is off by at most the room."""
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
        rule=ByThreshold(relation=Relation.GT, low=-ROOM, high=ROOM, granted=1, otherwise=0),
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


def _groups(source: random.Random, uneven: int, influences: int, draws: int) -> Iterator[tuple[Ends, Ends]]:
    """What is said and what is needed, group by group."""
    for _ in range(draws):
        weights = [source.choice((-3, -2, -1, 1, 2, 3)) for _ in range(COLUMNS)]
        laws = [[_law(source, uneven) for _ in GROUPS] for _ in range(COLUMNS)]
        found = Rates().answer(_problem(weights, laws, influences), Facts(), Budget.of(60.0), Silent())
        if not isinstance(found, Value):
            raise TypeError(f"no number: {found}")
        for sex, part in zip(GROUPS, found.parts, strict=True):
            yield (part.low, part.high), _needed(weights, [law[sex] for law in laws], influences)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=20)
    arguments = parser.parse_args()
    contained = True
    print("| influence of | laws | said, mean width | needed | needed of what is said |")
    print("| --- | --- | --- | --- | --- |")
    for influences, uneven in product(INFLUENCES, UNEVEN):
        pairs = list(_groups(random.Random(arguments.seed), uneven, influences, arguments.draws))
        contained &= all(said[0] <= needed[0] and needed[1] <= said[1] for said, needed in pairs)
        said, needed = (sum(each[at][1] - each[at][0] for each in pairs) / len(pairs) for at in (0, 1))
        what = f"{influences} of {COLUMNS} columns | shares of 1 to {uneven}"
        print(f"| {what} | {float(said):.3f} | {float(needed):.3f} | {float(needed / said):.0%} |")
    return 0 if contained else 1


if __name__ == "__main__":
    sys.exit(main())
