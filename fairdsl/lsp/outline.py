"""The shape of a text: its declarations with what they hold, and what can be folded away."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from fairdsl.lsp.desk import Desk, Seen
from fairdsl.source import Span
from fairdsl.syntax import tree

_KINDS: dict[type[tree.Node], types.SymbolKind] = {
    tree.Parameter: types.SymbolKind.Constant,
    tree.Domain: types.SymbolKind.Struct,
    tree.Attribute: types.SymbolKind.Field,
    tree.Derived: types.SymbolKind.Field,
    tree.Label: types.SymbolKind.Field,
    tree.Model: types.SymbolKind.Function,
    tree.Distribution: types.SymbolKind.Module,
    tree.Graph: types.SymbolKind.Module,
    tree.NamedCondition: types.SymbolKind.Event,
    tree.Metric: types.SymbolKind.Operator,
    tree.Property: types.SymbolKind.Class,
}


def outline(desk: Desk, seen: Seen) -> list[types.DocumentSymbol]:
    """The declarations of the spec's own text, with the attributes of domains and the outcomes of models below them."""
    return [] if seen.main is None else [found for item in seen.main.items for found in _symbols(desk, seen, item)]


def _symbols(desk: Desk, seen: Seen, node: tree.Node) -> Iterator[types.DocumentSymbol]:
    kind = _KINDS.get(type(node))
    if kind is None:
        return
    places, name = desk.places(seen.path), node.name  # type: ignore[attr-defined]
    below = [found for member in getattr(node, "members", ()) for found in _symbols(desk, seen, member)]
    for outcome in node.outcomes if isinstance(node, tree.Model) else ():
        where = places.range(outcome.span)
        below.append(types.DocumentSymbol(outcome.text, types.SymbolKind.EnumMember, where, where))
    yield types.DocumentSymbol(
        name=name.text,
        kind=kind,
        range=places.range(node.span),
        selection_range=places.range(name.span),
        detail=_detail(node),
        children=below or None,
    )


def _detail(node: tree.Node) -> str | None:
    match node:
        case tree.Attribute(type=type_) | tree.Label(type=type_):
            return " ".join(type_.span.text.split())
        case tree.Property(sentence=tree.Text(value=value)):
            return value
        case tree.Parameter(number=number):
            return number.text
    return None


def folds(desk: Desk, seen: Seen) -> Iterator[types.FoldingRange]:
    """Declarations of several lines, and comments of several lines."""
    if seen.main is None:
        return
    places = desk.places(seen.path)
    for item in seen.main.items:
        yield from _fold(places.range(item.span))
    for run in _runs([each.span for each in seen.main.comments if each.own_line]):
        yield from _fold(places.range(run), types.FoldingRangeKind.Comment)


def _fold(where: types.Range, kind: types.FoldingRangeKind | None = None) -> Iterator[types.FoldingRange]:
    if where.end.line > where.start.line:
        yield types.FoldingRange(where.start.line, where.end.line, kind=kind)


def _runs(spans: list[Span]) -> Iterator[Span]:
    """Comments on lines that follow each other, as one."""
    run: Span | None = None
    for span in spans:
        if run is not None and span.first.line == run.last.line + 1:
            run = run.to(span)
            continue
        if run is not None:
            yield run
        run = span
    if run is not None:
        yield run
