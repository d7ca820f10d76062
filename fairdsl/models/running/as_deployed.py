"""What a deployed file decides about many individuals, as somebody may run it: each alone, or many, in parallel.

A float32 sum depends on the order of its terms, and the order on how the file is run: a matrix kernel may add in
another one for another batch, and the votes of a forest are added in parts where there are several threads, as many as
the machine has. So an individual may be decided in two ways by one file. What the file decides is what it decides
however it is run: about one individual at a time and about many, in a single thread and in two. Where these differ, it
decides nothing.

All runs are float32 evaluations of the same function, so they lie within twice the error of such an evaluation of each
other, and only individuals whose scores are nearer to the threshold can be decided differently. Those are run alone;
so are all whose decision in a batch is not the one that float64 comes to, and all whose features are computed (`reads`
with arithmetic) and may round differently in float64. The error of a float32 evaluation is taken to be that of float64,
as :mod:`fairdsl.numerics.forward` bounds it for any order of additions, times the ratio of the two roundings, with room
for what a file computes before and after its layers. It only chooses who is run alone, and proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cosh

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.model import ByThreshold, Deployed, Model, Readout
from fairdsl.models.features import features_open
from fairdsl.models.readout import decisions_of
from fairdsl.models.running.runtime import THREADS, Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import UNDECIDED

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: So many individuals are run one by one without further ado: it takes less than bounding their scores.
_FEW = 512
#: float32's unit roundoff over float64's; and how often its error two evaluations may be apart, with room.
_RATIO, _APART = 2.0**29, 4.0
#: Part of a threshold, or of a score of 1, that is near whatever the bound says; and of a probability.
_NEAR, _NEAR_CHANCE = 2.0**-12, 2.0**-20


def as_deployed(model: Model) -> Callable[[FloatArray], IntArray]:
    """The outcomes of distinct individuals, [n, attributes] to [n]; UNDECIDED where it depends on how the file is run.

    ValueError where no file is deployed, or nothing is known of the model but the file.
    """
    if model.deployed is None:
        raise ValueError("there is no file to run")
    deployed, evaluator = model.deployed, BatchEvaluator(model)
    runtimes = [Runtime(deployed, model.span, threads=threads) for threads in (1, THREADS)]

    def decide(points: FloatArray) -> IntArray:
        together = [runtime.decide_array(points) for runtime in runtimes]
        # Features that are computed are rounded by the caller, in float64 for a batch, and not by the file.
        computed = features_open(deployed, points)
        again = np.ones(len(points), dtype=np.bool_)
        if len(points) > _FEW:
            again = _near(evaluator, deployed, points, together[0]) | computed
        found = together[0].copy()
        alone = [decisions_of(deployed, runtime.answers(points[again], alone=True)) for runtime in runtimes]
        found[again] = alone[0]
        apart = ~computed & ((found != together[0]) | (found != together[1]))
        apart[again] |= alone[0] != alone[1]
        return np.where(apart, UNDECIDED, found)

    return decide


def _near(evaluator: BatchEvaluator, deployed: Deployed, points: FloatArray, decisions: IntArray) -> BoolArray:
    """Who may be decided differently in another run, as far as scores tell: by a bound for all, then by one each."""
    near = _may_differ(evaluator, deployed, points, decisions, by_row=False)
    near[near] = _may_differ(evaluator, deployed, points[near], decisions[near], by_row=True)
    return near


def _may_differ(
    evaluator: BatchEvaluator, deployed: Deployed, points: FloatArray, decisions: IntArray, *, by_row: bool
) -> BoolArray:
    """Who lies within what two runs may differ by, with one bound for all or one for each."""
    scores, errors = evaluator.scores_as_rounded(points, by_row=by_row)
    margins = evaluator.margins(scores)
    room = _APART * _RATIO * errors.max(axis=1) + _slack(evaluator.model, deployed, scores)
    with np.errstate(invalid="ignore"):
        far = margins > room  # nothing that is not a number is far from anything
    near: BoolArray = ~far | (evaluator.approximate_decisions(scores) != decisions)
    return near


def _slack(model: Model, deployed: Deployed, scores: FloatArray) -> FloatArray:
    """What counts as near a threshold whatever the layers' error is: a file may compare other numbers than the scores.

    A probability p is rounded to a part of itself, which moves its logit by that part of 1 / (1 - p).
    """
    rule = model.rule
    if not isinstance(rule, ByThreshold):
        return np.asarray(_NEAR * np.maximum(1.0, np.abs(scores).max(axis=1)), dtype=np.float64)
    limit = abs(float(rule.low))
    room = _NEAR * (1.0 + limit)
    if deployed.readout is Readout.CHANNEL or rule.low != rule.high:
        room += _NEAR_CHANCE * (2 + 2 * cosh(limit)) if limit < 700 else np.inf
    return np.full(len(scores), room)
