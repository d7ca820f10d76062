"""Estimated shares: a random sample of units as large as the precision that is asked for needs.

Who draws people is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairdsl.backends.sampling.procedure import Sampling

if TYPE_CHECKING:
    from fairdsl.backends.sampling.people import OpenInsideError, People

__all__ = ["OpenInsideError", "People", "Sampling"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fairdsl.backends.sampling import people

    return getattr(people, name)
