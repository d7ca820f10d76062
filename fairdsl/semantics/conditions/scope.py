"""What names mean inside a condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Derived, Domain
from fairdsl.ir.expr import Variable, Who
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

if TYPE_CHECKING:
    from fairdsl.semantics.conditions.outputs import Outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionScope:
    """What names mean inside a condition.

    ``individuals`` maps the names of a compared pair; it is empty where there is only one individual.
    ``outputs`` are what models give, where a condition may speak of it.
    ``named`` are the spec's named targets that may stand for their condition. ``labels`` says where labels are
    declared, which are not attributes.
    """

    domain: Domain
    individuals: Mapping[str, Who] = field(default_factory=dict)
    named: Mapping[str, tree.NamedCondition] = field(default_factory=dict)
    outputs: Outputs | None = None
    labels: Mapping[str, Span] = field(default_factory=dict)


def resolve_attribute(
    node: tree.Reference, scope: ConditionScope, reporter: Reporter
) -> tuple[Variable, Attribute] | None:
    """The attribute that a name means and whose it is; reports a name that is none."""
    who = Who.EACH
    if node.owner is not None:
        if node.owner.text not in scope.individuals:
            known = tuple(scope.individuals)
            help_text = None if known else f"write `{node.name.text}` alone: nobody is compared here"
            owner = node.owner
            reporter.report(errors.unknown_declaration("individual", owner.text, owner.span, known, help_text))
            return None
        who = scope.individuals[node.owner.text]
    index = attribute_index(node.name, scope.domain, reporter, scope.labels)
    return None if index is None else (Variable(index, who), scope.domain.attributes[index])


def derived_named(node: tree.Expression, scope: ConditionScope) -> tuple[Derived, Who] | None:
    """What is derived by the name that an expression is, and whose it is; None where it names something else.

    Where the derived attribute is a column, the name means that.
    """
    if not isinstance(node, tree.Reference):
        return None
    derived = scope.domain.derivation(node.name.text)
    if derived is None or derived.attribute in scope.domain.attributes:
        return None
    if node.owner is None:
        return derived, Who.EACH
    return (derived, scope.individuals[node.owner.text]) if node.owner.text in scope.individuals else None


def attribute_index(
    name: tree.Name, domain: Domain, reporter: Reporter, labels: Mapping[str, Span] | None = None
) -> int | None:
    """The position of the attribute of that name; reports a name that is none."""
    try:
        return domain.index(name.text)
    except KeyError:
        if (derived := domain.derivation(name.text)) is not None:
            reporter.report(errors.derived_out_of_place(name.text, name.span, derived.attribute.span))
            return None
        known = tuple(attribute.name for attribute in domain.attributes)
        label = (labels or {}).get(name.text)
        reporter.report(errors.unknown_attribute(name.text, name.span, domain.name, domain.span, known, label=label))
        return None
