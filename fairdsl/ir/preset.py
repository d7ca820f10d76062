"""Where a property comes from that nobody wrote into the spec."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPreset:
    """A property that `apply preset` put in."""

    #: The preset's name.
    preset: str
    #: What the preset calls the property.
    property: str
