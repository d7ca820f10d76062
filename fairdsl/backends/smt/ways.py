"""The ways to break a demand: conjunctions of linear inequalities over scores, and conditions on attributes.

Every demand is a formula (:attr:`~fairdsl.ir.problem.Problem.demanded`). All that it names is given by one model: the
models side by side, and the attributes that are compared with their scores as further scores. What breaks the formula
is then a disjunction of conjunctions of linear inequalities over these scores, one conjunction a *way*: decisions are
fixed outcome by outcome, absolute values by their sign, ``!=`` by the two sides. Conditions on attributes alone stay
conditions. A formula of too many ways is one script.

Where the question asks how sure the model is of an individual, a way fixes its decision and has conditions that are
necessary for being sure of it (:mod:`~fairdsl.backends.smt.atoms`). Where (a, b) is admissible iff (b, a) is, a way
with a and b exchanged is met by the same pairs, so one of the two is enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.atoms import Atom, decided, sure_of
from fairdsl.ir.demand import Decision, Demanded, Magnitude, Score
from fairdsl.ir.ensemble import Inputs
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, Who, conjoin, rename
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import ByHighest, ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair

__all__ = ["UnsplitError", "Way", "breaking", "comparable"]

#: A formula of more ways than this is one script. Decisions of two are worth more, however many outcomes there are.
_MOST_WAYS = 256

#: Who is decided about, and by which model.
Deciding = tuple[int, Who]

_OTHER = {Who.A: Who.B, Who.B: Who.A}


class UnsplitError(Exception):
    """There are more ways than are worth it, or no one model gives all that the formula names."""


@dataclass(frozen=True, slots=True)
class Way:
    """A title, inequalities, the outcomes of a and b that they fix (of the first model), and a condition."""

    title: str
    atoms: tuple[Atom, ...]
    outcomes: tuple[int | None, int | None]
    condition: Predicate


def breaking(problem: Problem) -> tuple[Problem, list[Way]]:
    """The problem about the one model of all that is named, and the ways to break its demand."""
    asked = problem.demanded
    ways = _Ways(problem, asked).broken()
    attributes = sorted(
        {
            variable.attribute
            for way in ways
            for form, _ in way.forms
            for variable, _ in form.terms
            if asked.term(variable, len(problem.domain.attributes)) is None
        }
    )
    model = _side_by_side(problem.models, attributes)
    atoms = _Atoms(problem, asked, attributes)
    return replace(problem, model=model, others=()), [atoms.way(way) for way in ways]


def comparable(problem: Problem) -> list[Way]:
    """The ways in which a pair can count at all: the decisions that the model has to be sure of."""
    asked = problem.demanded
    return [_Atoms(problem, asked, ()).way(way) for way in _Ways(problem, asked).sure()]


@dataclass(frozen=True, slots=True)
class _Way:
    """Decisions that are fixed, forms that are above 0 (or at least 0, where not strict), and what attributes meet."""

    outcomes: Mapping[Deciding, int] = field(default_factory=dict)
    forms: tuple[tuple[Linear, bool], ...] = ()
    conditions: tuple[Predicate, ...] = ()

    def with_other(self, other: _Way) -> _Way | None:
        """Both together; None where they fix a decision differently."""
        if any(self.outcomes.get(key, outcome) != outcome for key, outcome in other.outcomes.items()):
            return None
        return _Way(
            {**self.outcomes, **other.outcomes},
            tuple(dict.fromkeys((*self.forms, *other.forms))),
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
        )

    @property
    def key(self) -> Hashable:
        """The same of ways that are met by the same pairs, whatever the order of their parts."""
        return frozenset(self.outcomes.items()), frozenset(self.forms), frozenset(self.conditions)

    @property
    def exchanged(self) -> _Way:
        """The way with a and b exchanged."""
        return _Way(
            {(model, _OTHER[who]): outcome for (model, who), outcome in self.outcomes.items()},
            tuple((form.renamed(_OTHER), strict) for form, strict in self.forms),
            tuple(rename(condition, _OTHER) for condition in self.conditions),
        )

    @property
    def needed(self) -> _Way:
        """The way without forms that others of it imply."""
        return replace(self, forms=tuple(one for one in self.forms if not any(_implies(o, one) for o in self.forms)))


def _implies(one: tuple[Linear, bool], other: tuple[Linear, bool]) -> bool:
    """Whether the other is true, and another one, wherever the one is: the same sum with a greater constant."""
    (form, strict), (wider, strictly) = one, other
    if form.terms != wider.terms or one == other:
        return False
    return form.constant < wider.constant or (form.constant == wider.constant and strict and not strictly)


class _Ways:
    """The ways of predicates to be true, or false."""

    def __init__(self, problem: Problem, asked: Demanded) -> None:
        self._problem, self._asked = problem, asked
        self._attributes = len(problem.domain.attributes)
        self._of_pairs = isinstance(problem.question, Pair)

    def broken(self) -> list[_Way]:
        """Those in which the demand is broken; of two that are met by the same pairs exchanged, the later."""
        asked = self._asked
        ways = self._joined([self.sure(), self.of(asked.premise, wanted=True), self.of(asked.formula, wanted=False)])
        ways = [way.needed for way in ways]
        if asked.alone or not asked.pair.symmetric:
            return ways
        last = {way.key: place for place, way in enumerate(ways)}
        return [way for place, way in enumerate(ways) if last.get(way.exchanged.key, place) <= place]

    def sure(self) -> list[_Way]:
        """What can be decided of those whom the model has to be sure of."""
        wanted = [who for who in self._asked.people if self._asked.pair.sure_of(who)]
        known = _outcomes_of(self._problem.model)
        return [
            _Way({(0, who): outcome for who, outcome in zip(wanted, outcomes, strict=True)})
            for outcomes in product(known, repeat=len(wanted))
        ]

    def of(self, predicate: Predicate, *, wanted: bool) -> list[_Way]:
        """Those in which the predicate is as wanted."""
        match predicate:
            case Not(part):
                return self.of(part, wanted=not wanted)
            case And(parts) | Or(parts):
                each = [self.of(part, wanted=wanted) for part in parts]
                if isinstance(predicate, And) is wanted:
                    return self._joined(each)
                return self._few([way for ways in each for way in ways])
            case Member(variable=variable, values=values):
                term = self._asked.term(variable, self._attributes)
                if not isinstance(term, Decision):
                    return [_Way(conditions=(predicate if wanted else Not(predicate),))]
                return [
                    _Way({(term.model, variable.who): outcome})
                    for outcome in self._outcomes(term)
                    if (term.ranks[outcome] in values) is wanted
                ]
            case Compare(left=left, relation=relation):
                relation = relation if wanted else relation.negated
                return self._few([way for each in self._resolved(left) for way in self._compared(*each, relation)])

    def _joined(self, each: Sequence[list[_Way]]) -> list[_Way]:
        found = [_Way()]
        for ways in each:
            pairs = (one.with_other(other) for one in found for other in ways)
            found = self._few([way for way in pairs if way is not None])
        return found

    def _few(self, ways: list[_Way]) -> list[_Way]:
        if len(ways) > _MOST_WAYS and not self._of_pairs:
            raise UnsplitError
        return ways

    def _outcomes(self, term: Decision) -> Sequence[int]:
        """The outcomes that the model's rule can have."""
        return _outcomes_of(self._problem.models[term.model])

    def _resolved(self, form: Linear) -> Iterator[tuple[_Way, Linear]]:
        """The sum without decisions and absolute values, and what is fixed for that."""
        for variable, factor in form.terms:
            term = self._asked.term(variable, self._attributes)
            rest = form - Linear.of({variable: factor})
            if isinstance(term, Decision):
                for outcome in self._outcomes(term):
                    fixed = _Way({(term.model, variable.who): outcome})
                    yield from self._with(fixed, rest + Linear(constant=factor * term.ranks[outcome]))
                return
            if isinstance(term, Magnitude):
                for sign in (Fraction(1), Fraction(-1)):
                    inner = term.form.scaled(sign)
                    for way, known in self._resolved(inner):
                        for signed in self._compared(way, known, Relation.GE):
                            yield from self._with(signed, rest + known.scaled(factor))
                return
        yield _Way(), form

    def _with(self, fixed: _Way, form: Linear) -> Iterator[tuple[_Way, Linear]]:
        for way, known in self._resolved(form):
            if (both := fixed.with_other(way)) is not None:
                yield both, known

    def _compared(self, way: _Way, form: Linear, relation: Relation) -> Iterator[_Way]:
        """The ways in which a sum of scores and attributes compares so with 0."""
        if all(self._asked.term(variable, self._attributes) is None for variable, _ in form.terms):
            if form.terms:
                yield replace(way, conditions=(*way.conditions, Compare(left=form, relation=relation)))
            elif relation.compares(form.constant, Fraction(0)):
                yield way
            return
        opposite = form.scaled(Fraction(-1))
        strict = relation in (Relation.GT, Relation.LT, Relation.NE)
        up, down = (form, strict), (opposite, strict)
        match relation:
            case Relation.GT | Relation.GE:
                choices = [(up,)]
            case Relation.LT | Relation.LE:
                choices = [(down,)]
            case Relation.NE:
                choices = [(up,), (down,)]
            case Relation.EQ:
                yield replace(way, forms=(*way.forms, up, down))
                return
        for chosen in choices:
            yield replace(way, forms=(*way.forms, *chosen))


def _outcomes_of(model: Model) -> Sequence[int]:
    """The outcomes that the model's rule can have."""
    rule = model.rule
    return sorted({rule.granted, rule.otherwise}) if isinstance(rule, ByThreshold) else range(len(model.outcomes))


class _Atoms:
    """Ways as inequalities over the scores of the one model."""

    def __init__(self, problem: Problem, asked: Demanded, attributes: Sequence[int]) -> None:
        self._problem, self._asked, self._attributes = problem, asked, attributes
        counts = [model.score_count for model in problem.models]
        self._first = [sum(counts[:place]) for place in range(len(counts))]
        self._width = sum(counts) + len(attributes)
        self._place = {attribute: sum(counts) + place for place, attribute in enumerate(attributes)}

    def way(self, way: _Way) -> Way:
        """The way as it is asked about."""
        first, second = (way.outcomes.get((0, who)) for who in (self._asked.people[0], Who.B))
        return Way(self._title(way), self._of(way), (first, second), conjoin(*way.conditions))

    def _of(self, way: _Way) -> tuple[Atom, ...]:
        """The inequalities of the decisions, of being sure of them, and the forms."""
        found: list[Atom] = []
        for (place, who), outcome in way.outcomes.items():
            model, of_a = self._problem.models[place], who is not Who.B
            own = decided(model.rule, outcome, model.score_count, of_a=of_a)
            assert own is not None, "only outcomes that the rule has are tried"
            if place == 0:
                own += sure_of(model, outcome, self._asked.pair.sure_of(who), of_a=of_a)
            found += [replace(atom, a=self._spread(atom.a, place), b=self._spread(atom.b, place)) for atom in own]
        found += [self._atom(form, strict=strict) for form, strict in way.forms]
        # Where attributes alone decide, nothing is asked of scores: bounds and scripts have something that is true.
        return tuple(found) or (self._atom(Linear(constant=Fraction(1)), strict=False),)

    def _title(self, way: _Way) -> str:
        """The way in words: how scores compare, and whom the models decide how about."""
        named, several = dict(zip(self._asked.people, self._asked.names, strict=True)), len(self._problem.models) > 1
        decisions = (
            (f"{self._problem.models[place].name}({named[who]})" if several else named[who])
            + f": {self._problem.models[place].outcomes[outcome]}"
            for (place, who), outcome in way.outcomes.items()
        )
        forms = (self._words(form, strict=strict) for form, strict in way.forms)
        return "; ".join(filter(None, (*forms, ", ".join(decisions)))) or "the formula is false"

    def _words(self, form: Linear, *, strict: bool) -> str:
        """``score(a) - score(b) > 1/10``."""
        parts: list[str] = []
        for variable, factor in sorted(form.terms, key=lambda term: term[1] < 0):
            sign = "-" if factor < 0 else "+" if parts else ""
            times = "" if abs(factor) == 1 else f"{abs(factor)} * "
            parts.append(f"{sign} {times}{self._named(variable)}".strip())
        return f"{' '.join(parts)} {'>' if strict else '>='} {-form.constant}"

    def _named(self, variable: Variable) -> str:
        who = dict(zip(self._asked.people, self._asked.names, strict=True))[variable.who]
        term = self._asked.term(variable, len(self._problem.domain.attributes))
        if isinstance(term, Score):
            model = f"{self._problem.models[term.model].name}." if len(self._problem.models) > 1 else ""
            return f"{model}score({who})"
        return f"{who}.{self._problem.domain.attributes[variable.attribute].name}"

    def _spread(self, row: Sequence[Fraction], place: int) -> tuple[Fraction, ...]:
        """Factors of one model's scores among those of all."""
        start = self._first[place]
        return tuple(row[at - start] if 0 <= at - start < len(row) else Fraction(0) for at in range(self._width))

    def _atom(self, form: Linear, *, strict: bool) -> Atom:
        rows = {True: [Fraction(0)] * self._width, False: [Fraction(0)] * self._width}
        for variable, factor in form.terms:
            term = self._asked.term(variable, len(self._problem.domain.attributes))
            assert term is None or isinstance(term, Score), "decisions and absolute values are resolved"
            at = self._place[variable.attribute] if term is None else self._first[term.model]
            rows[variable.who is not Who.B][at] += factor
        return Atom(tuple(rows[True]), tuple(rows[False]), form.constant, strict)


# ---- one model of all ----------------------------------------------------------------------------


def _side_by_side(models: Sequence[Model], attributes: Sequence[int]) -> Model:
    """One model whose scores are those of all, and the attributes; UnsplitError where two have trees as arrays."""
    if len(models) == 1 and not attributes:
        return models[0]
    trees = [model for model in models if model.ensemble is not None]
    if len(trees) > 1:
        raise UnsplitError
    listed: list[Input] = [item for model in models for item in model.listed]
    listed += [AttributeInput(attribute) for attribute in attributes]
    inputs: Sequence[Input] = tuple(listed)
    if trees and trees[0].ensemble is not None:
        inputs = Inputs(listed, trees[0].ensemble)
    depth = max(len(model.layers) for model in models)
    layers: list[Layer] = []
    for level in range(depth):
        blocks, columns, start = list[Layer](), list[NDArray[np.intp]](), 0
        for model in models:
            block = _block(model, level)
            width = len(model.listed) if level == 0 else block.weight.shape[1]
            own = np.arange(start, start + width)
            start += width
            if level == 0 and model.ensemble is not None:
                own = np.concatenate([own, np.arange(len(listed), len(inputs))])
            blocks.append(block)
            columns.append(own)
        for _ in attributes:
            blocks.append(_identity(1))
            columns.append(np.arange(start, start + 1))
            start += 1
        layers.append(_diagonal(blocks, columns, len(inputs) if level == 0 else start))
    groups: list[tuple[int, ...]] = []
    start = 0
    for model in models:
        groups += [tuple(start + place for place in group) for group in model.groups]
        start += len(model.listed)
    return Model(
        name=", ".join(model.name for model in models),
        outcomes=(),
        inputs=inputs,
        layers=tuple(layers),
        rule=ByHighest(),
        groups=tuple(groups),
    )


def _block(model: Model, level: int) -> Layer:
    """A model's layer; behind its last one its scores ride along."""
    return model.layers[level] if level < len(model.layers) else _identity(model.score_count)


def _identity(width: int) -> Layer:
    one = ExactArray.from_floats(np.ones(width))
    return Layer(weight=ExactArray.from_floats(np.eye(width)), bias=ExactArray.from_floats(np.zeros(width)), slope=one)


def _diagonal(blocks: Sequence[Layer], columns: Sequence[NDArray[np.intp]], width: int) -> Layer:
    """The layers as one, each reading its own columns."""
    exact = all(block.weight.is_float for block in blocks)
    weight = np.zeros((sum(block.width for block in blocks), width), dtype=np.float64 if exact else object)
    if not exact:
        weight[:] = Fraction(0)
    row = 0
    for block, own in zip(blocks, columns, strict=True):
        weight[row : row + block.width, own] = block.weight.floats if exact else block.weight.exact
        row += block.width
    return Layer(
        weight=ExactArray.from_floats(weight) if exact else ExactArray.from_fractions(weight),
        bias=ExactArray.joined([block.bias for block in blocks]),
        slope=ExactArray.joined([block.slope for block in blocks]),
    )
