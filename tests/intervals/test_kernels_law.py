"""The law of a weighted sum against enumeration, and least values against points."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.intervals.kernels.extremes import INFEASIBLE
from fairdsl.backends.intervals.kernels.layout import LATTICE, REAL, TABLE, Box, Halves, Law, Shape
from tests.drawing import examples
from tests.intervals.called_parts import (
    greatest,
    law_without,
    least,
    least_within,
    mass_inside,
    mass_touching,
    measure_spans,
)

some = settings(deadline=None, max_examples=examples(1.7))
seeds = st.integers(0, 2**32 - 1)
_CELLS = 64
_FINE = 16


def shape_of(kinds: list[int], sizes: list[int]) -> Shape:
    columns = [size if kind == TABLE else 1 for kind, size in zip(kinds, sizes, strict=True)]
    return Shape(np.array(kinds), np.array(sizes), np.concatenate([[0], np.cumsum(columns)]))


def box_of(shape: Shape, low: list[int], high: list[int]) -> Box:
    """The box of positions as ranges of coordinates."""
    count = int(shape.first[-1])
    box = Box(np.zeros(count), np.zeros(count), np.full(count, -1))
    for attribute, (kind, a, b) in enumerate(zip(shape.kinds, low, high, strict=True)):
        start = shape.first[attribute]
        if kind == TABLE:
            box.high[start + a : start + b + 1] = 1.0
            box.group[start : shape.first[attribute + 1]] = 2 * attribute
        else:
            box.low[start], box.high[start] = a, b + int(kind == REAL)
    return box


def law_of(shape: Shape) -> Law:
    entries = _CELLS + 32
    attributes = len(shape.kinds)
    return Law(
        np.zeros((2, _CELLS + 8)),
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries),
        np.zeros(attributes + 1, dtype=np.int64),
        np.zeros(attributes),
        np.zeros(attributes),
    )


def values_of(shape: Shape, box: Box, mean: np.ndarray, attribute: int) -> np.ndarray:
    """What an attribute adds at each of its values; reals at the middles of fine parts."""
    start, stop = shape.first[attribute], shape.first[attribute + 1]
    if shape.kinds[attribute] == TABLE:
        return mean[start:stop][box.high[start:stop] > 0]
    low, high = box.low[start], box.high[start]
    if shape.kinds[attribute] == REAL:
        return mean[start] * (low + (np.arange((high - low) * _FINE) + 0.5) / _FINE)
    return mean[start] * np.arange(low, high + 1)


@some
@given(seeds, st.booleans())
def test_strips_enclose_their_mass(seed: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    kinds = rng.choice([LATTICE, TABLE], rng.integers(1, 4)).tolist()
    sizes = [int(rng.integers(1, 40 if kind == LATTICE else 7)) for kind in kinds]
    shape = shape_of(kinds, sizes)
    low = [int(rng.integers(size)) for size in sizes]
    high = [int(rng.integers(a, size)) for a, size in zip(low, sizes, strict=True)]
    box, law = box_of(shape, low, high), law_of(shape)
    mean = rng.integers(-6, 7, int(shape.first[-1])).astype(float) if whole else rng.standard_normal(shape.first[-1])
    mean *= 10.0 ** rng.choice([-30, 0, 0, 8])
    if rng.random() < 0.3:
        mean[rng.integers(len(mean))] *= 1e-22
    numbers = [attribute for attribute, kind in enumerate(kinds) if kind == LATTICE]
    left_out = int(rng.choice([-1, *numbers]))
    sums = np.array([sum(row) for row in product(*(values_of(shape, box, mean, a) for a in range(len(kinds))))])
    ends = np.sort(rng.choice(sums, 2) if rng.random() < 0.6 else rng.uniform(sums.min() - 1, sums.max() + 1, 2))
    if rng.random() < 0.2:
        ends = ends + np.array([-1.0, 1.0]) * 1e3
    inside, touching = readings(shape, box, law, mean, left_out, *ends, INFEASIBLE)
    assert inside <= np.mean((sums > ends[0]) & (sums < ends[1]))
    assert np.mean((sums >= ends[0]) & (sums <= ends[1])) <= touching
    if left_out >= 0:
        width = high[left_out] - low[left_out] + 1
        per_fibre = int(rng.integers(1, 4))
        axis = sums.reshape([len(values_of(shape, box, mean, a)) for a in range(len(kinds))])
        met = ((axis >= ends[0]) & (axis <= ends[1])).sum(axis=left_out)
        _, limited = readings(shape, box, law, mean, left_out, *ends, float(per_fibre))
        assert np.minimum(met, per_fibre).mean() / width <= limited


def readings(
    shape: Shape, box: Box, law: Law, mean: np.ndarray, left_out: int, low: float, high: float, per_fibre: float
) -> tuple[float, float]:
    """The two readings of a closed and an open strip, as a node takes them."""
    measure_spans(shape, law, box, mean)
    side, top, step, spread, lowest = law_without(shape, law, box, mean, left_out, _CELLS)
    slope, width, real = 0.0, 1.0, False
    if left_out >= 0:
        start = shape.first[left_out]
        slope, real = abs(float(mean[start])), bool(shape.kinds[left_out] == REAL)
        width = float(box.high[start] - box.low[start] + (not real))
        lowest += law.span_low[left_out]
    masses = law.mass[side]
    # Sums that cancel are rounded on the scale of what they are sums of, as a form's error says.
    slack = spread + 1e-14 * (np.abs(mean) @ np.maximum(np.abs(box.low), np.abs(box.high)) + abs(low) + abs(high))
    inner, outer = (low - lowest + slack, high - lowest - slack), (low - lowest - slack, high - lowest + slack)
    return (
        mass_inside(masses, top, step, slope, width, real, *inner),
        mass_touching(masses, top, step, slope, width, real, *outer, per_fibre),
    )


@some
@given(seeds)
def test_reals_have_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [REAL, int(rng.choice([LATTICE, TABLE, REAL]))]
    sizes = [int(size) for size in rng.integers(1, 6, 2)]
    shape = shape_of(kinds, sizes)
    box, law = box_of(shape, [0, 0], [size - 1 for size in sizes]), law_of(shape)
    mean = rng.standard_normal(int(shape.first[-1]))
    sums = np.add.outer(*(values_of(shape, box, mean, attribute) for attribute in range(2)))
    low, high = np.sort(rng.uniform(sums.min() - 1, sums.max() + 1, 2))
    coarse = np.abs(mean[0]) / _FINE + (np.abs(mean[1]) / _FINE if kinds[1] == REAL else 0.0)
    for left_out in (-1, 0):
        inside, touching = readings(shape, box, law, mean, left_out, low, high, INFEASIBLE)
        assert inside <= np.mean((sums > low - coarse) & (sums < high + coarse))
        assert np.mean((sums > low + coarse) & (sums < high - coarse)) <= touching


@pytest.mark.parametrize("per_fibre", [7.0, INFEASIBLE])
def test_positions_beyond_integers(per_fibre: float) -> None:
    masses = np.array([1.0, *np.zeros(9)])
    # The strip is 1e26 times as wide as what the number adds: all its values are in it.
    assert mass_touching(masses, 0, 1.0, 1e-25, 101.0, False, -5.0, 5.0, per_fibre) >= min(per_fibre, 101.0) / 101.0
    assert mass_inside(masses, 0, 1.0, 1e-25, 101.0, False, 5.0, 6.0) == 0.0
    assert mass_touching(masses, 9, 1e-25, 1.0, 101.0, False, -5.0, 5.0, INFEASIBLE) >= 6 / 101
    assert mass_touching(masses, 0, 1.0, 1.0, 101.0, False, -np.inf, np.inf, INFEASIBLE) == 1.0
    assert mass_touching(masses, 0, 1.0, 1.0, 101.0, False, np.nan, np.nan, INFEASIBLE) == 1.0
    assert mass_inside(masses, 0, 1.0, 1.0, 101.0, False, np.nan, np.nan) == 0.0


@some
@given(seeds)
def test_least_values_are_below_every_point(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain = bool(rng.integers(2))
    groups = [-1] * int(rng.integers(1, 4)) + ([] if plain else [0] * int(rng.integers(1, 4)) + [7] * 2)
    count = len(groups)
    group = np.array(groups)
    low = np.where(group == -1, rng.integers(-4, 2, count), 0).astype(float)
    high = np.where(group == -1, low + rng.integers(0, 5, count), 1).astype(float)
    if 0 in groups and groups.count(0) > 1:
        high[groups.index(0)] = rng.integers(2)
    box = Box(low, high, group)
    points = low + (high - low) * rng.random((300, count))
    for number in set(groups) - {-1}:
        members = np.flatnonzero((group == number) & (high > 0))
        extra = number % 2  # moves of a simplex may all be 0
        points[:, group == number] = 0.0
        shares = (
            rng.dirichlet(np.ones(len(members) + extra), 300)
            if extra
            else np.eye(len(members))[rng.integers(len(members), size=300)]
        )
        points[:, members] = shares[:, : len(members)]
    form, offset = rng.integers(-3, 4, count).astype(float), float(rng.integers(-3, 4))
    if rng.random() < 0.5:
        form += rng.standard_normal(count)
    assert least(box, form, 0, count) <= (points @ form).min() + 1e-12
    assert greatest(box, form, 0, count) >= (points @ form).max() - 1e-12
    in_force = int(rng.integers(0, 4))
    numbers = rng.integers(-3, 4, (in_force + 1, count)).astype(float)
    halves = Halves(numbers, np.zeros(in_force + 1), np.arange(in_force + 1))
    through = points[rng.integers(len(points))]  # some half-spaces just touch a point
    halves.offset[:] = -halves.form @ through + rng.choice([0.0, 1.0], in_force + 1)
    if rng.random() < 0.3:
        halves.offset[:] = rng.integers(-6, 7, in_force + 1)
    left = points[(points @ halves.form[:in_force].T + halves.offset[:in_force] >= 0).all(axis=1)]
    found = least_within(box, halves, in_force, form.copy(), offset, count, 1e-12, plain)
    if len(left):
        assert found <= (left @ form).min() + offset + 1e-9
        assert found > -1e6


@some
@given(seeds)
def test_what_placing_moves_is_centred(seed: int) -> None:
    """Of numbers with two values a sum is moved by a quarter of a cell each at most, where it was a half."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 8))
    shape = shape_of([LATTICE] * count, [2] * count)
    box, law, mean = box_of(shape, [0] * count, [1] * count), law_of(shape), rng.normal(size=count)
    measure_spans(shape, law, box, mean)
    side, top, step, spread, lowest = law_without(shape, law, box, mean, -1, _CELLS)
    sums = sorted(float(np.dot(mean, bits)) for bits in product((0, 1), repeat=count))
    cells = np.flatnonzero(law.mass[side, : top + 1])
    assert spread <= 0.25 * count * step + 0.01 * count * step + 1e-9
    assert all(np.abs(lowest + cells * step - each).min() <= spread for each in sums)
    assert abs(law.mass[side, : top + 1].sum() - 1) <= 1e-9
