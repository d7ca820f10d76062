"""How severe a violation is: what the decision tells of the protected attributes, and how far the scores lie apart.

*Bits.* Take everything that the two individuals share, and let the differing attributes take each of their assignments
for which the individual is in domain and target, all alike. The entropy of the decision over them,

    H = - sum over outcomes o of p_o log2 p_o,    p_o = the part of the assignments that is decided o,

is the information about the protected attributes that the decision gives away: 1 bit where sex decides between two
outcomes, 0.72 where one race of five is treated otherwise. The measure is that of Monjezi, Trivedi, Tan and
Tizpaz-Niari (*Information-Theoretic Testing and Debugging of Fairness Defects in Deep Neural Networks*, ICSE 2023).
Conditions that name `a` or `b` play no part in it. With relaxations everything else is as in a, or as in b,
whichever gives more.

*Gap.* Of one score the distance of the two. Of several, where a gets outcome i and b outcome j, how much the lead of i
over j changes between them: (s_i - s_j)(a) - (s_i - s_j)(b). Where one of the decisions is open, or both are the same,
the greatest distance of any score.

Decisions are proved, in exact arithmetic; where one of them stays open the bits are not known. A gap is the float64
nearest to the difference up to a relative error of 1e-9, which the scores' error bounds prove, or else more digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.evaluators import Evaluator
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.evaluate import points_of
from fairdsl.numerics.exact import UNDECIDED, settled_scores
from fairdsl.numerics.predicates import mask

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Assignments of the differing attributes at most, and individuals evaluated at once.
_ASSIGNMENTS, _AT_ONCE = 4096, 2**16
_RELATIVE = 1e-9


@dataclass(frozen=True, slots=True)
class Severity:
    """Of each pair the bits and the gap; nan where they are not known."""

    bits: FloatArray  # [n]
    gaps: FloatArray  # [n]


def severity(problem: Problem, pair: Pair, evaluator: Evaluator, a: FloatArray, b: FloatArray) -> Severity:
    """The severity of the pairs (a[i], b[i]), [n, attributes] each."""
    return Severity(_bits(problem, pair, evaluator, a, b), _gaps(evaluator, a, b))


def _bits(problem: Problem, pair: Pair, evaluator: Evaluator, a: FloatArray, b: FloatArray) -> FloatArray:
    assignments = _assignments(problem, pair)
    if assignments is None:
        return np.full(len(a), np.nan)
    found = _entropies(problem, pair, evaluator, assignments, a)
    rest = [index for index in range(a.shape[1]) if index not in pair.differ]
    apart = np.flatnonzero((a[:, rest] != b[:, rest]).any(axis=1))
    found[apart] = np.maximum(found[apart], _entropies(problem, pair, evaluator, assignments, b[apart]))
    return found


def _assignments(problem: Problem, pair: Pair) -> FloatArray | None:
    """Every assignment of the differing attributes, [k, attributes that differ]; None of reals, and of too many."""
    values = [problem.domain.attributes[index].values for index in pair.differ]
    listed = [each for each in values if each is not None]
    if len(listed) < len(values) or prod(len(each) for each in listed) > _ASSIGNMENTS:
        return None
    return np.array(list(product(*listed)), dtype=np.float64)


def _entropies(
    problem: Problem, pair: Pair, evaluator: Evaluator, assignments: FloatArray, people: FloatArray
) -> FloatArray:
    """The entropy of the decision over the assignments, all else as in each of the people; [n]."""
    found = np.empty(len(people))
    step = max(1, _AT_ONCE // len(assignments))
    for start in range(0, len(people), step):
        some = people[start : start + step]
        members = np.repeat(some[:, None, :], len(assignments), axis=1)
        members[:, :, list(pair.differ)] = assignments[None, :, :]
        flat = members.reshape(-1, people.shape[1])
        present = mask(conjoin(problem.domain.where, pair.target), {Who.EACH: flat})
        decisions = evaluator.settled(flat).decisions
        shape = (len(some), len(assignments))
        found[start : start + step] = _entropy(
            decisions.reshape(shape), present.reshape(shape), len(problem.model.outcomes)
        )
    return found


def _entropy(decisions: IntArray, present: BoolArray, outcomes: int) -> FloatArray:
    """Row by row, of those who are present; nan where a decision is open, or nobody is there."""
    counts = np.stack([((decisions == outcome) & present).sum(axis=1) for outcome in range(outcomes)], axis=1)
    total = present.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = counts / total[:, None]
        terms = np.where(counts > 0, -shares * np.log2(shares), 0.0)
    found = terms.sum(axis=1) + 0.0  # no minus zero
    found[(counts.sum(axis=1) < total) | (total == 0)] = np.nan
    return np.asarray(found, dtype=np.float64)


def _gaps(evaluator: Evaluator, a: FloatArray, b: FloatArray) -> FloatArray:
    count = evaluator.model.score_count
    if not count or not len(a):
        return np.full(len(a), np.nan)
    of_a, of_b = evaluator.settled(a), evaluator.settled(b)
    # Several scores are one an outcome, of which the highest decides.
    weights = _weights(of_a.decisions, of_b.decisions, count)
    apart = of_a.scores - of_b.scores
    with np.errstate(invalid="ignore", over="ignore"):
        gaps = np.abs((weights * apart[:, None, :]).sum(axis=2))
        errors = (np.abs(weights) * (of_a.errors + of_b.errors)[:, None, :]).sum(axis=2)
        # The subtractions and the sum round, too.
        errors += 2.0**-50 * (np.abs(weights) * (np.abs(of_a.scores) + np.abs(of_b.scores))[:, None, :]).sum(axis=2)
        rows = np.flatnonzero(~(errors <= _RELATIVE / 2 * gaps).all(axis=1))
    found = gaps.max(axis=1)
    if not isinstance(evaluator.model.opaque, BlackBox):
        for row in rows.tolist():
            found[row] = _settled_gap(evaluator.model, a[[row]], b[[row]], weights[row])
    return np.asarray(found, dtype=np.float64)


def _weights(of_a: IntArray, of_b: IntArray, count: int) -> FloatArray:
    """The combinations of scores whose distance is taken, [n, combinations, scores]; of several the greatest counts."""
    weights = np.broadcast_to(np.eye(count), (len(of_a), count, count)).copy()
    if count == 1:
        return weights
    known = np.flatnonzero((of_a != of_b) & (of_a != UNDECIDED) & (of_b != UNDECIDED))
    weights[known] = 0.0
    weights[known, 0, of_a[known]] = 1.0
    weights[known, 0, of_b[known]] = -1.0
    return weights


def _settled_gap(model: Model, a: FloatArray, b: FloatArray, weights: FloatArray) -> float:
    """The same in as many digits as decisions take."""
    (one,), (other,) = points_of(a), points_of(b)
    of_one, of_other = settled_scores(model, one)[0].values, settled_scores(model, other)[0].values
    apart = [x - y for x, y in zip(of_one, of_other, strict=True)]
    gaps = [abs(sum((int(w) * x for w, x in zip(row, apart, strict=True)), Fraction(0))) for row in weights.tolist()]
    return float(max(gaps))
