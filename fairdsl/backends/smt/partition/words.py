"""The values of an attribute that a partition has, in the spec's words."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.ir.domain import Attribute
from fairdsl.numerics.narrow import Finite, ValueSet

__all__ = ["values_in_words"]


def values_in_words(attribute: Attribute, values: ValueSet) -> str:
    """``18 .. 27``, or a single value; for categories, and for numbers with gaps, a list. Nothing stands for no end."""
    if isinstance(values, Finite) and not isinstance(values.values, range):
        return ", ".join(attribute.show(Fraction(value)) for value in values.values)
    low, high = ("" if end is None else attribute.show(end) for end in (values.low, values.high))
    return low if low == high else f"{low} .. {high}"
