"""Second opinions: solvers of others are asked what `check` has answered (docs/solver-files.md#second-opinions)."""

from fairdsl.second_opinions.ask import with_opinions
from fairdsl.second_opinions.solvers import Solver, solvers_of

__all__ = ["Solver", "solvers_of", "with_opinions"]
