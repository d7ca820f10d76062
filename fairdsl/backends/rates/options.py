"""What can be set for `rates`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairdsl.backends.refining.options import scheduler_option
from fairdsl.options import Section


@dataclass(frozen=True, kw_only=True)
class RatesOptions(Section):
    """Where the refinement of shares under a distribution runs (docs/jobs.md)."""

    section: ClassVar[str] = "rates"

    scheduler: str | None = scheduler_option()
