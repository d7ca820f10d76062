"""Satisfiability modulo linear arithmetic: bounds first, then z3 on what they leave; SMT-LIB and VNN-LIB files."""

from fairdsl.backends.smt.encoding import SmtLib
from fairdsl.backends.smt.procedure import Smt
from fairdsl.backends.smt.vnnlib.encoding import VnnLib

__all__ = ["Smt", "SmtLib", "VnnLib"]
