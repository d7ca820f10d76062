"""The backends: one line each. Order matters where several can decide a question."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from fairdsl.backends.contract import Procedure
from fairdsl.backends.solver_files import Encoding

__all__ = ["BACKENDS", "ENCODINGS", "PARTITIONING", "encodings", "formats_of", "procedures"]

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

#: ``--to`` name -> module and class of each encoding.
ENCODINGS: dict[str, tuple[str, str]] = {
    "smtlib": ("fairdsl.backends.smt", "SmtLib"),
    "vnnlib": ("fairdsl.backends.smt", "VnnLib"),
    "interval-job": ("fairdsl.backends.intervals", "IntervalJob"),
    "subset-sum": ("fairdsl.backends.subset_sum.encoding", "SubsetSumInstance"),
    "sdimacs": ("fairdsl.backends.ssat.files", "Sdimacs"),
    "mcc": ("fairdsl.backends.ssat.files", "Mcc"),
    "dimacs": ("fairdsl.backends.ssat.files", "Dimacs"),
}


def procedures() -> tuple[Procedure, ...]:
    """All procedures in registry order."""
    return tuple(cast(Procedure, getattr(import_module(module), name)()) for module, name in BACKENDS.values())


def encodings() -> dict[str, Encoding]:
    """All encodings by format name."""
    return {key: cast(Encoding, getattr(import_module(module), name)()) for key, (module, name) in ENCODINGS.items()}


def formats_of(backend: str) -> tuple[str, ...]:
    """The file formats that a backend's package writes."""
    package = _package(BACKENDS[backend][0])
    return tuple(form for form, (module, _) in ENCODINGS.items() if _package(module) == package)


def _package(module: str) -> str:
    """``fairdsl.backends.NAME``, of it and of every module in it."""
    return ".".join(module.split(".")[:3])
