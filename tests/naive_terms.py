"""Random metric terms, each with its definition written down once more as plain code over people.

Whatever may be true of somebody is drawn as a formula of the package together with a function that says the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from fairdsl.ir.metric import Comparison, Fold, Metric
from fairdsl.ir.rate import AllOf, AnyOf, Event, Fact, LabelIn, Negated, Rate
from tests.naive_metrics import (
    Case,
    Naive,
    Person,
    Rates,
    anybody,
    deserves,
    favoured,
    gap,
    minus,
    over,
    ratio,
    right,
    share,
)
from tests.naive_metrics import (
    Fact as Says,
)

#: The definitions of the terms that were drawn, and whether a privileged group is needed.
TERMS: dict[Metric, Naive] = {}


@dataclass(frozen=True)
class Formula:
    """What is said of somebody, twice."""

    event: Event
    says: Says


FACTS = (
    Formula(Fact.FAVOURABLE, favoured),
    Formula(Fact.DESERVING, deserves),
    Formula(Fact.CORRECT, right),
)


def labelled(values: frozenset[Fraction]) -> Formula:
    return Formula(LabelIn(values, "label in a set"), lambda one, _: one.label in values)


def _not(part: Formula) -> Formula:
    return Formula(Negated(part.event), lambda one, deserving: not part.says(one, deserving))


def _both(parts: Sequence[Formula]) -> Formula:
    one, other = parts
    return Formula(AllOf((one.event, other.event)), lambda who, d: one.says(who, d) and other.says(who, d))


def _either(parts: Sequence[Formula]) -> Formula:
    one, other = parts
    return Formula(AnyOf((one.event, other.event)), lambda who, d: one.says(who, d) or other.says(who, d))


@cache
def formulas(labels: tuple[Fraction, ...]) -> st.SearchStrategy[Formula]:
    """Formulas over the decision and, where there are labels, these."""
    facts: st.SearchStrategy[Formula] = st.just(FACTS[0])
    if labels:
        facts = st.sampled_from(FACTS) | st.frozensets(st.sampled_from(labels)).map(labelled)
    return st.recursive(
        facts,
        lambda inner: st.one_of(
            inner.map(_not), st.tuples(inner, inner).map(_both), st.tuples(inner, inner).map(_either)
        ),
        max_leaves=3,
    )


#: What compares the rates, the worst of several strata, whether it is signed, of single groups, and every rate.
COMPARED = {
    Comparison.GAP: Naive(dict, gap),
    Comparison.RATIO: Naive(dict, ratio, worst=min),
    Comparison.MOST: Naive(dict, max, worst=None, alone=True),
    Comparison.LEAST: Naive(dict, min, worst=None, alone=True),
    Comparison.EVERY: Naive(dict, max, worst=None, alone=True, every=True),
    Comparison.DIFFERENCE: Naive(dict, minus, worst=None, signed=True),
    Comparison.QUOTIENT: Naive(dict, over, worst=None, signed=True),
}


def rates_of(event: Formula, among: Formula | None) -> Rates:
    """The one rate; shown with the label's value, where the condition leaves one."""
    says = anybody if among is None else among.says

    def rates(labels: Sequence[Fraction], deserving: Fraction | None) -> dict[Case, object]:
        met = [
            value
            for value in labels
            if any(says(Person(Fraction(1), value, decided), deserving) for decided in (True, False))
        ]
        read = any(reads_label(each.event) for each in (event, among) if each is not None)
        shown = met[0] if read and len(met) == 1 < len(labels) else None
        return {(shown, None): lambda people: share(people, event.says, says, deserving)}

    return rates  # type: ignore[return-value]


def reads_label(event: Event) -> bool:
    match event:
        case Fact.FAVOURABLE:
            return False
        case Negated(part):
            return reads_label(part)
        case AllOf(parts) | AnyOf(parts):
            return any(map(reads_label, parts))
    return True


@st.composite
def terms(draw: st.DrawFn, labels: Sequence[Fraction]) -> tuple[Metric, Naive]:
    """A term over the decision and these values of the label, with its definition."""
    event = draw(formulas(tuple(labels)))
    among = draw(st.none() | formulas(tuple(labels)))
    comparison = draw(st.sampled_from(sorted(COMPARED, key=lambda each: each.name)))
    metric = Metric(
        name="term",
        rate=Rate(event=event.event, given=None if among is None else among.event),
        comparison=comparison,
        folded=Fold.SINGLE,
        meaning="drawn",
        definition=f"{comparison.value.word}(drawn)",
    )
    like = COMPARED[comparison]
    naive = Naive(
        rates_of(event, among), like.compare, like.of_cases, like.worst, False, like.signed, like.alone, like.every
    )
    TERMS[metric] = naive
    return metric, naive
