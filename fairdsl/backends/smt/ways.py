"""The ways to break a demand: conjunctions of linear inequalities over scores, and conditions on attributes.

Every demand is a formula (:attr:`~fairdsl.ir.problem.Problem.demanded`). All that it names is given by one model: the
models side by side, and the attributes that are compared with their scores as further scores. What breaks the formula
is then a disjunction of conjunctions of linear inequalities over these scores, one conjunction a *way*: decisions are
fixed outcome by outcome, absolute values by their sign, ``!=`` by the two sides. Conditions on attributes alone stay
conditions. A formula of too many ways is one script.

Where the question asks how sure a model is of an individual, a way fixes its decision and has conditions that are
necessary for being sure of it (:mod:`~fairdsl.backends.smt.atoms`). A probability that is compared with a number is a
score that is compared with the enclosed logit of it, which no rational score is; of the difference of two, and of other
sums of several, speaks :mod:`~fairdsl.backends.smt.gaps`. Where (a, b) is admissible iff (b, a) is, a way
with a and b exchanged is met by the same pairs, so one of the two is enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from fairdsl.backends.smt.atoms import Atom, Surely, decided, spread, sure_of
from fairdsl.backends.smt.broken import Broken, sides
from fairdsl.backends.smt.gaps import is_gap, ways_of_gap
from fairdsl.backends.smt.together import side_by_side
from fairdsl.ir.demand import Chance, Decision, Demanded, Magnitude, Probability, Score
from fairdsl.ir.expr import (
    And,
    Compare,
    Linear,
    Member,
    Not,
    Or,
    Predicate,
    Relation,
    Variable,
    Who,
    conjoin,
)
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Sure
from fairdsl.models.logit import logit
from fairdsl.numerics.chances import as_scores

#: A formula of more ways than this is one script. Decisions of two are worth more, however many outcomes there are.
_MOST_WAYS = 256


class UnsplitError(Exception):
    """There are more ways than are worth it, or no one model gives all that the formula names."""


@dataclass(frozen=True, slots=True)
class Way:
    """A title, inequalities, how sure models are of decisions that these fix, and a condition."""

    title: str
    atoms: tuple[Atom, ...]
    sure: tuple[Surely, ...]
    condition: Predicate


@dataclass(frozen=True, slots=True)
class Split:
    """A demand as the ways of a tuple to break it, not to, to be one that it is about, and not to be one, over the one
    model of ``problem``. A way may admit more than it says, never less.
    """

    problem: Problem
    breaking: tuple[Way, ...]
    unbroken: tuple[Way, ...]
    asked: tuple[Way, ...]
    unasked: tuple[Way, ...]


def breaking(problem: Problem) -> tuple[Problem, list[Way]]:
    """The problem about the one model of all that is named, and the ways to break its demand."""
    asked = problem.demanded
    if asked.several:  # a region is that of a pair
        raise UnsplitError
    together, (ways,) = _together(problem, asked, [_Ways(problem, asked).broken()])
    return together, ways


def split(problem: Problem) -> Split:
    """The demand and its premise, how sure models have to be included, both ways."""
    asked = problem.demanded.outright
    if asked.several:
        raise UnsplitError
    together, (broken, unbroken, counted, uncounted) = _together(problem, asked, _Ways(problem, asked).both())
    return Split(together, tuple(broken), tuple(unbroken), tuple(counted), tuple(uncounted))


def _together(problem: Problem, asked: Demanded, listed: Sequence[Sequence[Broken]]) -> tuple[Problem, list[list[Way]]]:
    attributes = sorted(
        {
            variable.attribute
            for ways in listed
            for way in ways
            for form, _ in way.forms
            for variable, _ in form.terms
            if asked.term(variable) is None
        }
    )
    model = side_by_side(problem.models, attributes)
    if model is None:
        raise UnsplitError
    atoms = _Atoms(problem, asked, attributes)
    return replace(problem, model=model, others=()), [[atoms.way(way) for way in ways] for ways in listed]


def comparable(problem: Problem) -> list[Way]:
    """The ways in which a pair can count at all: the decisions that the model has to be sure of."""
    asked = problem.demanded
    return [_Atoms(problem, asked, ()).way(way) for way in _Ways(problem, asked).sure()]


class _Ways:
    """The ways of predicates to be true, or false."""

    def __init__(self, problem: Problem, asked: Demanded) -> None:
        self._problem, self._asked = problem, asked
        self._attributes = len(problem.domain.attributes)
        self._of_pairs = isinstance(problem.question, Pair)

    def broken(self) -> list[Broken]:
        """Those in which the demand is broken; of two that are met by the same pairs exchanged, the later."""
        asked = self._asked
        premise, formula = self._over_scores()
        ways = self._joined([self.sure(), self.of(premise, wanted=True), self.of(formula, wanted=False)])
        ways = [way.needed for way in ways]
        if asked.alone or not asked.pair.symmetric:
            return ways
        last = {way.key: place for place, way in enumerate(ways)}
        return [way for place, way in enumerate(ways) if last.get(way.exchanged.key, place) <= place]

    def both(self) -> list[list[Broken]]:
        """Those in which it is broken, is not, is asked at all, and is not, whoever may be exchanged."""
        premise, formula = self._over_scores()
        asked, not_asked = (self.of(premise, wanted=wanted) for wanted in (True, False))
        met = [*not_asked, *self.of(formula, wanted=True)]
        ways = [self._joined([asked, self.of(formula, wanted=False)]), met, asked, not_asked]
        return [[way.needed for way in each] for each in ways]

    def _over_scores(self) -> Iterator[Predicate]:
        """Premise and formula over sums of scores."""
        asked = self._asked
        for part in (asked.premise, asked.formula):
            yield as_scores(part, asked, self._problem.models, self._attributes)

    def sure(self) -> list[Broken]:
        """What can be decided of those whom the model has to be sure of."""
        wanted = [who for who in self._asked.people if self._asked.pair.sure_of(who)]
        known = _outcomes_of(self._problem.model)
        asked = tuple((0, sure) for sure in self._asked.pair.sure)
        return [
            Broken({(0, who): outcome for who, outcome in zip(wanted, outcomes, strict=True)}, asked)
            for outcomes in product(known, repeat=len(wanted))
        ]

    def of(self, predicate: Predicate, *, wanted: bool) -> list[Broken]:
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
                term = self._asked.term(variable)
                if not isinstance(term, Decision):
                    return [Broken(conditions=(predicate if wanted else Not(predicate),))]
                return [
                    Broken({(term.model, variable.who): outcome})
                    for outcome in self._outcomes(term)
                    if (term.ranks[outcome] in values) is wanted
                ]
            case Compare(left=left, relation=relation):
                relation = relation if wanted else relation.negated
                return self._few([way for each in self._resolved(left) for way in self._compared(*each, relation)])

    def _joined(self, each: Sequence[list[Broken]]) -> list[Broken]:
        found = [Broken()]
        for ways in each:
            pairs = (one.with_other(other) for one in found for other in ways)
            found = self._few([way for way in pairs if way is not None])
        return found

    def _few(self, ways: list[Broken]) -> list[Broken]:
        if len(ways) > _MOST_WAYS and not self._of_pairs:
            raise UnsplitError
        return ways

    def _outcomes(self, term: Decision) -> Sequence[int]:
        """The outcomes that the model's rule can have."""
        return _outcomes_of(self._problem.models[term.model])

    def _resolved(self, form: Linear) -> Iterator[tuple[Broken, Linear]]:
        """The sum without decisions and absolute values, and what is fixed for that."""
        for variable, factor in form.terms:
            term = self._asked.term(variable)
            rest = form - Linear.of({variable: factor})
            if isinstance(term, Decision):
                for outcome in self._outcomes(term):
                    fixed = Broken({(term.model, variable.who): outcome})
                    yield from self._with(fixed, rest + Linear(constant=factor * term.ranks[outcome]))
                return
            if isinstance(term, Magnitude):
                for sign in (Fraction(1), Fraction(-1)):
                    inner = term.form.scaled(sign)
                    for way, known in self._resolved(inner):
                        for signed in self._compared(way, known, Relation.GE):
                            yield from self._with(signed, rest + known.scaled(factor))
                return
        yield Broken(), form

    def _with(self, fixed: Broken, form: Linear) -> Iterator[tuple[Broken, Linear]]:
        for way, known in self._resolved(form):
            if (both := fixed.with_other(way)) is not None:
                yield both, known

    def _compared(self, way: Broken, form: Linear, relation: Relation) -> Iterator[Broken]:
        """The ways in which a sum of scores and attributes compares so with 0."""
        if all(self._asked.term(variable) is None for variable, _ in form.terms):
            if form.terms:
                yield replace(way, conditions=(*way.conditions, Compare(left=form, relation=relation)))
            elif relation.compares(form.constant, Fraction(0)):
                yield way
            return
        if is_gap(self._asked, form):
            found = ways_of_gap(self._problem, form, relation)
            yield from (replace(way, forms=(*way.forms, *forms)) for forms in found)
            return
        if (chance := self._chance_in(form)) is not None:
            yield from self._chances(way, *chance, form, relation)
            return
        opposite = form.scaled(Fraction(-1))
        strict = relation in (Relation.GT, Relation.LT, Relation.NE)
        for chosen in sides(relation, (form, strict), (opposite, strict)):
            yield replace(way, forms=(*way.forms, *chosen))

    def _chance_in(self, form: Linear) -> tuple[Variable, Chance] | None:
        """The one probability that a form is about."""
        for variable, _ in form.terms:
            if isinstance(term := self._asked.term(variable), Chance):
                return variable, term
        return None

    def _chances(
        self, way: Broken, variable: Variable, term: Chance, form: Linear, relation: Relation
    ) -> Iterator[Broken]:
        """The ways in which a probability compares so with a number; what is asked of scores is necessary for it."""
        ((_, factor),) = form.terms
        level, relation = -form.constant / factor, relation if factor > 0 else relation.mirrored
        if not 0 < level < 1:  # a probability only comes near its ends
            if relation.compares(Fraction(1, 2), level):
                yield way
            return
        model = self._problem.models[term.model]
        if isinstance(term, Probability):
            score = Variable(self._attributes + self._asked.terms.index(Score(model=term.model)), variable.who)
            assert model.logits is not None, "a probability is one of a model that has them"
            low, high = (limit / model.logits.scale for limit in logit(level))
            one = Linear.of({score: Fraction(1)})
            # No score is a logit that is only enclosed, so it is beyond an end where it is beyond the logit.
            at = low == high and relation.compares(Fraction(0), Fraction(0))
            up, down = (one - Linear(constant=low), not at), (Linear(constant=high) - one, not at)
            yield from (replace(way, forms=(*way.forms, *forms)) for forms in sides(relation, up, down))
        else:
            for outcome in _outcomes_of(model):
                fixed = Broken({(term.model, variable.who): outcome}, self._surely(term, variable.who, relation, level))
                if (both := way.with_other(fixed)) is not None:
                    yield both

    def _surely(self, term: Chance, who: Who, relation: Relation, level: Fraction) -> tuple[tuple[int, Sure], ...]:
        """How sure a model has to be; of less than that nothing is asked but the decision."""
        if not relation.upwards:
            return ()
        return ((term.model, Sure(who=who, relation=relation, level=level)),)


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

    def way(self, way: Broken) -> Way:
        """The way as it is asked about."""
        sure = (
            Surely(self._problem.models[at], way.outcomes[at, sure.who], sure, self._first[at], self._width)
            for at, sure in way.sure
        )
        return Way(self._title(way), self._of(way), tuple(sure), conjoin(*way.conditions))

    def _of(self, way: Broken) -> tuple[Atom, ...]:
        """The inequalities of the decisions, of being sure of them, and the forms."""
        found: list[Atom] = []
        for (place, who), outcome in way.outcomes.items():
            model, of_a = self._problem.models[place], who is not Who.B
            own = decided(model.rule, outcome, model.score_count, of_a=of_a)
            assert own is not None, "only outcomes that the rule has are tried"
            wanted = [sure for asked, sure in way.sure if (asked, sure.who) == (place, who)]
            own += sure_of(model, outcome, wanted, of_a=of_a)
            found += [spread(atom, self._first[place], self._width) for atom in own]
        found += [self._atom(form, strict=strict) for form, strict in way.forms]
        # Where attributes alone decide, nothing is asked of scores: bounds and scripts have something that is true.
        return tuple(found) or (self._atom(Linear(constant=Fraction(1)), strict=False),)

    def _title(self, way: Broken) -> str:
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
        term = self._asked.term(variable)
        if isinstance(term, Score):
            model = f"{self._problem.models[term.model].name}." if len(self._problem.models) > 1 else ""
            return f"{model}score({who})"
        return f"{who}.{self._problem.domain.attributes[variable.attribute].name}"

    def _atom(self, form: Linear, *, strict: bool) -> Atom:
        rows = {True: [Fraction(0)] * self._width, False: [Fraction(0)] * self._width}
        for variable, factor in form.terms:
            term = self._asked.term(variable)
            assert term is None or isinstance(term, Score), "decisions and absolute values are resolved"
            at = self._place[variable.attribute] if term is None else self._first[term.model]
            rows[variable.who is not Who.B][at] += factor
        return Atom(tuple(rows[True]), tuple(rows[False]), form.constant, strict)
