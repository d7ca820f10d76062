"""Who evaluates a model on many individuals: arithmetic, of a black box the model itself, or the deployed file."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator, Points, Settled


def evaluator_of(model: Model) -> BatchEvaluator | BlackBoxEvaluator:
    """The evaluator that fits the model."""
    return BlackBoxEvaluator(model) if isinstance(model.opaque, BlackBox) else BatchEvaluator(model)


def settling(model: Model) -> Callable[[Points], Settled]:
    """Decisions of people, [n, attributes]; of a file that is only run by its answers about each of them alone."""
    evaluator = evaluator_of(model)
    if isinstance(evaluator, BlackBoxEvaluator) and model.deployed is not None:
        return evaluator.settled_alone
    return evaluator.settled


def decided(model: Model, people: Points) -> NDArray[np.int64]:
    """What is decided about people: by the model's file, as it is deployed, for exact arithmetic may decide otherwise
    about who lies on a threshold, and trees over scaled numbers have many who do. Without a file that runs it is exact.

    A black box is asked about each of them by himself.
    """
    if model.deployed is None or isinstance(model.opaque, BlackBox):
        return settling(model)(people).decisions
    return Runtime(model.deployed).decide_array(people.floats if isinstance(people, ExactRows) else people)
