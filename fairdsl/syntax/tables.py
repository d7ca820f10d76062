"""The parser's tables: read from a file that travels with the grammar, for building them takes 150 to 300 ms.

The file is JSON, which holds numbers and texts and nothing that runs. It says which grammar and which version of Lark
it was made from; where either is another one the tables are built anew, in memory.
`pytest --accept tests/syntax/test_tables.py` writes it.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from fairdsl.resources import grammar_file, text_of
from fairdsl.syntax.lexer import SoftKeywordLexer

_OPTIONS: dict[str, Any] = {
    "parser": "lalr",
    "propagate_positions": False,
    "maybe_placeholders": False,
    "start": ["start", "lone_condition"],
}
#: What the lexer is called in the file, which names no class.
_LEXER = "SoftKeywordLexer"
#: What a step of the table is that reads a token; the others reduce by a rule.
_SHIFT = 0


@cache
def grammar() -> Lark:
    """The parser of `.fair` files (`start`) and of conditions by themselves (`lone_condition`)."""
    text = _text("fair.lark")
    tables = json.loads(_text("fair.tables.json"))
    return _read(tables) if tables["made_from"] == _made_from(text) else built(text)


@cache
def keywords() -> frozenset[str]:
    """The words that the language uses itself."""
    patterns = (terminal.pattern for terminal in grammar().terminals)
    return frozenset(pattern.value for pattern in patterns if pattern.type == "str" and pattern.value.isidentifier())


def built(text: str) -> Lark:
    """The parser, made from the grammar itself."""
    return Lark(text, lexer=SoftKeywordLexer, **_OPTIONS)


def tables_of(text: str) -> str:
    """The file of tables for a grammar."""
    data, memo = built(text).memo_serialize([TerminalDef, Rule])
    data["options"]["lexer"] = data["parser"]["lexer_conf"]["lexer_type"] = _LEXER
    data["parser"]["parser"] = _numbered(data["parser"]["parser"])
    content = {"made_from": _made_from(text), "data": data, "memo": list(memo.values())}
    return json.dumps(content, separators=(",", ":")).replace("],[[", "],\n[[").replace('"},{"', '"},\n{"') + "\n"


def _numbered(table: dict[str, Any]) -> dict[str, Any]:
    """The table, its states numbered as they are reached: Lark numbers them in another order in every process."""
    named = {
        state: sorted((table["tokens"][token], step) for token, step in actions.items())
        for state, actions in table["states"].items()
    }
    order = list(dict.fromkeys(state for _, state in sorted(table["start_states"].items())))
    for state in order:  # which grows
        order += [follower for _, (kind, follower) in named[state] if kind == _SHIFT and follower not in order]
    number = {state: place for place, state in enumerate(order)}
    tokens = sorted(table["tokens"].values())
    place = {name: index for index, name in enumerate(tokens)}
    states = [
        [[place[token], kind, number[step] if kind == _SHIFT else step["@"]] for token, (kind, step) in named[state]]
        for state in order
    ]
    starts, ends = (
        {name: number[state] for name, state in sorted(table[key].items())} for key in ("start_states", "end_states")
    )
    return {"tokens": tokens, "states": states, "start_states": starts, "end_states": ends}


def _read(tables: dict[str, Any]) -> Lark:
    """The parser of a file of tables."""
    data = tables["data"]
    data["options"]["lexer"] = data["parser"]["lexer_conf"]["lexer_type"] = SoftKeywordLexer
    table = data["parser"]["parser"]
    table["states"] = {
        number: {token: (kind, step if kind == _SHIFT else {"@": step}) for token, kind, step in actions}
        for number, actions in enumerate(table["states"])
    }
    parser: Lark = Lark._load_from_dict(data, dict(enumerate(tables["memo"])))  # type: ignore[no-untyped-call]
    return parser


def _made_from(text: str) -> dict[str, str]:
    return {"grammar": hashlib.sha256(f"{_OPTIONS}\n{text}".encode()).hexdigest(), "lark": lark.__version__}


def _text(name: str) -> str:
    return text_of(grammar_file(name))
