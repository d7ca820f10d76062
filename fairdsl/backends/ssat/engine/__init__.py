"""The embedded solver of stochastic satisfiability: exact, for any prefix, and with bounds when the budget ends.

formula.py    normal clauses, weights, definitions          ordering.py   which variables separate a formula
residual.py   propagation and components, with the proofs   cache.py      values of components
search.py     decisions                                     engine.py     a whole question
"""

from __future__ import annotations

from fairdsl.backends.ssat.engine.engine import Engine
from fairdsl.backends.ssat.engine.search import Solution, Statistics

__all__ = ["Engine", "Solution", "Statistics"]
