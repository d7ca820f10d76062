"""A formula, negated and split into cases like any other question.

All that a formula names is given by one model: the models side by side, and the attributes that are compared with
their scores as further scores. What breaks the formula is then a disjunction of conjunctions of linear inequalities
over these scores, one conjunction a *way*: decisions are fixed outcome by outcome, absolute values by their sign,
``!=`` by the two sides. Conditions on attributes alone stay conditions. A formula of too many ways is one script.

``same decision`` is the formula ``m(a) = m(b)``; its ways are those of :mod:`~fairdsl.backends.smt.cases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.atoms import Atom, decided
from fairdsl.backends.smt.cases import Case, in_parts
from fairdsl.ir.demand import Decision, Demanded, Magnitude, Score
from fairdsl.ir.ensemble import Inputs
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Who, conjoin
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import ByHighest, ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem

__all__ = ["formula_cases"]

#: More ways than this are one script.
_MOST_WAYS = 256

#: Who is decided about, and by which model.
Deciding = tuple[int, Who]


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


class _TooManyError(Exception):
    """There are more ways than are worth it."""


def formula_cases(problem: Problem, asked: Demanded) -> tuple[Problem, Sequence[Case]] | None:
    """The problem about the one model of all that is named, and its cases; None where it is one script rather."""
    try:
        ways = _Ways(problem, asked).broken()
    except _TooManyError:
        return None
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
    if model is None:
        return None
    together = replace(problem, model=model, others=())
    atoms = _Atoms(problem, asked, attributes)
    found: list[Case] = []
    for way in ways:
        pair, condition = asked.pair, conjoin(*way.conditions)
        pair = (
            replace(pair, target=conjoin(pair.target, condition))
            if asked.alone
            else replace(pair, pair_target=conjoin(pair.pair_target, condition))
        )
        found += in_parts(together, pair, atoms.title(way), atoms.of(way), condition, len(found))
    return together, found


class _Ways:
    """The ways of predicates to be true, or false."""

    def __init__(self, problem: Problem, asked: Demanded) -> None:
        self._problem, self._asked = problem, asked
        self._attributes = len(problem.domain.attributes)

    def broken(self) -> list[_Way]:
        """Those in which the demand is broken."""
        return self._joined([self.of(self._asked.premise, wanted=True), self.of(self._asked.formula, wanted=False)])

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
        if len(ways) > _MOST_WAYS:
            raise _TooManyError
        return ways

    def _outcomes(self, term: Decision) -> Sequence[int]:
        """The outcomes that the model's rule can have."""
        rule = self._problem.models[term.model].rule
        if isinstance(rule, ByThreshold):
            return sorted({rule.granted, rule.otherwise})
        return range(len(term.ranks))

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


class _Atoms:
    """Ways as inequalities over the scores of the one model."""

    def __init__(self, problem: Problem, asked: Demanded, attributes: Sequence[int]) -> None:
        self._problem, self._asked, self._attributes = problem, asked, attributes
        counts = [model.score_count for model in problem.models]
        self._first = [sum(counts[:place]) for place in range(len(counts))]
        self._width = sum(counts) + len(attributes)
        self._place = {attribute: sum(counts) + place for place, attribute in enumerate(attributes)}

    def of(self, way: _Way) -> tuple[Atom, ...]:
        """The inequalities of the decisions, and the forms."""
        found: list[Atom] = []
        for (place, who), outcome in way.outcomes.items():
            model = self._problem.models[place]
            own = decided(model.rule, outcome, model.score_count, of_a=who is not Who.B)
            assert own is not None, "only outcomes that the rule has are tried"
            found += [replace(atom, a=self._spread(atom.a, place), b=self._spread(atom.b, place)) for atom in own]
        found += [self._atom(form, strict=strict) for form, strict in way.forms]
        # Where attributes alone decide, nothing is asked of scores: bounds and scripts have something that is true.
        return tuple(found) or (self._atom(Linear(constant=Fraction(1)), strict=False),)

    def title(self, way: _Way) -> str:
        """The way in words: whom the models decide how about."""
        named = dict(zip(self._asked.people, self._asked.names, strict=True))
        parts = [
            f"{self._problem.models[place].name}({named[who]}): {self._problem.models[place].outcomes[outcome]}"
            for (place, who), outcome in way.outcomes.items()
        ]
        return ", ".join(parts) or "the formula is false"

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


def _side_by_side(models: Sequence[Model], attributes: Sequence[int]) -> Model | None:
    """One model whose scores are those of all, and the attributes; None where two of them have trees as arrays."""
    if len(models) == 1 and not attributes:
        return models[0]
    trees = [model for model in models if model.ensemble is not None]
    if len(trees) > 1:
        return None
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
