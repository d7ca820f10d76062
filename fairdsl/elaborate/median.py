"""``score > median``: the median of the model's scores over all rows of a population, exactly.

The scoring rates of New York's Local Law 144 count who scores above it. It is one of the scores, or the mean of two, so
how each row compares with it is a matter of exact numbers: floats with error bounds leave the few rows that may be in
the middle, and those are computed exactly.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import Access

__all__ = ["has_exact_scores", "median_score"]


def has_exact_scores(model: Model) -> bool:
    """Whether its scores are fractions, and so known exactly."""
    return model.access is Access.LAYERS and model.rational


def median_score(model: Model, rows: ExactRows) -> Fraction:
    """The middle score of the rows; of an even number of rows the mean of the two in the middle."""
    from fairdsl.numerics.evaluate import BatchEvaluator
    from fairdsl.numerics.exact import exact_scores

    distinct, where = rows.distinct()
    scores, bounds = BatchEvaluator(model).scores(distinct)
    low, high = np.nextafter(scores[:, 0] - bounds[:, 0], -np.inf), np.nextafter(scores[:, 0] + bounds[:, 0], np.inf)
    low, high = np.where(np.isnan(low), -np.inf, low)[where], np.where(np.isnan(high), np.inf, high)[where]
    ranks = ((len(rows) - 1) // 2, len(rows) // 2)
    # The score of rank k lies between the lows and the highs of rank k; whoever lies below the first is below it.
    least, most = np.sort(low)[ranks[0]], np.sort(high)[ranks[1]]
    below = int((high < least).sum())
    middle = np.flatnonzero((high >= least) & (low <= most))
    points, place = rows.at(middle).distinct()
    exact: list[Fraction] = [exact_scores(model, point)[0] for point in points.points()]
    ordered = sorted(exact[each] for each in place.tolist())
    half: Fraction = (ordered[ranks[0] - below] + ordered[ranks[1] - below]) / 2
    return half
