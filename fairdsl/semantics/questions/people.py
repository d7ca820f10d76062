"""Of whom a number about pairs is, where people are drawn: `under cohort given sex = f`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fairdsl.diagnostics import Reporter
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.ir.question import Pair, Precision, Quantity, SameDecision
from fairdsl.numerics.narrow import narrow
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.semantics.conditions.constant import report_constant
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.source import Span
from fairdsl.syntax import tree


class Whose(NamedTuple):
    """What a condition on people may name, and where mistakes go."""

    domain: Domain
    distributions: Mapping[str, CheckedDistribution | None]
    reporter: Reporter


class OfPeople(NamedTuple):
    """Who is in question of those who are drawn; and the places of what no backend treats, for which it is refused."""

    given: Predicate
    beyond: tuple[Span, ...]


def people_of(
    clause: tree.UnderClause | None,
    asked: Pair | Demanded,
    quantity: Quantity,
    precision: Precision | None,
    span: Span,
    whose: Whose,
) -> OfPeople:
    """What ``given`` says, of shares of pairs alone.

    Numbers about individuals themselves are those of pairs, neither estimated nor of rows; nobody is drawn again
    without a distribution, nor for anything but the decision.
    """
    beyond: tuple[Span, ...] = ()
    of_pair = isinstance(asked, Pair)
    if quantity in (Quantity.AFFECTED_RATE, Quantity.REDRAW_DISAGREEMENT):
        found = None if clause is None else whose.distributions.get(clause.distribution.text)
        again = quantity is Quantity.REDRAW_DISAGREEMENT
        decides = isinstance(asked, Pair) and isinstance(asked.demand, SameDecision)
        if not of_pair or (found is not None and found.kind == "empirical") or (again and not (clause and decides)):
            beyond = (span,)
        elif precision is not None:
            beyond = (precision.span or span,)
    if clause is None or clause.given is None:
        return OfPeople(TRUE, beyond)
    if not of_pair or quantity is Quantity.HOLDS:
        return OfPeople(TRUE, (*beyond, clause.given.span))
    given = lower_condition(clause.given, ConditionScope(domain=whose.domain), whose.reporter)
    if given is None:
        return OfPeople(TRUE, beyond)
    report_constant(given, whose.domain, narrow(whose.domain), "condition", whose.reporter)
    return OfPeople(given, beyond)
