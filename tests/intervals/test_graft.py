"""Parts of the real tree, lent out and taken back: what is proved of the parts is proved of the whole."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from fairdsl.backends.intervals.lowering import lower
from fairdsl.backends.intervals.refine import Bounds, Refinement
from fairdsl.backends.intervals.task import Task
from fairdsl.elaborate import elaborate
from fairdsl.semantics import front_end

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def task() -> Task:
    """A share that is open for a while: of applicants in the credit example."""
    spec, _ = front_end(str(EXAMPLES / "credit" / "credit.fair"))
    (share,) = [item for item in elaborate(spec, {}).demands if item.demand.metric == "fair_share"]
    assert share.problem is not None
    return lower(share.problem).task


def at_least_as_good(later: Bounds, earlier: Bounds) -> bool:
    slack = 1 + Fraction(1, 10**8)
    return later.violating <= earlier.violating * slack and later.falsified * slack >= earlier.falsified


def begun(task: Task, nodes: int = 400) -> Refinement:
    refinement = Refinement.start(task)
    refinement.advance(nodes)
    assert not refinement.finished
    return refinement


def test_joining_parts_that_did_nothing_changes_nothing(task: Task) -> None:
    refinement = begun(task)
    before, nodes = refinement.bounds(), refinement.nodes
    refinement.join(refinement.fork(3))
    assert refinement.bounds() == before
    assert refinement.nodes == nodes
    twin = begun(task)
    twin.advance(300)
    refinement.advance(300)
    assert refinement.bounds() == twin.bounds()


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_parts_improve_the_whole(task: Task, parts: int) -> None:
    refinement = begun(task)
    whole, nodes = refinement.bounds(), refinement.nodes
    lent = [Refinement.resume(task, state) for state in refinement.fork(parts)]
    for work in (100, 200):
        evaluated = [part.advance(work) for part in lent]
        before = refinement.bounds()
        refinement.join([part.state() for part in lent])
        assert all(evaluated)
        assert at_least_as_good(refinement.bounds(), before)
    assert refinement.bounds().violating < whole.violating
    assert refinement.nodes == nodes + sum(part.nodes for part in lent)


def test_a_joined_tree_is_a_tree(task: Task) -> None:
    """Saved, resumed, forked again and refined to the end, it is as good as one that was never apart."""
    refinement = begun(task)
    for parts in (2, 3):
        lent = [Refinement.resume(task, state) for state in refinement.fork(parts)]
        for part in lent:
            part.advance(150)
        refinement.join([part.state() for part in lent])
        refinement.advance(50)
    resumed = Refinement.resume(task, refinement.state())
    assert resumed.bounds() == refinement.bounds()
    assert resumed.nodes == refinement.nodes
    alone = Refinement.start(task)
    for one in (refinement, resumed, alone):
        while one.advance(10_000):
            pass
        assert one.finished
    assert resumed.bounds() == refinement.bounds()
    ends = [one.bounds() for one in (refinement, alone)]
    assert at_least_as_good(ends[0], ends[1])
    assert at_least_as_good(ends[1], ends[0])


def test_a_part_that_was_finished_elsewhere_is_finished(task: Task) -> None:
    refinement = begun(task)
    lent = [Refinement.resume(task, state) for state in refinement.fork(2)]
    while lent[0].advance(10_000):
        pass
    refinement.join([part.state() for part in lent])
    assert not refinement.finished
    left = sum(box.undecided for box in lent[1].open_boxes(10**6))
    assert refinement.bounds().violating >= Fraction(left) * Fraction(999, 1000)
    while lent[1].advance(10_000):
        pass
    refinement.join([part.state() for part in lent])
    assert refinement.finished


def test_what_is_not_lent_cannot_come_back(task: Task) -> None:
    refinement = begun(task)
    with pytest.raises(ValueError, match="nothing is lent out"):
        refinement.join([])
    states = refinement.fork(2)
    refinement.advance(10)
    with pytest.raises(ValueError, match="nothing is lent out"):
        refinement.join(states)


def test_queues_have_room_for_every_slot(task: Task) -> None:
    """Compiled code checks no bounds: a resumed tree must have room for all that may be freed and queued."""
    refinement = begun(task, 3000)
    resumed = Refinement.resume(task, refinement.state())
    tree = resumed._tree
    assert len(tree.heap) == len(tree.key) == len(tree.free) >= len(tree.split)
