"""From the text of a cell to the number that models read.

A category's value is written by its name, or by its code where no name can be taken for one; a boolean as ``true``,
``yes``, ``1`` or their opposites; numbers as decimals in ASCII digits. A whole number may carry a decimal point, as
programs write columns with gaps. Nothing is rounded: ``0.1`` is one tenth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from math import inf

from fairdsl.ir.domain import MISSING, Attribute, Boolean, Category, Integer, Real, show_number

#: ``digits * 10 ** exponent``.
Decimal = tuple[int, int]

_NUMBER = re.compile(r"([+-]?)(?:(\d+)\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
#: What somebody may take for a number: digits of any script, with whatever stands between them.
_LIKE_NUMBER = re.compile(r"[+-]?[\d.,'_\s]*\d[\d.,'_\s]*(?:[eE][+-]?\d+)?")
#: More characters than these stand in no number that somebody measured, nor in a float64 that is written out in full.
_LONGEST = 1_200
#: The blanks around a cell that mean nothing.
BLANKS = " \t"
#: What tables write, in lower case, where somebody has no value.
GAPS = frozenset({"", "?", "-", ".", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing"})
#: The words for the values of a boolean, in lower case.
BOOLEANS = {"true": 1, "yes": 1, "false": 0, "no": 0}


def decimal_of(text: str) -> Decimal | None:
    """The number that a text writes; None where it is not a decimal, or beyond what a float64 can be near to."""
    if len(text) > _LONGEST:
        return None
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    sign, whole, part, alone, exponent = found.groups()
    behind = (part or alone or "").rstrip("0")
    digits = int(f"{sign}{whole or ''}{behind}" if whole or behind else "0")
    power = (int(exponent) if exponent else 0) - len(behind)
    if power > 0 and float(text) in (inf, -inf):
        return None
    return digits, power


def blanks_apart(cells: Iterable[str]) -> dict[str, list[str]]:
    """The words that cells write in several ways, with these: they differ in the blanks around them alone.

    Whoever takes values from a table, and does not read it by a spec, counts them as one value and has to say so.
    """
    ways: dict[str, set[str]] = {}
    for cell in set(cells):
        ways.setdefault(cell.strip(BLANKS), set()).add(cell)
    return {
        word: sorted(written)
        for word, written in sorted(ways.items())
        if word and len(written) > 1 and decimal_of(word) is None
    }


def named_cells(attribute: Attribute) -> dict[str, int]:
    """The words for values, and the numbers that they stand for; of a boolean in lower case."""
    match attribute.known.type:
        case Category(values=values):
            return {value.name: value.code for value in values}
        case Boolean():
            return BOOLEANS
        case Integer() | Real():
            return {}


def is_lacking(text: str, attribute: Attribute) -> bool:
    """Whether a cell says that somebody has no value: it is empty, or the word for it."""
    if attribute.missing is None or text in named_cells(attribute):
        return False
    return text.strip(BLANKS) in ("", MISSING)


def code_cells(attribute: Attribute) -> bool:
    """Whether numbers are read as values.

    Of a category as codes: positions only where no name looks like a number, and written codes only where no name is
    the code of another value. Otherwise `2` might be the value of that name, or the one with that code.
    """
    kind = attribute.known.type
    if not isinstance(kind, Category):
        return True
    values = kind.values
    if not kind.coded:
        return not any(_LIKE_NUMBER.fullmatch(value.name) for value in values)
    codes = {Fraction(value.code): value for value in values}
    for value in values:
        number = decimal_of(value.name.strip(BLANKS))
        meant = None if number is None else codes.get(Fraction(number[0]) * Fraction(10) ** number[1])
        if meant is not None and meant is not value:
            return False
    return True


def cell_value(text: str, attribute: Attribute) -> Fraction | None:
    """The number that a text by itself stands for; None where it is not a value of the attribute."""
    if is_lacking(text, attribute):
        return attribute.missing
    named, stripped = named_cells(attribute), text.strip(BLANKS)
    word = stripped.lower() if isinstance(attribute.type, Boolean) else stripped
    code = named.get(text, named.get(word))
    if code is not None:
        return Fraction(code)
    number = decimal_of(stripped) if code_cells(attribute) else None
    if number is None:
        return None
    value = Fraction(number[0]) * Fraction(10) ** number[1]
    return value if attribute.known.contains(value) else None


def values_in_words(attribute: Attribute) -> str:
    """What the attribute's values are, for a message."""
    match attribute.known.type:
        case Category(values=values):
            shown = ", ".join(f"`{value.name}`" for value in values[:8])
            return shown if len(values) <= 8 else f"{shown} and {len(values) - 8} more"
        case Boolean():
            return "`true` and `false`"
        case Integer(low=low, high=high):
            return f"the whole numbers from {low} to {high}"
        case Real(low=low, high=high):
            least = "" if low is None else f" from {show_number(low)}"
            return f"numbers{least}{'' if high is None else f' to {show_number(high)}'}"
