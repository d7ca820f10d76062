"""Random small lists of rules, the model that each becomes, and what it decides by definition."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from fairdsl.ir.declaration import ByRules, ModelDeclaration, Rule, RuleList
from fairdsl.ir.domain import Domain, Point
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.models.rules import rules_model
from fairdsl.source import SourceFile, Span
from tests.oracle import true_for
from tests.strategies import domains, predicates, questions

_FILE = SourceFile("rules.fair", " " * 1000)
NOWHERE = Span(_FILE, 0, 0)


def listed(rules: Sequence[tuple[Predicate, int]], otherwise: int) -> RuleList:
    found = tuple(
        Rule(condition=condition, outcome=outcome, span=Span(_FILE, place, place + 1))
        for place, (condition, outcome) in enumerate(rules)
    )
    return RuleList(rules=found, otherwise=otherwise, span=NOWHERE)


def model_of(source: RuleList, outcomes: Sequence[str] = ("no", "yes"), favourable: int = 0) -> Model:
    declaration = ModelDeclaration(
        name="m",
        outcomes=tuple(outcomes),
        favourable=favourable,
        source=source,
        decision=ByRules(span=NOWHERE),
        span=NOWHERE,
    )
    return rules_model(declaration, source)


def decided(source: RuleList, point: Point) -> int:
    """The definition: the first rule whose condition holds."""
    for rule in source.rules:
        if true_for(rule.condition, {Who.EACH: point}):
            return rule.outcome
    return source.otherwise


@st.composite
def rule_lists(draw: st.DrawFn, domain: Domain, outcomes: int = 2, most: int = 5) -> RuleList:
    conditions = draw(st.lists(predicates(domain.attributes), min_size=1, max_size=most))
    if draw(st.booleans()):
        conditions.append(draw(st.sampled_from(conditions)))
    chosen = st.integers(0, outcomes - 1)
    return listed([(condition, draw(chosen)) for condition in conditions], draw(chosen))


@st.composite
def rule_models(draw: st.DrawFn, domain: Domain) -> Model:
    names = "abc"[: draw(st.sampled_from([2, 2, 3]))]
    return model_of(draw(rule_lists(domain, len(names))), tuple(names), draw(st.integers(0, len(names) - 1)))


@st.composite
def rule_problems(draw: st.DrawFn, quantity: Quantity | None = None) -> Problem:
    domain = draw(domains())
    return Problem(
        name="p",
        domain=domain,
        model=draw(rule_models(domain)),
        question=draw(questions(domain, False)),
        quantity=quantity or draw(st.sampled_from([Quantity.HOLDS, Quantity.FAIR_SHARE])),
    )
