"""VNN-LIB files read back: variables, networks and assertions, with a place for each mistake.

    ; network: FILE.onnx                                            version 1.0: where the network is,
    (declare-const X_0 Real) .. (declare-const Y_0 Real) ..         inputs X, outputs Y
    ; f, g: FILE.onnx                                               version 2.0: where both copies are,
    (declare-network f (declare-input X real [1,n]) (declare-output Y real [1,m]))
    (declare-network g (equal-to f) (declare-input X2 real [1,n]) (declare-output Y2 real [1,m]))
    (assert FORMULA) ..

A formula has ``and``, ``or``, the relations ``<= >= < > == !=``, sums, differences, products and decimals. A network
has one input and one output, of any shape. That the network's file stands in a comment is our own rule: the standard
leaves it to the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import NoReturn

from fairdsl.backends.smt.vnnlib.errors import not_vnnlib
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile, Span

#: Comments, parentheses, a name with indices or a shape by itself, in which blanks mean nothing, and other words.
_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();\[\]]*\[[0-9, \t]*\]|[^\s();]+")
_NETWORK = re.compile(r"^; (?:network|f, g): (?P<file>\S[^\n]*?)\s*$", re.MULTILINE)
_VARIABLE = re.compile(r"(?P<letter>[XY])_(?P<index>[0-9]{1,9})")
_SHAPE = re.compile(r"\[(?:[1-9][0-9]{0,8}(?:,[1-9][0-9]{0,8})*)?\]")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_VERSION = re.compile(r"<2\.[0-9]{1,4}>")
#: More elements than this are not the input of a network that is solved here.
_MOST = 1 << 20
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
    """A declared network: the names of its inputs and outputs, in order.

    ``tensors`` are its input and its output as they are declared, the name and the shape; none in version 1.0. ``like``
    is the name of the network that it is equal to.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str = ""
    like: str | None = None
    tensors: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query: the network's file, where a comment names it, its copies, and what is asserted of them."""

    source: SourceFile
    network: str | None
    copies: tuple[Copy, ...]
    assertions: tuple[Expression, ...]

    def refuse(self, part: Expression, what: str, instead: str) -> NoReturn:
        """DiagnosticError (E0624) at a part of the text."""
        _refuse(self.source, part, what, instead)


def read_query(text: str, path: str) -> Query:
    """The query in a text; raises DiagnosticError (E0624) for anything that is not one."""
    query = read_declared(text, path)
    if query.network is None:
        raise DiagnosticError(not_vnnlib(path, "no comment says where its network is", None, _TELL))
    if any(copy.like != query.copies[0].name for copy in query.copies[1:]):
        raise DiagnosticError(not_vnnlib(path, "a second network is `equal-to` the first one", None, _COPY))
    return query


def read_declared(text: str, path: str) -> Query:
    """The same of a query whose networks are named elsewhere."""
    source = SourceFile(path, text)
    reading = _Reading(source)
    for command in _expressions(source):
        reading.command(command)
    named = _NETWORK.search(text)
    copies = reading.found()
    if not copies:
        raise DiagnosticError(not_vnnlib(path, "it declares no inputs and outputs", None, _CONST))
    file = None if named is None else named["file"]
    return Query(source=source, network=file, copies=copies, assertions=tuple(reading.assertions))


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
            case "vnnlib-version", List(parts=(_, Word(version))) if _VERSION.fullmatch(version):
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
        if name.text in self.copies or not _NAME.fullmatch(name.text):
            _refuse(self.source, name, "this is not the name of a new network", _COPY)
        relations = [part for part in declared if _head(part) in ("equal-to", "isomorphic-to")]
        like = self._like(relations)
        match [part for part in declared if part not in relations]:
            case [
                List(parts=(Word("declare-input"), Word() as inputs, Word() as first, Word() as wide)),
                List(parts=(Word("declare-output"), Word() as outputs, Word() as second, Word() as high)),
            ]:
                for kind in (first, second):
                    if kind.text.lower() != "real":
                        what = f"nothing is proved here about the arithmetic of `{kind.text}`"
                        _refuse(self.source, kind, what, "write `real` where an answer about real numbers will do")
                self.copies[name.text] = Copy(
                    self._tensor(inputs, wide),
                    self._tensor(outputs, high),
                    name.text,
                    like,
                    ((inputs.text, wide.text), (outputs.text, high.text)),
                )
            case _:
                _refuse(self.source, name, "this network is declared in another way than is read here", _COPY)

    def _like(self, relations: Sequence[Expression]) -> str | None:
        """The network that this one is equal to; one that has the same shape has a file of its own."""
        if not relations:
            return None
        match relations[0]:
            case List(parts=(Word(relation), Word(other))) if len(relations) == 1 and other in self.copies:
                if self.copies[other].like is None:
                    return other if relation == "equal-to" else None
        return _refuse(self.source, relations[0], "it is like no network that stands by itself above", _COPY)

    def _tensor(self, name: Word, shape: Word) -> tuple[str, ...]:
        """The names of its elements, in row-major order."""
        sizes = [int(size) for size in re.findall("[0-9]+", shape.text)]
        if not _SHAPE.fullmatch(shape.text) or not _NAME.fullmatch(name.text) or prod(sizes) > _MOST:
            _refuse(self.source, shape, "this is not a tensor of numbers", _COPY)
        if any(name.text == tensor for copy in self.copies.values() for tensor, _ in copy.tensors):
            _refuse(self.source, name, "another tensor has this name", _COPY)
        if not sizes:
            return (name.text,)
        return tuple(f"{name.text}[{','.join(map(str, place))}]" for place in product(*map(range, sizes)))


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
            stack[-1][1].append(Word("".join(token.split()), start))
    if len(stack) > 1:
        _refuse(source, Word("(", stack[-1][0]), "this parenthesis is never closed", _COMMANDS)
    yield from stack[0][1]


def _refuse(source: SourceFile, part: Expression, what: str, instead: str) -> NoReturn:
    end = part.end if isinstance(part, List) else part.start + len(part.text)
    raise DiagnosticError(not_vnnlib(source.path, what, Span(source, part.start, end), instead))
