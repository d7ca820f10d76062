"""Parameters in force: numbers of a spec that have a name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """A parameter with the number that it has in this run."""

    #: What the spec calls it.
    name: str
    #: Its number, as it was written or given.
    text: str
