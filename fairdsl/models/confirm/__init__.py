"""Holding what was read of a model file against the file itself."""

from __future__ import annotations

from fairdsl.models.confirm.gate import confirm

__all__ = ["confirm"]
