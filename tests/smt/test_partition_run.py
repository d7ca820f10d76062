"""Partitions against brute force: each verdict, the whole verdict, numbers and volumes."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.bound_filters.bounding import BoundFilter
from fairdsl.backends.smt.bound_filters.sampling import Sampler
from fairdsl.backends.smt.options import Order
from fairdsl.backends.smt.partition import run
from fairdsl.backends.smt.partition.grid import Grid, restricted
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.ir.question import Pair, Quantity, Relaxation
from fairdsl.verdict import Ended, Holds, Reason, Unknown, Vacuous, Violated
from tests.agreement.engines import about_somebody, disagreement
from tests.builders import domain, integer, layer, linear, model, problem, score
from tests.drawing import examples
from tests.oracle import truth
from tests.smt.partition_tools import asked, violates
from tests.solvers import InProcess
from tests.strategies import problems

PAIRS = problems(Quantity.HOLDS, widths=(0, 2, 3))


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()][1:]


@settings(max_examples=examples(1))
@given(PAIRS, st.integers(1, 3), st.sampled_from(list(Order)))
def test_every_partition_agrees_with_brute_force(tmp_path_factory, drawn, size: int, order: Order) -> None:
    ledger = tmp_path_factory.mktemp("run") / "ledger.jsonl"
    verdict = asked(drawn, size=size, order=order, ledger=str(ledger))
    known = truth(drawn)
    assert disagreement(drawn, about_somebody(drawn, verdict), known) is None
    grid = Grid.of(drawn, size)
    if not grid.count:
        return
    lines = lines_of(ledger)
    assert sorted(int(line["partition"]) for line in lines) == list(range(grid.count))
    for line in lines:
        number = int(line["partition"])
        wrong = violates(drawn, grid.box(number), known.violations)
        assert line["verdict"] == ("violated" if wrong else "holds"), line
        assert Fraction(line["volume"]) == grid.volume(number)
    coverage = verdict.evidence.coverage
    assert coverage.holds.volume + coverage.violated.volume == 1
    assert coverage.decided.count == coverage.total == grid.count
    assert isinstance(verdict, Holds if known.holds else Violated)


@settings(max_examples=examples(0.5))
@given(PAIRS)
def test_adaptive_partitions_agree_with_brute_force(drawn) -> None:
    verdict = asked(drawn, size="adaptive")
    known = truth(drawn)
    assert disagreement(drawn, about_somebody(drawn, verdict), known) is None
    assert isinstance(verdict, Holds | Vacuous if known.holds else Violated)
    coverage = verdict.evidence.coverage
    if coverage is not None:
        assert coverage.holds.volume + coverage.violated.volume == 1


@settings(max_examples=examples(1))
@given(PAIRS, st.integers(1, 3))
def test_restricted_questions_cover_the_whole_and_nothing_else(drawn, size: int) -> None:
    grid = Grid.of(drawn, size)
    parts = [truth(restricted(drawn, grid.box(number))).violations for number in range(grid.count)]
    both = {frozenset(pair) for part in parts for pair in part}
    assert both == {frozenset(pair) for pair in truth(drawn).violations}
    for number, part in enumerate(parts):
        assert all(violates(drawn, grid.box(number), [pair]) for pair in part)


def unfair_in_a_corner():
    """Unfair where x0 = 40 and x1 = 40 only."""
    people = domain(x0=integer(0, 40), x1=integer(0, 40), g=integer(0, 1))
    net = model(layer([[1, 1, 0], [0, 0, 1]], [-79, 0]), layer([[1, -1]], ["-1/4"], 1), attributes=3)
    return problem(people, net, 2)


def test_coverage_says_number_and_volume() -> None:
    """Trap 13: coverage counted partitions of unequal size."""
    # 41 values in chunks of 10: the last chunk of each attribute holds a single one.
    verdict = asked(unfair_in_a_corner(), size=10)
    assert isinstance(verdict, Violated)
    coverage = verdict.evidence.coverage
    assert (coverage.total, coverage.violated.count, coverage.holds.count) == (25, 1, 24)
    assert coverage.violated.volume == Fraction(1, 41**2)
    assert coverage.holds.volume == 1 - Fraction(1, 41**2)


def test_the_first_violation_ends_a_run_that_is_not_to_keep_going() -> None:
    always = problem(domain(x=integer(0, 9999), g=integer(0, 1)), score([0, 1]), 1)
    verdict = asked(always, size=1, keep_going=False)
    assert isinstance(verdict, Violated)
    assert verdict.evidence.coverage.violated.count < 1000
    assert verdict.evidence.coverage.total == 10000


def test_some_partitions_prove_nothing_about_the_others() -> None:
    fair = problem(domain(x=integer(0, 99), g=integer(0, 1)), score([1, 0]), 1)
    assert isinstance(asked(fair, size=10), Holds)
    partly = asked(fair, size=10, first=3)
    assert isinstance(partly, Unknown)
    assert partly.reason is Reason.INCOMPLETE
    assert partly.evidence.coverage.holds.volume == Fraction(3, 10)


def test_the_largest_partitions_come_first() -> None:
    fair = problem(domain(x=integer(0, 20), g=integer(0, 1)), score([1, 0]), 1)
    verdict = asked(fair, size=10, first=2, order=Order.LARGEST)
    assert verdict.evidence.coverage.holds.volume == Fraction(20, 21)


def test_a_seed_gives_an_order_of_all_partitions() -> None:
    grid = Grid.of(problem(domain(x=integer(0, 996), g=integer(0, 1)), score([1, 0]), 1), 1)
    orders = [list(grid.order(seed)) for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert all(sorted(order) == list(range(997)) for order in orders)
    assert list(grid.placed(100, 110, 1)) == orders[2][100:110]


def test_no_time_leaves_partitions_untried() -> None:
    fair = problem(domain(x=integer(0, 99), g=integer(0, 1)), score([1, 0]), 1)
    verdict = asked(fair, size=1, seconds=1e-9)
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.TIMEOUT


def test_bounds_are_not_computed_beyond_the_time(monkeypatch) -> None:
    """A block of 512 partitions was bounded to its end: of a wide network that took half a minute."""
    true_settled = BoundFilter.settled

    def slowly(self, boxes):
        time.sleep(0.3)
        return true_settled(self, boxes)

    monkeypatch.setattr(BoundFilter, "settled", slowly)
    fair = problem(domain(x=integer(0, 99_999), g=integer(0, 1)), score([1, 0]), 1)
    started = time.monotonic()
    verdict = asked(fair, size=1, seconds=1.0)
    assert time.monotonic() - started < 10
    assert isinstance(verdict, Unknown)
    coverage = verdict.evidence.coverage
    assert (verdict.reason, coverage.ended) == (Reason.TIMEOUT, Ended.TIMEOUT)
    # 32, then 64 at a time, for a second; the last of them may begin just before it is over.
    assert 0 < coverage.holds.count <= 32 + 64 * 4
    assert coverage.asked.count == coverage.holds.count


@pytest.mark.parametrize("unfair", [False, True])
def test_a_relaxed_partner_may_leave_the_partition_and_never_the_domain(unfair: bool) -> None:
    """Trap 4: the relaxed partner could leave the domain (negative duration)."""
    # score = x - 9.5: only a partner with x = 10 would be granted, and the domain ends at 9 or at 10.
    people = domain(x=integer(0, 10 if unfair else 9), g=integer(0, 1))
    question = problem(people, score([1, 0], "-19/2"), 1, relax=(Relaxation(attribute=0, by=Fraction(3)),))
    assert isinstance(question.question, Pair)
    verdict = asked(question, size=2)
    assert isinstance(verdict, Violated if unfair else Holds)
    if unfair:
        # a in 7..9 with b = 10, and a = 10 with b in 7..9: the chunks 6..7, 8..9 and 10.
        assert verdict.evidence.coverage.violated.count == 3


def test_targets_narrow_what_is_cut() -> None:
    people = domain(x=integer(0, 99), g=integer(0, 1))
    question = problem(people, score([1, 0]), 1, target=linear({0: 1}, "<=", 9))
    assert Grid.of(question, 10).count == 1
    assert asked(question, size=5).evidence.coverage.total == 2


class GivesUpOnTheModel(InProcess):
    """Decides pruned networks and nothing else."""

    def start(self, key, task) -> None:
        if task.model is None:
            verdict = Chained(status=Status.UNKNOWN, by="z3", reason=Reason.TIMEOUT, detail="timeout")
            self._ready.append((key, verdict, 0.0))
        else:
            super().start(key, task)


def seldom(weight: object):
    """A unit that is active for 20 <= x only, in one of 21 individuals, and carries g then by ``weight``."""
    people = domain(x=integer(0, 20), y=integer(0, 30), g=integer(0, 1))
    net = model(
        layer([[20, 0, 1], [0, 1, 0], [0, -1, 0]], [-400, -15, 15]),
        layer([[weight, 1, -1]], ["1/2"], 1),
        attributes=3,
    )
    return problem(people, net, 2)


def test_a_pruned_network_that_holds_proves_nothing(tmp_path) -> None:
    """Trap 12: heuristic pruning counted as proof."""
    # score = y - 14.5 + 0.4 g where x = 20: nobody is treated differently, but bounds of one side cannot see it.
    harmless = seldom("2/5")
    assert truth(harmless).holds
    ledger = tmp_path / "verdicts.jsonl"
    verdict = asked(harmless, size=31, pool_of=GivesUpOnTheModel, tolerance=Fraction(1, 10), ledger=str(ledger))
    assert isinstance(verdict, Unknown)
    coverage = verdict.evidence.coverage
    assert (coverage.holds.count, coverage.unknown.count, coverage.pruned_only.count) == (0, 1, 1)
    (line,) = lines_of(ledger)
    assert line["verdict"] == "unknown"
    assert line["holds_without_units"] == {"layer 1": [0]}
    # Why the model's own question is open is not hidden by what came of the pruned network.
    assert (line["reason"], coverage.reasons) == ("timeout", ((Reason.TIMEOUT, 1),))
    assert verdict.reason is Reason.TIMEOUT
    assert line["detail"] == "timeout; without 1 of its units, which is another network, it holds"


def test_a_violation_that_pruning_hides_stays_unknown() -> None:
    """Trap 12: the pruned network is fair, the model is not."""
    unfair = seldom(1)
    assert not truth(unfair).holds
    verdict = asked(unfair, size=31, pool_of=GivesUpOnTheModel, tolerance=Fraction(1, 10))
    assert not isinstance(verdict, Holds)


class Noting(InProcess):
    """Notes which partitions it is handed, between the draws."""

    def start(self, key, task) -> None:
        EVENTS.append("solved")
        super().start(key, task)


EVENTS: list[str | int] = []


def test_what_is_drawn_in_a_partition_is_bounded_and_solvers_do_not_wait_for_it(monkeypatch) -> None:
    """Of 30 ages with partners 96 individuals of each unit are compared: drawing in 512 partitions took a minute."""
    people = domain(x=integer(0, 7), age=integer(0, 29), y=integer(0, 63))
    # The two hidden units cancel, which bounds do not see: everybody's score is 1/2.
    net = model(layer([[100, 0, 0], [100, 0, 0]], [-350, -350]), layer([[1, -1]], ["1/2"], 1), attributes=3)
    relaxed = (Relaxation(attribute=2, by=Fraction(3)),)
    monkeypatch.setattr(run, "_DRAWN", 3)
    suspects = Sampler.suspects

    def noting(self, boxes, units, rounds):
        EVENTS.append(units * self.compared)
        return suspects(self, boxes, units, rounds)

    monkeypatch.setattr(Sampler, "suspects", noting)
    EVENTS.clear()
    verdict = asked(problem(people, net, 1, relax=relaxed), size=8, pool_of=Noting)
    assert isinstance(verdict, Holds)
    solved = [place for place, event in enumerate(EVENTS) if event == "solved"]
    drawn = [place for place, event in enumerate(EVENTS) if event != "solved"]
    assert solved
    assert solved[0] < drawn[-1]
    assert max(EVENTS[place] for place in drawn) <= 1024
