"""The cells of a column as exact numbers: each distinct text is read once, and all of them in one way.

The cells of a category are names, or codes, never some of each: a file in which `1` is sometimes a name and
sometimes a position says of nobody for sure which value is meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from fairdsl.data.cells import BLANKS, Decimal, code_cells, decimal_of, is_lacking, named_cells
from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real
from fairdsl.ir.exact_rows import Column, Scaled

BoolArray = NDArray[np.bool_]

#: Integers up to it are float64 numbers.
_EVERY = 2**53
_NOTHING: Decimal = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadColumn:
    """The numbers of a column, and which rows ``fit``: the others have a cell that is not a value.

    ``wrong`` says how many rows have each text that is not a value, in the order of the file. ``mixed``: some of these
    are codes, in a column of names.
    """

    numbers: Column
    fit: BoolArray
    wrong: Mapping[str, int]
    mixed: bool = False


def read_column(cells: Sequence[str], attribute: Attribute) -> ReadColumn:
    """The column of an attribute."""
    texts = list(dict.fromkeys(cells))
    place = {text: number for number, text in enumerate(texts)}
    rows = np.fromiter(map(place.__getitem__, cells), dtype=np.intp, count=len(cells))
    lacking = {text for text in texts if is_lacking(text, attribute)}
    written = [text for text in texts if text not in lacking]
    missing = _NOTHING if attribute.missing is None else (int(attribute.missing), 0)
    attribute = attribute.known
    read: dict[str, Decimal] = {text: (code, 0) for text, code in _named(written, attribute).items()}
    by_name = bool(read) and isinstance(attribute.type, Category)
    if by_name and len(read) < len(written) and code_cells(attribute):
        by_name = not _are_codes(written, attribute)
    if not by_name and code_cells(attribute):
        read = _decimals(written) | read
    numbers = _assembled([missing if text in lacking else read.get(text, _NOTHING) for text in texts])
    fits = _values(numbers, attribute)
    if len(read) < len(texts):
        fits &= np.fromiter((text in read for text in texts), dtype=np.bool_, count=len(texts))
    fits |= np.fromiter((text in lacking for text in texts), dtype=np.bool_, count=len(texts))
    wrong: dict[str, int] = {}
    if not fits.all():
        counts = np.bincount(rows, minlength=len(texts)).tolist()
        wrong = {text: counts[number] for number, text in enumerate(texts) if not fits[number]}
    column = _as_floats(numbers)
    return ReadColumn(
        numbers=column.at(rows) if isinstance(column, Scaled) else column[rows],
        fit=fits[rows],
        wrong=wrong,
        mixed=by_name and code_cells(attribute) and _has_codes(wrong, attribute),
    )


def _named(texts: Iterable[str], attribute: Attribute) -> dict[str, int]:
    """The texts that are words for values."""
    named = named_cells(attribute)
    if not named:
        return {}
    lower = isinstance(attribute.type, Boolean)
    found: dict[str, int] = {}
    for text in texts:
        stripped = text.strip(BLANKS)
        # Blanks around a cell mean nothing, unless a quoted name begins or ends with some.
        code = named.get(text, named.get(stripped.lower() if lower else stripped))
        if code is not None:
            found[text] = code
    return found


def _decimals(texts: Iterable[str]) -> dict[str, Decimal]:
    read = ((text, decimal_of(text.strip(BLANKS))) for text in texts)
    return {text: number for text, number in read if number is not None}


def _are_codes(texts: Sequence[str], attribute: Attribute) -> bool:
    """Whether each text is the code of a value: of some a name may be it as well, and then it is the same value's."""
    decimals = _decimals(texts)
    return len(decimals) == len(texts) and bool(_values(_assembled(list(decimals.values())), attribute).all())


def _has_codes(texts: Iterable[str], attribute: Attribute) -> bool:
    """Whether some text would be a value in a column of codes."""
    numbers = list(_decimals(texts).values())
    return bool(numbers) and bool(_values(_assembled(numbers), attribute).any())


def _assembled(decimals: Sequence[Decimal]) -> Scaled:
    """The numbers over one power of ten."""
    places = max((-power for _, power in decimals), default=0)
    places = max(0, places)
    scale = {power: 10 ** (places + power) for power in {power for _, power in decimals}}
    return Scaled.of_integers([digits * scale[power] for digits, power in decimals], 10**places)


def _values(numbers: Scaled, attribute: Attribute) -> BoolArray:
    """Which numbers stand for values of the attribute."""
    found, unit = numbers.numerators, numbers.denominator
    match attribute.type:
        case Category(values=values):
            fits = np.isin(found, Scaled.of_integers([value.code * unit for value in values], unit).numerators)
        case Boolean():
            fits = (found == 0) | (found == unit)
        case Integer(low=low, high=high):
            fits = (found >= low * unit) & (found <= high * unit) & (found % unit == 0)
        case Real(low=low, high=high):
            fits = np.ones(len(found), dtype=np.bool_)
            if low is not None:
                fits &= _array(found >= ceil(low * unit))
            if high is not None:
                fits &= _array(found <= floor(high * unit))
    return _array(fits)


def _array(marks: object) -> BoolArray:
    return np.asarray(marks, dtype=np.bool_)


def _as_floats(numbers: Scaled) -> Column:
    """The column as float64, where each of its numbers is one."""
    found, unit = numbers.numerators, numbers.denominator
    if found.dtype != object and bool(np.all(np.abs(found) <= _EVERY)):
        # A part of a power of ten is a float64 number if the fives of its denominator cancel.
        fives = 5 ** (len(str(unit)) - 1)
        exact = unit == 1 or (fives <= _EVERY and bool(np.all(found % fives == 0))) or not found.any()
        return numbers.floats if exact else numbers
    floats = numbers.floats
    pairs = zip(floats.tolist(), found.tolist(), strict=True)
    return floats if all(Fraction(near) * unit == number for near, number in pairs) else numbers
