"""A column as texts that are read back as the same values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.domain import Attribute
from fairdsl.ir.exact_rows import Column, Scaled, fractions_of


def column_texts(column: Column, attribute: Attribute) -> list[str]:
    """Values in the spec's words; numbers as decimals, exactly."""
    numbers = column.numerators if isinstance(column, Scaled) else column
    _, first, places = np.unique(numbers, return_index=True, return_inverse=True)
    distinct = fractions_of(column.at(first) if isinstance(column, Scaled) else column[first])
    texts = list(map(decimal_text if attribute.values is None else attribute.show, distinct))
    return [texts[place] for place in places.tolist()]


def decimal_text(number: Fraction) -> str:
    """The number as a decimal; raises ValueError for one such as 1/3, which has none."""
    whole = number.denominator
    twos = (whole & -whole).bit_length() - 1
    fives, left = 0, whole >> twos
    while left % 5 == 0:
        left, fives = left // 5, fives + 1
    if left != 1:
        raise ValueError(f"{number} has no end as a decimal")
    places = max(twos, fives)
    digits = str(abs(number.numerator) * 10**places // whole).rjust(places + 1, "0")
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if number < 0 else text
