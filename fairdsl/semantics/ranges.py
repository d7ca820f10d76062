"""Ranges that are written in another unit than the numbers that stand in them, as far as that can be seen: W0819.

The language has no units. What can be seen is a range of which nearly everything is empty, or that hardly anybody is
in: months beside years, percent beside shares, single ones beside thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Attribute, show_number
from fairdsl.ir.population import Normal
from fairdsl.semantics import errors
from fairdsl.source import Span

#: How many times as far as all numbers an end is that may be in another unit. Of the steps between units that tables
#: mix, months in a year is the smallest; shares are small by themselves, and their other unit is percent.
_STEP, _OF_SHARES = 12, 100
#: Standard deviations beyond which there is hardly anybody, and the part of a range that somebody is in at least.
_REACH, _PART = 6, Fraction(1, 20)


def beside_rows(attribute: Attribute, numbers: tuple[Fraction, Fraction], population: str) -> Iterator[Diagnostic]:
    """What is to be said of an attribute's range beside the least and the greatest number in the rows of a table."""
    end = max((abs(bound) for bound in attribute.known.bounds if bound is not None), default=Fraction(0))
    largest = max(map(abs, numbers))
    if attribute.span is not None and 0 < largest * (_OF_SHARES if end <= 1 else _STEP) <= end:
        seen = " .. ".join(map(show_number, numbers))
        yield errors.another_unit(
            f"the range of `{attribute.name}`", attribute.span, f"the rows of `{population}` have {seen}"
        )


def beside_normals(
    what: str, span: Span, low: Fraction, high: Fraction, normals: Sequence[Normal]
) -> Iterator[Diagnostic]:
    """What is to be said of a range beside the normal distributions that fill it."""
    ends = [(normal.mean - _REACH * normal.sd, normal.mean + _REACH * normal.sd) for normal in normals]
    filled = max((min(high, last) - max(low, first) for first, last in ends), default=high - low)
    if filled < _PART * (high - low):
        means = ", ".join(dict.fromkeys(show_number(normal.mean) for normal in normals))
        yield errors.another_unit(what, span, f"the numbers are around {means}")
