"""Bounds and best-first refinement: how large a part of a domain is certainly treated fairly.

Classes are imported when they are asked for: what can be set is listed without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.backends.intervals.encoding import IntervalJob
    from fairdsl.backends.intervals.procedure import Intervals
    from fairdsl.backends.intervals.splits import FAIR, HALVED, UNFAIR, Splits, Splitting, splittings_of

__all__ = [
    "FAIR",
    "HALVED",
    "UNFAIR",
    "IntervalJob",
    "Intervals",
    "Splits",
    "Splitting",
    "splittings_of",
]

_MODULES = {
    "IntervalJob": "encoding",
    "Intervals": "procedure",
    **dict.fromkeys(("FAIR", "HALVED", "UNFAIR", "Splits", "Splitting", "splittings_of"), "splits"),
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
