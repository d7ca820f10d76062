"""Group metrics as stochastic satisfiability, in files that are written, solved and read back (docs/ssat.md).

The procedure is imported when it is asked for: solvers' processes and `fairdsl solve` use what lies below it alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.backends.ssat.procedure import Ssat

__all__ = ["Ssat"]


def __getattr__(name: str) -> Any:
    if name != "Ssat":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fairdsl.backends.ssat import procedure

    return procedure.Ssat
