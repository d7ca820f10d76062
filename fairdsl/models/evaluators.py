"""Who evaluates a model on many individuals: arithmetic, or of a black box the model itself."""

from __future__ import annotations

from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator
from fairdsl.numerics.evaluate import BatchEvaluator


def evaluator_of(model: Model) -> BatchEvaluator | BlackBoxEvaluator:
    """The evaluator that fits the model."""
    return BlackBoxEvaluator(model) if isinstance(model.opaque, BlackBox) else BatchEvaluator(model)
