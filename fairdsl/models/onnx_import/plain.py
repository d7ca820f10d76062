"""Whether a kernel machine reads what the file is given as it is, in float32: then what rounding makes of its distances
can be bounded for many individuals at a time (``numerics/kernel_float32.py``)."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.models.onnx_import.file import RawGraph, RawNode

__all__ = ["is_plain_machine"]


def is_plain_machine(raw: RawGraph, nodes: Sequence[RawNode]) -> bool:
    """Whether the one input goes into an SVMClassifier with a kernel as it is, in float32, and nowhere else."""
    machines = [node for node in nodes if node.operator == "SVMClassifier"]
    if len(machines) != 1 or len(raw.inputs) != 1 or raw.inputs[0].dtype != "float32":
        return False
    (machine,), name = machines, raw.inputs[0].name
    reading = [node for node in nodes if name in node.inputs]
    return reading == [machine] and machine.attributes.get("kernel_type", "LINEAR") != "LINEAR"
