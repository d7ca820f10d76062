"""A condition by itself, as a document of rules holds it: ``age >= 45 and charge = felony``.

It is read by the grammar of whole files, and every place in what is said of it is a place in the document: a text
between quotes may have escapes, so each of its characters comes with its own offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lark import UnexpectedInput

from fairdsl.diagnostics.model import Diagnostic, Label
from fairdsl.source import SourceFile, Span
from fairdsl.syntax import tree
from fairdsl.syntax.build import TreeBuilder
from fairdsl.syntax.depth import DEEPEST, nested_too_deep
from fairdsl.syntax.errors import depth_wording, expected_wording, something_else
from fairdsl.syntax.expected import expected_words
from fairdsl.syntax.mistakes import classic_mistake
from fairdsl.syntax.recover import offset_of
from fairdsl.syntax.scan import Kind, scan
from fairdsl.syntax.situation import Situation, situate
from fairdsl.syntax.tables import grammar
from fairdsl.syntax.words import Branch, begin_of


def parse_condition(
    text: str, whole: Span, offsets: Sequence[int], known: dict[str, Branch]
) -> tree.Expression | Diagnostic:
    """The condition, or what is wrong with it.

    ``known`` are the texts of the document that were parsed: a tree's rules repeat its tests.

    ``whole`` is where the text stands in its document; ``offsets`` has the place of each of its characters there (of
    an escaped one, of the escape's last character).
    """
    branch = known.get(text)
    if branch is None:
        try:
            branch = known[text] = grammar().parse(text, start="lone_condition")
        except UnexpectedInput as stopped:
            return _placed(_diagnosis(text, whole.file, stopped), whole, offsets)
    found = nested_too_deep(branch)
    if found is not None:
        start = begin_of(found[1])
        assert start is not None
        place = Span(whole.file, offsets[start], offsets[start] + 1)
        return something_else(place, depth_wording(DEEPEST))
    found_condition: tree.Expression = TreeBuilder(whole.file, offsets).only_node(branch)
    return found_condition


def _diagnosis(text: str, file: SourceFile, stopped: UnexpectedInput) -> Diagnostic:
    """What is said of the text as if it were a file of its own."""
    lexemes = scan(SourceFile(file.path, text))
    state = stopped.interactive_parser.parser_state
    here = situate(state, lexemes, lexemes.index_at(offset_of(stopped, len(text))), [*range(len(text) + 1)])
    here = replace(here, body="condition", start=0, complete="$END" in here.accepts)
    return classic_mistake(here) or _unexpected(here)


def _unexpected(here: Situation) -> Diagnostic:
    before = here.before.text if here.before is not None else ""
    ended = here.found.kind is Kind.END
    place = here.before.span if ended and here.before is not None else here.found.span
    wording = expected_wording(here.found.text, before, expected_words(here))
    if ended:
        title = f"the condition ends after `{before}`, where more must follow" if before else "this condition is empty"
        wording = replace(wording, title=title)
    return something_else(place, wording)


def _placed(diagnostic: Diagnostic, whole: Span, offsets: Sequence[int]) -> Diagnostic:
    """The same about the document; a fix would have to know how the document escapes, so there is none."""

    def moved(label: Label) -> Label:
        start, end = label.span.start, min(label.span.end, len(offsets))
        if start >= end:
            return Label(whole, label.text)
        return Label(Span(whole.file, offsets[start], offsets[end - 1] + 1), label.text)

    primary = moved(diagnostic.primary) if diagnostic.primary is not None else None
    return replace(diagnostic, primary=primary, secondary=tuple(map(moved, diagnostic.secondary)), fix=None)
