"""Solvers that others wrote, as second opinions and for what the embedded one does not get through.

Each adapter keeps the rules that were found out about its solver: what it is asked, how its numbers are read, and
how far they may be wrong.
"""

from fairdsl.backends.ssat.solvers.adapters import available, solver_of
from fairdsl.backends.ssat.solvers.ask import Found, external_value

__all__ = ["Found", "available", "external_value", "solver_of"]
