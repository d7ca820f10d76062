"""Derived attributes: ``derived senior = age >= 62`` and ``derived band = bins of score at 20, 40`` inside a domain.

Their values follow from attributes, or from the model's score, so nobody chooses them: no two people differ in one
while all else is equal. In a condition the name stands for what it is derived from; where groups are made, by
``across``, ``for each`` and ``privileged``, it is one more column
(:func:`fairdsl.populations.derived.with_derived`).
"""

from __future__ import annotations

from collections.abc import Iterator

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Boolean, Derived, Domain, Integer, Real
from fairdsl.ir.expr import Linear
from fairdsl.numerics.narrow import narrow
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.bins import bins_of
from fairdsl.semantics.conditions.constant import report_constant
from fairdsl.semantics.conditions.predicates import lower_condition, lower_sum
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.syntax import tree

_SCORE = "score"


def check_derived(node: tree.Domain, domain: Domain, reporter: Reporter) -> Iterator[Derived]:
    """What is derived in a domain of these attributes; whatever is wrong with it is reported."""
    spans = {attribute.name: attribute.span for attribute in domain.attributes}
    for member in node.members:
        if not isinstance(member, tree.Derived):
            continue
        name = member.name
        if name.text in spans:
            reporter.report(errors.declared_twice("attribute", name.text, name.span, spans[name.text]))
            continue
        spans[name.text] = name.span
        definition = member.definition
        found = (
            _bins(member, definition, domain, reporter)
            if isinstance(definition, tree.BinsOf)
            else _condition(member, definition, domain, reporter)
        )
        if found is not None:
            yield found


def _condition(member: tree.Derived, node: tree.Expression, domain: Domain, reporter: Reporter) -> Derived | None:
    predicate = lower_condition(node, ConditionScope(domain=domain), reporter, derives=member.name.text)
    if predicate is None:
        return None
    report_constant(predicate, domain, narrow(domain), "condition", reporter)
    attribute = Attribute(name=member.name.text, type=Boolean(), span=member.name.span)
    return Derived(attribute=attribute, of=predicate)


def _bins(member: tree.Derived, node: tree.BinsOf, domain: Domain, reporter: Reporter) -> Derived | None:
    name = member.name.text
    of = None if _is_score(node.of, domain) else lower_sum(node.of, ConditionScope(domain=domain), reporter)
    if of is None and not _is_score(node.of, domain):
        return None
    lacked = next((v.attribute for v, _ in of.terms if domain.attributes[v.attribute].missing), None) if of else None
    if lacked is not None:
        missing = domain.attributes[lacked].name
        why = "a sum of values that somebody lacks lies in no bin"
        help_text = f"cut the attribute itself, as in `{missing} : integer 0 .. 80 or missing bins at 20, 40`"
        reporter.report(errors.not_comparable(f"`{missing}` may be missing", node.span, why, help_text))
        return None
    type_ = Real() if of is None else _type_of(of, domain)
    edges, by = bins_of(name, type_, node.bins, reporter)
    return Derived(attribute=Attribute(name=name, type=type_, bins=edges, bins_by=by, span=member.name.span), of=of)


def _is_score(node: tree.Expression, domain: Domain) -> bool:
    """The model's score, where no attribute has that name."""
    names = {attribute.name for attribute in domain.attributes}
    return isinstance(node, tree.Reference) and node.owner is None and node.name.text == _SCORE and _SCORE not in names


def _type_of(of: Linear, domain: Domain) -> Integer | Real:
    """The numbers that the sum can be, by the ranges of its attributes."""
    least = most = of.constant
    whole = of.constant.denominator == 1
    for variable, factor in of.terms:
        attribute = domain.attributes[variable.attribute]
        low, high = attribute.bounds
        if low is None or high is None:
            return Real()
        least += min(factor * low, factor * high)
        most += max(factor * low, factor * high)
        whole = whole and isinstance(attribute.type, Integer) and factor.denominator == 1
    return Integer(low=int(least), high=int(most)) if whole else Real(low=least, high=most)
