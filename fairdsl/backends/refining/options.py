"""The option that leads to a cluster, of every engine whose refinements it carries out."""

from __future__ import annotations

from typing import Any

from fairdsl.options import option
from fairdsl.options.kinds import Text


def scheduler_option() -> Any:
    """Where a refinement runs (docs/jobs.md)."""
    return option(
        None,
        "Run the refinement on this Dask cluster, for example tcp://host:8786.",
        Text("ADDRESS", "the address of a Dask scheduler", "tcp://host:8786"),
        unset="this machine alone",
    )
