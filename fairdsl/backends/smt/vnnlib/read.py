"""VNN-LIB files read back: variables, networks and assertions, with a place for each mistake.

    ; network: FILE.onnx                                            version 1.0: where the network is,
    (declare-const X_0 Real) .. (declare-const Y_0 Real) ..         inputs X, outputs Y
    ; f, g: FILE.onnx                                               version 2.0: where both copies are,
    (declare-network f (declare-input X real [1,n]) (declare-output Y real [1,m]))
    (declare-network g (equal-to f) (declare-input X2 real [1,n]) (declare-output Y2 real [1,m]))
    (assert FORMULA) ..

A formula has ``and``, ``or``, the relations ``<= >= < > ==``, sums, differences, products and decimals. That the
network's file stands in a comment is our own rule: the standard leaves it to the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from fairdsl.backends.smt.vnnlib.errors import not_vnnlib
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile, Span

__all__ = ["Copy", "Expression", "Query", "Word", "read_query"]

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")
_NETWORK = re.compile(r"^; (?:network|f, g): (?P<file>\S[^\n]*?)\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"(?P<letter>[XY])_(?P<index>[0-9]{1,9})")
_SHAPE = re.compile(r"\[1,(?P<width>[1-9][0-9]{0,8})\]")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
#: Deeper nesting than this is not a query.
_DEEPEST = 100

_COMMANDS = "commands are `declare-const`, `declare-network`, `vnnlib-version` and `assert`"
_TELL = "write the network's file in a comment: `; network: FILE.onnx`, or `; f, g: FILE.onnx` in version 2.0"
_CONST = "write `(declare-const X_0 Real)`, inputs X_0, X_1, .. and outputs Y_0, Y_1, .."
_COPY = "write `(declare-network f (declare-input X real [1,n]) (declare-output Y real [1,m]))`"


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text, and where it begins."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class List:
    """What stands between two parentheses, and where they are."""

    parts: tuple[Expression, ...]
    start: int
    end: int


Expression = Word | List


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of the network: the names of its inputs and outputs, in order."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query: the network's file, its copies, and what is asserted of their inputs and outputs."""

    source: SourceFile
    network: str
    copies: tuple[Copy, ...]
    assertions: tuple[Expression, ...]

    def refuse(self, part: Expression, what: str, instead: str) -> NoReturn:
        """DiagnosticError (E0624) at a part of the text."""
        _refuse(self.source, part, what, instead)


def read_query(text: str, path: str) -> Query:
    """The query in a text; raises DiagnosticError (E0624) for anything that is not one."""
    source = SourceFile(path, text)
    reading = _Reading(source)
    for command in _expressions(source):
        reading.command(command)
    named = _NETWORK.search(text)
    if named is None:
        raise DiagnosticError(not_vnnlib(path, "no comment says where its network is", None, _TELL))
    copies = reading.found()
    if not copies:
        raise DiagnosticError(not_vnnlib(path, "it declares no inputs and outputs", None, _CONST))
    return Query(source=source, network=named["file"], copies=copies, assertions=tuple(reading.assertions))


@dataclass
class _Reading:
    """The commands of a file, one by one."""

    source: SourceFile
    consts: dict[str, list[str]] = field(default_factory=lambda: {"X": [], "Y": []})
    copies: dict[str, Copy] = field(default_factory=dict)
    assertions: list[Expression] = field(default_factory=list)

    def command(self, command: Expression) -> None:
        """One command; E0624 for one that there is not."""
        match _head(command), command:
            case "vnnlib-version", List():
                pass
            case "assert", List(parts=(_, formula)):
                self.assertions.append(formula)
            case "declare-const", List(parts=(_, Word() as name, Word("Real"))):
                self._constant(name)
            case "declare-network", List(parts=(_, Word() as name, *declared)):
                self._network(name, declared)
            case _:
                _refuse(self.source, command, "this is not a command of VNN-LIB", _COMMANDS)

    def found(self) -> tuple[Copy, ...]:
        """The copies of the network, in order."""
        alone = Copy(tuple(self.consts["X"]), tuple(self.consts["Y"]))
        return (*self.copies.values(), *((alone,) if alone.inputs and alone.outputs else ()))

    def _constant(self, name: Word) -> None:
        match = _VARIABLE.fullmatch(name.text)
        if match is None or int(match["index"]) != len(self.consts[match["letter"]]):
            _refuse(self.source, name, "this is not the next input or output", _CONST)
        self.consts[match["letter"]].append(name.text)

    def _network(self, name: Word, declared: Sequence[Expression]) -> None:
        same = [part for part in declared if _head(part) == "equal-to"]
        match [part for part in declared if part not in same]:
            case [
                List(parts=(Word("declare-input"), Word() as inputs, Word("real"), Word() as wide)),
                List(parts=(Word("declare-output"), Word() as outputs, Word("real"), Word() as high)),
            ]:
                self.copies[name.text] = Copy(self._tensor(inputs, wide), self._tensor(outputs, high))
            case _:
                _refuse(self.source, name, "this network is declared in another way than is read here", _COPY)
        if len(same) != (len(self.copies) > 1):
            _refuse(self.source, name, "a second network is `equal-to` the first one", _COPY)

    def _tensor(self, name: Word, shape: Word) -> tuple[str, ...]:
        match = _SHAPE.fullmatch(shape.text)
        if match is None or not _NAME.fullmatch(name.text):
            _refuse(self.source, shape, "this is not a row of numbers", _COPY)
        return tuple(f"{name.text}[0,{index}]" for index in range(int(match["width"])))


def _head(part: Expression) -> str:
    """The first word of a list; nothing of anything else."""
    match part:
        case List(parts=(Word(text), *_)):
            return text
    return ""


def _expressions(source: SourceFile) -> Iterator[Expression]:
    """The commands of the text; E0624 where the parentheses do not match."""
    stack: list[tuple[int, list[Expression]]] = [(0, [])]
    for match in _TOKEN.finditer(source.text):
        token, start = match[0], match.start()
        if token.startswith(";"):
            continue
        if token == "(":
            stack.append((start, []))
            if len(stack) > _DEEPEST:
                _refuse(source, Word(token, start), "nothing nests this deeply", _COMMANDS)
        elif token == ")":
            if len(stack) == 1:
                _refuse(source, Word(token, start), "no parenthesis is open here", _COMMANDS)
            opened, parts = stack.pop()
            stack[-1][1].append(List(tuple(parts), opened, match.end()))
        else:
            stack[-1][1].append(Word(token, start))
    if len(stack) > 1:
        _refuse(source, Word("(", stack[-1][0]), "this parenthesis is never closed", _COMMANDS)
    yield from stack[0][1]


def _refuse(source: SourceFile, part: Expression, what: str, instead: str) -> NoReturn:
    end = part.end if isinstance(part, List) else part.start + len(part.text)
    raise DiagnosticError(not_vnnlib(source.path, what, Span(source, part.start, end), instead))
