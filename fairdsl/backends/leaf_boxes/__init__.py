"""Exact shares for trees: in how much of the domain the leaves of the protected values decide differently."""

from fairdsl.backends.leaf_boxes.procedure import LeafBoxes

__all__ = ["LeafBoxes"]
