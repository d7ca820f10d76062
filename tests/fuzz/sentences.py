"""Specs that the grammar itself makes up: every sentence of it can come, however odd."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from random import Random
from typing import Any

from fairdsl.syntax.tables import grammar

__all__ = ["sentence"]

_NAMES = (
    *(
        "a",
        "b",
        "A",
        "sex",
        "age",
        "vip",
        "f",
        "m",
        "yes",
        "no",
        "score",
        "class",
        "probability",
        "label",
        "u",
        "not",
        "in",
    ),
    *(
        "abs",
        "min",
        "max",
        "parity_gap",
        "impact_ratio",
        "predictive_gap",
        "fair_share",
        "normal",
        "any",
    ),
)
_NUMBERS = ("0", "1", "2", "18", "90", "0.5", "100", "0.001", "99999999999999999999999999", "80", "7.25", "3" * 1300)
_TEXTS = ('"a.csv"', '"x"', '""', '"=cmd|1"', '"m.onnx"', '"# no comment"', '"\u2028"')
_BETWEEN = (" ", " ", " ", " ", "\n", "\n", "\n  ", "", " # remark\n", "\n## doc\n", "## doc\n", "\t", "\r\n")
#: Terminals that patterns with looks ahead stand for.
_PATTERNS = {
    "ANY": "any",
    "EACH_OF": "each",
    "APART": "within",
    "NOT": "not",
    "CALLABLE": "callable",
    "INFLUENCE": "influence",
}


@cache
def _grammar() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    rules: dict[str, list[Any]] = defaultdict(list)
    for rule in grammar().rules:
        rules[str(rule.origin.name)].append(rule.expansion)
    return rules, {terminal.name: terminal.pattern for terminal in grammar().terminals}


@cache
def _least() -> dict[str, int]:
    """How deep the shallowest derivation of each rule is."""
    rules, _ = _grammar()
    found: dict[str, int] = {}
    for _ in range(len(rules) + 1):
        for name, expansions in rules.items():
            found[name] = min((_depth(expansion, found) for expansion in expansions), default=999)
    return found


def _depth(expansion: Any, known: dict[str, int]) -> int:
    return 1 + max((0 if symbol.is_term else known.get(str(symbol.name), 999) for symbol in expansion), default=0)


def sentence(random: Random, deepest: int = 30) -> bytes:
    """A text that the grammar derives, but for the blanks and comments between its words."""
    rules, patterns = _grammar()
    written: list[str] = []
    waiting: list[tuple[str, bool, int]] = [("start", False, 0)]
    while waiting and len(written) < 400:
        name, terminal, depth = waiting.pop()
        if terminal:
            written += [_word(name, patterns, random), random.choice(_BETWEEN)]
            continue
        expansions = rules[name]
        if depth >= deepest:
            least = min(_depth(expansion, _least()) for expansion in expansions)
            expansions = [expansion for expansion in expansions if _depth(expansion, _least()) == least]
        chosen = random.choice(expansions)
        waiting.extend((str(symbol.name), symbol.is_term, depth + 1) for symbol in reversed(chosen))
    return "".join(written).encode()


def _word(name: str, patterns: dict[str, Any], random: Random) -> str:
    pattern = patterns[name]
    if pattern.type == "str":
        return str(pattern.value)
    match name:
        case "NUMBER":
            return random.choice(_NUMBERS)
        case "STRING":
            return random.choice(_TEXTS)
    return _PATTERNS.get(name) or random.choice(_NAMES)
