"""Units next to the threshold, or on it, in small boxes: a complete refinement has decided every one of them."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.intervals.job import read_job
from fairdsl.backends.intervals.kernels.slots import TIED
from fairdsl.backends.intervals.leaves import restored
from fairdsl.backends.intervals.lowering import lower
from fairdsl.backends.intervals.procedure import Intervals
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.remainders import NOTHING_LEFT_OUT, exactly, left_out
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.refining.recheck import ALL
from fairdsl.backends.refining.records import assembled
from fairdsl.clock import Meter, metered
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import ByThreshold, Curve, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Shares
from tests.builders import BOOLEAN, domain, integer, layer, model, problem
from tests.drawing import examples
from tests.intervals.kernel_tasks import LATTICE, counted, network, random_task
from tests.intervals.test_job import write
from tests.oracle import scores, truth
from tests.strategies import problems

some = settings(deadline=None, max_examples=examples(1))
seeds = st.integers(0, 2**32 - 1)
THIRD, TENTH = Fraction(1, 3), Fraction(1, 10)
#: Factors of the first layer's numbers: float64 or not, exact in float64 or not.
FACTORS = [Fraction(1), THIRD, Fraction(float(np.float32(THIRD))), Fraction(float(TENTH)), TENTH]
#: How far from a threshold is too near for float64, or hardly not.
NUDGES = [Fraction(0), *(sign * Fraction(1, 10**power) for power in (12, 15, 16, 30) for sign in (1, -1))]


def complete(refinement: Refinement) -> Refinement:
    while refinement.advance(50):
        pass
    assert refinement.finished
    return refinement


def tied(refinement: Refinement) -> int:
    """How many boxes wait for exact arithmetic."""
    tree = refinement.state()
    return int((tree["split"][tree["slot"][tree["slot"] >= 0]] == TIED).sum())


def before_ties(task: Task) -> Refinement:
    """The refinement when nothing is left but to decide ties."""
    refinement = Refinement.start(task)
    while refinement._tree.counts[3]:
        refinement.advance(1)
    return refinement


def scaled(array: ExactArray, factor: Fraction) -> ExactArray:
    return ExactArray.from_fractions(array.exact * factor)


def nudged(asked: Problem, draw: Any) -> Problem:
    """The first layer scaled, and the threshold where somebody's score is, or as good as there."""
    rule, factor = asked.model.rule, draw(st.sampled_from(FACTORS))
    first = asked.model.layers[0]
    first = replace(first, weight=scaled(first.weight, factor), bias=scaled(first.bias, factor))
    changed: Model = replace(asked.model, layers=(first, *asked.model.layers[1:]))
    if isinstance(rule, ByThreshold):
        person = tuple(Fraction(draw(st.sampled_from(list(each.values)))) for each in asked.domain.attributes)
        limit = scores(changed, person)[0] + draw(st.sampled_from(NUDGES))
        changed = replace(changed, rule=replace(rule, low=limit, high=limit))
    return replace(asked, model=changed)


@settings(deadline=None, max_examples=examples(4))
@given(st.data())
def test_complete_shares_are_the_fractions_of_brute_force(data: st.DataObject) -> None:
    """Every clause about pairs, numbers that are no floats, several outcomes, and scores on the threshold."""
    asked = nudged(data.draw(problems(Quantity.FAIR_SHARE)), data.draw)
    if isinstance(roles_of(asked), Refusal):
        return
    lowered = lower(asked)
    task, expected = lowered.task, truth(asked)
    refinement = Refinement.start(task)
    bounds = (complete(refinement) if not task.relaxed else refinement).bounds()
    violating = expected.total - expected.fair
    assert bounds.falsified * lowered.factor <= violating <= (bounds.violating + task.undetermined) * lowered.factor
    if not (task.relaxed or task.undetermined or len(set(task.component.tolist())) > 1):
        assert bounds.falsified * lowered.factor == violating == bounds.violating * lowered.factor


def rounding(task: Task) -> Task:
    """The same task, of which it is not known that float64 evaluates it exactly."""
    return replace(task, exact=False, remainders=(NOTHING_LEFT_OUT,) * len(task.rounded))


@settings(deadline=None, max_examples=examples(4))
@given(seeds)
def test_the_end_is_exact_where_rounding_is_possible(seed: int) -> None:
    task = rounding(random_task(seed))
    bounds, (sure, maybe, maybe32) = complete(Refinement.start(task)).bounds(), counted(task)
    if len(set(task.component.tolist())) == 1 and not task.margin.any():
        assert bounds.falsified == sure == maybe == bounds.violating
    if bounds.violating_float32 is not None:
        assert bounds.violating_float32 >= maybe32


def constant(size: int, *, hidden: bool = True) -> Task:
    """A score that is exactly 0 for everybody with few numbers, whatever the group; float64 does not know."""
    weights = [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0]]
    layers = [(weights, [-0.5 * size, -0.5 * size]), ([[1.0, -1.0]], [0.0])]
    task = network([LATTICE] * 3, [size] * 3, layers, [([0.0, 0.0], [[[1.0, 1.0]]])], slopes=(np.array([0.3, 0.3]),))
    return rounding(task)


def test_a_score_that_is_the_threshold_everywhere() -> None:
    """Nothing but ties: a box can be decided by evaluation alone."""
    refinement = before_ties(constant(12))
    assert refinement.bounds().violating == 12**3
    assert tied(refinement) > 50
    assert not refinement.finished
    assert complete(refinement).bounds().violating == 0
    assert tied(refinement) == 0


def test_the_clock_is_looked_at_between_a_few_boxes() -> None:
    """Of thousands a turn decides some, however many it may."""
    refinement = before_ties(constant(24))
    waiting = tied(refinement)
    assert waiting > 500
    began = time.process_time()
    assert refinement.advance(1000) < 200
    assert time.process_time() - began < 1.0
    assert waiting - 200 < tied(refinement) < waiting


def everywhere(size: int) -> Problem:
    """The same as a problem: thousands of boxes on the threshold."""
    people = domain(**dict.fromkeys("xyz", integer(0, size - 1)), p=BOOLEAN)
    hidden = layer([[1, 1, -1, 1]] * 2, [Fraction(-size, 2)] * 2, Fraction(3, 10))
    rule = model(hidden, layer([[1, -1]], [0], 1), attributes=4)
    return problem(people, rule, 3, quantity=Quantity.FAIR_SHARE)


def test_a_time_limit_ends_it() -> None:
    asked = everywhere(60)
    assert answer(everywhere(6)).undecided == 0
    began = time.monotonic()
    found = answer(asked, 1.0)
    assert time.monotonic() - began < 9.0  # all of them take twenty seconds and more
    assert found.undecided > found.falsified == 0


def test_an_effort_is_spent_on_the_same() -> None:
    found = []
    for _ in range(2):
        with metered(Meter(10**4)):
            found.append(answer(everywhere(16), 0.1))
    first, second = found
    assert 0 < first.undecided < 1
    assert (first.certified, first.undecided, first.evidence) == (second.certified, second.undecided, second.evidence)


def answer(asked: Problem, seconds: float = 20.0) -> Shares:
    found = Intervals().answer(asked, Facts(), Budget.of(seconds), Silent())
    assert isinstance(found, Shares)
    return found


@some
@given(seeds, st.integers(1, 40))
def test_what_is_decided_hangs_on_the_nodes_alone(seed: int, step: int) -> None:
    task = rounding(random_task(seed))
    first, second = before_ties(task), before_ties(task)
    for _ in range(3):
        assert first.advance(step) == second.advance(step)
        assert first.bounds() == second.bounds()
        assert first.nodes == second.nodes


@some
@given(seeds, st.integers(0, 60))
def test_what_was_decided_is_stored_recomputed_and_gone_on_from(seed: int, nodes: int) -> None:
    task = rounding(random_task(seed))
    refinement = before_ties(task)
    records = [refinement.stored()]
    additions = refinement.additions(records[0])
    refinement.advance(nodes)
    records.append(additions())
    kept = refinement.stored()
    for name, array in assembled(records).items():
        np.testing.assert_array_equal(array, kept[name])
    again, checked = Refinement.opened(task, Refinement.start(task).state(), kept, ALL)
    assert not checked.sampled.wrong
    assert again.bounds() == refinement.bounds()
    assert tied(again) == tied(refinement)
    assert complete(again).bounds() == complete(refinement).bounds()


def test_a_file_that_decides_a_tie_otherwise_is_refused() -> None:
    task = rounding(tie_of_some())
    roots = Refinement.start(task).state()
    kept = complete(Refinement.start(task)).stored()
    for name, by in (("violating", -1), ("falsified", 1)):
        claims = kept[name].astype(np.int64)
        where = int(np.flatnonzero(kept["violating"])[0] if by < 0 else np.flatnonzero(kept["falsified"] == 0)[0])
        claims[where] += by
        lied = kept | {name: claims} | ({"falsified": np.minimum(kept["falsified"], claims)} if by < 0 else {})
        lied |= {"violating": np.maximum(kept["violating"], claims)} if by > 0 else {}
        with pytest.raises(ValueError, match="does not come out"):
            Refinement.opened(task, roots, lied, ALL)


def tie_of_some() -> Task:
    """x + y - z - 3 >= 0, and one more for the other group: only those with x + y = z + 2 are treated otherwise."""
    layers = [([[1.0, 1.0, -1.0]], [-3.0]), ([[1.0]], [0.0])]
    return network([LATTICE] * 3, [6] * 3, layers, [([0.0], [[[1.0]]])], slopes=(np.array([0.3]),), strict=False)


def test_a_large_box_is_not_evaluated_because_a_file_says_so() -> None:
    task = constant(12)
    roots = Refinement.start(task).state()
    begun = Refinement.start(task)
    kept = begun.stored() | {"next": np.array([TIED], dtype=np.int64)}
    state, _ = restored(task, roots, kept)
    assert (state["split"] != TIED).all()


@some
@given(seeds, st.integers(1, 4))
def test_ties_are_shared_out(seed: int, parts: int) -> None:
    task = rounding(random_task(seed))
    refinement = before_ties(task)
    waiting = tied(refinement)
    others = [Refinement.resume(task, state) for state in refinement.fork(parts)]
    assert sum(map(tied, others)) == waiting
    refinement.join([complete(other).state() for other in others])
    assert refinement.finished
    assert tied(refinement) == 0
    assert refinement.bounds() == complete(Refinement.start(task)).bounds()


def test_curves_that_nobody_can_tell_from_the_threshold_stay_open() -> None:
    """tanh(x) + tanh(-x) is 0, and no precision shows it; of tanh(x) - 1e-18 one does."""
    pair = ([[1.0], [-1.0]], [0.0, 0.0])
    curves = (np.full(2, int(Curve.TANH)),)
    for bias, left in ((0.0, True), (1e-18, False)):
        task = network([LATTICE], [8], [pair, ([[1.0, 1.0]], [bias])], [([0.5, -0.5], [[[1.0, -1.0]]])], curves=curves)
        bounds = complete(Refinement.start(task)).bounds()
        assert bounds.falsified == 0
        assert (bounds.violating > 0) == left


@given(st.lists(st.fractions(max_denominator=10**9) | st.integers(-(2**70), 2**70), max_size=6))
def test_remainders_give_the_numbers_back(numbers: list[Fraction | int]) -> None:
    exact = np.array([Fraction(number) for number in numbers] + [None], dtype=object)[:-1]
    floats = np.array([float(number) for number in numbers], dtype=np.float64)
    assert exactly(floats, left_out(floats, exact)).exact.tolist() == exact.tolist()
    thirds = np.array([float(number / 3) for number in exact.tolist()], dtype=np.float64)
    assert exactly(thirds, left_out(thirds, exact, 3)).exact.tolist() == [number / 3 for number in exact.tolist()]


def thirds() -> Problem:
    """(x + y - 3)/3 >= 0 is a tie at x + y = 3, and float64 has no third."""
    people = domain(x=integer(0, 5), y=integer(0, 5), p=BOOLEAN)
    rule = model(layer([[THIRD, THIRD, TENTH]], [-1], THIRD), layer([[1]], [0], 1), attributes=3, relation=">=")
    return problem(people, rule, 2, quantity=Quantity.FAIR_SHARE)


def test_jobs_hold_what_float64_leaves_out(tmp_path: Path) -> None:
    asked = thirds()
    task = lower(asked).task
    assert not task.exact
    read = read_job(write(tmp_path / "a.job", task)).task
    assert all(map(np.array_equal, read.remainders, task.remainders))
    bounds = complete(Refinement.start(read)).bounds()
    expected = truth(asked)
    assert bounds.falsified == bounds.violating == expected.total - expected.fair
    unknown = complete(Refinement.start(replace(task, remainders=()))).bounds()
    assert unknown.falsified < unknown.violating


@pytest.mark.parametrize("change", [0, 1, 2, 3])
def test_remainders_that_fit_no_array_are_refused(tmp_path: Path, change: int) -> None:
    task = lower(thirds()).task
    first, *rest = task.remainders
    broken = (
        [first[:-1], *rest],
        rest,
        [first.astype(np.int64), *rest],
        [np.concatenate([first[:-1], -first[-1:]]), *rest],
    )[change]
    with pytest.raises(DiagnosticError) as caught:
        read_job(write(tmp_path / "a.job", replace(task, remainders=tuple(broken))))
    assert [finding.code for finding in caught.value.diagnostics] == ["E0609"]
