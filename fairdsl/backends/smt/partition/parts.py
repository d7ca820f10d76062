"""The partitions of a question as those who write solver files take them: by number, with their values in words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.backends.smt.partition.grid import Grid, restricted
from fairdsl.backends.smt.partition.words import values_in_words
from fairdsl.ir.problem import Problem

__all__ = ["GridParts"]


class GridParts:
    """A grid over a problem's units (:class:`~fairdsl.backends.encoding.Parts`)."""

    def __init__(self, problem: Problem, size: int) -> None:
        self._problem, self._grid = problem, Grid.of(problem, size)

    @property
    def count(self) -> int:
        """How many partitions there are."""
        return self._grid.count

    def order(self, seed: int) -> Iterator[int]:
        """All of them, in an order that the seed alone determines."""
        return self._grid.order(seed)

    def volume(self, index: int) -> Fraction:
        """A partition's share of all units."""
        return self._grid.volume(index)

    def problem(self, index: int) -> Problem:
        """The question about the units of a partition."""
        return restricted(self._problem, self._grid.box(index))

    def words(self, index: int) -> dict[str, str]:
        """A partition's values of the attributes that are cut, as the spec writes them."""
        box, attributes = self._grid.box(index), self._problem.domain.attributes
        return {attributes[cut].name: values_in_words(attributes[cut], box[cut]) for cut in self._grid.cut}
