"""Models of one linear layer as formulas: the outcome as comparisons of sums, what these are made of, and literals.

A threshold t that is known only to lie strictly between two rationals equals no score. With such a threshold a demand
``sum > t`` holds for every t in between iff the sum is at least the upper end, and for some t iff it is above the
lower one; strict or not makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from fairdsl.backends.ssat.encode.linear import Exclusive, Group, Ordered, at_least
from fairdsl.backends.ssat.encode.predicate import Parts, Predicates
from fairdsl.backends.ssat.gates import FALSE, TRUE, Column, Gates, Literal, NotSingleError
from fairdsl.ir.expr import Predicate, Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model
from fairdsl.numerics.event import Demand, event_of


class End(Enum):
    """Which individuals count as favourable where a threshold is not known exactly."""

    LOW = "low"  # those that are so for every threshold in between
    HIGH = "high"  # those that are so for some of them


@dataclass(frozen=True, slots=True)
class Sum:
    """``constant + sum of weight * input RELATION bound``, by position of the input; weights are not 0."""

    weights: Mapping[int, Fraction]
    constant: Fraction
    relation: Relation
    bound: Fraction

    def holds(self, inputs: Mapping[int, Fraction]) -> bool:
        """Whether it is so for these values of inputs; those that are not listed are 0."""
        total = self.constant
        for position, value in inputs.items():
            total += self.weights.get(position, 0) * value
        return self.relation.compares(total, self.bound)


class Outcome:
    """Favourable is who meets all ``demands``; with ``complement``, who does not meet them all."""

    def __init__(self, model: Model, end: End) -> None:
        event = event_of(model)
        self.complement = event.complement
        self.vague = any(demand.low < demand.high for demand in event.demands)
        # Fewer individuals are favourable where each demand asks for more, or, of a complement, for less.
        hard = (end is End.LOW) != event.complement
        self.demands = tuple(_sum(model, demand, hard) for demand in event.demands)
        self.weighed = frozenset(position for demand in self.demands for position in demand.weights)

    def grants(self, inputs: Mapping[int, Fraction]) -> bool:
        """Whether the outcome is favourable for these values of inputs; those that are not listed are 0."""
        return all(demand.holds(inputs) for demand in self.demands) != self.complement


def _sum(model: Model, demand: Demand, hard: bool) -> Sum:
    layer = model.layers[0]
    weights: dict[int, Fraction] = {}
    constant = Fraction(0)
    for factor, row, bias in zip(demand.row, layer.weight.exact, layer.bias.exact, strict=True):
        if factor:
            constant += factor * Fraction(bias)
            for position, weight in enumerate(row):
                if weight:
                    weights[position] = weights.get(position, Fraction(0)) + factor * Fraction(weight)
    present = {position: weight for position, weight in sorted(weights.items()) if weight}
    if demand.low == demand.high:
        return Sum(present, constant, Relation.GT if demand.strict else Relation.GE, demand.low)
    return Sum(present, constant, *((Relation.GE, demand.high) if hard else (Relation.GT, demand.low)))


# ---- What the scores of a model are made of: columns, trees, and other predicates ----------------

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


# ---- Models as formulas: the favourable decision as a literal, or as a demand --------------------
# Treated are models of one layer of linear units: trees, forests, rules, rule lists, and weighted sums of attributes
# and predicates. Theorem: for every assignment of the columns that is an individual of the domain there is exactly
# one extension to the variables that are defined here, and in it the literal is true iff the model decides
# favourably; and with :func:`require_favourable` there is one iff the model decides as demanded.
#
# The outcome is a conjunction of comparisons of sums of the inputs (:mod:`fairdsl.numerics.event`). What the sums are
# made of decides how they are written:
#
# * One tree: of all paths exactly one is taken. The demand excludes each path to a leaf of the other kind, a clause
#   each and no variable; the literal has, for each path, the clause "path implies its leaf's decision".
# * One predicate: itself or its negation, with clauses as :meth:`.predicate.Predicates.require` writes them.
# * One column: a set of its places.
# * Anything else: the sums by :mod:`.linear`, where everything about one column is one group, each tree a group of
#   exclusive leaves, and every other predicate a group of its own.
#
# A threshold that is known only to lie between two numbers has two formulas. At its ``LOW`` end an individual counts as
# favourable if it is so for every threshold in between, at its ``HIGH`` end if for some.

_ZERO = Fraction(0)


def unsupported(model: Model) -> str | None:
    """Why a model is not written as a formula; None where it is."""
    if not model.rational:
        return "the model has smooth units"
    if len(model.layers) > 1 or not model.layers[0].linear.all():
        return "the model has hidden units: formulas are written for trees, rules and weighted sums"
    if model.beside:
        return "the rate is of several outcomes: formulas are written for one, or for all but one"
    return None


def ends(model: Model) -> tuple[End, ...]:
    """The ends of the threshold: one where it is known exactly."""
    return (End.LOW, End.HIGH) if Outcome(model, End.LOW).vague else (End.LOW,)


def favourable_literal(
    gates: Gates,
    model: Model,
    columns: Mapping[int, Column],
    end: End = End.LOW,
) -> Literal:
    """The literal that is true iff the model decides favourably.

    The literals of both ends are the same where no score can lie between them. Raises
    :class:`.gates.NotSingleError` where a number is needed of a column with places of several values,
    :class:`.linear.TooLargeError`, and ValueError for models that are :func:`unsupported`.
    """
    writer = _Writer(gates, model, columns, end)
    makeup = writer.makeup
    if makeup.tree is not None:
        return writer.of_tree(makeup.tree)
    if makeup.rule is not None:
        return writer.of_rule(makeup.rule)
    if makeup.column is not None:
        return writer.predicates.conjunction(writer.granted(makeup.column, True))
    demands = gates.conjunction(writer.demands())
    return -demands if writer.outcome.complement else demands


def require_favourable(
    gates: Gates,
    model: Model,
    columns: Mapping[int, Column],
    favourable: bool,
    end: End = End.LOW,
) -> None:
    """Demand that the model decides favourably, or that it does not; errors as of :func:`favourable_literal`."""
    writer = _Writer(gates, model, columns, end)
    makeup = writer.makeup
    if makeup.tree is not None:
        writer.exclude(leaf for leaf, good in writer.leaves(makeup.tree) if good != favourable)
    elif makeup.rule is not None:
        for truth in (True, False):
            if writer.grants_rule(truth) != favourable:
                writer.predicates.require(makeup.rule, not truth)
    elif makeup.column is not None:
        writer.exclude([writer.granted(makeup.column, not favourable)])
    else:
        demands = list(writer.demands())
        if favourable != writer.outcome.complement:
            for literal in demands:
                gates.require(literal)
        else:
            gates.require(*(-literal for literal in demands))


class _Writer:
    """One model over columns."""

    def __init__(self, gates: Gates, model: Model, columns: Mapping[int, Column], end: End) -> None:
        why = unsupported(model)
        if why is not None:
            raise ValueError(why)
        self._gates, self._columns = gates, columns
        self.predicates = Predicates(gates, columns)
        self.outcome = Outcome(model, end)
        self.makeup = Makeup.of(model, self.outcome.weighed, self.predicates.single)

    def exclude(self, ways: Iterable[Parts]) -> None:
        """Demand that none of these holds."""
        for way in ways:
            for clause in self.predicates.against(way):
                self._gates.require(*clause)

    def leaves(self, tree: tuple[int, ...]) -> Iterator[tuple[Parts, bool]]:
        """The paths of a tree that can be taken, and whether its leaf is favourable."""
        for position in tree:
            parts = self.predicates.parts(self.makeup.predicates[position])
            if not parts.empty:
                yield parts, self.outcome.grants({position: Fraction(1)})

    def of_tree(self, tree: tuple[int, ...]) -> Literal:
        """The literal of a decision by one tree alone."""
        leaves = list(self.leaves(tree))
        for kind in (True, False):
            ways = [parts for parts, good in leaves if good is kind]
            if len(ways) <= 1:
                literal = self.predicates.conjunction(ways[0]) if ways else FALSE
                return literal if kind else -literal
        clauses = tuple((clause, good) for parts, good in leaves for clause in self.predicates.against(parts))

        def implied(gate: Literal) -> Iterator[tuple[Literal, ...]]:
            for clause, good in clauses:
                yield (*clause, gate if good else -gate)

        return self._gates.defined(("tree", clauses), implied)

    def grants_rule(self, truth: bool) -> bool:
        """Whether the decision is favourable where the model's only predicate has this truth."""
        return self.outcome.grants(dict.fromkeys(self.makeup.rest, Fraction(int(truth))))

    def of_rule(self, rule: Predicate) -> Literal:
        """The literal of a decision by one predicate alone."""
        found, otherwise = self.grants_rule(True), self.grants_rule(False)
        if found == otherwise:
            return TRUE if found else FALSE
        literal = self.predicates.literal(rule)
        return literal if found else -literal

    def granted(self, number: int, favourable: bool) -> Parts:
        """The places of a model's only column where it decides so."""
        column, parts = self._columns[number], self.makeup.columns[number]
        self._numbers(number)
        found = 0
        for place, value in enumerate(column.values):
            inputs = dict.fromkeys(parts.numbers, value)
            inputs.update((each, Fraction(places >> place & 1)) for each, places in parts.sets.items())
            found |= (self.outcome.grants(inputs) == favourable) << place
        return Parts({number: found})

    def demands(self) -> Iterator[Literal]:
        """The comparisons of the scores."""
        paths = {
            position: self.predicates.conjunction(self.predicates.parts(predicate))
            for position, predicate in self.makeup.predicates.items()
        }
        for demand in self.outcome.demands:
            groups: list[Group] = [self._of_column(column, demand) for column in self.makeup.columns]
            for tree in self.makeup.trees:
                leaves = ((paths[position], demand.weights.get(position, _ZERO)) for position in tree)
                groups.append(Exclusive(tuple(leaves)))
            constant, single = _of_literals((paths[each], demand.weights.get(each, _ZERO)) for each in self.makeup.rest)
            bound = demand.bound - demand.constant - constant
            yield at_least(self._gates, _ZERO, [*groups, *single], demand.relation, bound)

    def _of_column(self, number: int, demand: Sum) -> Ordered:
        """What the inputs about one column add, by place."""
        column, parts = self._columns[number], self.makeup.columns[number]
        factor = sum((demand.weights.get(each, _ZERO) for each in parts.numbers), _ZERO)
        total = [factor * value for value in self._numbers(number)]
        for position, places in parts.sets.items():
            for place in range(len(total)):
                if places >> place & 1:
                    total[place] += demand.weights.get(position, _ZERO)
        return Ordered(column.below, tuple(total))

    def _numbers(self, number: int) -> tuple[Fraction, ...]:
        """The values of a column, which must be all that there is of its places if the model weighs its number."""
        column = self._columns[number]
        if self.makeup.columns[number].numbers and not all(column.single):
            raise NotSingleError(number)
        return column.values


def _of_literals(weighed: Iterable[tuple[Literal, Fraction]]) -> tuple[Fraction, list[Ordered]]:
    """A constant, and a group for each variable: ``w * (not l)`` is ``w - w * l``."""
    constant, totals = _ZERO, dict[Literal, Fraction]()
    for literal, weight in weighed:
        if literal < 0:
            constant, weight = constant + weight, -weight
        totals[abs(literal)] = totals.get(abs(literal), _ZERO) + weight
    constant += totals.pop(TRUE, _ZERO)
    return constant, [Ordered.of(literal, weight) for literal, weight in totals.items()]
