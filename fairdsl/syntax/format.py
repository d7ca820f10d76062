"""The canonical layout of a spec: two audits that differ in one threshold differ in one line.

Laws, all tested: parsing the formatted text gives the same tree, formatting twice changes nothing, and
no comment is lost or moved past another.
"""

from __future__ import annotations

from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import pieces_of
from fairdsl.syntax.forms import wrapped
from fairdsl.syntax.layout import Writer


def format_spec(spec: tree.Spec) -> str:
    """The text of a spec in canonical layout; the empty spec is the empty text."""
    writer = Writer(spec.comments)
    if spec.version is not None:
        _format_item(writer, spec.version)
    if spec.audit is not None:
        writer.blank()
        _format_item(writer, spec.audit)
    previous: tree.Item | None = None
    for item in spec.items:
        # Uses of other files are one paragraph, and so are parameters without a text of their own.
        if not (_terse(item) and type(item) is type(previous)):
            writer.blank()
        _format_item(writer, item)
        previous = item
    return writer.text()


def _format_item(writer: Writer, item: tree.Node, indent: str = "") -> None:
    """A statement, or a header and a line for each statement of its body."""
    start = item.span.start
    for line in getattr(item, "doc", ()):
        writer.line(f"{indent}## {line}".rstrip(), start, indent)
    body = type(item).FORM.body
    if not body:
        writer.statement(indent, pieces_of(item), start)
        return
    braced = not isinstance(item, tree.Model | tree.Distribution)
    writer.statement(indent, wrapped("", pieces_of(item), " {" * braced), start)
    for inner in getattr(item, body):
        _format_item(writer, inner, f"{indent}  ")
    if braced:
        writer.line("}", item.span.end - 1, f"{indent}  ")


def _terse(item: tree.Item) -> bool:
    """Whether it is a line that stands next to others of its kind."""
    return isinstance(item, tree.Use) or (isinstance(item, tree.Parameter) and not item.doc)
