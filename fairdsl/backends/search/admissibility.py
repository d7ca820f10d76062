"""Whether pairs are such as the question speaks of, for many at once and from the question alone.

The same rules as :func:`fairdsl.replay.admissible`, in the same order; nothing is taken over from how a pair was
found. All comparisons are exact: floats are compared with the floats next to a bound, linear conditions by
:func:`fairdsl.numerics.predicates.mask`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.search.candidates import apart, between
from fairdsl.ir.domain import Attribute, Domain, Integer, Real
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.question import Pair
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.rounding import float_above, float_below

__all__ = ["admissible_rows"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def admissible_rows(pair: Pair, domain: Domain, a: FloatArray, b: FloatArray) -> BoolArray:
    """Which ordered pairs (a[i], b[i]) are admissible, how sure the model is of them left aside; [n]."""
    found = np.ones(len(a), dtype=np.bool_)
    within = conjoin(domain.where, pair.target)
    for individuals in (a, b):
        for index, attribute in enumerate(domain.attributes):
            found &= _contains(attribute, individuals[:, index])
        found &= mask(within, {Who.EACH: individuals})
    loose = {*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}
    equal = [index for index in range(len(domain.attributes)) if index not in loose]
    found &= (a[:, equal] == b[:, equal]).all(axis=1)
    found &= apart(pair, a, b)
    found &= mask(conjoin(between(pair), pair.pair_target), {Who.A: a, Who.B: b})
    return found


def _contains(attribute: Attribute, values: FloatArray) -> BoolArray:
    match attribute.type:
        case Integer(low=low, high=high):
            found = (np.floor(values) == values) & (values >= low) & (values <= high)
        case Real(low=low, high=high):
            found = np.isfinite(values)
            if low is not None:
                found &= values >= float_above(low)
            if high is not None:
                found &= values <= float_below(high)
        case _:
            found = np.isin(values, np.array(attribute.values or (), dtype=np.float64))
    return np.asarray(found, dtype=np.bool_)
