"""What float32 makes of a file: an interpreter of ONNX graphs with a rigorous bound of every tensor's rounding error.

Forward error analysis (Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 and 3), one function an
operator. It is a second reading of what operators mean, made from their specification and from what onnxruntime does,
and shares no code with the importer.
"""

from fairdsl.models.float32.values import Choice, Logits, Rounded
from fairdsl.models.float32.walk import analysed

__all__ = ["Choice", "Logits", "Rounded", "analysed"]
