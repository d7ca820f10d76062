"""What the cells of a column say about an attribute: its type and range, or why it is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, log10

from fairdsl.data.cells import BLANKS, GAPS, blanks_apart, decimal_of
from fairdsl.drafting.words import can_be_quoted, in_comment, listed, names_for
from fairdsl.ir.domain import Boolean, Category, CategoryValue, Integer, Real, Type, show_number
from fairdsl.source.names import value_text

#: How a table leaves a cell out, in the language.
_LEFT_OUT = frozenset({"", "missing"})
_TRUTHS = ({"0", "1"}, {"true", "false"}, {"yes", "no"})
#: Values that a category has at most, and rows that each of them has at least, on the average.
_MANY, _ROWS_EACH = 100, 2
#: Whole numbers in a range no wider are kept as they occur.
_NARROW = 20
#: Numbers with no more different values than these, and gaps between them, may be codes.
_CODES = 8
#: Bounds and codes are at most so large in the language.
_LARGEST = 2**53
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}[./]\d\d?[./]\d\d?")
#: A number as spreadsheets write it: decimal commas, separators of thousands, currencies.
_CURRENCY = r"(?:[€$£¥]|EUR|USD|GBP|CHF)"
_SPREADSHEET = re.compile(
    rf"{_CURRENCY}?\s*[+-]?\s*(?:[0-9]+|[0-9]{{1,3}}(?:[.,'\s][0-9]{{3}})+)(?:[.,][0-9]+)?\s*{_CURRENCY}?"
)
_KEY = re.compile(r"(^|[^a-z])(id|nr|no|number|index|key|uuid|unnamed: \d+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table, and the attribute that it becomes.

    ``type`` is None where it becomes none, and ``why`` says why; else ``why`` says how the type was chosen, and may be
    empty. ``cells`` are the texts without blanks around them, ``written`` those with them, ``numbers`` the numbers that
    they write where all do; ``gaps`` are the rows without one in a column of numbers that may be missing, ``quartiles``
    those of its numbers.
    """

    header: str
    name: str
    cells: tuple[str, ...]
    type: Type | None
    why: str
    written: tuple[str, ...] = ()
    numbers: tuple[Fraction, ...] | None = None
    gaps: int = 0
    quartiles: tuple[Fraction, ...] = ()

    @property
    def values(self) -> list[str]:
        """The different cells, sorted."""
        return sorted(set(self.cells))

    @property
    def numeric(self) -> bool:
        """Whether it is a number with a range."""
        return isinstance(self.type, Integer | Real)


def columns_of(headers: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Column]:
    """Every column of a table, in its order; ``cells`` is [columns][rows]."""
    times = Counter(headers)
    found: list[Column] = []
    earlier: dict[tuple[str, ...], str] = {}
    for header, name, texts in zip(headers, names_for(headers), cells, strict=True):
        stripped = tuple(text.strip(BLANKS) for text in texts)
        column = _typed(Column(header=header, name=name, cells=stripped, type=None, why="", written=tuple(texts)))
        if isinstance(column.type, Category):
            column = replace(column, why="; ".join(filter(None, (column.why, *_ways(texts)))))
        if times[header] > 1:
            column = replace(column, type=None, why="several columns have this header")
        elif not header or not can_be_quoted(header):
            column = replace(column, type=None, why="its header cannot be written in a spec: rename it")
        elif column.type is not None and stripped in earlier:
            column = replace(column, type=None, why=f"its cells are those of {in_comment(earlier[stripped])}")
        earlier.setdefault(stripped, header)
        found.append(column)
    return found


def _ways(texts: Sequence[str]) -> Iterator[str]:
    """What is said of names that are written in several ways: with blanks, or in capitals."""
    if merged := blanks_apart(texts):
        yield f"blanks around cells mean nothing: {listed(way for each in merged.values() for way in each)}"
    alike: dict[str, set[str]] = {}
    for text in set(texts):
        alike.setdefault(text.strip(BLANKS).lower(), set()).add(text.strip(BLANKS))
    if apart := sorted(way for each in alike.values() if len(each) > 1 for way in each):
        yield f"different values, which differ in capitals alone: {listed(apart)}"


def known_columns(columns: Sequence[Column]) -> list[Column]:
    """Those that become attributes."""
    return [column for column in columns if column.type is not None]


def declared_type(column: Column) -> str:
    """The type as the language writes it, with the header where that is not the name."""
    lacking = " or missing" if column.gaps else ""
    match column.type:
        case Category(values=values):
            text = f"category {{ {', '.join(value_text(value.name) for value in values)} }}"
        case Boolean():
            text = "boolean"
        case Integer(low=low, high=high):
            text = f"integer {low} .. {high}"
        case Real(low=Fraction() as low, high=Fraction() as high):
            text = f"real {show_number(low)} .. {show_number(high)}"
        case _:
            raise ValueError(f"{column.name} is not an attribute")
    return text + lacking + ("" if column.header == column.name else f' column "{column.header}"')


def _typed(column: Column) -> Column:
    counted = Counter(column.cells)
    gaps = {text: rows for text, rows in counted.items() if text.lower() in GAPS}
    present = [text for text in counted if text not in gaps]
    numbers = {text: Fraction(read[0]) * Fraction(10) ** read[1] for text in present if (read := decimal_of(text))}
    if not present:
        return replace(column, why="no row has a value")
    if len(counted) == 1:
        return replace(column, why=f"every row has the same value, {in_comment(present[0])}")
    signs = sorted(text for text in present if text not in numbers)
    if signs and all(map(_SPREADSHEET.fullmatch, signs)):
        what = f"numbers with decimal commas, separators or currencies ({listed(signs, 2)})"
        return replace(column, why=f"{what}: write them as plain decimals, `1234.5`")
    if len(numbers) < len(present):
        return _named(column, counted)
    if gaps:
        lacking = f"{sum(gaps.values()):,} of {len(column.cells):,} rows have no number ({listed(sorted(gaps))})"
        return _with_gaps(column, numbers, gaps, lacking)
    return _numbered(replace(column, numbers=tuple(map(numbers.__getitem__, column.cells))))


def _with_gaps(column: Column, numbers: Mapping[str, Fraction], gaps: Mapping[str, int], lacking: str) -> Column:
    """A column of numbers that some rows do not have: it may be missing where the table says so as tables do."""
    known = tuple(numbers[cell] for cell in column.cells if cell in numbers)
    if len(set(known)) < 2:
        return replace(column, why=f"{lacking}, and all others the same")
    found = _numbered(replace(column, numbers=known, cells=tuple(cell for cell in column.cells if cell in numbers)))
    if isinstance(found.type, Boolean):  # which has no room for those who lack it
        found = replace(found, type=Integer(low=0, high=1))
    if not isinstance(found.type, Integer | Real):
        return replace(column, why=f"{lacking}: fill them in or leave these rows out, then add it")
    if set(gaps) - _LEFT_OUT:
        return replace(column, why=f"{lacking}: leave these cells empty, and write `or missing` behind its type")
    why = f"{lacking}; {found.why}" if found.why else lacking
    ordered = sorted(known)
    quartiles = sorted({ordered[len(ordered) * part // 4] for part in (1, 2, 3)} - {ordered[0]})
    return replace(column, type=found.type, gaps=sum(gaps.values()), quartiles=tuple(quartiles), why=why)


def by_names(column: Column) -> Column:
    """A column of a few numbers that some rows do not have, its cells taken for names; the column as it is else."""
    counted = Counter(column.cells)
    return _named(replace(column, gaps=0, quartiles=()), counted) if len(counted) <= _CODES else column


def as_written(column: Column) -> Column:
    """A column with its cells as names, whatever they look like, and the blanks around them: as a model of texts is
    given it. The column as it is where it cannot be a category.
    """
    cells = tuple(text if text.strip(BLANKS) else "" for text in column.written)
    plain = replace(column, cells=cells, type=None, why="", numbers=None, gaps=0, quartiles=())
    found = _category(plain, Counter(cells))
    return column if found.type is None else found


def with_blanks(column: Column) -> Column:
    """A column of names with the blanks around them, as a model may know them; any other column as it is."""
    return as_written(column) if isinstance(column.type, Category) and column.written != column.cells else column


def _named(column: Column, counted: Counter[str]) -> Column:
    """A column of texts."""
    if {value.lower() for value in counted} in _TRUTHS:
        return replace(column, type=Boolean())
    return _category(column, counted)


def _category(column: Column, counted: Counter[str]) -> Column:
    """A column whose texts are names."""
    values = sorted(counted)
    if sum(_DATE.fullmatch(value) is not None for value in values) > len(values) / 2:
        return replace(column, why=f"dates ({listed(values, 2)}): write what counts as a number, an age or a year")
    if len(values) > _MANY or len(column.cells) < _ROWS_EACH * len(values):
        what = f"texts with {len(values):,} different values ({listed(values, 2)})"
        return replace(column, why=f"{what}: too many for a category")
    unwritable = [value for value in values if not can_be_quoted(value.strip(" "))]
    if unwritable:
        return replace(column, why=f"a value has a quote or a control character in it ({listed(unwritable, 2)})")
    gaps = [f"{in_comment(value)} in {counted[value]:,} rows" for value in values if value.lower() in GAPS]
    type_ = Category(
        values=tuple(CategoryValue(name=value, code=code) for code, value in enumerate(values)), coded=False
    )
    return replace(column, type=type_, why=f"not known: {', '.join(gaps)}" if gaps else "")


def _numbered(column: Column) -> Column:
    """A column of numbers."""
    numbers = column.numbers or ()
    low, high = min(numbers), max(numbers)
    if set(column.cells) == {"0", "1"}:
        return replace(column, type=Boolean())
    if max(abs(low), abs(high)) > _LARGEST:
        return replace(column, why="numbers beyond 2^53, which look like keys")
    whole = all(number.denominator == 1 for number in numbers)
    if whole and len(set(numbers)) == len(numbers) and _is_key(column, high - low):
        return replace(column, why="a number of its own for every row, which looks like a key")
    if whole:
        ends = (low, high) if high - low <= _NARROW else _rounded(low, high, Fraction(1))
        type_: Type = Integer(low=int(ends[0]), high=int(ends[1]))
    else:
        ends = _rounded(low, high, Fraction(0))
        type_ = Real(low=ends[0], high=ends[1])
    return replace(column, type=type_, why=_seen(numbers, ends))


def _seen(numbers: Sequence[Fraction], ends: tuple[Fraction, Fraction]) -> str:
    """What was seen, where the range says more."""
    values = sorted(set(numbers))
    if len(values) <= _CODES and len(values) <= values[-1] - values[0]:
        named = f"{{ NAME = {show_number(values[0])}, ... }}"
        return f"only {', '.join(map(show_number, values))} in the rows: if these are codes, write `category {named}`"
    if (values[0], values[-1]) == ends:
        return ""
    return f"{show_number(values[0])} .. {show_number(values[-1])} in the rows"


def _is_key(column: Column, width: Fraction) -> bool:
    """Whether different whole numbers number the rows."""
    return _KEY.search(column.header) is not None or (len(column.cells) > _NARROW and width == len(column.cells) - 1)


def _rounded(low: Fraction, high: Fraction, least: Fraction) -> tuple[Fraction, Fraction]:
    """A range with round ends around what was seen: ends are moved by less than a tenth of its width or so."""
    step = max(Fraction(10) ** floor(log10(high - low)) / 2, least)
    bottom, top = floor(low / step) * step, ceil(high / step) * step
    return (max(bottom, Fraction(0)) if low >= 0 else bottom), top
