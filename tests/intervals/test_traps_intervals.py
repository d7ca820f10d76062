"""How interval verifiers before us answered the wrong question; here each mistake has a test (docs/intervals.md)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.intervals import Intervals, refine
from fairdsl.backends.intervals.answer import Counted, shares_of
from fairdsl.backends.intervals.lowering import Lowered, lower
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.witnesses import look_for_pairs
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Or
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Quantity
from fairdsl.replay import admissible
from fairdsl.verdict import Evidence, Holds, Reason, Shares, Verdict, Violated
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, problem, real, score
from tests.oracle import truth

SHARE = Quantity.FAIR_SHARE


def answer(asked: Problem, facts: Facts | None = None, seconds: float = 10.0) -> Verdict:
    return Intervals().answer(asked, facts or Facts(), Budget.of(seconds), Silent())


def shares(asked: Problem, facts: Facts | None = None) -> Shares:
    found = answer(asked, facts)
    assert isinstance(found, Shares)
    assert found.certified + found.falsified + found.undecided == 1
    return found


def stages(lowered: Lowered, *nodes: int) -> Iterator[Shares]:
    """What is known at first, and after so many nodes more each."""
    counted = Counted(
        quantity=SHARE,
        measure="counting",
        unit="",
        factor=lowered.factor,
        vacuous=lowered.vacuous,
        unsure=lowered.unsure,
    )
    refinement = Refinement.start(lowered.task)
    for more in (0, *nodes):
        refinement.advance(more)
        evidence = Evidence(backend="intervals", method="")
        yield shares_of(lowered.task, refinement.bounds(), counted, evidence, Reason.TIMEOUT)


# Trap 7


def test_witnesses_lie_in_box_domain_and_target_and_are_replayed_and_distinct() -> None:
    """Trap 7: "counterexamples" lay outside their box, even outside the domain; thousands were one point."""
    people = domain(
        linear({0: 1, 1: 1}, "<=", 20), age=integer(-5, 10), hours=integer(0, 15), job=category(3, 9, 1), sex=BOOLEAN
    )
    asked = problem(people, score([1, -1, 1, -9], -1), 3, target=linear({0: 2, 1: 1}, ">=", 5), quantity=SHARE)
    lowered = lower(asked)
    refinement = Refinement.start(lowered.task)
    refinement.advance(30)
    met = 0
    for number, box in enumerate(refinement.open_boxes(25)):
        found = look_for_pairs(lowered, [box], 5, Deadline.within(5.0), seed=number).witnesses
        pairs = [frozenset((pair.a.point, pair.b.point)) for pair in found]
        assert len(set(pairs)) == len(pairs)
        for pair in found:
            assert admissible(asked.question, people, pair.a.point, pair.b.point) is None
            assert pair.replay.agrees
            assert pair.replay.decision_a != pair.replay.decision_b
            assert pair.a.point[2] in (1, 3, 9)
            for axis, low, high in zip(lowered.axes, box.low, box.high, strict=True):
                assert axis.attribute is not None
                inside = {axis.value(position) for position in range(low, high + 1)}
                assert {pair.a.point[axis.attribute], pair.b.point[axis.attribute]} <= inside
        met += len(found)
    assert met > 10
    violations = set(truth(asked).violations)
    shown = [(pair.a.point, pair.b.point) for pair in shares(asked).witnesses]
    assert len({frozenset(pair) for pair in shown}) == len(shown) > 1
    assert set(shown) <= violations


# Trap 8


def zigzag(teeth: int) -> Model:
    """Granted to sex 0 alone, and only at x = 2, 6, 10, ..: relus that go up and down by 2; y hardly matters."""
    hinges = [0, *range(2, 4 * teeth, 2)]
    heights = [1, *(-2 if at % 4 == 2 else 2 for at in hinges[1:])]
    up = layer([[1, 0, 0]] * len(hinges) + [[0, 1, 0], [0, 0, 1]], [*(-at for at in hinges), 0, 0])
    return model(up, layer([[*heights, Fraction(1, 1024), -1]], [Fraction(-3, 2)], 1), attributes=3)


def test_a_counterexample_does_not_end_the_analysis_of_its_region() -> None:
    """Trap 8: a counterexample ended the analysis of its whole region.

    Every box that is wider than two has violations, so nothing could be certified but the narrowest.
    """
    people = domain(x=integer(0, 63), y=integer(0, 63), sex=BOOLEAN)
    asked = problem(people, zigzag(16), 2, quantity=SHARE)
    exact, unfair = Fraction(3, 4), Fraction(1, 4)
    with patch.object(refine, "SMALL", 1):
        known = list(stages(lower(asked), *[8] * 12, 3000))
    certified = [each.certified for each in known]
    assert certified == sorted(certified)
    after_the_first = [each.certified for each in known if each.falsified > 0]
    assert after_the_first[0] < after_the_first[-1] == exact
    assert known[-1].falsified == unfair
    found = shares(asked)
    assert (found.certified, found.falsified) == (exact, unfair)


def test_a_known_pair_does_not_end_the_count() -> None:
    """Trap 8, for pairs that an earlier stage found: they settle whether all are alike, and no share."""
    people = domain(x=integer(0, 63), y=integer(0, 63), sex=BOOLEAN)
    facts = Facts()
    assert isinstance(answer(problem(people, zigzag(16), 2), facts), Violated)
    assert facts.witnesses
    assert shares(problem(people, zigzag(16), 2, quantity=SHARE), facts).certified == Fraction(3, 4)


# Trap 9


def peak(bent: bool) -> Model:
    """Granted only at age 2 of 0 .. 4, and only where income > 3; by a tent, or by an indicator."""
    if bent:
        granted = score([1, 1], "-9/2")
        indicator = IndicatorInput(member(0, 2))
        return replace(granted, inputs=(indicator, AttributeInput(1)))
    return model(
        layer([[1, 0], [1, 0], [1, 0], [0, 1]], [-1, -2, -3, 0]), layer([[1, -2, 1, 1]], ["-9/2"], 1), attributes=2
    )


@pytest.mark.parametrize("bent", [False, True])
@pytest.mark.parametrize("ages", [integer(0, 4), category(0, 4, 2), category(4, 3, 2, 1, 0)])
def test_all_values_of_a_protected_attribute_are_compared(ages: object, bent: bool) -> None:
    """Trap 9: only the smallest and largest value of a protected attribute were compared."""
    people = domain(age=ages, income=integer(0, 9))
    asked = problem(people, peak(bent), 0, quantity=SHARE)
    # With income 4 only those of age 2 get more than 9/2; above, all do.
    assert truth(asked).fair_share == Fraction(9, 10)
    for small in (0, 32):
        with patch.object(refine, "SMALL", small):
            found = shares(asked)
            assert found.certified <= Fraction(9, 10) <= 1 - found.falsified
            assert isinstance(answer(replace(asked, quantity=Quantity.HOLDS)), Violated)
    assert (found.certified, found.falsified) == (Fraction(9, 10), Fraction(1, 10))
    assert all({pair.a.point[0], pair.b.point[0]} - {0, 4} for pair in found.witnesses)
    ends = problem(people, peak(bent), 0, target=member(0, 0, 4))
    assert isinstance(answer(ends), Holds)


@pytest.mark.parametrize("mode", list(Differ))
def test_all_assignments_of_several_attributes_are_compared(mode: Differ) -> None:
    """Trap 9, in two attributes: the middle of the middle, which no corner of the two shows."""
    people = domain(age=integer(0, 4), size=integer(0, 4), income=integer(0, 9))
    tents = layer([[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]], [-1, -2, -3] * 2 + [0])
    asked = problem(
        people,
        model(tents, layer([[1, -2, 1, 1, -2, 1, 1]], ["-11/2"], 1), attributes=3),
        0,
        1,
        mode=mode,
        quantity=SHARE,
    )
    found, expected = shares(asked), truth(asked)
    assert expected.fair_share == Fraction(8, 10)
    assert (found.certified, found.falsified) == (expected.fair_share, 1 - expected.fair_share)


# Trap 10

TINY = Fraction(1, 2**60)
SIGNED = domain(x=integer(-6, 5), y=integer(-5, 6), sex=BOOLEAN)


def indicated() -> Model:
    """Two indicators whose weights do not fit one float64: 1 and 2^-60."""
    inputs = (IndicatorInput(member(0, 0)), IndicatorInput(member(0, 1)), AttributeInput(1), AttributeInput(2))
    return replace(score([TINY, 1, 1, -1], -1), inputs=inputs)


#: Scores that are 0 or nearly so at some individuals; float64 does not tell them from 0, or not on which side.
ADVERSARIAL: dict[str, tuple[Domain, Model]] = {
    "a weight next to 1": (SIGNED, score([1 + TINY, 0, -1], 0)),
    "a group's part is lost": (SIGNED, score([1, 0, TINY], -1)),
    "a negative input's part is lost": (SIGNED, score([1, TINY, -1], 0)),
    "the same, granted at 0": (SIGNED, score([1, TINY, -1], 0, ">=")),
    "large weights that cancel": (SIGNED, score([2**53 + 1, 2**53, 1], 0)),
    "large weights that cancel, negative": (SIGNED, score([-(2**53) - 1, -(2**53), -1], "1/2")),
    "thirds": (SIGNED, score(["1/3", "-1/3", "1/3"], "-1/3")),
    "thirds, granted at 0": (SIGNED, score(["-1/3", "1/3", "1/3"], "1/3", ">=")),
    "a threshold out of reach": (SIGNED, score([1, 1, 1], 0, threshold=TINY)),
    "indicators": (domain(job=category(0, 1), x=integer(-3, 3), sex=BOOLEAN), indicated()),
    "a unit that hardly opens": (
        SIGNED,
        model(layer([[1, 1, 1], [-1, -1, 0]], [TINY, -TINY]), layer([[1, -1]], [-TINY], 1), attributes=3),
    ),
    "two layers that cancel": (
        SIGNED,
        model(
            layer([[2**30, 1, 1], [2**30, 0, 0]], [7 * 2**30, 7 * 2**30]),
            layer([[2**30, -(2**30)], [0, 0]], [TINY, 1]),
            layer([[1, -TINY]], [0], 1),
            attributes=3,
        ),
    ),
}


@pytest.mark.parametrize("small", [0, 32])
@pytest.mark.parametrize("name", ADVERSARIAL)
def test_certificates_survive_rounding(name: str, small: int) -> None:
    """Trap 10: directed rounding forgot negative inputs. Exact arithmetic is the judge."""
    people, rule = ADVERSARIAL[name]
    asked = problem(people, rule, 2, quantity=SHARE)
    fair = truth(asked).fair_share
    with patch.object(refine, "SMALL", small):
        for known in stages(lower(asked), 1, 2, 10, 500):
            assert known.certified <= fair <= 1 - known.falsified


@pytest.mark.parametrize("seed", range(30))
def test_certificates_survive_rounding_of_random_networks(seed: int) -> None:
    """Trap 10: weights of all magnitudes, inputs of both signs, and a bias that puts somebody next to the threshold."""
    rng = np.random.default_rng(seed)

    def number() -> Fraction:
        return Fraction(int(rng.integers(-7, 8))) * Fraction(2) ** int(rng.choice([0, 0, 0, -3, -30, -56, 30]))

    hidden = layer([[number() for _ in range(3)] for _ in range(4)], [number() for _ in range(4)])
    top = [number() for _ in range(4)]
    somebody = [int(rng.integers(-3, 3)), int(rng.integers(-3, 3)), int(rng.integers(2))]
    z = [sum(w * v for w, v in zip(row, somebody, strict=True)) + b for row, b in _rows(hidden)]
    there = sum(w * max(value, Fraction(0)) for w, value in zip(top, z, strict=True))
    bias = -there + TINY * int(rng.integers(-1, 2))
    people = domain(x=integer(-4, 3), y=integer(-4, 3), sex=BOOLEAN)
    rule = model(hidden, layer([top], [bias], 1), attributes=3, relation=str(rng.choice([">", ">=", "<"])))
    asked = problem(people, rule, 2, quantity=SHARE)
    fair = truth(asked).fair_share
    for small in (0, 32):
        with patch.object(refine, "SMALL", small):
            for known in stages(lower(asked), 1, 10, 300):
                assert known.certified <= fair <= 1 - known.falsified


def _rows(hidden: object) -> Iterator[tuple[list[Fraction], Fraction]]:
    weight, bias = hidden.weight.exact.tolist(), hidden.bias.exact.tolist()  # type: ignore[attr-defined]
    return zip(weight, bias, strict=True)


def test_the_rounding_mode_is_left_alone() -> None:
    """Trap 10: the rounding mode leaked into other code."""
    mode = ctypes.CDLL(None).fegetround
    before = mode()
    shares(problem(SIGNED, score([1, -1, 1], 0), 2, quantity=SHARE))
    assert mode() == before
    half = np.array([2.0**-53, -(2.0**-53)])
    assert (np.array([1.0, -1.0]) + half == [1.0, -1.0]).all(), "ties go to even, on both sides"
    assert 1.0 + 2.0**-53 == 1.0 == 1.0 - 2.0**-54
    assert np.nextafter(0.0, 1.0) * 1.0 > 0.0, "small numbers are not flushed to 0"


# Trap 13


def test_shares_are_by_mass_and_not_by_the_number_of_boxes() -> None:
    """Trap 13: coverage counted partitions of unequal size. Here one has 5 units and the other 500."""
    people = domain(Or((linear({0: 1}, "<=", 4), linear({0: 1}, ">=", 500))), x=integer(0, 999), sex=BOOLEAN)
    asked = problem(people, score([1, 10], "-19/2"), 1, quantity=SHARE)  # unfair up to 9
    lowered = lower(asked)
    sizes = (lowered.task.high - lowered.task.low + 1).prod(axis=1)
    assert sorted(sizes.tolist()) == [5, 500]
    found = shares(asked)
    assert (found.certified, found.falsified) == (Fraction(500, 505), Fraction(5, 505))
    assert found.total == 505 == truth(asked).total


def test_what_is_certified_in_the_middle_of_the_work_is_by_mass() -> None:
    """Trap 13: at every stage the open boxes hold as many units as are undecided, however many boxes they are."""
    people = domain(x=integer(0, 3), y=integer(0, 59), sex=BOOLEAN)
    asked = problem(people, score([1, 1, 20], -30), 2, quantity=SHARE)
    task, fair = lower(asked).task, truth(asked).fair_share
    refinement = Refinement.start(task)
    for nodes in (1, 2, 4, 8, 16):
        refinement.advance(nodes)
        bounds = refinement.bounds()
        boxes = refinement.open_boxes(10**6)
        volumes = [np.prod(np.array(box.high) - np.array(box.low) + 1.0) for box in boxes]
        for box, volume in zip(boxes, volumes, strict=True):
            assert box.undecided + box.falsified <= volume * (1 + 1e-9)
        assert bounds.violating - bounds.falsified <= sum(box.undecided for box in boxes) + 1
        assert 1 - bounds.violating / task.total <= fair <= 1 - bounds.falsified / task.total


def test_shares_of_reals_are_by_volume() -> None:
    """Trap 13: of [0, 10] those below 1 are unfair, one tenth, wherever the boxes were cut."""
    people = domain(rate=real(0, 10), sex=BOOLEAN)
    found = shares(problem(people, score([1, 1], -1), 1, quantity=SHARE))
    assert found.measure == "volume"
    assert found.certified <= Fraction(9, 10) <= 1 - found.falsified
    assert found.undecided < Fraction(1, 1000)
    assert all(0 < pair.a.point[0] <= 1 for pair in found.witnesses)
