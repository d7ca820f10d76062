"""A problem: one question about one model, closed - no names left to resolve, no files left to open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fairdsl.ir.demand import Demanded, formula_of
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.ir.question import Individually, Pair, PairUnder, Precision, Quantity, Question, Threshold, WorstPair
from fairdsl.source import Span

if TYPE_CHECKING:
    from fairdsl.ir.model import Model
    from fairdsl.ir.population import Population


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDifference:
    """One metric of groups less another one: of two models, or two metrics of one, each a problem of its own.

    It is a question of its own, so that nobody who answers metrics answers it by one of the two.
    """

    first: Problem
    second: Problem
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class Problem:
    """What the backends answer. ``name`` is the property's, for file names and messages.

    ``others`` are the further models of a general demand, which numbers them behind ``model``.
    ``population`` is the distribution that a metric of groups, or a share of rows, is taken under; else None.
    ``threshold`` is what a metric of groups, or an estimate, is compared with, so that an engine knows when it is
    precise enough; whether it is met is judged later. With ``precision`` an estimate of a share is enough.
    """

    name: str
    domain: Domain
    model: Model
    others: tuple[Model, ...] = ()
    question: Question | PairUnder | Individually | WorstPair | Demanded | MetricDifference
    quantity: Quantity
    population: Population | None = None
    threshold: Threshold | None = None
    precision: Precision | None = None
    span: Span | None = field(compare=False, repr=False, default=None)

    @property
    def models(self) -> tuple[Model, ...]:
        """All models that the question is about."""
        return (self.model, *self.others)

    @property
    def demanded(self) -> Demanded:
        """The question as a formula over what the models make of those asked about; ValueError of groups and rows."""
        match self.question:
            case Demanded() as asked:
                return asked
            case (Pair() as pair) | PairUnder(pair=pair) | Individually(pair=pair) | WorstPair(pair=pair):
                return formula_of(pair, self.model.name, len(self.model.outcomes), len(self.domain.attributes))
        raise ValueError("a question about individuals was expected")

    @property
    def of_everybody(self) -> Problem:
        """The question about individuals as such, whoever is how frequent."""
        question = self.question.pair if isinstance(self.question, PairUnder | Individually) else self.question
        return replace(self, question=question, population=None)

    @property
    def of_pairs(self) -> Problem:
        """Whether there is such a pair, of a question how far the worst two are apart; else the problem itself."""
        if not isinstance(self.question, WorstPair):
            return self
        return replace(self, question=self.question.pair, quantity=Quantity.HOLDS)

    @property
    def given(self) -> Predicate:
        """Who of those asked about is in question, whatever those are with whom they are compared."""
        return self.question.given if isinstance(self.question, PairUnder | Individually) else TRUE

    @property
    def unit_in_words(self) -> str:
        """What one unit of a share is (docs/semantics.md, section 3)."""
        question = self.question
        if self.population is not None:
            return f"an individual from `{self.population.name}` that is asked about"
        if isinstance(question, Individually):
            return "an individual that is asked about"
        if not isinstance(question, Pair | Demanded):
            return "an individual that is asked about"
        if question.of_individuals:
            one = question.one_sided
            named = "" if one is None else f" `{self.demanded.name_of(one)}`"
            return f"an individual{named} that is asked about"
        differ = (question if isinstance(question, Pair) else question.pair).differ
        differing = ", ".join(f"`{self.domain.attributes[index].name}`" for index in differ)
        return f"an assignment of all attributes but {differing}"
