"""The names that say what a metric is: `fairdsl fmt` writes ``parity_gap`` where ``statistical_parity`` stands.

Only the language's own other names are replaced. A name of Fairlearn or AIF360 stays as it is written: it is refused
where it would mean something else than in that library, which the canonical name is not.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairdsl.diagnostics.model import Edit
from fairdsl.ir.metric import Metric
from fairdsl.prelude.registry import registered
from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.patch import patch


def with_canonical_names(source: SourceFile) -> SourceFile:
    """The text with the canonical names of metrics; as it is where it cannot be read."""
    from fairdsl.syntax.parse import parse  # its parser is not loaded by whoever only prints help

    read = parse(source)
    if read.spec is None or not read.complete:
        return source
    edits = tuple(Edit(name.span, other) for name, other in _renamed(read.spec))
    return SourceFile(source.path, patch(source.text, edits).text) if edits else source


def _renamed(spec: tree.Spec) -> Iterator[tuple[tree.Name, str]]:
    for item in spec.items:
        match item:
            case tree.Metric(definition=definition):
                yield from _of(_named(definition), privileged=False)
            case tree.Property(clauses=clauses) if any(isinstance(each, tree.AcrossClause) for each in clauses):
                privileged = any(isinstance(each, tree.PrivilegedClause) for each in clauses)
                for clause in clauses:
                    match clause:
                        case tree.RequireClause(demand=demand):
                            yield from _of(_named(demand), privileged=privileged)
                        case tree.MeasureClause(items=items):
                            for each in items:
                                yield from _of(_named(each.metric), privileged=privileged)


def _of(names: Iterator[tree.Name], *, privileged: bool) -> Iterator[tuple[tree.Name, str]]:
    for name in names:
        metric = registered(name.text, privileged=privileged)
        if isinstance(metric, Metric) and any(a.name == name.text and a.library is None for a in metric.aliases):
            yield name, metric.name


def _named(part: tree.Node) -> Iterator[tree.Name]:
    """The names in a demand that are those of metrics; within a rate, words mean something else."""
    match part:
        case tree.Name() | tree.Reference(owner=None, name=tree.Name()):
            yield part if isinstance(part, tree.Name) else part.name
        case tree.OfModel(metric=metric) | tree.Influence(metric=metric):
            yield from _named(metric)
        case tree.Comparison(left=left, right=right) | tree.Arithmetic(left=left, right=right):
            yield from _named(left)
            yield from _named(right)
