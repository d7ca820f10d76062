"""Allowed paths of causal influence: edges of a written graph, from protected attributes to the model.

The identifiability condition is the recanting-witness criterion of docs/semantics.md section 4: for each
edge out of a protected attribute, its continuations to the model are all allowed or all forbidden.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from fairdsl.diagnostics import Reporter
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedModel
from fairdsl.syntax import tree

__all__ = ["Edges", "check_allowed_paths"]

Edges = frozenset[tuple[str, str]]


def check_allowed_paths(
    node: tree.Property,
    path: tree.Path,
    model: CheckedModel,
    protected: Sequence[str],
    graphs: Mapping[str, tuple[tree.Graph, Edges]],
    reporter: Reporter,
) -> None:
    """Report what is wrong with one ``allow`` clause."""
    names = [name.text for name in path.names]
    if names[0] not in protected:
        reporter.report(
            errors.path_ends_wrong(
                path.span, f"begins at `{names[0]}`, which is not protected", "begin it at a protected attribute"
            )
        )
        return
    if names[-1] != model.declaration.name:
        reporter.report(
            errors.path_ends_wrong(
                path.span, f"ends at `{names[-1]}`", f"end it at the model, `-> {model.declaration.name}`"
            )
        )
        return
    graph = _graph_of(names, graphs)
    if graph is None:
        reporter.report(
            errors.metric_needs("allow", path.span, "a written graph", "declare `graph NAME { a -> b -> model ... }`")
        )
        return
    declared, edges = graph
    for source, target in pairwise(path.names):
        if (source.text, target.text) not in edges:
            reporter.report(
                errors.edge_not_in_graph(
                    source.text, target.text, source.span.to(target.span), declared.name.text, declared.name.span
                )
            )
            return
    _check_recanting(node, path, edges, reporter)


def _graph_of(names: Sequence[str], graphs: Mapping[str, tuple[tree.Graph, Edges]]) -> tuple[tree.Graph, Edges] | None:
    """The graph with the most edges of the path: there is usually one."""

    def shared(item: tuple[tree.Graph, Edges]) -> int:
        return sum(edge in item[1] for edge in pairwise(names))

    return max(graphs.values(), key=shared, default=None)


def _check_recanting(node: tree.Property, path: tree.Path, edges: Edges, reporter: Reporter) -> None:
    """Every continuation of the path's first edge must be allowed too."""
    allowed = {
        tuple(name.text for name in clause.path.names)
        for clause in node.clauses
        if isinstance(clause, tree.AllowClause)
    }
    names = tuple(name.text for name in path.names)
    for continuation in _paths(edges, names[1], names[-1], seen={names[0]}):
        if (names[0], *continuation) not in allowed:
            reporter.report(errors.recanting_witness(names[0], names[1], path.span))
            return


def _paths(edges: Edges, start: str, end: str, seen: Collection[str]) -> list[tuple[str, ...]]:
    """All simple paths from ``start`` to ``end``."""
    if start == end:
        return [(end,)]
    return [
        (start, *rest)
        for source, target in sorted(edges)
        if source == start and target not in seen
        for rest in _paths(edges, target, end, {*seen, start})
    ]
