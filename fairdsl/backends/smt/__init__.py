"""Satisfiability modulo linear arithmetic: bounds first, then z3 on what they leave; SMT-LIB and VNN-LIB files.

Classes are imported when they are asked for: what can be set is listed without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.backends.smt.encoding import SmtLib
    from fairdsl.backends.smt.milp.box import Boxes
    from fairdsl.backends.smt.milp.certificate import Leaf, OrderSplit, PhaseSplit, Tree, ValueSplit
    from fairdsl.backends.smt.milp.program import Unit
    from fairdsl.backends.smt.procedure import Smt
    from fairdsl.backends.smt.vacuity import compares_nobody
    from fairdsl.backends.smt.vnnlib.encoding import VnnLib
    from fairdsl.backends.smt.vnnlib.verify import Satisfiability, Verified, verify_query

__all__ = [
    "Boxes",
    "Leaf",
    "OrderSplit",
    "PhaseSplit",
    "Satisfiability",
    "Smt",
    "SmtLib",
    "Tree",
    "Unit",
    "ValueSplit",
    "Verified",
    "VnnLib",
    "compares_nobody",
    "verify_query",
]

_MODULES = {
    "Boxes": "milp.box",
    **dict.fromkeys(("Leaf", "OrderSplit", "PhaseSplit", "Tree", "ValueSplit"), "milp.certificate"),
    "Unit": "milp.program",
    "SmtLib": "encoding",
    "Smt": "procedure",
    "VnnLib": "vnnlib.encoding",
    "compares_nobody": "vacuity",
    "Satisfiability": "vnnlib.verify",
    "Verified": "vnnlib.verify",
    "verify_query": "vnnlib.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
