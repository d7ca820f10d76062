"""What concerns a run as a whole, whichever engines take part."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

from fairdsl.options.declare import Section, option
from fairdsl.options.kinds import Seconds, Size, Switch, Text, Whole

__all__ = ["Run"]


@dataclass(frozen=True, kw_only=True)
class Run(Section):
    """Every run, whichever backends take part."""

    section: ClassVar[str] = "run"

    timeout: float = option(60.0, "Time limit in seconds for the whole run.", Seconds(), flag="--timeout")
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")
    jobs: int | None = option(None, "Number of processes.", Whole(1), unset="all cores", flag="--jobs")
    memory: int = option(
        2 << 30, "Total memory limit for interval refinement and subset sums.", Size(), flag="--memory"
    )
    backend: str | None = option(
        None,
        "Let only this backend answer; see `fairdsl capabilities`.",
        Text("NAME", "the name of a backend", "enumerate"),
        unset="",
        flag="--backend",
    )
    cross_check: bool = option(
        False, "Ask all backends that can decide; where two disagree: unknown.", Switch(), flag="--cross-check"
    )

    @property
    def processes(self) -> int:
        """The number of processes, with the default resolved."""
        return self.jobs or os.cpu_count() or 1
