"""What can be set for `intervals`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairdsl.options import Section, option
from fairdsl.options.kinds import Text

__all__ = ["IntervalsOptions"]


@dataclass(frozen=True, kw_only=True)
class IntervalsOptions(Section):
    """Where the interval refinement runs (docs/jobs.md)."""

    section: ClassVar[str] = "intervals"

    scheduler: str | None = option(
        None,
        "Run the refinement on this Dask cluster, for example tcp://host:8786.",
        Text("ADDRESS", "the address of a Dask scheduler", "tcp://host:8786"),
        unset="this machine alone",
    )
