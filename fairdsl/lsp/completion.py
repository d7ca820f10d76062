"""What may be written where the cursor is: words that the grammar allows there, and names that mean something there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from fairdsl.lsp.desk import Desk, Seen
from fairdsl.lsp.names import Declared, Mention, Names, mentions_in
from fairdsl.lsp.paths import path_completions
from fairdsl.lsp.roles import Kind
from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.first_words import example_of
from fairdsl.syntax.onward import PLACEHOLDER, Onward, onward

#: How editors picture what a name means.
KINDS = {
    Kind.PARAMETER: types.CompletionItemKind.Constant,
    Kind.DOMAIN: types.CompletionItemKind.Struct,
    Kind.ATTRIBUTE: types.CompletionItemKind.Field,
    Kind.LABEL: types.CompletionItemKind.Field,
    Kind.VALUE: types.CompletionItemKind.EnumMember,
    Kind.MODEL: types.CompletionItemKind.Function,
    Kind.OUTCOME: types.CompletionItemKind.EnumMember,
    Kind.DISTRIBUTION: types.CompletionItemKind.Module,
    Kind.GRAPH: types.CompletionItemKind.Module,
    Kind.CONDITION: types.CompletionItemKind.Event,
    Kind.METRIC: types.CompletionItemKind.Function,
    Kind.PROPERTY: types.CompletionItemKind.Class,
    Kind.INDIVIDUAL: types.CompletionItemKind.Variable,
    Kind.VARIABLE: types.CompletionItemKind.TypeParameter,
}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_IN_STRING = re.compile(r'\A(?:[^"#]|"[^"]*")*(?:"[^"]*|#.*)\Z')
#: Names come before words of the language, and these before what is a whole phrase.
_FIRST, _SECOND, _THIRD = "1", "2", "3"


def completed(desk: Desk, seen: Seen, position: types.Position) -> Iterator[types.CompletionItem]:
    """The items for a place in the spec's own text; inside strings paths alone, and none in comments."""
    text, places = desk.text(seen.path), desk.places(seen.path)
    offset = places.offset(position)
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if _IN_STRING.match(line):
        yield from path_completions(desk, seen.path, offset)
        return
    typed = _WORD.search(text[:offset])
    start = offset if typed is None else typed.start()
    behind = onward(SourceFile(seen.path, text[:start]))
    if behind is None:
        return
    replaced = types.Range(places.position(start), position)
    said: dict[str, types.CompletionItem] = {}
    for item in (*_names(behind, seen), *_outcomes(behind, seen), *_words(behind)):
        said.setdefault(item.label, item)
    for number, item in enumerate(sorted(said.values(), key=lambda item: item.sort_text or "")):
        item.sort_text = f"{number:04}"  # editors would sort by the label, and tear apart what is likeliest
        item.text_edit = types.TextEdit(replaced, item.insert_text or item.label)
        yield item


def _words(behind: Onward) -> Iterator[types.CompletionItem]:
    body = behind.situation.body
    firsts = behind.situation.first_words()
    for word in behind.words():
        example = example_of(word, body) if word in firsts else ""
        yield types.CompletionItem(
            label=word,
            kind=types.CompletionItemKind.Keyword,
            sort_text=_SECOND,
            documentation=_code(example) if example else None,
        )


def _code(text: str) -> types.MarkupContent:
    return types.MarkupContent(types.MarkupKind.Markdown, f"```fair\n{text}\n```")


def _names(behind: Onward, seen: Seen) -> Iterator[types.CompletionItem]:
    """Names in scope: those of the whole text and what it uses, and those of the unfinished property."""
    for spec in behind.with_name():
        place = next((each for each in mentions_in(spec) if each.name.text == PLACEHOLDER), None)
        if place is None:
            continue
        names = Names.of((spec, *seen.specs))
        for one in names.offered(place):
            if one.name.text != PLACEHOLDER:
                yield _named(one, _FIRST, f'"{one.name.text}"' if one.name.quoted else None)
        yield from _language_words(place)


def _language_words(place: Mention) -> Iterator[types.CompletionItem]:
    """Words of the language that are names to the grammar: metrics, functions, families, settings."""
    for word in place.role.words():
        yield types.CompletionItem(label=word, kind=types.CompletionItemKind.Function, sort_text=_THIRD)


def _outcomes(behind: Onward, seen: Seen) -> Iterator[types.CompletionItem]:
    """What stands before `when` or a colon is a word of its own to the grammar: outcomes, and names of attributes."""
    if "OUTCOME" in behind.terminals and behind.situation.owner is not None:
        lexemes, owner = behind.situation.lexemes, behind.situation.owner
        model = lexemes[owner + 1].text
        for one in (each for each in seen.names.declared if each.kind is Kind.OUTCOME and each.within == model):
            yield _named(one, _FIRST, f"{one.name.text} when ")
    if "ATTRIBUTE" in behind.terminals and behind.situation.body == "distribution":
        for one in seen.names.declared:
            if one.kind in (Kind.ATTRIBUTE, Kind.LABEL) and not isinstance(one.node, tree.Derived):
                yield _named(one, _SECOND, f"{one.name.text} : ")


def _named(one: Declared, rank: str, inserted: str | None) -> types.CompletionItem:
    """What is declared, with the text that is written for it where that is not its name."""
    return types.CompletionItem(
        label=one.name.text,
        kind=KINDS[one.kind],
        detail=one.kind.value + (f" of {one.within}" if one.within else ""),
        sort_text=rank,
        insert_text=inserted,
    )
