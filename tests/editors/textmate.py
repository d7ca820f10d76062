"""The grammar of editors that colour by regular expressions (TextMate), made of the language's own.

Such a grammar knows no parser. But the language's grammar says which terminals can stand next to each other, and that
tells a keyword from a name that is spelled alike: `score` is a keyword before `=`, and behind `set` it never is.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache

from fairdsl.lsp.roles import ROLES
from fairdsl.syntax.onward import spelling
from fairdsl.syntax.pieces import Looks, kind_of
from fairdsl.syntax.tables import grammar

SCOPES = {
    Looks.DECLARATION: "storage.type.fair",
    Looks.KEYWORD: "keyword.control.fair",
    Looks.NAME: "variable.other.fair",
    Looks.NUMBER: "constant.numeric.fair",
    Looks.STRING: "string.quoted.double.fair",
    Looks.SYMBOL: "keyword.operator.fair",
    Looks.COMMENT: "comment.line.number-sign.fair",
}
#: The end of the text, beside the terminals.
END = "$END"


@cache
def neighbours() -> frozenset[tuple[str, str]]:
    """All pairs of terminals that can stand next to each other, and the last ones with :data:`END`."""
    rules = [(str(rule.origin.name), [str(one.name) for one in rule.expansion]) for rule in grammar().rules]
    origins = {origin for origin, _ in rules}
    empty: set[str] = set()
    while more := {o for o, parts in rules if all(part in empty for part in parts)} - empty:
        empty |= more
    first: defaultdict[str, set[str]] = defaultdict(set)
    last: defaultdict[str, set[str]] = defaultdict(set)
    changed = True
    while changed:
        changed = False
        for origin, parts in rules:
            for ends, order in ((first, parts), (last, parts[::-1])):
                for part in order:
                    new = (ends[part] if part in origins else {part}) - ends[origin]
                    changed = changed or bool(new)
                    ends[origin] |= new
                    if part not in empty:
                        break
    pairs: set[tuple[str, str]] = {(terminal, END) for terminal in last["start"]}
    for _, parts in rules:
        for at, part in enumerate(parts):
            for other in parts[at + 1 :]:
                left = last[part] if part in origins else {part}
                right = first[other] if other in origins else {other}
                pairs |= {(one, two) for one in left for two in right}
                if other not in empty:
                    break
    return frozenset(pairs)


@cache
def terminals() -> dict[str, list[str]]:
    """The words of the language with their terminals; several look ahead and share a word."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for terminal in grammar().terminals:
        word = spelling(terminal.name)
        if word is not None and word.isidentifier() and kind_of(terminal.name) in (Looks.KEYWORD, Looks.DECLARATION):
            found[word].append(terminal.name)
    return dict(found)


def keyword(word: str) -> str:
    """The expression for a word where it is a keyword, within what is seen of its line."""
    mine = terminals()[word]
    others = {one for pair in neighbours() for one in pair} - {END}
    before = {one for one in others if any((one, two) in neighbours() for two in mine)}
    after = {two for two in (*others, END) if any((one, two) in neighbours() for one in mine)}
    return rf"(?={word}\b)(?<![A-Za-z_])" + behind(before, others) + word + ahead(after)


@cache
def also_names() -> frozenset[str]:
    """The words that the language has as names, too: `favourable` in `rate(favourable given sick)`."""
    return frozenset(word for role in ROLES.values() for word in role.words())


def behind(before: set[str], others: set[str]) -> str:
    """What must not stand before: words that never do, unless they are names as well, and such symbols."""
    possible = {spelling(one) for one in before}
    never = sorted({word for one in others if (word := spelling(one)) is not None} - possible)
    parts = [rf"(?<!\b{word}\s)" for word in never if word.isidentifier() and word not in also_names()]
    for symbol in (each for each in never if not each.isalnum()):
        if any(each and len(each) > 1 and each.endswith(symbol) for each in possible):
            continue
        parts += [f"(?<!{re.escape(symbol)})", rf"(?<!{re.escape(symbol)}\s)"]
    return "".join(parts)


def ahead(after: set[str]) -> str:
    """What stands behind on the same line: one of these, a comment, or nothing."""
    ways = ["$", "#"]
    if any(kind_of(one) is Looks.NAME for one in after if one != END):
        ways.append("[A-Za-z_]")
    else:
        words = sorted({word for one in after if (word := spelling(one)) and word.isidentifier()})
        ways += [rf"(?:{'|'.join(words)})\b"] if words else []
    if after & {"NUMBER", "ZERO"}:
        ways.append("[0-9]")
    if "STRING" in after:
        ways.append('"')
    symbols = {word for one in after if one != END and (word := spelling(one)) and not word.isalnum()}
    # `=` alone, where `==` is a mistake and `=>` none of ours; `-` is no arrow, and `<` no `<=`.
    longer = {"-": "-(?!>)", "<": "<(?!=)", ">": ">(?!=)", ".": r"\.(?!\.)"}
    ways += [longer.get(symbol, re.escape(symbol)) for symbol in sorted(s for s in symbols if not s.isidentifier())]
    return rf"(?=\s*(?:{'|'.join(ways)}))"


def patterns() -> list[tuple[Looks, str]]:
    """The expressions, of which the first that matches earliest counts."""
    found = [(Looks.COMMENT, r"#.*$"), (Looks.STRING, r'"[^"\n]*"')]
    found += [(kind_of(terminals()[word][0]), keyword(word)) for word in sorted(terminals())]
    found.append((Looks.NAME, r"[A-Za-z_][A-Za-z0-9_]*"))
    found.append((Looks.NUMBER, r"[0-9]+(?:\.[0-9]+)?"))
    symbols = {word for one in grammar().terminals if (word := spelling(one.name)) and not word.isalnum()}
    longest = sorted((each for each in symbols if not each.isidentifier()), key=lambda each: (-len(each), each))
    found.append((Looks.SYMBOL, "|".join(map(re.escape, longest))))
    return found


def document() -> str:
    """The grammar as editors read it."""
    content = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "fairdsl",
        "scopeName": "source.fair",
        "fileTypes": ["fair"],
        "patterns": [{"name": SCOPES[looks], "match": expression} for looks, expression in patterns()],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
