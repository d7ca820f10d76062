"""What may stand at a place, in the language's own words."""

from __future__ import annotations

from functools import cache

from fairdsl.syntax.first_words import FIRST_WORDS
from fairdsl.syntax.situation import Situation
from fairdsl.syntax.tables import grammar

_OPERATORS = {"AND", "OR", "PLUS", "MINUS", "TIMES", "DIVIDE"}
_RELATIONS = {"EQ", "NE", "LT", "LE", "GT", "GE", "IN", "IS"}
_DESCRIBED = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in double quotes",
    "ATTRIBUTE": "an attribute such as `age : integer 18 .. 96`",
    "OUTCOME": "an outcome such as `grant when score > 0`",
    "NOT": "`not`",
    "ANY": "`any`",
    "EACH": "`each`",
    "PARAMETER": "the name of a number",
    "EACH_OF": "`each`",
    "APART": "`within`",
    "INFLUENCE": "`influence of`",
    "IS": "`is missing`",
    "SAME": "`same decision`",
    "CALLABLE": "`callable`",
    "SHA256": '`sha256 "..."`',
    "BINS_OF": "`bins of`",
    "TABLE": "`table`",
    "ZERO": "`0`",
    "$END": "the end of the file",
}
_DISTRIBUTION_HEAD = "a distribution such as `age : normal(40, 10)`"
#: What may stand in a body and begins with a name.
_NAMED = {
    "domain": _DESCRIBED["ATTRIBUTE"],
    "model": _DESCRIBED["OUTCOME"],
    "distribution": _DISTRIBUTION_HEAD,
}


@cache
def _spellings() -> dict[str, str]:
    """How each keyword and symbol is written."""
    return {terminal.name: terminal.pattern.value for terminal in grammar().terminals if terminal.pattern.type == "str"}


def known_clauses(body: str) -> list[str]:
    """All that a body is made of."""
    clauses = [f"`{word}`" for word in FIRST_WORDS[body]]
    return [*clauses, _NAMED[body]] if body in _NAMED else clauses


def expected_words(situation: Situation) -> list[str]:
    """A few phrases, the most useful first."""
    accepted = set(situation.accepts)
    phrases: list[str] = []
    if {"LPAR", "NOT", "NAME"} <= accepted:
        phrases.append("a condition such as `age >= 18`")
        accepted -= {"LPAR", "NOT", "NAME", "NUMBER", "STRING", "MINUS", "INFLUENCE", "RPAR"}
    elif {"LPAR", "NAME", "NUMBER"} <= accepted:
        phrases.append("a name, a number or a call")
        accepted -= {"LPAR", "NAME", "NUMBER", "STRING", "MINUS", "INFLUENCE"}
    if "NUMBER" in accepted:
        accepted -= {"MINUS", "PARAMETER"}
    if accepted >= _RELATIONS:
        phrases.append("a comparison such as `= 3`")
        accepted -= _RELATIONS
    if _OPERATORS - {"AND", "OR"} <= accepted or {"AND", "OR"} <= accepted:
        phrases.append("an operator such as `and`")
        accepted -= _OPERATORS | {"PERCENT", "DOT", "LPAR"}
    firsts = {word.upper() for word in situation.first_words()} | {word.upper() for word in FIRST_WORDS["file"]}
    next_statement = situation.complete and len(accepted & firsts) > 2
    if next_statement:
        accepted -= firsts | {"$END", "ATTRIBUTE", "OUTCOME", "APART"}
    phrases.extend(_describe(name, situation.body) for name in sorted(accepted, key=_rank))
    if next_statement:
        phrases.append(_next_statement(situation))
    return phrases[:6]


def _rank(terminal: str) -> tuple[bool, str]:
    """Words before symbols, so that `by` comes before `,`."""
    return (terminal not in _DESCRIBED and not _spellings()[terminal].isalpha(), terminal)


def _describe(terminal: str, body: str) -> str:
    if terminal == "$END" and body == "condition":
        return "the end of the condition"
    if terminal == "ATTRIBUTE" and body == "distribution":
        return _DISTRIBUTION_HEAD
    return _DESCRIBED.get(terminal) or f"`{_spellings()[terminal]}`"


def _next_statement(situation: Situation) -> str:
    match situation.body:
        case "property":
            return "a new clause such as `require`"
        case "domain":
            return "an attribute such as `age : integer 18 .. 96`"
        case "model" | "distribution":
            return f"a new clause of the {situation.body} or a new declaration"
    return "a new declaration such as `property`"
