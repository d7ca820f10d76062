"""What could go wrong with partitions: requests without sense, forged ledgers, lost violations, grids without end."""

from __future__ import annotations

import json
import time
from fractions import Fraction
from itertools import islice

import pytest

from fairdsl.backends.smt.bound_filters.sampling import Sampler, Suspect
from fairdsl.backends.smt.options import Order, Partition
from fairdsl.backends.smt.partition.grid import Grid
from fairdsl.backends.smt.partition.ledger import Ledger
from fairdsl.backends.smt.solvers.chain import Chained, Limits, Status, decide
from fairdsl.backends.smt.solvers.pool import SolverPool
from fairdsl.backends.smt.solvers.worker import Task
from fairdsl.clock import Deadline
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Reason, Unknown, Violated
from tests.builders import category, domain, integer, layer, linear, model, problem, score
from tests.smt.partition_tools import asked
from tests.solvers import InProcess

ALWAYS = problem(domain(x=integer(0, 29), colour=category(4, 7, 9), g=integer(0, 1)), score([1, 1, "1/2"], -20), 2)


@pytest.mark.parametrize(
    "request_",
    [
        {"size": 0},
        {"size": -1},
        {"first": 0},
        {"first": -1},
        {"profile": 0},
        {"resume": True},
        {"tolerance": 2},
        {"size": "adaptive", "first": 3},
        {"size": "adaptive", "order": Order.GRID},
    ],
)
def test_requests_without_sense_are_no_requests(request_) -> None:
    """The first 0 of all partitions once proved the property."""
    with pytest.raises(DiagnosticError, match="`"):
        Partition(**{"size": 10} | request_)


def lines_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rewritten(path, lines) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize(
    "change",
    [
        {"units": 1, "undecided_units": 2},
        {"undecided_units": -1},
        {"undecided_units": float("inf")},
        {"verdict": ["holds"]},
        {"witness": "nobody"},
        {"witness": {"a": {"x": 0, "colour": "v5", "g": 0}, "b": {"x": 0, "colour": "v5", "g": 1}}},
        {"witness": {"a": {"x": "1/0", "colour": "v4", "g": 0}, "b": {"x": 0, "colour": "v4", "g": 1}}},
        {"witness": {"a": {"x": "1e999999999", "colour": "v4", "g": 0}, "b": {"x": 0, "colour": "v4", "g": 1}}},
        {"partition": "r", "split": "g"},
        {"partition": "r", "split": "height"},
    ],
)
def test_lines_that_no_run_wrote_are_refused(tmp_path, change) -> None:
    path = tmp_path / "verdicts.jsonl"
    asked(ALWAYS, size=10, ledger=str(path))
    header, *lines = lines_of(path)
    place = next(number for number, line in enumerate(lines) if line["verdict"] == "violated")
    lines[place] |= change
    rewritten(path, [header, *lines])
    with pytest.raises(DiagnosticError) as caught:
        asked(ALWAYS, size=10, ledger=str(path), resume=True)
    assert [found.code for found in caught.value.diagnostics] == ["E0612"]


def test_a_line_of_many_brackets_is_refused(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    asked(ALWAYS, size=10, ledger=str(path))
    with path.open("a") as file:
        file.write("[" * 100_000 + "\n")
    with pytest.raises(DiagnosticError, match="E0612"):
        asked(ALWAYS, size=10, ledger=str(path), resume=True)


def test_volumes_and_places_of_violations_are_not_taken_from_the_file(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = asked(ALWAYS, size=10, ledger=str(path))
    header, *lines = lines_of(path)
    violated = next(line for line in lines if line["verdict"] == "violated")
    fair = next(line for line in lines if line["verdict"] == "holds")
    # A real violation, of another partition.
    fair |= {"verdict": "violated", "by": "sampling", "witness": violated["witness"], "volume": "7"}
    rewritten(path, [header, *lines])
    again = asked(ALWAYS, size=10, ledger=str(path), resume=True)
    assert again.evidence.coverage.holds == whole.evidence.coverage.holds
    assert again.evidence.coverage.violated == whole.evidence.coverage.violated


def test_a_note_of_halving_what_cannot_be_halved_is_passed_over(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = asked(ALWAYS, size="adaptive", ledger=str(path))
    header, *_ = lines_of(path)
    rewritten(path, [header, *({"partition": "r" + "0" * depth, "split": "colour"} for depth in range(3))])
    again = asked(ALWAYS, size="adaptive", ledger=str(path), resume=True)
    assert again.evidence.coverage.decided.volume == whole.evidence.coverage.decided.volume == 1


def test_one_run_at_a_time_writes_into_a_file(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    asked(ALWAYS, size=10, ledger=str(path))
    grid = Grid.of(ALWAYS, 10)
    request = Partition(size=10, keep_going=True, ledger=str(path), resume=True)
    first = Ledger.open(request, ALWAYS, 0, grid.cut, grid.count)
    try:
        with pytest.raises(DiagnosticError, match="E0605"):
            asked(ALWAYS, size=10, ledger=str(path), resume=True)
    finally:
        first.close()
    assert isinstance(asked(ALWAYS, size=10, ledger=str(path), resume=True), Violated)


def test_a_full_disk_is_told_and_what_was_written_is_gone_on_from(tmp_path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "verdicts.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, limits[1]))
    try:
        with pytest.raises(DiagnosticError, match="E0629"):
            asked(ALWAYS, size=1, ledger=str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.stat().st_size == 1500
    again = asked(ALWAYS, size=1, ledger=str(path), resume=True)
    assert again.evidence.coverage.decided.volume == 1


class Never(InProcess):
    """Decides nothing."""

    def start(self, key, task) -> None:
        self._ready.append((key, Chained(status=Status.UNKNOWN, by="z3", reason=Reason.TIMEOUT), 0.0))


def test_a_violation_found_while_halving_is_not_forgotten(monkeypatch) -> None:
    """Where the halves of a violated partition find nothing again, the pair that was found still counts."""
    true_suspects = Sampler.suspects
    calls = []

    def once(self, boxes, units, rounds):
        calls.append(len(boxes))
        return true_suspects(self, boxes, units, rounds) if len(calls) == 1 else []

    monkeypatch.setattr(Sampler, "suspects", once)
    verdict = asked(ALWAYS, size="adaptive", pool_of=Never)
    assert isinstance(verdict, Violated)
    assert all(witness.replay.exact for witness in verdict.witnesses)


def test_a_violation_counts_in_its_own_partition_only(monkeypatch) -> None:
    people = domain(x=integer(0, 9), g=integer(0, 1))
    corner = problem(people, score([1, "1/2"], -9), 1, pair_target=linear({0: 1}, ">=", 8))
    true_suspects = Sampler.suspects

    def anywhere(self, boxes, units, rounds):
        found = true_suspects(self, boxes, units, rounds)
        return [Suspect(place, one.rows) for one in found for place in range(len(boxes))]

    monkeypatch.setattr(Sampler, "suspects", anywhere)
    verdict = asked(corner, size=5)
    assert isinstance(verdict, Violated)
    assert (verdict.evidence.coverage.holds.count, verdict.evidence.coverage.violated.count) == (1, 1)


def test_units_asked_one_by_one_are_counted_once() -> None:
    """Both copies of a network were counted, and units that are linear: more were undecided than there are."""
    people = domain(x=integer(-5, 5), y=integer(-5, 5), g=integer(0, 1))
    net = model(
        layer([[1, 1, 1], [1, -1, 0], [-1, 1, 1]], [0, 0, 0]),
        layer([[1, 1, 1], [1, 0, -1]], [0, 0], 1),
        layer([[1, -1]], ["1/4"], 1),
        attributes=3,
    )
    answer = decide(problem(people, net, 2), Limits(seconds=30.0, seed=0, units=True))
    assert answer.undecided is not None
    assert 0 <= answer.undecided <= 3


@pytest.mark.parametrize("order", list(Order))
def test_grids_of_more_partitions_than_arrays_can_number(order: Order) -> None:
    wide = problem(domain(g=integer(0, 1), **{f"x{i}": integer(0, 10**4) for i in range(6)}), score([0] + [1] * 6), 0)
    assert Grid.of(wide, 1).count == 10001**6
    verdict = asked(wide, size=1, first=40, order=order)
    assert isinstance(verdict, Unknown)
    assert verdict.evidence.coverage.holds.count == 40
    assert verdict.evidence.coverage.holds.volume == Fraction(40, 10001**6)


def test_wide_orders_name_no_partition_twice() -> None:
    people = domain(g=integer(0, 1), x=integer(0, 2**60), y=integer(0, 2**50))
    wide = Grid.of(problem(people, score([0, 1, 1]), 0), 1 << 5)
    assert wide.count > 2**64
    drawn = list(islice(wide.order(3), 500))
    assert len(set(drawn)) == 500
    assert all(0 <= index < wide.count for index in drawn)
    assert wide.placed(100, 110, 3) == drawn[100:110]


#: A solver that never ends by itself.
BUSY = """
import json, sys, time
sys.path[:] = json.loads(sys.argv[1])
from fairdsl.backends.smt.solvers import worker
from fairdsl.worker_program import begin
worker.decided = lambda problem, task: time.sleep(600)
begin(int(sys.argv[2]), 0, sys.argv[4])
"""


def test_solvers_end_when_their_parent_was_killed() -> None:
    """They went on until their time was up, however long that was."""
    pool = SolverPool(ALWAYS, 1, 0, BUSY)
    pool.start("whole", Task(ALWAYS.question, Limits(seconds=600.0, seed=0)))
    (worker,) = pool._workers
    try:
        until = time.monotonic() + 60
        while not worker.ready and time.monotonic() < until:
            pool.finished(Deadline.within(0.2))
        assert worker.ready
        assert worker.process.poll() is None
        worker.connection.close()  # what the system does for a parent that is killed
        assert worker.process.wait(timeout=30) != 0
    finally:
        worker.process.kill()
        worker.process.wait()
