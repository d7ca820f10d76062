"""The backends: one line each. Order matters where several can decide a question."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from fairdsl.backends.contract import Procedure

__all__ = ["BACKENDS", "PARTITIONING", "procedures"]

#: Name -> module and class of each procedure, exact ones first. Modules are imported when asked for.
BACKENDS: dict[str, tuple[str, str]] = {
    "search": ("fairdsl.backends.search", "Search"),
    "enumerate": ("fairdsl.backends.enumerate", "Enumerate"),
    "leaf_boxes": ("fairdsl.backends.leaf_boxes", "LeafBoxes"),
    "smt": ("fairdsl.backends.smt", "Smt"),
    "intervals": ("fairdsl.backends.intervals", "Intervals"),
    "rows": ("fairdsl.backends.rows", "OverRows"),
    "sampling": ("fairdsl.backends.sampling", "Sampling"),
    "subset_sum": ("fairdsl.backends.subset_sum.procedure", "SubsetSum"),
    "ssat": ("fairdsl.backends.ssat.procedure", "Ssat"),
    "masses": ("fairdsl.backends.masses.procedure", "Masses"),
}

#: The backend that answers a question partition by partition.
PARTITIONING = "smt"


def procedures() -> tuple[Procedure, ...]:
    """All procedures in registry order."""
    return tuple(cast(Procedure, getattr(import_module(module), name)()) for module, name in BACKENDS.values())
