"""The canonical layout of a spec: two audits that differ in one threshold differ in one line.

Laws, all tested: parsing the formatted text gives the same tree, formatting twice changes nothing, and
no comment is lost or moved past another.
"""

from __future__ import annotations

from typing import assert_never

from fairdsl.syntax import tree
from fairdsl.syntax.format_declaration import (
    format_distribution,
    format_domain,
    format_graph,
    format_model,
    type_pieces,
    value_text,
)
from fairdsl.syntax.format_expression import expression_pieces, name_pieces, name_text
from fairdsl.syntax.format_property import clause_text, format_property
from fairdsl.syntax.layout import Piece, Writer

__all__ = ["format_spec"]


def format_spec(spec: tree.Spec) -> str:
    """The text of a spec in canonical layout; the empty spec is the empty text."""
    writer = Writer(spec.comments)
    if spec.version is not None:
        writer.line(f"fair {spec.version.number.text}", spec.version.span.start)
    if spec.audit is not None:
        writer.blank()
        _doc(writer, spec.audit.doc, spec.audit.span.start)
        writer.line(f'audit "{spec.audit.title.value}"', spec.audit.span.start)
    previous: tree.Item | None = None
    for item in spec.items:
        # Uses of other files are one paragraph, and so are parameters without a text of their own.
        if not (_terse(item) and type(item) is type(previous)):
            writer.blank()
        _format_item(writer, item)
        previous = item
    return writer.text()


def _doc(writer: Writer, lines: tuple[str, ...], start: int) -> None:
    for line in lines:
        writer.line(f"## {line}".rstrip(), start)


def _format_item(writer: Writer, item: tree.Item) -> None:
    if not isinstance(item, (tree.Use, tree.Protected, tree.Apply)):
        _doc(writer, item.doc, item.span.start)
    match item:
        case tree.Use() | tree.Parameter() | tree.Protected() | tree.NamedCondition() | tree.Metric() | tree.Apply():
            _format_statement(writer, item)
        case tree.Label():
            _format_label(writer, item)
        case tree.Domain():
            format_domain(writer, item)
        case tree.Model():
            format_model(writer, item)
        case tree.Distribution():
            format_distribution(writer, item)
        case tree.Graph():
            format_graph(writer, item)
        case tree.Property():
            format_property(writer, item)
        case _:
            assert_never(item)


def _format_statement(
    writer: Writer,
    item: tree.Use | tree.Parameter | tree.Protected | tree.NamedCondition | tree.Metric | tree.Apply,
) -> None:
    """A declaration that is one statement."""
    match item:
        case tree.Use():
            writer.line(f'use "{item.path.value}"', item.span.start)
        case tree.Parameter():
            writer.line(f"let {name_text(item.name)} = {item.number.text}", item.span.start)
        case tree.Protected():
            writer.statement("protected ", name_pieces(item.names), item.span.start)
        case tree.NamedCondition():
            over = f" over {name_text(item.domain)}" if item.domain else ""
            condition = expression_pieces(item.condition, outermost=True)
            writer.statement(f"condition {name_text(item.name)}{over} = ", condition, item.span.start)
        case tree.Metric():
            definition = expression_pieces(item.definition, outermost=True)
            writer.statement(f"metric {name_text(item.name)} = ", definition, item.span.start)
        case tree.Apply():
            asked = [*name_pieces(item.across.names), Piece(clause_text(item.under), item.under.span.start)]
            lead = f"apply preset {name_text(item.preset)} to {name_text(item.model)} across "
            writer.statement(lead, asked, item.span.start)


def _terse(item: tree.Item) -> bool:
    """Whether it is a line that stands next to others of its kind."""
    return isinstance(item, tree.Use) or (isinstance(item, tree.Parameter) and not item.doc)


def _format_label(writer: Writer, label: tree.Label) -> None:
    inner, pieces = type_pieces(label.type)
    if label.column:
        pieces.append(Piece(f'column "{label.column.value}"', label.column.span.start))
    if label.deserving:
        pieces.append(Piece(f"deserving {value_text(label.deserving)}", label.deserving.span.start))
    writer.statement(f"label {name_text(label.name)} : ", pieces, label.span.start, inner=inner)
