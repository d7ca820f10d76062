"""Ledgers: what is written can be gone on from, and nothing else is taken for it."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

import pytest

from fairdsl.backends.smt.partition.lines import verdict_line
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.codec import MisfitError, plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Holds, Reason, Unknown, Violated
from tests.builders import category, domain, integer, problem, score
from tests.codec.values import damaged
from tests.smt.partition_tools import asked
from tests.solvers import InProcess


def people():
    return domain(x=integer(0, 29), colour=category(4, 7, 9), g=integer(0, 1))


FAIR = score([1, 1, 0], -20)
UNFAIR = score([1, 1, "1/2"], -20)


def ran(path, rule=UNFAIR, **request):
    request.setdefault("size", 10)
    return asked(problem(people(), rule, 2), ledger=str(path), **request)


def keys(path):
    return [json.loads(line)["partition"] for line in path.read_text().splitlines()[1:]]


def test_a_ledger_tells_every_partition_in_the_words_of_the_spec(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    ran(path, size=2)
    header, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert header["schema"] == "fairdsl.partitions/1"
    assert header["attributes"] == ["x", "colour"]
    assert len(lines) == header["partitions"] == 30
    line = next(line for line in lines if line["verdict"] == "violated")
    assert line["box"]["colour"] in (["v4", "v7"], ["v9"])
    assert line["witness"]["a"]["colour"] in line["box"]["colour"]
    low, high = line["box"]["x"]
    assert low <= line["witness"]["b"]["x"] <= high


def test_a_killed_run_goes_on_where_it_was(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = ran(path)
    lines = path.read_text().splitlines(keepends=True)
    # The run was killed in the middle of its third verdict.
    path.write_text("".join(lines[:3]) + lines[3][:20])
    again = ran(path, resume=True)
    assert sorted(keys(path), key=int) == ["0", "1", "2"]
    assert again.evidence.coverage.holds == whole.evidence.coverage.holds
    assert again.evidence.coverage.violated == whole.evidence.coverage.violated
    assert {type(whole), type(again)} == {Violated}


def test_violations_of_an_earlier_run_are_replayed(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    ran(path)
    lines = path.read_text().splitlines()
    place = next(i for i, line in enumerate(lines) if '"violated"' in line)
    forged = json.loads(lines[place])
    forged["witness"]["b"] = forged["witness"]["a"]
    lines[place] = json.dumps(forged)
    path.write_text("\n".join(lines) + "\n")
    again = ran(path, resume=True)
    # What it says is not a violation, so the partition is asked again.
    assert again.evidence.coverage.decided.count == 3
    assert keys(path).count(forged["partition"]) == 2
    assert all(witness.a.point != witness.b.point for witness in again.witnesses)


def test_unknown_partitions_are_asked_again(tmp_path) -> None:
    class Idle(InProcess):
        def start(self, key, task) -> None:
            self._ready.append((key, Chained(status=Status.UNKNOWN, by="solver", reason=Reason.TIMEOUT), 0.0))

    # Fair, and not by the bounds of a side alone: the two copies differ by less than the step of x.
    rule = score([1, 1, "1/4"], "-81/4")
    path = tmp_path / "verdicts.jsonl"
    first = ran(path, rule, pool_of=Idle)
    assert isinstance(first, Unknown)
    unknown = first.evidence.coverage.unknown.count
    assert unknown > 0
    second = ran(path, rule, resume=True)
    assert second.evidence.coverage.unknown.count == 0
    assert second.evidence.coverage.decided.count == 3


def test_adaptive_runs_go_on_too(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    whole = ran(path, size="adaptive")
    before = path.read_text().splitlines()
    again = ran(path, size="adaptive", resume=True)
    assert path.read_text().splitlines() == before
    assert again.evidence.coverage.holds == whole.evidence.coverage.holds
    assert again.evidence.coverage.violated == whole.evidence.coverage.violated
    assert whole.evidence.coverage.decided.volume == 1


@pytest.mark.parametrize(
    ("code", "prepare", "request_"),
    [
        ("E0611", lambda path: ran(path), {}),
        ("E0610", lambda path: None, {"resume": True}),
        ("E0612", lambda path: ran(path), {"resume": True, "size": 5}),
        ("E0612", lambda path: ran(path, FAIR), {"resume": True}),
        ("E0612", lambda path: path.write_text("hello\n"), {"resume": True}),
        ("E0605", lambda path: path.mkdir(), {}),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, code: str, prepare, request_) -> None:
    path = tmp_path / "verdicts.jsonl"
    prepare(path)
    if code == "E0605":
        path = path / "missing" / "verdicts.jsonl"
    with pytest.raises(DiagnosticError) as caught:
        ran(path, **request_)
    assert [found.code for found in caught.value.diagnostics] == [code]


def test_a_holding_run_says_so(tmp_path) -> None:
    path = tmp_path / "verdicts.jsonl"
    assert isinstance(ran(path, FAIR), Holds)
    volumes = [Fraction(json.loads(line)["volume"]) for line in path.read_text().splitlines()[1:]]
    assert sum(volumes) == 1


LINE = {"partition": "3", "box": {"x": [0, 9], "y": {"values": [1, "1/2"]}}, "volume": "1/3", "units": 4}
LINE |= {"undecided_units": 1, "seconds": 0.5}
PAIR = {"a": {"x": 1, "colour": "c4"}, "b": {"x": "1/2", "colour": "c7"}}
NETWORK = {"file": "p.onnx", "sha256": "0", "removed_units": {"layer 1": [0, 2]}, "drawn": 9, "changed": 1}
LINES = (
    LINE | {"verdict": "holds", "by": "z3"},
    LINE | {"verdict": "violated", "by": "sampling", "witness": PAIR, "pruned_network": NETWORK},
    LINE | {"verdict": "unknown", "by": "z3", "reason": "timeout", "detail": "", "disagreement": PAIR},
)


@pytest.mark.parametrize("line", LINES)
def test_damaged_lines_end_in_a_place(line):
    assert plain(verdict_line(line)) == line
    refused, read, random = 0, 0, Random(3)
    for _ in range(100):
        try:
            again = verdict_line(damaged(line, random))
        except MisfitError as misfit:
            refused += bool(misfit.place.steps) or "fit together" in misfit.what
        else:
            assert verdict_line(plain(again)) == again
            read += 1
    assert refused + read == 100
    assert refused > 40
