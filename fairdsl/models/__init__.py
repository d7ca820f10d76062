"""Models: files and formulas in, exact functions with a decision rule out.

``load`` is the door; ``onnx_import`` and ``linear_json`` read files, ``bind`` fills their inputs, ``decide``
applies the decision clause, ``schedule`` lays units out in layers, and ``runtime`` runs the deployed file.
The ONNX libraries are imported only where a file is read or run.
"""

from fairdsl.models.load import load_model

__all__ = ["load_model"]
