"""What can be set for `intervals`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairdsl.backends.refining.options import scheduler_option
from fairdsl.options import Section


@dataclass(frozen=True, kw_only=True)
class IntervalsOptions(Section):
    """Where the interval refinement runs (docs/jobs.md)."""

    section: ClassVar[str] = "intervals"

    scheduler: str | None = scheduler_option()
