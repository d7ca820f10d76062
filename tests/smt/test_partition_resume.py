"""What is believed of the ledger of an earlier run, and what is asked again."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from fairdsl.backends.smt.bound_filters.sampling import Sampler, Suspect
from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition import run
from fairdsl.backends.smt.partition.grid import Grid
from fairdsl.backends.smt.partition.ledger import Ledger
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Arithmetic, Ended, Holds, Reason, Unknown, Word
from tests.builders import category, domain, integer, layer, linear, model, problem, score
from tests.smt.partition_tools import asked
from tests.solvers import InProcess

PEOPLE = domain(x=integer(0, 29), colour=category(4, 7, 9), g=integer(0, 1))
UNFAIR = problem(PEOPLE, score([1, 1, "1/2"], -20), 2)
#: Fair, and not by the bounds of a side alone: the two copies differ by less than the step of x.
FAIR = problem(PEOPLE, score([1, 1, "1/4"], "-81/4"), 2)

#: Unfair to those near x = 20; units bend at x = 5, at x = 20 and nowhere.
KINKED = problem(
    PEOPLE,
    model(
        layer([[1, 0, 0], [1, 0, 1], [0, 0, 1]], [-5, -20, 3]),
        layer([[0, 1, "1/8"]], ["-1/2"], 1),
        attributes=3,
    ),
    2,
)


def lines_of(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rewritten(path, lines) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def forged(path, number: str, **said) -> None:
    """The ledger with another verdict on a partition; what is None is left out."""
    header, *lines = lines_of(path)
    other = [line | said if line["partition"] == number else line for line in lines]
    rewritten(path, [header, *({key: value for key, value in line.items() if value is not None} for line in other)])


class Fails(InProcess):
    """Must not be asked."""

    def start(self, key, task) -> None:
        raise AssertionError(f"{key} was asked again")


def test_what_holds_by_bounds_is_bounded_again(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = asked(UNFAIR, size=5, ledger=str(path))
    wrong = next(line["partition"] for line in lines_of(path)[1:] if line["verdict"] == "violated")
    forged(path, wrong, verdict="holds", by="bounds", witness=None)
    before = len(lines_of(path))
    again = asked(UNFAIR, size=5, ledger=str(path), resume=True)
    assert again.evidence.coverage.violated == whole.evidence.coverage.violated
    # What bounds prove again is not written again; what they do not prove is asked, and told.
    added = lines_of(path)[before:]
    assert [(line["partition"], line["verdict"]) for line in added] == [(wrong, "violated")]
    assert not any("taken from" in note for note in again.evidence.notes)


def test_the_units_that_bounds_decide_are_averaged_over_all_of_the_file(tmp_path) -> None:
    """A resumed run does not bound again what is violated: the average was over the rest then, and another one."""
    path = tmp_path / "verdicts.jsonl"
    whole = asked(KINKED, size=2, ledger=str(path)).evidence.coverage
    others = [line for line in lines_of(path)[1:] if line["verdict"] != "violated"]
    decided = 1 - Fraction(sum(line["undecided_units"] for line in others), sum(line["units"] for line in others))
    assert whole.violated.count > 0
    assert decided != whole.compression, "without those that are violated the average is another"
    again = asked(KINKED, size=2, ledger=str(path), resume=True).evidence.coverage
    assert (again.violated, again.holds) == (whole.violated, whole.holds)
    assert again.compression == whole.compression
    # A file that was written by hand is not believed to leave more units than there are.
    wrong = next(line["partition"] for line in lines_of(path)[1:] if line["verdict"] == "violated")
    forged(path, wrong, units=10**9, undecided_units=10**9)
    third = asked(KINKED, size=2, ledger=str(path), resume=True).evidence.coverage
    assert 0 <= third.compression <= 1


def test_what_solvers_proved_is_taken_and_the_report_says_so(tmp_path, monkeypatch) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = asked(FAIR, size=10, ledger=str(path))
    digest = sha256(path.read_bytes()).hexdigest()
    assert isinstance(whole, Holds)
    solved = sum(line["by"] != "bounds" for line in lines_of(path)[1:])
    assert solved > 0
    again = asked(FAIR, size=10, ledger=str(path), resume=True, pool_of=Fails)
    assert isinstance(again, Holds)
    assert again.evidence.coverage.holds == whole.evidence.coverage.holds
    assert again.evidence.coverage.compression == whole.evidence.coverage.compression
    basis = again.evidence.basis
    (claim,) = basis.claims
    assert (claim.said, claim.file, claim.by) == (f"{solved} of the partitions hold", str(path), "an earlier run")
    assert (basis.word, basis.arithmetic, claim.sha256) == (Word.FILES, Arithmetic.CLAIMED, digest)
    assert whole.evidence.basis.claims == ()
    # Nothing is taken where everything is asked again, or where nobody else can have written the file.
    again = asked(FAIR, size=10, ledger=str(path), resume=True, recheck=True)
    assert (isinstance(again, Holds), again.evidence.basis.claims) == (True, ())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    private = tmp_path / "fairdsl" / "ledgers"
    private.mkdir(mode=0o700, parents=True)
    kept = private / "verdicts.jsonl"
    kept.write_bytes(path.read_bytes())
    for mode, claims in ((0o700, 0), (0o755, 1)):
        private.chmod(mode)
        again = asked(FAIR, size=10, ledger=str(kept), resume=True, pool_of=Fails)
        assert (isinstance(again, Holds), len(again.evidence.basis.claims)) == (True, claims)


@pytest.mark.parametrize("length", [0, 1, 40])
def test_a_run_that_was_killed_at_its_first_line_is_begun_again(tmp_path, length) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = asked(FAIR, size=10, ledger=str(path)).evidence.coverage
    lines = path.read_bytes()
    path.write_bytes(lines[:length])
    assert asked(FAIR, size=10, ledger=str(path), resume=True).evidence.coverage.holds == whole.holds
    assert path.read_bytes().splitlines()[0] == lines.splitlines()[0]
    path.write_bytes(lines[:length] + b"?")
    with pytest.raises(DiagnosticError, match="E0612"):
        asked(FAIR, size=10, ledger=str(path), resume=True)


@pytest.mark.parametrize(
    "said",
    [
        {"verdict": "holds", "by": "sampling", "witness": None},
        {"verdict": "holds", "by": "z3"},  # with a witness
        {"verdict": "violated", "by": "bounds"},
        {"verdict": "violated", "by": "sampling", "witness": None},
        {"verdict": "holds", "by": "z3", "witness": None, "units": True},
        {"verdict": "holds", "by": "z3", "witness": None, "units": 77, "undecided_units": 0},
        {"verdict": "holds", "by": "z3", "witness": None, "seconds": -1},
        {"verdict": "holds", "by": "z3", "witness": None, "box": {"x": [0, 1]}},
        {"verdict": "holds", "by": "z3", "witness": None, "volume": "1"},
        {"verdict": "unknown", "by": "z3", "witness": None, "reason": "none"},
        {"by": "z3", "trust": "me"},
    ],
)
def test_a_line_that_no_run_writes_is_refused(tmp_path, said) -> None:
    path = tmp_path / "verdicts.jsonl"
    asked(UNFAIR, size=5, ledger=str(path))
    wrong = next(line["partition"] for line in lines_of(path)[1:] if line["verdict"] == "violated")
    forged(path, wrong, **said)
    with pytest.raises(DiagnosticError, match="E0612"):
        asked(UNFAIR, size=5, ledger=str(path), resume=True)


def test_a_violation_comes_before_whatever_else_is_said_of_its_partition(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = asked(UNFAIR, size=5, ledger=str(path))
    lines = lines_of(path)
    wrong = next(line for line in lines[1:] if line["verdict"] == "violated")
    claim = {name: value for name, value in wrong.items() if name != "witness"} | {"verdict": "holds", "by": "z3"}
    rewritten(path, [*lines, claim])
    again = asked(UNFAIR, size=5, ledger=str(path), resume=True)
    assert again.evidence.coverage.violated == whole.evidence.coverage.violated
    assert lines_of(path) == [*lines, claim]


class Trusts(InProcess):
    """A mixed-integer solver that says `infeasible` of everything, without a proof."""

    def start(self, key, task) -> None:
        self._ready.append((key, Chained(status=Status.HOLDS, by="trusted milp", trusted=True), 0.0))


def test_what_was_trusted_is_asked_again_where_it_no_longer_is(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    trusting = asked(FAIR, size=10, ledger=str(path), pool_of=Trusts)
    assert any("to be trusted without proof" in note for note in trusting.evidence.notes)
    again = asked(FAIR, size=10, ledger=str(path), resume=True)
    assert isinstance(again, Holds)
    assert dict(again.evidence.coverage.by).keys() <= {"bounds", "bounds of pairs", "milp", "z3"}
    assert again.evidence.notes == ()


def test_more_partitions_are_asked_by_and_by(tmp_path) -> None:
    """The first 2, then the first 4, then all: one ledger."""
    path = tmp_path / "verdicts.jsonl"
    asked(UNFAIR, size=5, ledger=str(path), first=2)
    more = asked(UNFAIR, size=5, ledger=str(path), first=4, resume=True)
    assert (more.evidence.coverage.asked.count, more.evidence.coverage.ended) == (4, Ended.FIRST)
    whole = asked(UNFAIR, size=5, ledger=str(path), resume=True)
    assert whole.evidence.coverage.decided.volume == 1
    numbers = [line["partition"] for line in lines_of(path)[1:]]
    assert sorted(numbers, key=int) == [str(number) for number in range(6)]
    # Nothing of what is there is lost by asking fewer.
    fewer = asked(UNFAIR, size=5, ledger=str(path), first=1, resume=True)
    assert fewer.evidence.coverage.asked.count == 1


def test_a_violation_of_the_whole_is_taken_apart_once_the_run_is_to_keep_going(tmp_path) -> None:
    """The whole was violated, and stayed so: a run that went on had nothing left to ask."""
    path = tmp_path / "verdicts.jsonl"
    first = asked(UNFAIR, size="adaptive", ledger=str(path), keep_going=False)
    assert first.evidence.coverage.violated.volume == 1
    again = asked(UNFAIR, size="adaptive", ledger=str(path), resume=True)
    fresh = asked(UNFAIR, size="adaptive")
    assert again.evidence.coverage.violated == fresh.evidence.coverage.violated
    assert again.evidence.coverage.holds == fresh.evidence.coverage.holds
    third = asked(UNFAIR, size="adaptive", ledger=str(path), resume=True)
    assert third.evidence.coverage.holds == fresh.evidence.coverage.holds


def test_pairs_are_read_where_they_stand(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    asked(UNFAIR, size=5, ledger=str(path))
    asked(UNFAIR, size=5, ledger=str(path), resume=True)
    grid = Grid.of(UNFAIR, 5)
    ledger = Ledger.open(Partition(size=5, ledger=str(path), resume=True), UNFAIR, 0, grid.cut, grid.count)
    try:
        for line in lines_of(path)[1:]:
            said = ledger.violation(line["partition"])
            if line["verdict"] == "holds":
                assert said is None
            else:
                assert said is not None
                assert [point[0] for point in (said.a, said.b)] == [line["witness"][one]["x"] for one in ("a", "b")]
    finally:
        ledger.close()


OTHER_DOMAIN = problem(
    domain(x=integer(0, 29), colour=category(4, 7, 8), g=integer(0, 1)), score([1, 1, "1/2"], -20), 2
)


@pytest.mark.parametrize(
    ("other", "request_", "says"),
    [
        (FAIR, {}, "it is about another domain, question or decision rule"),
        (OTHER_DOMAIN, {}, "it is about another domain, question or decision rule"),
        (UNFAIR, {"size": 4}, "its `size` is 5, and this run's is 4"),
        (UNFAIR, {"size": "adaptive"}, 'its `size` is 5, and this run\'s is "adaptive"'),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, other, request_, says: str) -> None:
    path = tmp_path / "verdicts.jsonl"
    asked(UNFAIR, size=5, ledger=str(path))
    before = path.read_bytes()
    with pytest.raises(DiagnosticError) as caught:
        asked(other, **({"size": 5} | request_), ledger=str(path), resume=True)
    (found,) = caught.value.diagnostics
    assert (found.code, found.notes) == ("E0612", (says,))
    assert path.read_bytes() == before


def test_numbers_with_gaps_are_listed(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    some = problem(domain(x=integer(0, 9), g=integer(0, 1)), score([1, 0], -4), 1, target=linear({0: 1}, "!=", 4))
    asked(some, size=5, ledger=str(path))
    boxes = [line["box"]["x"] for line in lines_of(path)[1:]]
    assert {"values": [0, 1, 2, 3, 5]} in boxes
    assert len(boxes) == 2
    assert sum(Fraction(line["volume"]) for line in lines_of(path)[1:]) == 1


def test_a_pair_that_only_the_file_breaks_leaves_its_partition_unknown(monkeypatch) -> None:
    """A partition held although the deployed file was seen to treat a pair of it differently."""
    people = domain(x=integer(0, 29), g=integer(0, 1))
    net = model(layer([[1, 0], [0, 1]], [-20, 0]), layer([[1, "1/4"]], ["-3/4"], 1), attributes=2)
    fair = problem(people, net, 1)
    true_witness, wrong = run.witness, problem(people, score([1, "1/2"], -9), 1)

    def only_float(asked_, a, b):
        """As if the file's rounding moved the boundary of x to 9."""
        found = true_witness(wrong, a, b)
        return None if found is None else replace(found, replay=replace(found.replay, exact=False, float32=True))

    assert isinstance(asked(fair, size=10), Holds)
    monkeypatch.setattr(run, "witness", only_float)
    pair = np.array([[9.0, 0.0], [9.0, 1.0]])
    monkeypatch.setattr(
        Sampler, "suspects", lambda self, boxes, units, rounds: [Suspect(0, pair)] if len(boxes) else []
    )
    verdict = asked(fair, size=30)
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.NUMERIC_GAP
    assert verdict.evidence.coverage.unknown.count == 1
    assert verdict.evidence.coverage.holds.count == 0
    assert [one.replay.exact for one in verdict.witnesses] == [False]
