"""The backends: one line each. Order matters where several can decide a question."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import getmembers, isclass
from types import MappingProxyType
from typing import cast

from fairdsl.backends.contract import Procedure
from fairdsl.options import Section

__all__ = ["BACKENDS", "PARTITIONING", "engine_of", "procedures", "sections"]

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
    "rates": ("fairdsl.backends.rates", "Rates"),
    "ssat": ("fairdsl.backends.ssat.procedure", "Ssat"),
    "masses": ("fairdsl.backends.masses.procedure", "Masses"),
}

#: The backend that answers a question partition by partition.
PARTITIONING = "smt"


def procedures() -> tuple[Procedure, ...]:
    """All procedures in registry order."""
    return tuple(cast(Procedure, getattr(import_module(module), name)()) for module, name in BACKENDS.values())


@cache
def sections() -> Mapping[str, type[Section]]:
    """What can be set for the backends, by section: the classes in the modules ``options`` of their folders."""
    found: dict[str, type[Section]] = {}
    for name in BACKENDS:
        if (files("fairdsl.backends") / name / "options.py").is_file():
            own = f"fairdsl.backends.{name}.options"
            classes = [one for _, one in getmembers(import_module(own), isclass) if one.__module__ == own]
            declared = [one for one in classes if issubclass(one, Section)]
            found |= {one.section: one for one in sorted(declared, key=lambda one: one.section != name)}
    return MappingProxyType(found)


def engine_of(section: type[Section]) -> str:
    """The backend that declares a section in its folder, and reads it."""
    return section.__module__.split(".")[2]
