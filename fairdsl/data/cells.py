"""From the text of a cell to the number that models read.

A category's value is written by its name or, failing that, by its code; a boolean as ``true``, ``yes``, ``1``
or their opposites, in any case; numbers as decimals. A whole number may carry a decimal point, as programs
write columns with gaps.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import isfinite

from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real, show_number

__all__ = ["cell_value", "values_in_words"]

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_TRUTH = {"true": 1, "yes": 1, "false": 0, "no": 0}
#: More digits than these stand in no number that somebody measured, and would take time to read.
_LONGEST = 400


def cell_value(text: str, attribute: Attribute) -> float | None:
    """The number for the cell, the nearest float64 to what is written; None where it is no value of the attribute."""
    written, text = text, text.strip()
    match attribute.type:
        case Category(values=values):
            codes = {value.name: value.code for value in values}
            # Blanks around a cell mean nothing, unless a quoted name begins or ends with some.
            code = codes.get(written, codes.get(text))
            if code is not None:
                return float(code)
        case Boolean():
            if text.casefold() in _TRUTH:
                return float(_TRUTH[text.casefold()])
        case Integer() | Real():
            pass
    if len(text) > _LONGEST or not _NUMBER.fullmatch(text):
        return None
    # Exactly as it is written: the nearest float of 0.1 lies beyond a bound of 0.1.
    number = Fraction(text)
    if not attribute.contains(number):
        return None
    nearest = float(text)
    return nearest if isfinite(nearest) else None


def values_in_words(attribute: Attribute) -> str:
    """What the attribute's values are, for a message."""
    match attribute.type:
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
