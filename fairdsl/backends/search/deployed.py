"""What the deployed file decides of many individuals, run only where rounding may matter.

For most models everybody is run: that costs less than all the rest. The file of a support vector machine takes longer
than the search itself, so it is not run on those whom it is bounded to decide as exact arithmetic does
(:mod:`fairdsl.numerics.kernel_float32`). The first few dozen of these are run all the same, and if the file decides
only one of them otherwise, it does not compute as supposed and is run on everybody from then on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.numerics.evaluate import BatchEvaluator, Settled
from fairdsl.numerics.kernel_float32 import decided_alike

__all__ = ["DeployedFile"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Individuals who are run although a bound says how they are decided.
_PROBES = 64


class DeployedFile:
    """The decisions of one deployed file, which ``run`` runs on a batch.

    ``ran`` counts the individuals that it was run on, ``bounded`` those of whom a bound alone says what it decides.
    """

    def __init__(self, run: Callable[[FloatArray], IntArray], evaluator: Evaluator) -> None:
        self._file, self._evaluator = run, evaluator
        self._probes, self._bounded = 0, True
        self.ran = self.bounded = 0

    def decisions(self, points: FloatArray, settled: Settled) -> IntArray:
        """The file's outcomes for individuals [n, attributes] whom exact arithmetic decides as ``settled`` says."""
        if not isinstance(self._evaluator, BatchEvaluator) or not self._bounded:
            return self._run(points)
        alike = decided_alike(self._evaluator, points, settled)
        probed = np.flatnonzero(alike)[: _PROBES - self._probes]
        self._probes += len(probed)
        found = settled.decisions.copy()
        asked = ~alike
        asked[probed] = True
        found[asked] = self._run(points[asked])
        if (found[probed] != settled.decisions[probed]).any():
            self._bounded = False
            found[~asked] = self._run(points[~asked])
        else:
            self.bounded += int((~asked).sum())
        return found

    def _run(self, points: FloatArray) -> IntArray:
        self.ran += len(points)
        return self._file(points)
