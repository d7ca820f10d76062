"""Allowed paths of causal influence: edges of a written graph, from the attributes of ``across`` to the model.

The identifiability condition is the recanting-witness criterion of docs/semantics.md section 4: for each
edge out of a protected attribute, its continuations to the model are all allowed or all forbidden. So what
is allowed comes down to a set of edges out of the attributes of ``across``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import variables
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel
from fairdsl.semantics.conditions.scope import attribute_index
from fairdsl.source import Span
from fairdsl.syntax import tree

Edges = frozenset[tuple[str, str]]
_Graphs = Mapping[str, tuple[tree.Graph, Edges]]

#: Why the kinds of populations without a written graph say nothing about causes.
_NO_GRAPH = {
    "learned": "learns its structure from data",
    "uniform": "takes its attributes as independent",
    "independent": "has no graph, only counts",
    "empirical": "has no graph, only rows",
    "file": "has arrows of which its file does not say that they are causes",
}


def check_causal(
    population: CheckedDistribution, columns: Domain, graphs: _Graphs, span: Span, reporter: Reporter
) -> None:
    """Report a population that is not a causal model; ``columns`` are its attributes, ``span`` names the metric."""
    if population.kind in _NO_GRAPH:
        reporter.report(errors.no_written_graph(span, population.name, _NO_GRAPH[population.kind]))
        return
    if population.kind != "explicit" or not graphs:
        return
    names = [attribute.name for attribute in columns.attributes]
    distributions = {
        (names[v.attribute], names[distribution.column])
        for distribution in population.distributions
        for v in variables(distribution.given)
    }
    written = [{edge for edge in edges if set(edge) <= set(names)} for _, edges in graphs.values()]
    if distributions not in written:
        nearest = min(written, key=lambda edges: len(edges ^ distributions))
        source, target = sorted(nearest ^ distributions)[0]
        has = f"has distributions that differ from the graph in `{source} -> {target}`"
        reporter.report(errors.no_written_graph(span, population.name, has))


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPaths:
    """The ``allow`` clauses of one property, and what they may name."""

    node: tree.Property
    model: CheckedModel
    protected: Sequence[str]
    across: Sequence[int]
    columns: Domain
    population: CheckedDistribution | None
    graphs: _Graphs
    reporter: Reporter

    def edges(self) -> frozenset[tuple[int, int | None]]:
        """The allowed edges out of columns of ``across``, None for the model; mistakes are reported."""
        found: set[tuple[int, int | None]] = set()
        for clause in self.node.clauses:
            if isinstance(clause, tree.AllowClause) and self._is_sound(clause.path):
                source, target = (name.text for name in clause.path.names[:2])
                child = None if target == self.model.declaration.name else self.columns.index(target)
                found.add((self.columns.index(source), child))
        return frozenset(found)

    def _is_sound(self, path: tree.Path) -> bool:
        """Whether the path may be allowed; what is wrong with it is reported."""
        names = [name.text for name in path.names]
        wrong = self._wrong_ends(names)
        if wrong is not None:
            self.reporter.report(errors.path_ends_wrong(path.span, *wrong))
            return False
        graph = self._graph_of(names)
        if graph is None:
            help_text = "declare `graph NAME { a -> b -> model ... }`"
            self.reporter.report(errors.metric_needs("allow", path.span, "a written graph", help_text))
            return False
        declared, edges = graph
        for source, target in pairwise(path.names):
            if (source.text, target.text) not in edges:
                span, place = source.span.to(target.span), declared.name
                self.reporter.report(errors.edge_not_in_graph(source.text, target.text, span, place.text, place.span))
                return False
        if any(attribute_index(name, self.columns, self.reporter) is None for name in path.names[:-1]):
            return False
        return self._does_not_recant(path, edges)

    def _wrong_ends(self, names: Sequence[str]) -> tuple[str, str] | None:
        """What is wrong with where a path leads from and to, and what to write."""
        groups = [self.columns.attributes[index].name for index in self.across]
        first, *inner, last = names
        if first not in self.protected:
            return f"begins at `{first}`, which is not protected", "begin it at a protected attribute"
        if first not in groups:
            return f"begins at `{first}`, which `across` does not name", "begin it at an attribute of `across`"
        if last != self.model.declaration.name:
            return f"ends at `{last}`", f"end it at the model, `-> {self.model.declaration.name}`"
        fixed = next((name for name in inner if name in groups), None)
        if fixed is not None:
            why = f"passes through `{fixed}`, which each group fixes"
            return why, f"begin the path at `{fixed}`: nothing flows through what is fixed"
        return None

    def _graph_of(self, names: Sequence[str]) -> tuple[tree.Graph, Edges] | None:
        """The graph of the population; else the one with the most edges of the path: there is usually one."""
        if self.population is not None and self.population.graph is not None:
            return self.graphs.get(self.population.graph)

        def shared(item: tuple[tree.Graph, Edges]) -> int:
            return sum(edge in item[1] for edge in pairwise(names))

        return max(self.graphs.values(), key=shared, default=None)

    def _does_not_recant(self, path: tree.Path, edges: Edges) -> bool:
        """Whether every continuation of the path's first edge is allowed too."""
        allowed = {
            tuple(name.text for name in clause.path.names)
            for clause in self.node.clauses
            if isinstance(clause, tree.AllowClause)
        }
        first, second, last = path.names[0].text, path.names[1].text, path.names[-1].text
        fixed = {self.columns.attributes[index].name for index in self.across}
        for continuation in _paths(edges, second, last, seen=fixed | {first}):
            if (first, *continuation) not in allowed:
                self.reporter.report(errors.recanting_witness(first, second, path.span))
                return False
        return True


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
