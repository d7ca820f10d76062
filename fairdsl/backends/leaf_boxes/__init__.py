"""Exact shares for trees: in how much of the domain the leaves of the protected values decide differently.

Classes are imported when they are asked for: what can be set is listed without them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairdsl.backends.leaf_boxes.encoding import ForestJob
    from fairdsl.backends.leaf_boxes.leaf_sets import Tree
    from fairdsl.backends.leaf_boxes.procedure import LeafBoxes
    from fairdsl.backends.leaf_boxes.refinement import KERNELS
    from fairdsl.backends.leaf_boxes.splitting import Cuts, Splitting

__all__ = ["KERNELS", "Cuts", "ForestJob", "LeafBoxes", "Splitting", "Tree"]

_MODULES = {
    "Cuts": "splitting",
    "ForestJob": "encoding",
    "KERNELS": "refinement",
    "LeafBoxes": "procedure",
    "Splitting": "splitting",
    "Tree": "leaf_sets",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
