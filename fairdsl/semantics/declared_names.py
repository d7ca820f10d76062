"""What the names in a spec's declarations are names of, as its text has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fairdsl.source import Span
from fairdsl.syntax import tree


def derived_conditions(items: Iterable[tree.Item]) -> frozenset[str]:
    """The names of what is derived by a condition, and so is true or not."""
    members = (member for item in items if isinstance(item, tree.Domain) for member in item.members)
    return frozenset(
        member.name.text
        for member in members
        if isinstance(member, tree.Derived) and not isinstance(member.definition, tree.BinsOf)
    )


def typed(items: Iterable[tree.Item]) -> Iterator[tree.Attribute | tree.Label]:
    """The declarations that have a type: attributes and labels."""
    for item in items:
        match item:
            case tree.Domain(members=members):
                yield from (member for member in members if isinstance(member, tree.Attribute))
            case tree.Label():
                yield item


def names_in_conditions(items: Iterable[tree.Item]) -> dict[str, tuple[str, Span]]:
    """What a word in a condition or a demand may already mean, and where it is declared."""
    found: dict[str, tuple[str, Span]] = {}
    for kind, name in _declared(items):
        found.setdefault(name.text, (kind, name.span))
    return found


def _declared(items: Iterable[tree.Item]) -> Iterator[tuple[str, tree.Name]]:
    items = tuple(items)
    for one in typed(items):
        yield "an attribute" if isinstance(one, tree.Attribute) else "a label", one.name
        yield from (("a value", name) for name in _entries(one.type))
    for item in items:
        match item:
            case tree.Domain(members=members):
                yield from (("an attribute", member.name) for member in members if isinstance(member, tree.Derived))
            case tree.Model():
                yield "a model", item.name
                yield from (("an outcome", name) for name in item.outcomes)
            case tree.NamedCondition():
                yield "a condition", item.name
            case tree.Metric():
                yield "a metric", item.name
            case tree.Property(clauses=clauses):
                compared = (clause for clause in clauses if isinstance(clause, tree.CompareClause))
                yield from (("an individual", name) for clause in compared for name in clause.names)


def _entries(type_: tree.Type) -> Iterator[tree.Name]:
    return (entry.name for entry in type_.entries) if isinstance(type_, tree.CategoryType) else iter(())
