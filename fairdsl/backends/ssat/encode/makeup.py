"""What the scores of a model are made of: columns, trees, and other predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from fairdsl.ir.expr import Predicate
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model

__all__ = ["Makeup", "OfColumn"]

#: The column and the set of places of a predicate about one column; None of any other.
Single = Callable[[Predicate], tuple[int, int] | None]


@dataclass(slots=True)
class OfColumn:
    """The inputs about one column, by position: those that are its number, and predicates as sets of places."""

    numbers: list[int] = field(default_factory=list)
    sets: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Makeup:
    """Every input that is weighed, once, by position.

    ``trees`` are groups of which exactly one input is 1, with all of the group; ``rest`` are predicates about several
    columns or none. ``predicates`` are those of both. A tree about one column alone counts as inputs of that column.
    """

    columns: dict[int, OfColumn] = field(default_factory=dict)
    trees: list[tuple[int, ...]] = field(default_factory=list)
    rest: list[int] = field(default_factory=list)
    predicates: dict[int, Predicate] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model, weighed: Iterable[int], single: Single) -> Makeup:
        """Sort the weighed inputs of a model."""
        found, weighed = cls(), set(weighed)
        for group in model.one_of:
            if weighed.isdisjoint(group):
                continue
            predicates = {position: _predicate(model, position) for position in group}
            if not _about_one_column(predicates.values(), single):
                found.trees.append(tuple(group))
                found.predicates.update(predicates)
                weighed.difference_update(group)
        for position in sorted(weighed):
            found._add(model, position, single)
        return found

    def _add(self, model: Model, position: int, single: Single) -> None:
        item = model.inputs[position]
        if isinstance(item, AttributeInput):
            self.columns.setdefault(item.attribute, OfColumn()).numbers.append(position)
        elif (found := single(item.predicate)) is not None:
            column, places = found
            self.columns.setdefault(column, OfColumn()).sets[position] = places
        else:
            self.rest.append(position)
            self.predicates[position] = item.predicate

    @property
    def tree(self) -> tuple[int, ...] | None:
        """The only thing that is weighed, if that is one tree."""
        return self.trees[0] if len(self.trees) == 1 and not self.columns and not self.rest else None

    @property
    def rule(self) -> Predicate | None:
        """The only thing that is weighed, if that is one predicate."""
        if self.trees or self.columns or len({self.predicates[position] for position in self.rest}) != 1:
            return None
        return self.predicates[self.rest[0]]

    @property
    def column(self) -> int | None:
        """The only thing that is weighed, if that is one column."""
        return next(iter(self.columns)) if len(self.columns) == 1 and not self.trees and not self.rest else None


def _about_one_column(predicates: Iterable[Predicate], single: Single) -> bool:
    columns = set()
    for predicate in predicates:
        found = single(predicate)
        if found is None:
            return False
        columns.add(found[0])
    return len(columns) == 1


def _predicate(model: Model, position: int) -> Predicate:
    item = model.inputs[position]
    if isinstance(item, AttributeInput):
        raise ValueError("groups are of indicators")
    return item.predicate
