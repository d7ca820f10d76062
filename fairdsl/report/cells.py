"""Values of attributes as reports hold them: names, truth values, whole numbers and reals."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real
from fairdsl.report.model import Cell

__all__ = ["cell_of"]


def cell_of(attribute: Attribute, value: Fraction) -> Cell:
    """The value as the spec would write it."""
    match attribute.type:
        case Boolean():
            return bool(value)
        case Integer():
            return int(value)
        case Category():
            return attribute.show(value)
        case Real():
            return value
