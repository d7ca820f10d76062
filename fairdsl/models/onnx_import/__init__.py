"""Reading ONNX files into exact functions of leaky and curved units.

``file`` opens them, ``values`` is what flows along the graph's edges, the operators are in
``arithmetic``, ``shaping``, ``activations`` and ``scikit``, and ``walk`` goes through the nodes.
"""

from fairdsl.models.onnx_import.walk import import_onnx, operators_read

__all__ = ["import_onnx", "operators_read"]
