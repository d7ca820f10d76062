"""Networks in BIF: one variable an attribute, one state a cell.

A state is named like a value of the attribute, or like a range of it: ``[25, 45)``, ``[45, 75]``, ``(-inf, 25)``,
``18 .. 24``; or a property of the variable says what it stands for, as fairdsl writes it. ``table`` is read of
variables without parents only: files differ in the order of its numbers where there are some.

The words of a BIF file, and its blocks.

Words are separated by blanks; the signs ``{ } ( ) [ ] | , ;`` and texts in double quotes stand for themselves.
Comments are ``// ...`` and ``/* ... */``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

from fairdsl.data.cells import cell_value, values_in_words
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real
from fairdsl.ir.population import Cell, CellIndex, Inside, Network, Row
from fairdsl.numerics.cells import points
from fairdsl.populations import errors
from fairdsl.populations.bif_write import PARTIAL
from fairdsl.populations.network_factors import ReadFactor, assembled, column_named
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.source import SourceFile, Span
from fairdsl.source.numbers import TooLongError, read_number

_WORD = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"]*"|[{}()\[\]|,;]|[^\s{}()\[\]|,;"]+', re.DOTALL)
HELP = "write it as BIF 0.15 does: `network`, `variable` and `probability` blocks with statements that end in `;`"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place."""

    text: str
    span: Span


#: The words up to a ``;``, without it.
Statement = Sequence[Word]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """``kind head { statements }``."""

    kind: Word
    head: Sequence[Word]
    statements: Sequence[Statement]


def blocks(source: SourceFile) -> Iterator[Block]:
    """All blocks; raises DiagnosticError (E0574) where the text does not consist of blocks."""
    words = iter(_words(source))
    for kind in words:
        head = _head(words, kind)
        yield Block(kind=kind, head=head, statements=_statements(words, kind))


def _words(source: SourceFile) -> list[Word]:
    found: list[Word] = []
    end = 0
    for match in _WORD.finditer(source.text):
        if source.text[end : match.start()].strip():
            break
        end = match.end()
        if not match.group().startswith(("//", "/*")):
            found.append(Word(match.group(), Span(source, match.start(), match.end())))
    rest = source.text[end:]
    if rest.strip():
        place = end + len(rest) - len(rest.lstrip())
        raise _unreadable(Span(source, place, place + 1), "a text that is not closed")
    if not found:
        raise DiagnosticError(errors.network_not_read(source.path, "the file is empty", None, HELP))
    return found


def _head(words: Iterator[Word], kind: Word) -> list[Word]:
    """The words before the next ``{``, which is taken as well."""
    found: list[Word] = []
    for word in words:
        if word.text == "{":
            return found
        found.append(word)
    raise _unreadable(kind.span, "no block follows")


def _statements(words: Iterator[Word], kind: Word) -> list[Statement]:
    """Up to the ``}`` that closes the block; braces inside a statement come in pairs."""
    found: list[Statement] = []
    statement: list[Word] = []
    depth = 0
    for word in words:
        if word.text == "}" and depth == 0:
            if statement:
                raise _unreadable(statement[0].span, "no `;` ends this")
            return found
        depth += {"{": 1, "}": -1}.get(word.text, 0)
        if word.text == ";" and depth == 0:
            found.append(statement)
            statement = []
        else:
            statement.append(word)
    raise _unreadable(kind.span, "no `}` closes this block")


def _unreadable(span: Span, reason: str) -> DiagnosticError:
    return DiagnosticError(errors.network_not_read(span.file.path, reason, span, HELP))


_RANGE = re.compile(r"(uniform )?([\[(])\s*([^,\s]+)\s*,\s*([^,\s]+)\s*([\])])")
_WHOLE_RANGE = re.compile(r"(uniform )?(-?\d{1,16})\s*\.\.\s*(-?\d{1,16})", re.ASCII)

#: So many combinations are filled with a default at most.
_MOST = 1_000_000


def network_of_bif(distribution: CheckedDistribution, source: SourceFile) -> Network:
    """The network; raises DiagnosticError (E0572, E0574, E0575)."""
    return _Reader(distribution, source).network()


class _Reader:
    """One file: the states of the variables first, then the distributions, whichever order they stand in."""

    def __init__(self, distribution: CheckedDistribution, source: SourceFile) -> None:
        self._distribution = distribution
        self._path = source.path
        self._blocks = list(blocks(source))
        self._cells: dict[int, tuple[Cell, ...]] = {}
        self._states: dict[int, dict[str, CellIndex]] = {}
        self._partial = False

    def network(self) -> Network:
        """All parts together."""
        for block in self._blocks:
            if block.kind.text == "variable":
                self._variable(block)
            elif block.kind.text == "network":
                self._partial = any(line[-1].text.strip('"') == PARTIAL for line in block.statements if line)
            elif block.kind.text != "probability":
                raise self._unreadable(block.kind.span, f"`{block.kind.text[:20]}` is not a kind of block")
        factors: dict[int, ReadFactor] = {}
        for block in self._blocks:
            if block.kind.text == "probability":
                place, factor = self._factor(block)
                if place in factors:
                    raise self._unreadable(block.kind.span, "a second distribution of the same variable")
                factors[place] = factor
        how = f"read from {self._path}"
        return assembled(self._distribution, self._path, self._cells, factors, how=how)

    # ---- variables ---------------------------------------------------------------------------

    def _variable(self, block: Block) -> None:
        place = self._place(block.head[0] if block.head else block.kind)
        if place in self._cells:
            raise self._unreadable(block.head[0].span, "a second variable of this name")
        attribute = self._distribution.columns[place]
        types = [(line, found) for line in block.statements if (found := _state_names(line)) is not None]
        if len(types) != 1:
            raise self._unreadable(block.kind.span, "not one line `type discrete [ n ] { states };`")
        ((line, names),) = types
        meant: dict[str, str] = {}
        for said in block.statements:
            state, text = _meaning(said) or ("", "")
            if meant.setdefault(state, text) != text:
                raise self._unreadable(said[1].span, f"a second meaning of the state `{state[:40]}`")
        cells: list[Cell] = []
        for word in names:
            name = word.text.strip('"')
            cell = _cell(meant.get(name, name), attribute)
            if cell is None or any(_overlap(cell, other) for other in cells):
                raise self._misfit(
                    word.span, f"this is not a value of `{attribute.name}`, or not one of its own", attribute
                )
            cells.append(cell)
        if isinstance(attribute.type, Category | Boolean) and len(cells) < len(attribute.values or ()):
            raise self._misfit(block.head[0].span, f"values of `{attribute.name}` have no state", attribute)
        self._states[place] = {word.text.strip('"'): index for index, word in enumerate(names)}
        if line[3].text != str(len(names)) or len(self._states[place]) < len(names):
            raise self._unreadable(block.kind.span, f"another number of states than the {len(names)} that are listed")
        self._cells[place] = tuple(cells)

    def _place(self, word: Word) -> int:
        name = word.text.strip('"')
        place = column_named(self._distribution, name)
        if place is None:
            known = ", ".join(f"`{attribute.name}`" for attribute in self._distribution.columns[:12])
            reason = f"`{self._distribution.name}` does not range over `{name[:40]}`"
            help_text = f"take the variable out of the network; the columns are {known}"
            raise DiagnosticError(errors.network_does_not_fit(self._path, reason, word.span, help_text))
        other = next((each.name for each in self._distribution.columns if each.column == name != each.name), None)
        if self._distribution.columns[place].name == name and other is not None:
            reason = f"`{name}` is an attribute, and `{other}` is in the column `{name}` of data"
            help_text = "rename the attributes, so that no name is another one's column"
            raise DiagnosticError(errors.network_does_not_fit(self._path, reason, word.span, help_text))
        return place

    # ---- distributions --------------------------------------------------------------------------------

    def _factor(self, block: Block) -> tuple[int, ReadFactor]:
        names = [word for word in block.head if word.text not in ("(", ")", "|", ",")]
        if not names:
            raise self._unreadable(block.kind.span, "no variable is named")
        place, *parents = (self._place(word) for word in names)
        unknown = next(
            (word for word, known in zip(names, (place, *parents), strict=True) if known not in self._cells), None
        )
        if unknown is not None:
            raise self._unreadable(unknown.span, "a distribution of a variable that is not declared")
        rows: dict[tuple[CellIndex, ...], Row] = {}
        default: Row | None = None
        for line in block.statements:
            if not line or line[0].text == "property":
                continue
            if line[0].text == "default":
                if default is not None:
                    raise self._unreadable(line[0].span, "a second default")
                default = self._numbers(line[1:])
            else:
                key, row = self._row(line, parents)
                if key in rows:
                    raise self._unreadable(line[0].span, "a second distribution for the same values")
                rows[key] = row
        self._complete(rows, default, names[0].span, parents)
        return place, ReadFactor(parents=tuple(parents), rows=rows, span=names[0].span)

    def _complete(
        self, rows: dict[tuple[CellIndex, ...], Row], default: Row | None, span: Span, parents: Sequence[int]
    ) -> None:
        """Every combination of the parents' values has a distribution, the default's where it has no other."""
        lacking = prod(len(self._cells[parent]) for parent in parents) - len(rows)
        if default is not None and lacking <= _MOST:
            for key in product(*(range(len(self._cells[parent])) for parent in parents)):
                rows.setdefault(key, default)
        elif lacking and not self._partial:
            reason = (
                f"{lacking:,} combination{'s' if lacking > 1 else ''} of its parents' values without a distribution"
            )
            help_text = f'write a row for each, or `property "{PARTIAL}" ;` in the `network` block'
            raise DiagnosticError(errors.network_does_not_fit(self._path, reason, span, help_text))

    def _row(self, line: Statement, parents: Sequence[int]) -> tuple[tuple[CellIndex, ...], Row]:
        """``table numbers``, or ``( values of the parents ) numbers``."""
        first = line[0]
        if first.text == "table":
            if parents:
                raise self._unreadable(first.span, "the order of a table's numbers differs between tools")
            return (), self._numbers(line[1:])
        closing = next((number for number, word in enumerate(line) if word.text == ")"), None)
        if first.text != "(" or closing is None:
            raise self._unreadable(first.span, "neither `table` nor values in brackets")
        values = [word for word in line[1:closing] if word.text != ","]
        if len(values) != len(parents):
            raise self._unreadable(first.span, f"{len(values)} values for {len(parents)} parents")
        key: list[CellIndex] = []
        for word, parent in zip(values, parents, strict=True):
            index = self._states[parent].get(word.text.strip('"'))
            if index is None:
                raise self._unreadable(word.span, f"no state of `{self._distribution.columns[parent].name}`")
            key.append(index)
        return tuple(key), self._numbers(line[closing + 1 :])

    def _numbers(self, words: Statement) -> tuple[Fraction, ...]:
        numbers: list[Fraction] = []
        for word in words:
            if word.text == ",":
                continue
            try:
                numbers.append(read_number(word.text))
            except TooLongError as error:
                raise self._unreadable(word.span, f"{error} is not read") from error
            except ValueError as error:
                raise self._unreadable(word.span, "this is not a probability") from error
        return tuple(numbers)

    # ---- mistakes ----------------------------------------------------------------------------

    def _unreadable(self, span: Span, reason: str) -> DiagnosticError:
        return DiagnosticError(errors.network_not_read(self._path, reason, span, HELP))

    def _misfit(self, span: Span, reason: str, attribute: Attribute) -> DiagnosticError:
        help_text = f"its values are {values_in_words(attribute)}; " + (
            "a range of numbers is written as [25, 45)"
            if isinstance(attribute.type, Integer | Real)
            else 'a value of several words is the state `s0` with a line `property "s0 = the value" ;`'
        )
        return DiagnosticError(errors.network_does_not_fit(self._path, reason, span, help_text))


def _state_names(line: Statement) -> list[Word] | None:
    """``type discrete [ 2 ] { no, yes }``."""
    texts = [word.text for word in line]
    if texts[:2] != ["type", "discrete"] or "{" not in texts or texts[-1] != "}":
        return None
    return [word for word in line[texts.index("{") + 1 : -1] if word.text != ","]


def _meaning(line: Statement) -> tuple[str, str] | None:
    """``property "s0 = [18, 25)"``: the state and the cell that it stands for."""
    if len(line) != 2 or line[0].text != "property" or " = " not in line[1].text:
        return None
    state, text = line[1].text.strip('"').split(" = ", 1)
    return state, text.replace("%22", '"').replace("%25", "%")


def _cell(text: str, attribute: Attribute) -> Cell | None:
    """The value or range of values that a state stands for; None where it is neither."""
    value = cell_value(text, attribute)
    if value is not None:
        return points([value])[0]
    if not isinstance(attribute.type, Integer | Real):
        return None
    least, most = attribute.bounds
    cell = _whole_range(text) if isinstance(attribute.type, Integer) else _range(text)
    low = cell is not None and (least is None or (cell.low is not None and cell.low >= least))
    high = cell is not None and (most is None or (cell.high is not None and cell.high <= most))
    return cell if low and high else None


def _whole_range(text: str) -> Cell | None:
    """``18 .. 24``, or what :func:`_range` reads, of whole numbers: both ends included."""
    match = _WHOLE_RANGE.fullmatch(text)
    if match is not None:
        return _between(Fraction(match[2]), Fraction(match[3]), bool(match[1]))
    cell = _range(text)
    if cell is None or cell.low is None or cell.high is None or cell.low.denominator * cell.high.denominator != 1:
        return None
    return _between(cell.low, cell.high - 1 if cell.open else cell.high, cell.inside is Inside.UNIFORM)


def _between(low: Fraction, high: Fraction, uniform: bool) -> Cell | None:
    inside = Inside.POINT if low == high else Inside.UNIFORM if uniform else Inside.UNKNOWN
    return Cell(low=low, high=high, inside=inside) if low <= high else None


def _range(text: str) -> Cell | None:
    """``[25, 45)``, ``[45, 75]``, ``(-inf, 25)``; an open lower end only where there is none."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return None
    uniform, left, first, last, right = match.groups()
    low = None if first == "-inf" else _fraction(first)
    high = None if last == "inf" else _fraction(last)
    if (low is None) != (first == "-inf") or (high is None) != (last == "inf") or (left == "(") != (low is None):
        return None
    if low is not None and high is not None and low >= high:
        return None
    inside = Inside.UNIFORM if uniform else Inside.UNKNOWN
    return Cell(low=low, high=high, open=right == ")" and high is not None, inside=inside)


def _fraction(text: str) -> Fraction | None:
    try:
        return read_number(text)
    except ValueError:
        return None


def _overlap(one: Cell, other: Cell) -> bool:
    """Whether the two have a value in common."""
    return not (one.ends_before(other) or other.ends_before(one))
