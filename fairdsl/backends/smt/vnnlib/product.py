"""One case as one network with one input vector: the *product* of the model with itself.

The inputs are what the pair may choose: a shared attribute once, a relaxed or a symbolic differing one twice,
and an indicator once for each individual (once altogether where it reads shared attributes only). Values of
differing attributes that the case fixes are constants, folded into the first bias. The outputs are the case's
inequalities: output j is ``a . scores(a) + b . scores(b) + constant`` of atom j, so the pair breaks the demand
iff all outputs are positive (at least 0 where the atom is not strict).

A relaxed attribute, ``|a - b| <= by`` with both in [low, high], is a's value and an offset d in [-by, by]; the
network itself computes ``b = min(max(a + d, low), high)`` with ReLUs, where [low, high] are the ends of what
domain and target leave. Each admissible pair has its d, for which this is b, so nobody is lost; and where a lies
in [low, high] as well, every such b is within ``by`` of a, so nobody is added. The question stays a box. Where
other conditions speak of b they are written about a + d, and ``low <= a + d <= high`` is then asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import floor

from fairdsl.backends.smt.cases import Atom, Case, pair_of
from fairdsl.backends.smt.region import indicator
from fairdsl.backends.smt.vnnlib.chain import Affine, Chain, chained
from fairdsl.backends.smt.vnnlib.clipping import Column, Prefix, input_name, input_position
from fairdsl.backends.smt.vnnlib.conditions import Space, conditions
from fairdsl.backends.smt.vnnlib.constraints import NEVER, All, Formula, Line, above, below
from fairdsl.ir.domain import Real
from fairdsl.ir.expr import variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, narrow

__all__ = ["Product", "product_of"]

_ONE = Fraction(1)


@dataclass(frozen=True)
class Product:
    """The network, its inputs, the values that are folded in (by individual and attribute), further conditions."""

    chain: Chain
    columns: tuple[Column, ...]
    fixed: dict[tuple[str, int], Fraction]
    conditions: tuple[Formula, ...]


def product_of(problem: Problem, case: Case) -> Product | None:
    """The product network of a case; None where its conditions leave nobody to compare."""
    return _Builder(problem, case).built()


class _Builder:
    """Collects the columns of one case, and what each attribute and each indicator is in terms of them."""

    def __init__(self, problem: Problem, case: Case) -> None:
        self._problem = problem
        self._case = case
        self._sets = {"a": case.region.a, "b": case.region.b}
        # The target's own values: the network is then the same for all partitions of a question.
        self._ends = narrow(problem.domain, pair_of(problem).target)
        self._columns: list[Column] = []
        self._numbers: dict[tuple[str, int], Line] = {}
        self._fixed: dict[tuple[str, int], Fraction] = {}
        self._flags: dict[tuple[str, int], Line] = {}
        self._relaxed = {item.attribute: item.by for item in pair_of(problem).relax}

    def built(self) -> Product | None:
        """The product, or None where the conditions contradict each other."""
        for index in range(len(self._problem.domain.attributes)):
            self._attribute(index)
        for position, item in enumerate(self._problem.model.inputs):
            if isinstance(item, IndicatorInput):
                self._indicator(position, item)
        if not self._columns:
            self._added(Column("nothing", Fraction(0), Fraction(0)))
        space = Space(
            self._problem, self._sets["a"], self._sets["b"], lambda who, i: self._numbers[who, i], self._flags
        )
        further = conditions(space)
        if NEVER in further:
            return None
        further = (*further, *self._ranges(_names(All(further))))
        return Product(self._chain(), tuple(self._columns), self._fixed, further)

    def _added(self, column: Column) -> Line:
        self._columns.append(column)
        return Line(((input_name(len(self._columns) - 1), _ONE),))

    def _attribute(self, index: int) -> None:
        """The columns of one attribute."""
        own, other = self._sets["a"][index], self._sets["b"][index]
        pair = pair_of(self._problem)
        if index in pair.differ and own.count == other.count == 1:
            for who, values in (("a", own), ("b", other)):
                assert values.low is not None
                self._fixed[who, index] = values.low
                self._numbers[who, index] = Line(constant=values.low)
        elif index not in pair.differ and index not in self._relaxed:
            both = self._added(Column("both", *_ends(own, other), index))
            self._numbers["a", index] = self._numbers["b", index] = both
        else:
            self._numbers["a", index] = self._added(Column("a", own.low, own.high, index))
            by = self._relaxed.get(index)
            if by is None:
                self._numbers["b", index] = self._added(Column("b", other.low, other.high, index))
            else:
                offset = self._added(Column("offset", *self._offset(index, by), index))
                self._numbers["b", index] = self._numbers["a", index] + offset

    def _offset(self, index: int, by: Fraction) -> tuple[Fraction, Fraction]:
        """What b's value may be more than a's."""
        if not isinstance(self._problem.domain.attributes[index].type, Real):
            by = Fraction(floor(by))
        own, other = self._sets["a"][index], self._sets["b"][index]
        low = -by if other.low is None or own.high is None else max(-by, other.low - own.high)
        high = by if other.high is None or own.low is None else min(by, other.high - own.low)
        return (low, high) if low <= high else (-by, by)

    def _indicator(self, position: int, item: IndicatorInput) -> None:
        """The input for each individual: a constant where the fixed values decide it, otherwise a column."""
        read = {variable.attribute for variable in variables(item.predicate)}
        shared = all(self._numbers["a", index] == self._numbers["b", index] for index in read)
        for who in "ab":
            known = [
                Finite((self._fixed[who, index],)) if (who, index) in self._fixed else _declared(self._problem, index)
                for index in range(len(self._problem.domain.attributes))
            ]
            decided = indicator(item.predicate, known)
            if decided is not None:
                self._flags[who, position] = Line(constant=Fraction(int(decided)))
            elif who == "b" and shared:
                self._flags[who, position] = self._flags["a", position]
            else:
                here = indicator(item.predicate, self._sets[who])
                low, high = (0, 1) if here is None else (int(here), int(here))
                meaning = f"input {position} of the model, for {'both' if shared else who}"
                self._flags[who, position] = self._added(Column("flag", Fraction(low), Fraction(high), meaning=meaning))

    def _ranges(self, mentioned: set[str]) -> Iterator[Formula]:
        """Where conditions speak of a + d, that sum is b itself; and b stays within its values."""
        for position, column in enumerate(self._columns):
            if column.role != "offset":
                continue
            assert column.attribute is not None
            line, values = self._numbers["b", column.attribute], self._sets["b"][column.attribute]
            own, ends = self._sets["a"][column.attribute], self._ends[column.attribute]
            spoken_of = input_name(position) in mentioned
            least = _extreme(max, ends.low, _plus(own.low, column.low))
            most = _extreme(min, ends.high, _plus(own.high, column.high))
            if values.low is not None and (spoken_of or least is None or values.low > least):
                yield above(line, values.low)
            if values.high is not None and (spoken_of or most is None or values.high < most):
                yield below(line, values.high)

    def _chain(self) -> Chain:
        """The network from the columns to the atoms."""
        prefix = Prefix(self._problem, self._columns, self._ends)
        count = len(self._problem.model.inputs)
        inputs = tuple(self._read(prefix, who, position) for who in "ab" for position in range(count))
        return _network(self._problem.model, self._case.atoms, inputs, prefix.width, prefix.map)

    def _read(self, prefix: Prefix, who: str, position: int) -> Line:
        """An input of the model in terms of what the first layer reads."""
        item = self._problem.model.inputs[position]
        if not isinstance(item, AttributeInput):
            return prefix.read(self._flags[who, position])
        if who == "b" and self._relaxed.get(item.attribute) is not None:
            return prefix.clipped(item.attribute)
        return prefix.read(self._numbers[who, item.attribute])


@lru_cache(maxsize=128)  # the partitions of a question differ in their boxes alone
def _network(
    model: Model, atoms: tuple[Atom, ...], inputs: tuple[Line, ...], width: int, first: Affine | None
) -> Chain:
    """The product network: ``inputs`` are what a's copy and then b's reads, in terms of ``first``'s outputs."""
    rows, bias, layer = [], [], model.layers[0]
    for read in (inputs[: len(model.inputs)], inputs[len(model.inputs) :]):
        for weights, constant in zip(layer.weight.exact, layer.bias.exact, strict=True):
            row, shift = _summed(weights, read, width)
            rows.append(row)
            bias.append(constant + shift)
    outputs = [(*atom.a, *atom.b) for atom in atoms]
    chain = chained(Affine(rows, bias, width), model.layers, outputs, [atom.constant for atom in atoms])
    return chain if first is None else replace(chain, layers=(first.stored(), *chain.layers))


def _declared(problem: Problem, index: int) -> ValueSet:
    attribute = problem.domain.attributes[index]
    values = attribute.values
    return Interval(*attribute.bounds) if values is None else Finite(tuple(sorted(values)))


def _ends(own: ValueSet, other: ValueSet) -> tuple[Fraction | None, Fraction | None]:
    """The hull of what both may have."""
    return _extreme(max, own.low, other.low), _extreme(min, own.high, other.high)


def _extreme(pick: Callable[..., Fraction], one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """The tighter of two bounds, None being no bound."""
    return one if other is None else other if one is None else pick(one, other)


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _summed(weights: Sequence[Fraction], inputs: Sequence[Line], width: int) -> tuple[list[Fraction], Fraction]:
    row, shift = [Fraction(0)] * width, Fraction(0)
    for weight, line in zip(weights, inputs, strict=True):
        if weight:
            shift += weight * line.constant
            for name, factor in line.terms:
                row[input_position(name)] += weight * factor
    return row, shift


def _names(formula: Formula) -> set[str]:
    if isinstance(formula, Line):
        return {name for name, _ in formula.terms}
    return {name for part in formula.parts for name in _names(part)}
