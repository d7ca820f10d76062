"""The embedded solver of stochastic satisfiability: exact, for any prefix, and with bounds when the budget ends.

formula.py    normal clauses, weights, definitions
residual.py   propagation and components, with the proofs
search.py     decisions, and values of components
trace.py      a search as a circuit, for instances that differ in probabilities alone
engine.py     which variables separate a formula, and whole questions
"""

from __future__ import annotations

from fairdsl.backends.ssat.engine.engine import Engine, Known
from fairdsl.backends.ssat.engine.search import Solution, Statistics

__all__ = ["Engine", "Known", "Solution", "Statistics"]
