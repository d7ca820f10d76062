"""What a name, a word or a finding means, in a few lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from fairdsl.lsp.desk import Desk, Seen
from fairdsl.lsp.names import Declared, Mention
from fairdsl.lsp.roles import Kind
from fairdsl.prelude import known_metrics, registered
from fairdsl.prelude.presets import preset_names, preset_text
from fairdsl.resources import error_page, text_of
from fairdsl.source import Span
from fairdsl.syntax import tree

#: The lines of a declaration that are shown.
_MOST_LINES = 12


def hovered(desk: Desk, seen: Seen, position: types.Position) -> types.Hover | None:
    """What there is to say at a place of the spec's own text; None where there is nothing."""
    places = desk.places(seen.path)
    offset = places.offset(position)
    mention = seen.mention_at(offset)
    parts = [] if mention is None else list(_of_name(seen, mention))
    parts += _pages(seen, offset)
    if not parts:
        return None
    content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts))
    return types.Hover(content, None if mention is None else places.range(mention.name.span))


def _of_name(seen: Seen, mention: Mention) -> Iterator[str]:
    declared = seen.names.meant_by(mention)
    if declared is not None:
        yield "\n\n".join(_declaration(seen, declared))
    elif mention.name.text in mention.role.words():
        yield from _word(mention.name.text)


def _declaration(seen: Seen, declared: Declared) -> Iterator[str]:
    """How it is declared, its documentation, and of a property what it asks."""
    node, kind = declared.node, declared.kind
    of = f" of `{declared.within}`" if declared.within else ""
    yield f"*{kind.value}*{of}\n\n```fair\n{_written(node)}\n```"
    doc = getattr(node, "doc", ())
    if doc and kind not in (Kind.VALUE, Kind.OUTCOME):
        yield " ".join(doc)
    if isinstance(node, tree.Property) and seen.read is not None and seen.read.checked is not None:
        for checked in seen.read.checked.properties:
            if checked.family == declared.name.text:
                yield "\n\n".join((*checked.sentences, *(f"`{formula}`" for formula in checked.formulas)))
                yield "in force: " + "; ".join(checked.clauses)
                break
    if isinstance(node, tree.Metric) and isinstance(node.definition, tree.Reference):
        yield from _word(node.definition.name.text)


def _written(node: tree.Node) -> str:
    """The text of a declaration, its first lines."""
    lines = node.span.text.splitlines()
    body = type(node).FORM.body
    if body and not isinstance(node, tree.Property):
        lines = lines[:_MOST_LINES] + ["..."] * (len(lines) > _MOST_LINES)
    elif body:
        lines = [lines[0].rstrip("{ ")]
    return "\n".join(lines)


def _word(word: str) -> Iterator[str]:
    """A metric of the language with its formula and whose name it is, or a preset."""
    if word in preset_names():
        yield f"*preset*\n\n```fair\n{preset_text(word).strip()}\n```"
    if word not in known_metrics():
        return
    from fairdsl.ir.metric import Metric
    from fairdsl.metrics.described import needs_of

    metric = registered(word)
    assert metric is not None, word
    if not isinstance(metric, Metric):
        yield f"*metric* `{metric.name}`\n\n{metric.meaning}\n\nneeds {'; '.join(needs_of(metric))}"
        return
    lines = [f"*metric* `{metric.name}`", metric.in_words(), f"`{metric.definition}`: {metric.formula()}"]
    names = [f"`{each.name}`" + (f" ({each.library.value})" if each.library else "") for each in metric.aliases]
    if names:
        lines.append(f"also known as {', '.join(names)}")
    yield "\n\n".join((*lines, f"needs {'; '.join(needs_of(metric))}"))


def _pages(seen: Seen, offset: int) -> list[str]:
    """The pages about the codes of findings at the place."""
    found: dict[str, None] = {}
    for finding in seen.findings:
        span: Span | None = None if finding.primary is None else finding.primary.span
        if span is not None and span.file.path == seen.path and span.start <= offset <= span.end:
            page = error_page(finding.code)
            if page.is_file():
                found[text_of(page).strip()] = None
    return list(found)
