"""Files of jobs about people: stopped, shared out and tampered with, from a spec to a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.backends.rates.box_tree import CERTAIN, IMPOSSIBLE
from fairdsl.backends.rates.closed import Closed
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.job import POPULATION_JOB, read_job
from fairdsl.backends.refining.container import pack, unpack
from fairdsl.backends.refining.recheck import ALL, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.result import read_result, write_result
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Evidence, Reason, Shares
from tests.job_files import code, solve
from tests.job_files import shares as recovered
from tests.lent_shares import SPEC
from tests.rates.test_population_jobs import JOBS, compiled, known


def people(folder: Path) -> Path:
    return compiled(folder, SPEC[: SPEC.index("property of_everybody")] + SPEC[SPEC.index("property of_people") :])


def exact(folder: Path) -> Fraction:
    (item,) = fairdsl.check(folder / "s.fair").properties
    assert item.shares is not None
    assert not item.shares.undecided
    return item.shares.certified


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Out of room after so many boxes, which ends a run as a clock does."""

    def stop(most: int) -> None:
        monkeypatch.setattr(Cover, "full", property(lambda self: self.boxes > most))

    return stop


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, stopping: Callable[[int], None]) -> None:
    path, share = people(tmp_path), exact(tmp_path)
    stopping(3000)
    first = solve(path)
    assert 0 < first.found.standing.undecided < 1
    half = recovered(path.parent, recheck=True)
    assert half.certified <= share <= 1 - half.falsified
    # Shares of open boxes are rounded down in files.
    assert first.found.standing.undecided <= half.undecided <= first.found.standing.undecided + Fraction(1, 1000)
    with pytest.raises(DiagnosticError) as caught:
        solve(path)
    assert code(caught) == "E0611"
    stopping(10**9)
    second = solve(path, resume=True)
    assert second.found.nodes > first.found.nodes
    assert recovered(path.parent, recheck=True).certified == share
    assert recovered(path.parent).certified <= share


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_and_processes_come_to_what_check_does(tmp_path: Path, shards: int) -> None:
    path, share = people(tmp_path), exact(tmp_path)
    for shard in range(1, shards + 1):
        solve(path, shard=shard, shards=shards, jobs=shard)
        if shard < shards:
            missing = recovered(path.parent)
            assert missing.certified <= share <= 1 - missing.falsified
            assert missing.undecided > 0
    found = recovered(path.parent, recheck=True)
    assert (found.certified, found.undecided) == (share, 0)


def test_a_sample_lowers_what_is_said(tmp_path: Path, stopping: Callable[[int], None]) -> None:
    path, share = people(tmp_path), exact(tmp_path)
    stopping(3000)
    solve(path)
    asked = read_job(path)
    _, (roots,) = JOBS.begun(asked.task, 1, 0)
    kept = read_result(path.with_suffix(".result")).leaves
    part, checked = JOBS.opened(asked.task, roots, kept, Recheck(draws=20, all_up_to=0), 0)
    assert checked.sampled.recomputed < checked.sampled.of
    assert 0 < checked.violating < 1
    evidence = Evidence(backend="rates", method="")
    lowered = JOBS.result(asked, part, [checked], evidence, Reason.TIMEOUT).shares
    assert isinstance(lowered, Shares)
    whole = known(asked, part)
    assert isinstance(whole, Shares)
    assert lowered.certified < whole.certified <= share
    assert lowered.of_domain is None or whole.of_domain is None or lowered.of_domain.low < whole.of_domain.low


Kept = Mapping[str, Any]


#: A task, what its only part began with, and what a file keeps of it.
PartWay = tuple[Closed, State, dict[str, Any]]


@pytest.fixture(scope="module")
def part_way(tmp_path_factory: pytest.TempPathFactory) -> PartWay:
    asked = read_job(people(tmp_path_factory.mktemp("part")))
    _, (roots,) = JOBS.begun(asked.task, 1, 0)
    part = JOBS.resume(asked.task, roots, 0)
    part.advance(2000)
    assert not part.finished
    kept = dict(JOBS.stored(part, roots))
    JOBS.opened(asked.task, roots, kept, ALL, 0)
    return asked.task, roots, kept


def some(said: Any, flag: int) -> Any:
    """Where the first box of which the flag is said has the other one instead."""
    other = said.copy()
    other[np.flatnonzero(said & flag)[0]] ^= CERTAIN | IMPOSSIBLE
    return other


LIES: dict[str, Callable[[Kept], Kept]] = {
    "unfair as fair": lambda kept: {"0/said": some(kept["0/said"], IMPOSSIBLE)},
    "fair as unfair": lambda kept: {"0/said": some(kept["0/said"], CERTAIN)},
    "open as fair": lambda kept: {"0/less": kept["0/less"] * 0, "0/least": kept["0/least"] * 0 + 65535},
    "open as unfair": lambda kept: {"0/least": kept["0/least"] * 0, "0/less": kept["0/less"] * 0 + 65535},
}


@pytest.mark.parametrize("lie", LIES)
def test_claims_that_do_not_come_out_are_refused(part_way: PartWay, lie: str) -> None:
    task, roots, kept = part_way
    with pytest.raises(ValueError, match="claims does not come out"):
        JOBS.opened(task, roots, kept | dict(LIES[lie](kept)), ALL, 0)


#: Everybody but one in ten billion is treated fairly.
RARE = """fair 1
domain Person {
  sex : category { women, men }
  odd : category { no, yes }
  age : integer 0 .. 29
}
model grant : Person -> { deny, give }
  score = (sex = men) + 3 * (odd = no) + (age >= 0)
  give when score >= 2
distribution people over Person
  sex : table { women : 0.5, men : 0.5 }
  odd : table { no : 0.9999999999, yes : 0.0000000001 }
  age : uniform(0, 29)
property nobody {
  compare a, b : Person
  differ in sex
  under people
  require fair_share >= 100%
}
"""


def test_a_claim_about_all_but_one_person_is_refused(tmp_path: Path) -> None:
    path = compiled(tmp_path, RARE)
    asked, found = read_job(path), read_result(solve(path).answer)
    _, (roots,) = JOBS.begun(asked.task, 1, 0)
    kept = dict(found.leaves)
    JOBS.opened(asked.task, roots, kept, ALL, 0)
    whole = {"0/inner": np.array([False]), "0/said": kept["0/said"][:1]}
    assert kept["0/said"][0] & CERTAIN
    with pytest.raises(ValueError, match="claims does not come out"):
        JOBS.opened(
            asked.task, roots, kept | whole | {f"0/{name}": kept[f"0/{name}"][:0] for name in ("column", "cut")}, ALL, 0
        )


NO_TREES: dict[str, Callable[[Kept], Kept]] = {
    "fewer nodes": lambda kept: {"0/inner": kept["0/inner"][:-1]},
    "cut nowhere": lambda kept: {"0/cut": kept["0/cut"] * 0},
    "cut where there is no column": lambda kept: {"0/column": kept["0/column"] + 50},
    "fewer cuts": lambda kept: {"0/cut": kept["0/cut"][:-1]},
    "fewer boxes": lambda kept: {"0/said": kept["0/said"][:-1]},
    "both": lambda kept: {"0/said": kept["0/said"] | CERTAIN | IMPOSSIBLE},
    "listed": lambda kept: {"0/said": kept["0/said"] * 0 + 16},
    "atoms of nobody": lambda kept: {"0/atoms": np.ones(3, dtype=np.uint8)},
    "more than all": lambda kept: {"0/least": kept["0/least"].astype(np.int64) + 10**6},
    "more decided than there is": lambda kept: {name: kept[name] * 0 + 40000 for name in ("0/least", "0/less")},
    "no numbers": lambda kept: {"0/said": kept["0/said"].astype(np.float64)},
    "fewer than none": lambda kept: {"0/boxes": -kept["0/boxes"] - 1},
    "fewer events": lambda kept: {"0/inner": np.zeros((2, 2), dtype=np.bool_)},
}


@pytest.mark.parametrize("change", NO_TREES)
def test_what_is_no_tree_of_boxes_is_refused(part_way: PartWay, change: str) -> None:
    task, roots, kept = part_way
    with pytest.raises(ValueError, match=r"box|cut|share|split|list|missing|said|atom"):
        JOBS.opened(task, roots, kept | dict(NO_TREES[change](kept)), ALL, 0)
    with pytest.raises(ValueError, match="missing"):
        JOBS.opened(task, roots, {name: each for name, each in kept.items() if name != "0/said"}, ALL, 0)


def test_a_result_that_lies_is_refused(tmp_path: Path, stopping: Callable[[int], None]) -> None:
    path = people(tmp_path)
    stopping(2000)
    answer = solve(path).answer
    found = read_result(answer)
    write_result(answer, replace(found, leaves=dict(found.leaves) | dict(LIES["unfair as fair"](found.leaves))))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(path.parent, recheck=True)
    assert code(caught) == "E0627"


def resealed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Another job in the file's place, with a sha256 that fits."""
    content = unpack(POPULATION_JOB, path)
    head, arrays = dict(plain(content.head)), dict(content.arrays)
    change(head, arrays)
    path.write_bytes(pack(head, arrays))


def _likelier(head: dict[str, Any], arrays: dict[str, Any]) -> None:
    at = next(place for place, factor in enumerate(head["distribution"]["factors"]) if factor["column"] == 0)
    arrays[f"table/{at}"] = np.array([[0.5, 0.5]])


def _kinder(head: dict[str, Any], arrays: dict[str, Any]) -> None:
    head["model"]["rule"]["low"] = head["model"]["rule"]["high"] = 100


@pytest.mark.parametrize("change", [_likelier, _kinder])
def test_another_distribution_or_model_is_another_job(tmp_path: Path, change: Any) -> None:
    path = people(tmp_path)
    path = path.rename(tmp_path / "alone.job")  # a manifest would say that its file is another one
    solve(path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"men"', b'"man"', 1))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.recover(path, path.with_suffix(".result"))
    assert code(caught) == "E0609"
    path.write_bytes(whole)
    resealed(path, change)
    with pytest.raises(DiagnosticError) as caught:  # the result is of another job
        fairdsl.recover(path, path.with_suffix(".result"))
    assert code(caught) == "E0613"
    path.with_suffix(".result").unlink()
    solve(path)
    with pytest.raises(DiagnosticError) as caught:  # and the job is not the spec's
        fairdsl.recover(path, path.with_suffix(".result"), spec=tmp_path / "s.fair")
    assert code(caught) == "E0626"


@pytest.mark.parametrize(
    "change",
    [
        lambda head, arrays: arrays.pop("table/0"),
        lambda head, arrays: arrays.update({"table/0": arrays["table/0"][:, ::-1].repeat(2, axis=1)}),
        lambda head, arrays: arrays.update({"table/0": np.ones(arrays["table/0"].shape)}),
        lambda head, arrays: arrays.update({"table/0": np.array([[b"1/0"] * arrays["table/0"].shape[1]])}),
        lambda head, arrays: arrays.update({name: each - 1 for name, each in arrays.items() if "given" in name}),
        lambda head, arrays: arrays.update({name: each * 0 for name, each in arrays.items() if "given" in name}),
        lambda head, arrays: arrays.update({"weight/0": arrays["weight/0"][:, :-1]}),
        lambda head, arrays: arrays.update({"weight/0": arrays["weight/0"] * np.nan}),
        lambda head, arrays: arrays.update({"slope/0": np.array([2.0])}),
        lambda head, arrays: arrays.update({"slope/0": np.array([0.5])}),
        lambda head, arrays: head.update(differ=[7]),
        lambda head, arrays: head.update(differ=[]),
        lambda head, arrays: head["distribution"]["cells"].pop(),
        lambda head, arrays: head["distribution"]["factors"].append(head["distribution"]["factors"][0]),
        lambda head, arrays: head["distribution"]["factors"][0].update(parents=[0]),
        lambda head, arrays: head["model"]["rule"].update(granted=5),
        lambda head, arrays: head["parts"][0]["groups"][0].append([[0, 9]]),
        lambda head, arrays: head["parts"][0]["groups"].append([]),
        lambda head, arrays: head["parts"][0]["groups"][0].append([]),
    ],
)
def test_a_job_whose_parts_do_not_fit_is_refused(tmp_path: Path, change: Any) -> None:
    path = people(tmp_path)
    resealed(path, lambda head, arrays: None)
    read_job(path)
    resealed(path, change)
    with pytest.raises(DiagnosticError) as caught:
        solve(path)
    assert code(caught) == "E0609"
