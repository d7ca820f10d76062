"""How far the reading of a model's file was held against the file itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The deployed file and the model that was read from it gave the same answers on ``individuals`` individuals."""

    #: How many individuals both were run on.
    individuals: int
    #: Whether each score lay within a bound of the file's own rounding errors; otherwise within a tolerance.
    bounded: bool
    #: Whether the file takes one individual at a time only, whatever its shapes say.
    alone: bool = False
