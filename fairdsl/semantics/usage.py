"""Declarations that nothing refers to: a reader of the audit would believe that they are in force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fairdsl.diagnostics import Diagnostic
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedProperty
from fairdsl.semantics.walk import walk
from fairdsl.syntax import tree

__all__ = ["report_unused"]

_KINDS: dict[type[tree.Item], str] = {
    tree.Parameter: "parameter",
    tree.Domain: "domain",
    tree.Label: "label",
    tree.Model: "model",
    tree.Distribution: "distribution",
    tree.Graph: "graph",
    tree.NamedTarget: "target",
    tree.Metric: "metric",
}


def report_unused(
    spec: tree.Spec, properties: Sequence[CheckedProperty], expanded: Sequence[tree.Property]
) -> Iterator[Diagnostic]:
    """Warnings about the spec's own declarations; a file without properties is there to be used.

    ``expanded`` are its properties with the values of `for each` in their places.
    """
    if not any(isinstance(item, tree.Property) for item in spec.items):
        return
    models = {name.partition("[")[0] for checked in properties for name in checked.models}
    nodes = list(walk((*spec.items, *expanded)))
    allows = any(isinstance(node, tree.AllowClause) for node in nodes)
    questioned = set(_names([node for node in nodes if isinstance(node, tree.DifferClause | tree.AcrossClause)]))
    everywhere = Counter(node.text for node in nodes if isinstance(node, tree.Name))
    for item in spec.items:
        match item:
            case tree.Use() | tree.Property():
                pass
            # An allowed path names the edges of a graph, not the graph.
            case tree.Graph() if allows:
                pass
            # It says what a column of data means, also to those who read data for something else than properties.
            case tree.Label(column=column) if column is not None:
                pass
            case tree.Protected(names=names):
                for name in names:
                    if name.text not in questioned:
                        yield errors.never_used("protected attribute", name.text, name.span)
            # A single model need not be named; the checked properties know which one they are about.
            case _ if item.name.text not in models:
                own = sum(text == item.name.text for text in _names([item]))
                if everywhere[item.name.text] == own:
                    yield errors.never_used(_KINDS[type(item)], item.name.text, item.name.span)


def _names(nodes: Sequence[tree.Node]) -> Iterator[str]:
    """Every name below the nodes."""
    return (node.text for node in walk(nodes) if isinstance(node, tree.Name))
