"""The registry of diagnostic codes: one line each, what the code means in general.

Every code has a constructor in its phase, a page ``docs/errors/CODE.md`` and a folder
``tests/golden/errors/CODE-name``; a test keeps the three in step.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["CODES"]

_SYNTAX: dict[str, str] = {}

_NAMES: dict[str, str] = {}

_TYPES: dict[str, str] = {}

_QUESTIONS: dict[str, str] = {}

_FILES: dict[str, str] = {}

_BACKENDS: dict[str, str] = {}

_APPROXIMATION: dict[str, str] = {}

_SMELLS: dict[str, str] = {}

#: Every code and its general meaning, in the order of the phases.
CODES: Mapping[str, str] = MappingProxyType(
    _SYNTAX | _NAMES | _TYPES | _QUESTIONS | _FILES | _BACKENDS | _APPROXIMATION | _SMELLS
)
