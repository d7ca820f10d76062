"""What concerns a run as a whole, whichever engines take part."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from fairdsl.options.declare import Section, option
from fairdsl.options.kinds import Seconds, Size, Switch, Text, Whole

#: The time limit where neither that nor effort is given.
_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Run(Section):
    """Every run, whichever backends take part."""

    section: ClassVar[str] = "run"

    timeout: float | None = option(
        None,
        "Time limit in seconds for the whole run.",
        Seconds(),
        unset="60",
        flag="--timeout",
    )
    effort: int | None = option(
        None,
        "Limit on work instead of time, which repeats anywhere.",
        Whole(1),
        unset="",
        flag="--effort",
    )
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")
    jobs: int | None = option(None, "Number of processes.", Whole(1), unset="all cores", flag="--jobs")
    memory: int = option(2 << 30, "Total memory for interval refinement and subset sums.", Size(), flag="--memory")
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
    def limit(self) -> float:
        """The time limit in seconds, with the default resolved; ``inf`` for none."""
        unset = _SECONDS if self.effort is None else inf
        return unset if self.timeout is None else self.timeout

    @property
    def processes(self) -> int:
        """The number of processes, with the default resolved."""
        return self.jobs or os.cpu_count() or 1
