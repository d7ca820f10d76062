"""What is demanded: a formula over what models make of one individual, of two or of more, and over their attributes.

A formula is a :data:`~fairdsl.ir.expr.Predicate` like every other condition. What models give are further *columns*
behind those of the domain: ``Variable(len(domain.attributes) + k, who)`` is term k, of that individual. So one
evaluation, one negation and one encoding serve conditions and demands. That two are decided alike, or have close
scores, is such a formula too (:func:`formula_of`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.ir.expr import TRUE, Compare, Linear, Predicate, Relation, Variable, Who, conjoin, variables
from fairdsl.ir.question import Pair, SameDecision, ScoreGap
from fairdsl.source import Span

#: The individuals that a formula may be about, in the order in which they are named.
_PEOPLE = (Who.A, Who.B, Who.C, Who.D)
#: How many they are at most.
MOST = len(_PEOPLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a model decides, as a number: ``ranks`` has one for each of its outcomes.

    Two decisions that are compared share their numbers, so that equal ones are equal outcomes, and where outcomes are
    ordered the higher one has the higher number.
    """

    model: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The one score of a model."""

    model: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probability:
    """The probability that a model's rule compares with its threshold: the logistic of its one score."""

    model: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """The probability of the decision that a model takes."""

    model: int


#: What is not a sum of scores: enclosed, as closely as it takes (:mod:`fairdsl.numerics.chances`).
Chance = Probability | Confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Magnitude:
    """``abs(form)``; whose numbers these are stands in the form, and the term itself is of :attr:`Who.EACH`."""

    form: Linear


Term = Decision | Score | Chance | Magnitude


@dataclass(frozen=True, slots=True, kw_only=True)
class Demanded:
    """A formula that is demanded of every individual, or of every admissible tuple, where the ``premise`` is true:
    what is ``given`` of what models give, and how ``sure`` they are of those who count.

    ``names`` are those of the individuals, one to :data:`MOST`. Of one all variables are of :attr:`Who.EACH` and of
    ``pair`` only the target counts; else they are of ``people``, each two of whom ``pair`` allows to be compared, and
    its ``pair_target`` is asked of all of them together.
    ``models`` are the names of the models that the terms number; ``text`` is the formula as the spec writes it,
    ``premise_text`` what is given, and ``when`` how sure models are, a line each.
    """

    names: tuple[str, ...]
    models: tuple[str, ...]
    pair: Pair
    #: How many the domain has: the variables behind them are the terms.
    attributes: int
    terms: tuple[Term, ...]
    formula: Predicate
    given: Predicate = TRUE
    sure: Predicate = TRUE
    text: str
    premise_text: str = ""
    when: tuple[str, ...] = ()
    span: Span | None = field(compare=False, repr=False, default=None)

    @property
    def alone(self) -> bool:
        """Whether it is about one individual."""
        return len(self.names) == 1

    @property
    def people(self) -> tuple[Who, ...]:
        """Whose variables there are."""
        return people_of(len(self.names))

    @property
    def several(self) -> bool:
        """Whether it is about more than two."""
        return len(self.names) > 2

    def name_of(self, who: Who) -> str:
        """What the spec calls one of them."""
        return self.names[self.people.index(who)]

    def term(self, variable: Variable) -> Term | None:
        """What a variable behind those of the domain is; None for an attribute."""
        return None if variable.attribute < self.attributes else self.terms[variable.attribute - self.attributes]

    @property
    def premise(self) -> Predicate:
        """Where it is demanded."""
        return conjoin(self.given, self.sure)

    def chances(self, model: int) -> tuple[Chance, ...]:
        """The terms that are probabilities which one of the models gives."""
        return tuple(term for term in self.terms if isinstance(term, Chance) and term.model == model)

    @property
    def outright(self) -> Demanded:
        """The same with what the pair asks of how sure the model is as a part of the premise."""
        if not self.pair.sure:
            return self
        assert not any(sure.model for sure in self.pair.sure), "what asks another model is read as a formula"
        column = self.attributes + len(self.terms)
        asked = (
            Compare(left=Linear.of({Variable(column, sure.who): Fraction(1)}, -sure.level), relation=sure.relation)
            for sure in self.pair.sure
        )
        terms = (*self.terms, Confidence(model=0))
        return replace(self, pair=replace(self.pair, sure=()), terms=terms, sure=conjoin(self.sure, *asked))

    @property
    def one_sided(self) -> Who | None:
        """The one whom target and premise name without the other: shares are of those who can be this one.

        How sure a model is of whom says who counts, and not whom the shares are of.
        """
        if self.alone:
            return None
        parts = (self.pair.pair_target, self.given)
        named = {who for part in parts for variable in variables(part) for who in self._named_by(variable)}
        return named.pop() if len(named) == 1 and Who.EACH not in named else None

    @property
    def unit_target(self) -> Predicate:
        """What a unit's individual has to meet, beside the domain: also what is asked of the one that it is."""
        return self.pair.target if self.one_sided is None else self.pair.unit_target

    def _named_by(self, variable: Variable) -> Iterator[Who]:
        """Whose number it is: of an ``abs`` stands in its form whose."""
        term = self.term(variable)
        if isinstance(term, Magnitude):
            for inner, _ in term.form.terms:
                yield from self._named_by(inner)
        else:
            yield variable.who

    @property
    def of_individuals(self) -> bool:
        """Whether the units of shares are individuals, not assignments of what does not differ."""
        return self.alone or bool(self.pair.relax) or self.one_sided is not None


def people_of(count: int) -> tuple[Who, ...]:
    """Whose variables a formula about so many individuals has."""
    return (Who.EACH,) if count == 1 else _PEOPLE[:count]


def formula_of(pair: Pair, model: str, outcomes: int, attributes: int) -> Demanded:
    """A question about pairs as a formula over what the model makes of them."""
    first, second = ({Variable(attributes, who): Fraction(1)} for who in (Who.A, Who.B))
    apart = Linear.of(first) - Linear.of(second)
    terms: tuple[Term, ...]
    match pair.demand:
        case SameDecision():
            terms = (Decision(model=0, ranks=tuple(range(outcomes))),)
            formula, text = Compare(left=apart, relation=Relation.EQ), "same decision"
        case ScoreGap(relation=relation, limit=limit):
            terms = (Score(model=0), Magnitude(form=apart))
            gap = Linear.of({Variable(attributes + 1): Fraction(1)}, -limit)
            formula, text = Compare(left=gap, relation=relation), f"abs(score(a) - score(b)) {relation.value} {limit}"
    return Demanded(
        names=("a", "b"),
        models=(model,),
        pair=pair,
        attributes=attributes,
        terms=terms,
        formula=formula,
        text=text,
    )
