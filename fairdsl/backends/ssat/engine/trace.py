"""The search as a circuit of sums and products, to be evaluated for other probabilities.

A search that decides random variables alone looks at clauses only: probabilities are multiplied and added, and none of
them is 0. Under any other probabilities between 0 and 1 it would go the same way. So what it did is a circuit [Huang
and Darwiche 2007, The Language of Search], in which a component is the sum over the truths of the variable that was
decided of the product of what followed: the weights of literals, the scales of variables that are in no clause any
more, and the components that were left. A choice compares values; a search with one in it leaves no circuit.

The circuit has one list of numbers: the weights of all literals, then the scales of all variables (see
:class:`.formula.Formula`), then the components, each behind those that it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeAlias

from fairdsl.backends.ssat.engine.formula import Formula
from fairdsl.backends.ssat.engine.residual import Component

Product: TypeAlias = tuple[int, ...]
"""Places of its factors in the list of numbers."""

#: Bytes of the keys and factors of a search, beyond which it is not recorded.
_MOST = 1 << 26
#: Bytes of a factor.
_FACTOR = 8


@dataclass(frozen=True, slots=True)
class Trace:
    """``components``: the products that each is the sum of; the value is ``root`` over the product of ``whole``."""

    components: tuple[tuple[Product, ...], ...]
    root: Product
    whole: Product

    def value(self, formula: Formula) -> Fraction:
        """The value of a formula that differs in its weights and scales alone from the one that was searched."""
        numbers = [*formula.weight, *formula.scale]
        for products in self.components:
            numbers.append(sum([prod([numbers[place] for place in product]) for product in products]))
        above, below = (prod([numbers[place] for place in product]) for product in (self.root, self.whole))
        return Fraction(above, below)


class Recorder:
    """Notes what a search does, until it makes a choice, or there is too much of it."""

    def __init__(self, formula: Formula) -> None:
        self._literals = len(formula.weight)
        self._first = self._literals + len(formula.scale)
        #: Only random variables have scales other than 1, and weights.
        self._random = {variable for variable, scale in enumerate(formula.scale) if scale > 1}
        self._components: list[tuple[Product, ...]] = []
        self._place: dict[bytes, int] = {}
        self._bytes = 0
        self.stopped = False

    def stop(self) -> None:
        """There is no circuit."""
        self.stopped = True
        self._components.clear()
        self._place.clear()

    def product(self, literals: Sequence[int], free: Sequence[int], parts: Sequence[Component]) -> Product:
        """What followed: true literals, variables that are in no clause any more, components that are left."""
        random = self._random
        return (
            *(literal % self._literals for literal in literals if abs(literal) in random),
            *self.scales(free),
            *(self._place[part.key] for part in parts),
        )

    def scales(self, variables: Sequence[int]) -> Product:
        """The scales of variables."""
        return tuple(self._literals + variable for variable in variables if variable in self._random)

    def component(self, component: Component, products: Sequence[Product]) -> None:
        """A component is the sum of these."""
        self._bytes += len(component.key) + _FACTOR * sum(map(len, products))
        if self._bytes > _MOST:
            self.stop()
            return
        self._place[component.key] = self._first + len(self._components)
        self._components.append(tuple(products))

    def trace(self, root: Product, whole: Product) -> Trace:
        """All of it."""
        return Trace(tuple(self._components), root, whole)
