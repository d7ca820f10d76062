"""The map of violations: planted regions are found, in the spec's terms, and nothing is made up."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fairdsl.backends.intervals.axes import Axis, cells, lattice, table
from fairdsl.backends.intervals.refine import OpenBox
from fairdsl.backends.intervals.regions_map import violation_map
from fairdsl.backends.intervals.task import AttributeKind, Task
from fairdsl.ir.domain import Domain
from fairdsl.replay import spread
from fairdsl.verdict import Interval, Region
from tests.builders import BOOLEAN, category, domain, integer, real

F = Fraction
PEOPLE = domain(sex=BOOLEAN, age=integer(17, 90), job=category(0, 4, 2, 7), pay=integer(0, 50_000), wealth=real(0, 2))


def columns(count: int) -> np.ndarray:
    return np.array([[F(1)]] * count, dtype=object)


AGE = lattice(1, F(17), F(1), 74, columns(1)[0])
#: As a table is sorted: by what the network makes of the values, not by the values.
JOB = table(2, (7, 0, 2, 4), columns(4), sort=False)
PAY = lattice(3, F(0), F(1), 50_001, columns(1)[0])
WEALTH = cells(4, F(0), F(2), 1024, columns(1)[0])


def task_of(*axes: Axis, low: list[list[int]] | None = None, high: list[list[int]] | None = None) -> Task:
    """Only what the map reads: the roots and how many units there are."""
    low = low or [[0] * len(axes)]
    high = high or [[axis.size - 1 for axis in axes]]
    none = np.zeros(0)
    whole = np.zeros(0, dtype=np.int64)
    decided = sum(int(np.prod(np.array(h) - np.array(lo) + 1)) for lo, h in zip(low, high, strict=True))
    return Task(
        kinds=np.array([axis.kind for axis in axes]), sizes=np.array([axis.size for axis in axes]),
        first_coordinate=whole, weights=(), biases=(), slopes=(), curves=(), rivals=whole, margin=none, strict=True,
        origin=none, moves=none, move_start=whole, simplex=whole, groups=none, group_start=whole, relaxed=False,
        corners=np.zeros(0, dtype=np.bool_), exact=False,
        low=np.array(low, dtype=np.int64), high=np.array(high, dtype=np.int64), comparison=whole, component=whole,
        decided=decided, vacuous=0, undetermined=0, float32_error=None,
    )  # fmt: skip


def open_box(low: tuple[int, ...], high: tuple[int, ...], undecided: float, falsified: float = 0.0) -> OpenBox:
    return OpenBox(low=low, high=high, comparison=0, undecided=undecided, falsified=falsified)


def mapped(boxes: list[OpenBox], *axes: Axis, people: Domain = PEOPLE) -> tuple[Region, ...]:
    task = task_of(*axes)
    return violation_map(boxes, axes, people, task, task.total)


def test_a_planted_region_of_two_attributes_is_found_exactly() -> None:
    """Open boxes are cells of five ages and one job; those of age 32 .. 46 with job 4 or 7 are full."""
    boxes = []
    for start, job in product(range(0, 70, 5), range(4)):
        planted = 15 <= start < 30 and job in (0, 3)
        boxes.append(open_box((start, job), (start + 4, job), 5.0 if planted else 0.05, 2.0 if planted else 0.0))
    region = mapped(boxes, AGE, JOB)[0]
    assert region.restricted == {"age": Interval(F(32), F(46)), "job": ("v4", "v7")}
    total = 74 * 4
    assert float(region.share) == pytest.approx(15 * 2 / total)
    assert float(region.undecided) == pytest.approx(30 / total - 12 / total)  # no more than there is
    assert float(region.falsified) == pytest.approx(6 * 2 / total)


def test_two_planted_regions_come_in_the_order_of_their_mass() -> None:
    generator = np.random.default_rng(5)
    boxes = []
    for low, high, job, count in ((5, 9, 1, 200), (40, 49, 2, 400)):
        for _ in range(count):
            first = int(generator.integers(low, high + 1))
            boxes.append(open_box((first, job), (int(generator.integers(first, high + 1)), job), 0.01))
    light, heavy = (
        {"age": Interval(F(22), F(26)), "job": ("v0",)},
        {"age": Interval(F(57), F(66)), "job": ("v2",)},
    )
    found = mapped(boxes, AGE, JOB)
    assert [region.restricted for region in found] == [heavy, light]
    assert float(found[0].undecided) == pytest.approx(4 / 296)
    assert found == mapped(boxes, AGE, JOB)
    assert [region.restricted for region in mapped(boxes[::-1], AGE, JOB)] == [heavy, light]


def test_boxes_that_reach_beyond_a_region_count_in_part() -> None:
    boxes = [open_box((0, 0), (9, 3), 40.0), open_box((8, 0), (17, 3), 20.0)]
    [region] = mapped(boxes, AGE, JOB)
    [restriction] = region.restricted.values()
    assert isinstance(restriction, Interval)
    assert restriction.low is not None
    assert restriction.high is not None
    inside = 40 * min(restriction.high - 16, 10) / 10 + 20 * max(0, restriction.high - 24) / 10
    assert float(region.undecided) == pytest.approx(float(inside) / 296)


def test_evenly_spread_mass_is_said_to_be_everywhere() -> None:
    boxes = [open_box((start, job), (start, job), 0.5) for start, job in product(range(74), range(4))]
    [region] = mapped(boxes, AGE, JOB)
    assert region == Region(restricted={}, share=F(1), falsified=F(0), undecided=F(1, 2))
    assert mapped([], AGE, JOB) == ()
    assert mapped([open_box((0, 0), (73, 3), 0.0)], AGE, JOB) == ()


def test_long_ranges_and_reals_are_cut_where_boxes_end() -> None:
    boxes = [
        open_box((1000 * k, 512 + 8 * k), (1000 * k + 999, 512 + 8 * k + 7), 1000.0 * 8)
        for k in range(10, 16)
    ]  # fmt: skip
    found = mapped(boxes, PAY, WEALTH)
    assert len(found) == 1
    assert found[0].restricted == {
        "pay": Interval(F(10_000), F(15_999)),
        "wealth": Interval(F(2 * 592, 1024), F(2 * 640, 1024)),
    }


def test_numbers_in_a_table_are_ranges_of_values_not_of_positions() -> None:
    shuffled = table(1, (19, 17, 20, 18), columns(4), sort=False)
    people = domain(sex=BOOLEAN, age=integer(17, 20))
    boxes = [open_box((0,), (0,), 0.9), open_box((2,), (2,), 0.9), open_box((1,), (1,), 0.01)]
    assert mapped(boxes, shuffled, people=people)[0].restricted == {"age": Interval(F(19), F(20))}


def test_what_is_no_attribute_is_never_restricted() -> None:
    assignment = Axis(
        attribute=None, kind=AttributeKind.TABLE, size=2, start=F(0), step=F(0), values=(0, 1), columns=columns(2)
    )
    [region] = mapped([open_box((0, 1), (73, 1), 50.0)], AGE, assignment)
    assert region.restricted == {}


def test_concentration_is_measured_against_who_can_exist() -> None:
    """Constraints leave two roots; what fills all that exists of age below 27 is spread evenly over one of them."""
    task = task_of(AGE, JOB, low=[[0, 0], [40, 1]], high=[[9, 3], [73, 3]])
    boxes = [open_box((0, 0), (9, 3), 30.0), open_box((40, 1), (73, 3), 76.5)]
    assert violation_map(boxes, (AGE, JOB), PEOPLE, task, task.total)[0].restricted == {}
    one_of_them = violation_map(boxes[:1], (AGE, JOB), PEOPLE, task, task.total)
    assert one_of_them[0].restricted == {"age": Interval(F(17), F(26))}
    assert float(one_of_them[0].share) == pytest.approx(40 / 142)


def test_at_most_so_many_regions() -> None:
    boxes = [open_box((7 * k, k % 4), (7 * k, k % 4), 1.0) for k in range(10)]
    task = task_of(AGE, JOB)
    regions = violation_map(boxes, (AGE, JOB), PEOPLE, task, task.total, most=3)
    assert len(regions) == 3
    assert all(region.undecided + region.falsified <= region.share for region in regions)


def test_witnesses_are_spread_over_the_domain() -> None:
    points = np.array([[0, 20, 0, 0, 0], [0, 20, 0, 100, 0], [0, 90, 0, 0, 0], [0, 20, 4, 0, 2], [0, 20, 0, 0, 0]])
    order = spread(points.astype(np.float64), PEOPLE, 10)
    assert order == [0, 3, 2, 1]  # the equal one is left out, the far ones come first
    assert spread(points.astype(np.float64), PEOPLE, 2) == [0, 3]
    assert spread(points[:0].astype(np.float64), PEOPLE, 2) == []
    assert spread(points.astype(np.float64), replace(PEOPLE, name="Others"), 0) == []
