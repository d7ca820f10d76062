"""The table of classic mistakes: which of them a situation is, and what to say about it.

The table is `grammar/mistakes.toml`. Lark's `match_examples` compares parser states only, which cannot
tell `relax age 5` from `relax age within 5`; the patterns of the table read the statement itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from fairdsl.diagnostics.model import Diagnostic, Edit
from fairdsl.resources import grammar_file, text_of
from fairdsl.source import Span
from fairdsl.source.numbers import LONGEST, TooLongError, read_number
from fairdsl.syntax.errors import WORDED, Wording, length_wording, something_else
from fairdsl.syntax.scan import Kind, Lexeme
from fairdsl.syntax.situation import Situation

_LONGEST_QUOTE = 24
_QUOTES = " \"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """One entry of the table."""

    code: str
    title: str
    help: str
    example: str
    where: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    shape: str = ""
    pattern: str = ""
    accepts: str = ""
    label: str = ""
    fix: str | None = None
    insert: str | None = None
    rewrite: str | None = None


@cache
def known_mistakes() -> tuple[Mistake, ...]:
    """The entries of the table, in its order."""
    table = tomllib.loads(text_of(grammar_file("mistakes.toml")))
    return tuple(_entry(entry) for entry in table["mistake"])


def _entry(entry: dict[str, Any]) -> Mistake:
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Mistake(**fields)


def classic_mistake(situation: Situation) -> Diagnostic | None:
    """The diagnostic of the first entry that fits, if one does; of a number that is too long before all of them."""
    if _too_long(situation.found):
        return something_else(situation.found.span, length_wording(LONGEST))
    for mistake in known_mistakes():
        pieces = _match(mistake, situation)
        if pieces is not None:
            return _diagnostic(mistake, situation, pieces)
    return None


def _too_long(lexeme: Lexeme) -> bool:
    if lexeme.kind in (Kind.NUMBER, Kind.STRANGE_NUMBER):
        try:
            read_number(lexeme.text.replace("_", ""))
        except TooLongError:
            return True
    return False


def _match(mistake: Mistake, situation: Situation) -> list[list[Lexeme]] | None:
    """The lexemes that each item of the pattern matched; None when the entry does not fit."""
    found = situation.found.text
    fits = (
        (not mistake.where or situation.body in mistake.where)
        and (not mistake.found or found in mistake.found)
        and (not mistake.accepts or mistake.accepts in situation.accepts)
        and (not mistake.shape or (bool(found) and re.search(mistake.shape, found) is not None))
    )
    if not fits:
        return None
    if not mistake.pattern:
        return []
    return _match_items(mistake.pattern.split(), situation, situation.start)


def _match_items(items: list[str], situation: Situation, index: int) -> list[list[Lexeme]] | None:
    if not items:
        return []
    item, rest = items[0], items[1:]
    if item == "...":
        for stop in range(index, _last_stop(situation, index) + 1):
            tail = _match_items(rest, situation, stop)
            if tail is not None:
                return [[situation.lexemes[i] for i in range(index, stop)], *tail]
        return None
    if item.startswith("@"):
        if index != situation.at:
            return None
        item = item[1:]
    if not _fits(item, situation.lexemes[index]):
        return None
    tail = _match_items(rest, situation, index + 1)
    return None if tail is None else [[situation.lexemes[index]], *tail]


def _last_stop(situation: Situation, index: int) -> int:
    """How far `...` may reach: to the piece at which reading stopped, behind it to the end of the line."""
    if index <= situation.at:
        return situation.at
    while not situation.lexemes[index].leads:
        index += 1
    return index


def _fits(item: str, lexeme: Lexeme) -> bool:
    choices = item.split("|") if item != "|" else [item]
    return any(_fits_one(choice, lexeme) for choice in choices)


def _fits_one(choice: str, lexeme: Lexeme) -> bool:
    match choice:
        case "WORD":
            return lexeme.kind is Kind.WORD
        case "NUMBER":
            return lexeme.kind is Kind.NUMBER
        case "STRING":
            return lexeme.kind is Kind.STRING
        case "NEXT":
            return lexeme.leads or lexeme.text == "}"
        case "ANY":
            return True
    return lexeme.text == choice


def _diagnostic(mistake: Mistake, situation: Situation, pieces: list[list[Lexeme]]) -> Diagnostic:
    exact = _blanks(situation, pieces)
    short = {name: _clip(text) for name, text in exact.items()}
    place = situation.found.span
    edit: Edit | None = None
    if mistake.fix is not None:
        edit = Edit(place, _fill(mistake.fix, exact))
    elif mistake.insert is not None:
        edit = Edit(Span(place.file, place.start, place.start), _fill(mistake.insert, exact))
    elif mistake.rewrite is not None:
        written = [piece for item, piece in zip(mistake.pattern.split(), pieces, strict=True) if item != "..."]
        edit = Edit(written[0][0].span.to(written[-1][0].span), _fill(mistake.rewrite, exact))
    wording = Wording(
        title=_fill(mistake.title, short),
        label=_fill(mistake.label, short),
        help=_fill(mistake.help, short),
        fix=edit,
    )
    return WORDED[mistake.code](place, wording)


def _blanks(situation: Situation, pieces: list[list[Lexeme]]) -> dict[str, str]:
    """What the sentences of an entry may quote."""
    found = situation.found.text
    blanks = {
        "found": found,
        "before": situation.before.text if situation.before else "",
        "inner": found.strip(_QUOTES),
        "plain": _plain(found),
    }
    for index, piece in enumerate(pieces):
        blanks[str(index)] = _written(piece)
    return blanks


def _written(piece: list[Lexeme]) -> str:
    """The pieces as they stand in the text, on one line."""
    if not piece:
        return ""
    text = piece[0].span.to(piece[-1].span).text
    return " ".join(lexeme.text for lexeme in piece) if "#" in text else " ".join(text.split())


def _plain(number: str) -> str:
    """A number with all its digits: ``1e-5`` is 0.00001 and ``.5`` is 0.5."""
    try:
        value = read_number(number.replace("_", ""))
    except ValueError:
        return number
    places = 0
    while (value * 10**places).denominator != 1 and places < LONGEST:
        places += 1
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    return digits[: len(digits) - places] + ("." + digits[len(digits) - places :] if places else "")


def _clip(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"


def _fill(template: str, blanks: Mapping[str, str]) -> str:
    """Fill in ``{found}`` and the like; doubled braces stand for braces."""
    return re.sub(
        r"\{\{|\}\}|\{(\w+)\}",
        lambda match: blanks[match.group(1)] if match.group(1) else match.group()[0],
        template,
    )
