"""Weighted sums of Boolean variables under a Bayesian network: drawn from a seed, and closed as problems.

Variable 0 is protected and has no parents; the others are chances. The question is the rate of
``sum(weights of variables that are true) >= threshold`` in each of the two groups, so that both the engine and
the recursion of ``recursion.py`` answer the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from fairdsl.ir.domain import Attribute, Boolean, Domain
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Model, linear_layer
from fairdsl.ir.population import Cell, Factor, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.prelude import metric_named

__all__ = ["FALSE_AND_TRUE", "Sum", "correlated", "independent", "problem_of"]

FALSE_AND_TRUE = (Cell(low=Fraction(0), high=Fraction(0)), Cell(low=Fraction(1), high=Fraction(1)))


@dataclass(frozen=True, kw_only=True)
class Sum:
    """``parents[i]`` come before i; ``chances[i]`` has Pr[i | values of its parents], the last one changing fastest."""

    weights: tuple[int, ...]
    threshold: int
    parents: tuple[tuple[int, ...], ...]
    chances: tuple[tuple[Fraction, ...], ...]

    @property
    def size(self) -> int:
        return len(self.weights)

    def chance(self, variable: int, values: Sequence[int]) -> Fraction:
        """Pr[variable | the values of its parents]."""
        place = 0
        for parent in self.parents[variable]:
            place = 2 * place + values[parent]
        return self.chances[variable][place]


def _drawn(random: np.random.Generator, parents: Sequence[tuple[int, ...]], heaviest: int) -> Sum:
    """Weights from -heaviest to heaviest, probabilities in thousandths, the threshold in the middle."""
    size = len(parents)
    weights = random.integers(-heaviest, heaviest + 1, size)
    chances = tuple(
        tuple(Fraction(int(part), 1000) for part in random.integers(50, 951, 2 ** len(above))) for above in parents
    )
    return Sum(
        weights=tuple(int(weight) for weight in weights),
        threshold=int(weights.sum()) // 2,
        parents=tuple(parents),
        chances=chances,
    )


def independent(size: int, heaviest: int, seed: int) -> Sum:
    """No variable depends on another."""
    return _drawn(np.random.default_rng([seed, size, heaviest]), [()] * size, heaviest)


def correlated(size: int, width: int, heaviest: int, seed: int) -> Sum:
    """A partial ``width``-tree: every variable's parents are ``width`` (fewer at first) of one clique before it.

    Summed out in the order from the last to the first, no table has more than ``width + 1`` variables, so
    the induced width is at most ``width``.
    """
    random = np.random.default_rng([seed, size, width, heaviest])
    cliques: list[tuple[int, ...]] = [()]
    parents: list[tuple[int, ...]] = []
    for variable in range(size):
        clique = cliques[int(random.integers(len(cliques)))] if len(cliques) > width else cliques[-1]
        parents.append(clique)
        whole = (*clique, variable)
        if len(whole) <= width:
            cliques.append(whole)
        else:
            cliques += [tuple(each for each in whole if each != left) for left in whole]
    return _drawn(random, parents, heaviest)


def problem_of(drawn: Sum) -> Problem:
    """The statistical parity of the two groups of variable 0, closed."""
    attributes = tuple(Attribute(name=f"x{place}", type=Boolean()) for place in range(drawn.size))
    factors = tuple(
        Factor(
            column=place,
            parents=above,
            rows={
                key: (1 - chance, chance)
                for key, chance in zip(product((0, 1), repeat=len(above)), drawn.chances[place], strict=True)
            },
        )
        for place, above in enumerate(drawn.parents)
    )
    network = Network(
        name="drawn", columns=attributes, cells=(FALSE_AND_TRUE,) * drawn.size, factors=factors, causal=True
    )
    threshold = Fraction(drawn.threshold)
    model = Model(
        name="sum",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(place) for place in range(drawn.size)),
        layers=(linear_layer([[Fraction(weight) for weight in drawn.weights]], [Fraction(0)]),),
        rule=ByThreshold(relation=Relation.GE, low=threshold, high=threshold, granted=1, otherwise=0),
        favourable=1,
    )
    return Problem(
        name="sum",
        domain=Domain(name="Drawn", attributes=attributes, where=TRUE),
        model=model,
        question=GroupMetric(metric=metric_named("parity_gap"), across=(0,), population="drawn"),
        quantity=Quantity.METRIC,
        population=network,
    )
