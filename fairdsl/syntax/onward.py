"""How a text may go on where it ends: the words that fit there, and what a name in that place would be.

The parser itself says both. What it accepts is in its table; and of a name, the text is finished in the shortest way
behind it, so that the name hangs in a tree, in a field of a class, as any other name does.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

from lark import Token
from lark.exceptions import UnexpectedInput
from lark.parsers.lalr_analysis import Shift
from lark.parsers.lalr_interactive_parser import InteractiveParser

from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.build import TreeBuilder
from fairdsl.syntax.patch import Patched
from fairdsl.syntax.recover import reached
from fairdsl.syntax.situation import Situation
from fairdsl.syntax.tables import grammar, keywords
from fairdsl.syntax.trivia import read_trivia

#: What represents a name that is not written yet.
PLACEHOLDER = "x__"
#: Terminals that are names, each of another kind; whatever hangs in the tree shows what they are names of.
_NAMES = ("NAME", "PARAMETER")
#: How what is written with a pattern may be written where a text is finished.
_WRITTEN = {"NUMBER": "1", "STRING": '""', "ATTRIBUTE": "x_", "OUTCOME": "x_"}
#: Words that are themselves only before another one.
_AHEAD = {"same": "decision", "is": "missing", "influence": f"of {PLACEHOLDER}", "bins": f"of {PLACEHOLDER}"}
#: A distance before its attribute.
_WITHIN = re.compile(r"\bwithin\s+\S+\s*\Z")
#: The word before the end, and whether it is the first on its line.
_LAST_WORD = re.compile(r"(?P<leads>(?:^|\n)[ \t]*)?(?P<word>[A-Za-z_][A-Za-z0-9_]*)[ \t]*\Z")
#: States that are looked at before finishing is given up.
_MOST_STATES = 5_000


@cache
def spelling(terminal: str) -> str | None:
    """The word or symbol that a terminal is; None where it is a pattern of many words."""
    pattern = next((each.pattern for each in grammar().terminals if each.name == terminal), None)
    if pattern is None:
        return None
    if pattern.type == "str":
        return str(pattern.value)
    word = re.match(r"[a-z0-9]+(?![a-z0-9]*\])", pattern.value)
    return word.group() if word else None


class Onward:
    """What may follow a text. ``situation`` says in which body and statement it ends."""

    def __init__(self, file: SourceFile, parser: InteractiveParser, situation: Situation, patched: Patched) -> None:
        self.situation = situation
        self._file, self._parser, self._patched = file, parser, patched

    @property
    def terminals(self) -> frozenset[str]:
        """The terminals that may come next."""
        return self.situation.accepts

    def words(self) -> list[str]:
        """The words of the language that may come next."""
        spelled = {word for name in self.terminals if (word := spelling(name)) and word.isidentifier()}
        return sorted(spelled)

    def with_name(self) -> Iterator[tree.Spec]:
        """The tree of the text with :data:`PLACEHOLDER` behind it, for each way in which a name may stand there."""
        for terminal in _NAMES:
            if terminal in self.terminals:
                spec = self._with(terminal)
                if spec is not None:
                    yield spec

    def _with(self, terminal: str) -> tree.Spec | None:
        state = self._parser.parser_state.copy(deepcopy_values=False)
        state.value_stack[:] = [_shallow(value) for value in state.value_stack]
        end = len(self._patched.text)
        original = [*self._patched.original]
        conf = state.parse_conf
        way = _finishing(conf, _after(conf.states, tuple(state.state_stack), terminal))
        if way is None:
            return None
        try:
            for name in (terminal, *way):
                text = PLACEHOLDER if name == terminal and end == len(self._patched.text) else _written(name)
                state.feed_token(Token(name, text, start_pos=end, end_pos=end + len(text)))
                end += len(text) + 1
            original += [len(self._file.text)] * (end - len(self._patched.text) + 1)
            branch = state.feed_token(Token("$END", "", start_pos=end, end_pos=end), is_end=True)
        except UnexpectedInput:
            return None
        return TreeBuilder(self._file, original, read_trivia(self._file)).spec(branch)


def onward(file: SourceFile) -> Onward | None:
    """What may follow the text, whose mistakes before its last statement are passed over; None where that is not known.

    The text ends where a word may begin.
    """
    before = _LAST_WORD.search(file.text)
    word = "" if before is None else before["word"]
    behind = f"in {PLACEHOLDER}" if _WITHIN.search(file.text) else _AHEAD.get(word, PLACEHOLDER)
    found = reached(file, f" {behind}")
    leads = before is not None and before["leads"] is not None and word not in keywords()
    if found is not None and leads and found[1].body == "model":
        # A word that leads a line of a model is an outcome, if what decides it follows.
        found = reached(file, f" when {PLACEHOLDER}") or found
    return None if found is None else Onward(file, *found)


def _written(terminal: str) -> str:
    return _WRITTEN.get(terminal) or spelling(terminal) or "x_"


def _shallow(value: Any) -> Any:
    """A branch whose children may grow without those of the original."""
    return value if isinstance(value, Token) else type(value)(value.data, list(value.children))


def _after(states: Any, stack: tuple[int, ...], terminal: str) -> tuple[int, ...] | None:
    """The parser's stack behind a terminal; None where it does not fit."""
    held = list(stack)
    while terminal in states[held[-1]]:
        action, argument = states[held[-1]][terminal]
        if action is Shift:
            return (*held, argument)
        if argument.expansion:
            del held[-len(argument.expansion) :]
        held.append(states[held[-1]][argument.origin.name][1])
        if terminal == "$END" and held[-1] == _end_state():
            return tuple(held)
    return None


@cache
def _end_state() -> int:
    state: int = grammar().parser.parser._parse_table.end_states["start"]
    return state


def _finishing(conf: Any, stack: tuple[int, ...] | None) -> list[str] | None:
    """The terminals that end the text from here, few of them: what closes most comes first."""
    if stack is None:
        return None
    number = count()
    waiting = [(len(stack), next(number), stack, ())]
    seen = {stack}
    ways: tuple[str, ...]
    while waiting and len(seen) < _MOST_STATES:
        _, _, stack, ways = heapq.heappop(waiting)
        if _after(conf.states, stack, "$END") is not None:
            return list(ways)
        for terminal in conf.states[stack[-1]]:
            if not terminal.isupper() or terminal == "$END":
                continue
            following = _after(conf.states, stack, terminal)
            if following is not None and following not in seen:
                seen.add(following)
                heapq.heappush(waiting, (len(following) + len(ways), next(number), following, (*ways, terminal)))
    return None
