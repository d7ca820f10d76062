"""Holding what was read of a model file against the file itself."""

from __future__ import annotations

from fairdsl.models.confirm.gate import confirm
from fairdsl.models.confirm.rows import confirm_rows

__all__ = ["confirm", "confirm_rows"]
