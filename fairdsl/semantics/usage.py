"""Declarations that nothing refers to: a reader of the audit would believe that they are in force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from fairdsl.diagnostics import Diagnostic
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedProperty
from fairdsl.semantics.walk import walk
from fairdsl.syntax import tree

_KINDS: dict[type[tree.Item], str] = {
    tree.Parameter: "parameter",
    tree.Domain: "domain",
    tree.Label: "label",
    tree.Model: "model",
    tree.Distribution: "distribution",
    tree.Graph: "graph",
    tree.NamedCondition: "condition",
    tree.Metric: "metric",
}


def report_unused(
    spec: tree.Spec,
    properties: Sequence[CheckedProperty],
    expanded: Sequence[tree.Property],
    nodes_of: Callable[[Sequence[tree.Node]], Iterable[tree.Node]],
) -> Iterator[Diagnostic]:
    """Warnings about the spec's own declarations; a file without properties is there to be used.

    ``expanded`` are its properties with the values of `for each` in their places, ``nodes_of`` gives nodes with all
    below them.
    """
    if not any(isinstance(item, tree.Property | tree.Apply) for item in spec.items):
        return
    models = {name.partition("[")[0] for checked in properties for name in checked.models}
    below = [tuple(nodes_of((item,))) for item in spec.items]
    nodes = [*chain.from_iterable(below), *nodes_of(expanded)]
    allows = any(isinstance(node, tree.AllowClause) for node in nodes)
    questioned = {
        name for node in nodes if isinstance(node, tree.DifferClause | tree.AcrossClause) for name in _names(walk(node))
    }
    everywhere = Counter(_names(nodes))
    for derived in (node for node in chain.from_iterable(below) if isinstance(node, tree.Derived)):
        if derived.name.text in questioned:
            questioned |= {*_names(walk(derived.definition))}
        yield from _unused("derived attribute", [derived.name], everywhere, 1)
    for item, inside in zip(spec.items, below, strict=True):
        match item:
            case tree.Use() | tree.Property() | tree.Apply():
                pass
            # An allowed path names the edges of a graph, not the graph.
            case tree.Graph() if allows:
                pass
            # It says what a column of data means, also to those who read data for something else than properties.
            case tree.Label(column=column) if column is not None:
                pass
            case tree.Protected(names=names):
                yield from _unused("protected attribute", names, dict.fromkeys(questioned, 1), 0)
            # A single model need not be named; the checked properties know which one they are about.
            case _ if item.name.text not in models:
                own = sum(text == item.name.text for text in _names(inside))
                yield from _unused(_KINDS[type(item)], [item.name], everywhere, own)


def _unused(what: str, names: Iterable[tree.Name], seen: Mapping[str, int], own: int) -> Iterator[Diagnostic]:
    """Those of the names that stand nowhere but where they are declared, ``own`` times."""
    for name in names:
        if seen.get(name.text, 0) == own:
            yield errors.never_used(what, name.text, name.span)


def _names(nodes: Iterable[tree.Node]) -> Iterator[str]:
    """The names among the nodes."""
    return (node.text for node in nodes if isinstance(node, tree.Name))
