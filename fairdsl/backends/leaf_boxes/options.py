"""What can be set for `leaf_boxes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairdsl.backends.refining.options import scheduler_option
from fairdsl.options import Section


@dataclass(frozen=True, kw_only=True)
class LeafBoxesOptions(Section):
    """Where the refinement of boxes of trees runs (docs/jobs.md)."""

    section: ClassVar[str] = "leaf_boxes"

    scheduler: str | None = scheduler_option()
