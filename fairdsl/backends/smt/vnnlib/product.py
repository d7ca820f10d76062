"""One case as one network with one input vector: the *product* of the model with itself.

The inputs are what the pair may choose: a shared attribute once, a relaxed or a symbolic differing one twice,
and an indicator once for each individual (once altogether where it reads shared attributes only). Values of
differing attributes that the case fixes are constants, folded into the first bias. The outputs are the case's
inequalities: output j is ``a . scores(a) + b . scores(b) + constant`` of atom j, so the pair breaks the demand
iff all of these are positive (at least 0 where the atom is not strict). Behind them comes an output for each further
condition, at least 0 iff it holds (``shortfall``); what a condition says of one input alone narrows that input.

A relaxed attribute, ``|a - b| <= by`` with both in [low, high], is a's value and an offset d in [-by, by]; the
network itself computes ``b = min(max(a + d, low), high)`` with ReLUs, where [low, high] are the ends of what
domain and target leave. Each admissible pair has its d, for which this is b, so nobody is lost; and where a lies
in [low, high] as well, every such b is within ``by`` of a, so nobody is added. Where other conditions speak of b they
are written about a + d, and ``low <= a + d <= high`` is then one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor

from fairdsl.backends.smt.cases import Case, pair_of
from fairdsl.backends.smt.vnnlib.chain import Chain
from fairdsl.backends.smt.vnnlib.constraints import NEVER, All, Formula, Line, Space, above, below, conditions
from fairdsl.backends.smt.vnnlib.networks import (
    Column,
    Networks,
    Prefix,
    conditions_chain,
    input_name,
    input_position,
    networks,
)
from fairdsl.backends.smt.vnnlib.pair import greatest
from fairdsl.ir.domain import Real
from fairdsl.ir.expr import variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, decided, narrow

_ONE = Fraction(1)


@dataclass(frozen=True)
class Product:
    """The network, its inputs, the values that are folded in (by individual and attribute), further conditions.

    Its outputs are the case's atoms and then the conditions, which are over the inputs; ``errors`` bounds for each
    what storing the network changed.
    """

    chain: Chain
    columns: tuple[Column, ...]
    fixed: dict[tuple[str, int], Fraction]
    conditions: tuple[Formula, ...]
    errors: tuple[float, ...]


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
        outputs = tuple(formula for formula in further if not self._narrowed(formula))
        if any(_empty(column) for column in self._columns):
            return None
        reach = greatest([(column.low, column.high) for column in self._columns])
        found = self._networks(outputs).in_float32(reach)
        if found.whole.width > len(self._columns):
            self._added(Column("nothing", _ONE, _ONE, meaning="always 1, for biases of more digits than float32 has"))
        return Product(found.whole, tuple(self._columns), self._fixed, outputs, found.errors(reach))

    def _narrowed(self, formula: Formula) -> bool:
        """Whether the formula is a bound of one input, which then has it."""
        if not isinstance(formula, Line) or len(formula.terms) != 1:
            return False
        ((name, factor),) = formula.terms
        bound, column = -formula.constant / factor, self._columns[input_position(name)]
        self._columns[input_position(name)] = (
            replace(column, low=_extreme(max, column.low, bound))
            if factor > 0
            else replace(column, high=_extreme(min, column.high, bound))
        )
        return True

    def _added(self, column: Column) -> Line:
        self._columns.append(column)
        return Line(((input_name(len(self._columns) - 1), _ONE),))

    def _attribute(self, index: int) -> None:
        """The columns of one attribute."""
        own, other = self._sets["a"][index], self._sets["b"][index]
        pair = pair_of(self._problem)
        alone = own.count == other.count == 1
        # What the question itself fixes: a partition's one value stays an input, so that all have one network.
        settled = index not in self._relaxed and self._ends[index].count == 1
        if alone and (index in pair.differ or settled):
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
            truth = decided(item.predicate, known)
            if truth is not None:
                self._flags[who, position] = Line(constant=Fraction(int(truth)))
            elif who == "b" and shared:
                self._flags[who, position] = self._flags["a", position]
            else:
                here = decided(item.predicate, self._sets[who])
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

    def _networks(self, outputs: tuple[Formula, ...]) -> Networks:
        """The networks, with as many layers before the model's as the conditions need."""
        model, columns = self._problem.model, len(self._columns)
        prefix = self._prefix(0)
        if outputs:
            depth = len(prefix.maps) + len(model.layers) - 1
            prefix = self._prefix(len(conditions_chain(outputs, columns, depth).layers) - len(model.layers))
        inputs = tuple(self._read(prefix, who, position) for who in "ab" for position in range(len(model.inputs)))
        return networks(model, self._case.atoms, inputs, prefix.maps, outputs, columns)

    def _prefix(self, least: int) -> Prefix:
        return Prefix(self._problem, self._columns, self._ends, least)

    def _read(self, prefix: Prefix, who: str, position: int) -> Line:
        """An input of the model in terms of what the first layer reads."""
        item = self._problem.model.inputs[position]
        if not isinstance(item, AttributeInput):
            return prefix.read(self._flags[who, position])
        if who == "b" and self._relaxed.get(item.attribute) is not None:
            return prefix.clipped(item.attribute)
        return prefix.read(self._numbers[who, item.attribute])


def _declared(problem: Problem, index: int) -> ValueSet:
    attribute = problem.domain.attributes[index]
    values = attribute.values
    return Interval(*attribute.bounds) if values is None else Finite(tuple(sorted(values)))


def _ends(own: ValueSet, other: ValueSet) -> tuple[Fraction | None, Fraction | None]:
    """The hull of what both may have."""
    return _extreme(max, own.low, other.low), _extreme(min, own.high, other.high)


def _empty(column: Column) -> bool:
    return column.low is not None and column.high is not None and column.low > column.high


def _extreme(pick: Callable[..., Fraction], one: Fraction | None, other: Fraction | None) -> Fraction | None:
    """The tighter of two bounds, None being no bound."""
    return one if other is None else other if one is None else pick(one, other)


def _plus(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _names(formula: Formula) -> set[str]:
    if isinstance(formula, Line):
        return {name for name, _ in formula.terms}
    return {name for part in formula.parts for name in _names(part)}
