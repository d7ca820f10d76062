"""How many random examples a test draws."""

from __future__ import annotations

from hypothesis import settings


def examples(share: float) -> int:
    """A share of the profile's examples, so that a nightly run draws more of everything."""
    return max(1, round(share * settings.default.max_examples))
