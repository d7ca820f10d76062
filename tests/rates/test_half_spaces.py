"""Shares of boxes above lines, against enumeration: what the compiled loops say of single boxes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.rates.arithmetic import distribution_of
from fairdsl.backends.rates.halfspace import Bounder, HalfSpace
from fairdsl.backends.rates.kernels.above import shares_above
from fairdsl.backends.rates.warmup import kernels_for, use
from fairdsl.ir.population import Network
from fairdsl.metrics.subject import axes_of, subject_of
from fairdsl.numerics.event import event_of
from fairdsl.numerics.truth import Truths
from tests import builders, oracle
from tests.drawing import examples
from tests.rates.laws import masses, random_laws
from tests.subset_sum.laws import asked

F = Fraction
RELAXED = settings(max_examples=examples(2), deadline=None, suppress_health_check=list(HealthCheck))


@RELAXED
@given(random_laws(), st.data())
def test_shares_enclose_those_of_a_weighted_sum(law: Network, data: st.DataObject) -> None:
    """A network of one unit that is always active: the line above it is the sum itself."""
    count = len(law.columns)
    weights = data.draw(st.lists(st.integers(-7, 7).filter(bool), min_size=count, max_size=count))
    threshold = data.draw(st.fractions(-20, 20, max_denominator=6))
    hidden = builders.layer([weights], [1000], 0)
    model = builders.model(hidden, builders.layer([[1]], [-1000], 1), attributes=count, threshold=threshold)
    subject = subject_of(asked(law, model, 0))
    axes = axes_of(subject)
    truths, event = Truths(axes), event_of(model)
    distribution = distribution_of(subject.network, axes)
    ends = [data.draw(st.lists(st.integers(0, len(axes[c].atoms)), min_size=2, max_size=2, unique=True)) for c in axes]
    start, stop = (np.zeros((1, count), dtype=np.int64) for _ in range(2))
    for column, pair in zip(axes, ends, strict=True):
        start[0, column], stop[0, column] = sorted(pair)
    bounded = Bounder(model, event, truths).bound(start, stop)
    half = HalfSpace(model, event, truths, distribution)
    (least,), (most,), (alone,) = half.shares(bounded, start, stop, np.ones(1, dtype=np.bool_))
    met = total = F(0)
    for cells, mass in masses(law).items():
        if all(start[0, c] <= next(iter(range(*axes[c].range_of(cells[c])))) < stop[0, c] for c in axes):
            point = tuple(law.cells[column][cell].low or F(0) for column, cell in enumerate(cells))
            total += mass
            met += mass * (oracle.outcome(model, point) == model.favourable)
    use()
    assert len(shares_above.signatures) == 1, "the toy's version is that of questions"  # type: ignore[attr-defined]
    if not total:
        return
    assert F(float(least)) <= met / total <= F(float(most))
    wide = [c for c in axes if len({int(axes[c].cells[a]) for a in range(int(start[0, c]), int(stop[0, c]))}) > 1]
    if threshold.denominator > 1 and all(alone[list(axes)]) and len(wide) <= 1:
        # No grid, for the widest column's contributions are as they are; and no ties.
        assert most - least < 1e-9


def test_models_with_hidden_units_take_kernels() -> None:
    sum_alone = builders.model(builders.layer([[1, 2]], [0], 1), attributes=2)
    hidden = builders.model(builders.layer([[1, 2]], [0], 0), builders.layer([[1]], [0], 1), attributes=2)
    assert kernels_for(sum_alone) is None
    assert kernels_for(hidden) is not None
