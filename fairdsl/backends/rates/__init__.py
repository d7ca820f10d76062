"""Rates of groups by states: the model's residual, column by column, with the mass of every group carried along.

Classes are imported when they are asked for: what can be set is listed without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.backends.rates.encoding import PopulationJob
    from fairdsl.backends.rates.procedure import Rates

__all__ = ["PopulationJob", "Rates"]

_MODULES = {"PopulationJob": "encoding", "Rates": "procedure"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
