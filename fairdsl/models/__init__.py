"""Models: files and formulas in, exact functions with a decision rule out.

``load`` is the door; ``onnx_import`` and ``linear_json`` read files, ``bind`` fills their inputs, ``decide``
applies the decision clause, ``schedule`` lays units out in layers, and ``runtime`` runs the deployed file.
The ONNX libraries are imported only where a file is read or run, and the door with all that is behind it only where it
is asked for: solver processes need a few leaves of this package alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.models.load import load_model

__all__ = ["load_model"]


def __getattr__(name: str) -> Any:
    if name == "load_model":
        from fairdsl.models.load import load_model

        return load_model
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
