"""Numbers between two ends, as they cross from package to package."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fairdsl.ir.enclosure import Enclosure


def test_ends_in_the_wrong_order_are_refused() -> None:
    low, high = Enclosure(low=Fraction(1, 3), high=Fraction(1, 2))
    assert (low, high) == (Fraction(1, 3), Fraction(1, 2))
    with pytest.raises(ValueError, match="above the upper one"):
        Enclosure(low=Fraction(1, 2), high=Fraction(1, 3))
