"""Satisfiability modulo linear arithmetic: bounds first, then z3 on what they leave; SMT-LIB files."""

from fairdsl.backends.smt.encoding import SmtLib
from fairdsl.backends.smt.engine import Z3
from fairdsl.backends.smt.procedure import Smt

__all__ = ["Z3", "Smt", "SmtLib"]
