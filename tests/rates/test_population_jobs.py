"""Jobs about people of a distribution: in shards, stopped and gone on with, they come to what counting comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Offer, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.rates import PopulationJob, job
from fairdsl.backends.rates.box_tree import CERTAIN, IMPOSSIBLE
from fairdsl.backends.rates.closed import Closed
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.frontier import Frontier
from fairdsl.backends.rates.job import POPULATION_JOB, PopulationJobs, read_job
from fairdsl.backends.rates.people import Case, domain_of, people_of
from fairdsl.backends.rates.points import Individuals
from fairdsl.backends.rates.refinement import Refinement
from fairdsl.backends.refining.container import pack, unpack
from fairdsl.backends.refining.jobs import Job
from fairdsl.backends.refining.recheck import ALL, Recheck
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.result import read_result, write_result
from fairdsl.cli.app import cli
from fairdsl.codec import plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Evidence, Reason, Shares, Vacuous
from tests.builders import ASKED
from tests.drawing import examples
from tests.lent_shares import SPEC
from tests.rates.test_population_shares import AMONG, APART, R1, R4, ROWS, shares

JOBS = PopulationJobs()


def job_of(asks: Problem) -> Job:
    """What reading the job's file gives, which is asked for nothing that the problem has beside."""
    (content,) = PopulationJob().lower(asks, ASKED).files.values()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairdsl.backends.refining.container.content_of", lambda _: content)
        return read_job(Path("p.job"))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_SEED_BOXES", 4)


# ---- by parts, against counting ----


def sound(found: Shares | Vacuous, exact: Shares) -> None:
    """Both shares, and that of the domain, are enclosed."""
    if isinstance(found, Vacuous):
        return
    assert found.certified <= exact.certified <= 1 - found.falsified
    assert found.falsified <= exact.falsified
    if found.of_domain is not None and exact.of_domain is not None:
        assert found.of_domain.low <= exact.of_domain.low <= exact.of_domain.high <= found.of_domain.high


def known(asked: Job, whole: Refinement) -> Shares | Vacuous:
    return JOBS.result(asked, whole, [], Evidence(backend="rates", method=""), Reason.INCOMPLETE).shares


@given(
    asks=shares(),
    parts=st.integers(1, 3),
    rounds=st.lists(st.integers(0, 4), min_size=1, max_size=3),
    listed=st.sampled_from([0, 3, 1024]),
)
@settings(max_examples=examples(2))
def test_what_is_kept_goes_on_and_adds_up(asks: Problem, parts: int, rounds: list[int], listed: int) -> None:
    """Parts that are written, found out again, read and gone on with come to what counting comes to."""
    if not isinstance(PopulationJob().offer(asks), Offer):
        return
    exact = Enumerate().answer(asks, Facts(), Budget.of(20), Silent())
    asked = job_of(asks)
    with pytest.MonkeyPatch.context() as patch:
        take = Frontier.take
        patch.setattr(Frontier, "take", lambda self, count: take(self, 1))
        patch.setattr(Individuals, "_MOST", listed)
        patch.setattr(Individuals, "_MOST_EXACT", listed)
        whole, begun = JOBS.begun(asked.task, parts, 0)
        states = []
        for roots in begun:
            part = JOBS.resume(asked.task, roots, 0)
            for steps in rounds:
                for _ in range(steps):
                    part.step()
                part, checked = JOBS.opened(asked.task, roots, JOBS.stored(part, roots), ALL, 0)
                assert not checked.violating
            states.append(part.state())
        whole = JOBS.joined(asked.task, whole, states, 0)
        if isinstance(exact, Shares):
            sound(known(asked, whole), exact)
        while not whole.finished:
            whole.step()
        found = known(asked, whole)
    if isinstance(exact, Vacuous):
        assert isinstance(found, Vacuous)
        return
    assert isinstance(exact, Shares)
    sound(found, exact)
    if listed and isinstance(found, Shares):
        assert (found.certified, found.falsified) == (exact.certified, exact.falsified)
        assert (found.vacuous, found.of_domain) == (exact.vacuous, exact.of_domain)


@given(asks=shares())
@settings(max_examples=examples(2))
def test_a_file_has_all_that_the_question_is_about(asks: Problem) -> None:
    if not isinstance(PopulationJob().offer(asks), Offer):
        return
    asked = job_of(asks)
    (content,) = PopulationJob().lower(asks, ASKED).files.values()
    assert content == next(iter(PopulationJob().lower(asks, ASKED).files.values()))
    task: Closed = asked.task
    for found, whole in ((task.people, people_of(asks)), (task.beside, domain_of(asks))):
        assert (found is None) == (whole is None)
        if found is not None and whole is not None:
            assert [same(case) for case in found.cases] == [same(case) for case in whole.cases]


def same(case: Case) -> Any:
    """A case, where exact numbers are what they are, whatever they are written as."""
    return (
        case.compared,
        case.groups,
        [(each.condition, each.keys, each.network.factors, each.network.cells) for each in case.subjects],
        [(each.model.inputs, each.model.rule, each.model.favourable) for each in case.subjects],
        [
            [getattr(layer, name).exact.tolist() for name in ("weight", "bias", "slope")]
            for each in case.subjects
            for layer in each.model.layers
        ],
    )


# ---- the reference values of docs/semantics.md, from spec to report ----


def compiled(folder: Path, text: str) -> Path:
    (folder / "s.fair").write_text(text)
    written = fairdsl.compile(folder / "s.fair", to="population-job", directory=folder / "out")
    (path,) = (file for file in written.files if file.suffix == ".job")
    return path


def solve(path: Path, **options: Any) -> Any:
    return fairdsl.solve(path, **{"jobs": 1, "timeout": 60.0} | options)


def recovered(folder: Path, **options: Any) -> Any:
    (item,) = fairdsl.recover(folder, **options).properties
    return item.shares


def code(caught: pytest.ExceptionInfo[DiagnosticError]) -> str:
    return caught.value.diagnostics[0].code


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(
    ("where", "clause", "under", "fair", "vacuous", "of_domain"),
    [
        ("", "", "people", "141/200", 0, "2/3"),
        ("", "", "people given sex = f", "33/40", 0, "2/3"),
        ("", "within 1 in job", "people", "111/200", 0, "1/2"),
        ("", "within 0 in job", "people", "141/200", 0, "2/3"),
        ("", AMONG, "people", "22/31", 0, "3/4"),
        ("", AMONG, "alike", "3/4", 0, "3/4"),
        (APART, "", "people", "113/136", "3/20", "3/4"),
        (APART, "", "alike", "3/4", "1/5", "3/4"),
        (APART, AMONG, "people", "1", "2/7", "1"),
    ],
)
def test_a_reference_value(
    tmp_path: Path, where: str, clause: str, under: str, fair: str, vacuous: str, of_domain: str, shards: int
) -> None:
    text = R1.replace("WHERE", where).replace("CLAUSE", clause).replace("under people", f"under {under}")
    path = compiled(tmp_path, text)
    for shard in range(1, shards + 1):
        solve(path, shard=shard, shards=shards)
    found = recovered(path.parent, recheck=True)
    assert (found.certified, found.undecided, found.vacuous) == (Fraction(fair), 0, Fraction(vacuous))
    assert found.of_domain == Enclosure.exactly(Fraction(of_domain))
    assert found.sampling is None


@pytest.mark.parametrize("measured", ["fair_share", "affected_rate", "discrimination_rate"])
def test_a_learned_distribution_and_its_sampling_error(tmp_path: Path, measured: str) -> None:
    lines = [
        ",".join(("yes" if each == "1" else "no") for each in row) for row, many in ROWS.items() for _ in range(many)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["sex,race,job", *lines]) + "\n")
    path = compiled(tmp_path, R4.replace("measure fair_share", f"measure {measured}"))
    (tmp_path / "rows.csv").unlink()  # a job needs nothing of it
    solve(path)
    (tmp_path / "rows.csv").write_text("\n".join(["sex,race,job", *lines]) + "\n")  # but to make the job again
    found = recovered(path.parent)
    assert found.certified == Fraction(119, 240)
    assert found.of_domain == Enclosure.exactly(Fraction(1, 2))
    (checked,) = fairdsl.check(tmp_path / "s.fair").properties
    assert found.sampling == checked.shares.sampling is not None
    assert found.confidence == Fraction(95, 100)
    said = unpack(POPULATION_JOB, path).head.distribution
    assert (said.rows, len(said.rows_sha256)) == (240, 64)


# ---- stopped, shared out, tampered with ----


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


def part_way(folder: Path) -> tuple[Closed, State, dict[str, Any]]:
    asked = read_job(people(folder))
    _, (roots,) = JOBS.begun(asked.task, 1, 0)
    part = JOBS.resume(asked.task, roots, 0)
    part.advance(2000)
    assert not part.finished
    return asked.task, roots, dict(JOBS.stored(part, roots))


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
def test_claims_that_do_not_come_out_are_refused(tmp_path: Path, lie: str) -> None:
    task, roots, kept = part_way(tmp_path)
    JOBS.opened(task, roots, kept, ALL, 0)
    with pytest.raises(ValueError, match="claims does not come out"):
        JOBS.opened(task, roots, kept | dict(LIES[lie](kept)), ALL, 0)


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
def test_what_is_no_tree_of_boxes_is_refused(tmp_path: Path, change: str) -> None:
    task, roots, kept = part_way(tmp_path)
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


# ---- what no job is about ----


@pytest.mark.parametrize(
    ("form", "measured", "under", "why"),
    [
        ("population-job", "redraw_disagreement", "under people", "jobs are about shares"),
        ("population-job", "fair_share", "", "shares of people under a distribution"),
        ("population-job", "fair_share", "under rows", "learn a distribution from them"),
        ("interval-job", "fair_share", "under people", "files of `--to population-job`"),
        ("forest-job", "fair_share", "under people", "files of `--to population-job`"),
    ],
)
def test_what_no_job_is_about(tmp_path: Path, form: str, measured: str, under: str, why: str) -> None:
    text = R1.replace("WHERE", "").replace("CLAUSE", "").replace("fair_share", measured).replace("under people", under)
    (tmp_path / "rows.csv").write_text("sex,job,senior\nf,1,no\nm,2,yes\n")
    (tmp_path / "s.fair").write_text(text + 'distribution rows over D\n  empirical from "rows.csv"\n')
    arguments = ["compile", str(tmp_path / "s.fair"), "--to", form, "-o", str(tmp_path / "out")]
    assert why in " ".join(CliRunner().invoke(cli, arguments).output.split())


def test_quantities_have_jobs() -> None:
    asked: Counter[Quantity] = Counter()

    @given(asks=shares())
    @settings(max_examples=examples(5))
    def offered(asks: Problem) -> None:
        asked[asks.quantity] += isinstance(PopulationJob().offer(asks), Offer)

    offered()
    assert all(asked[quantity] for quantity in (Quantity.FAIR_SHARE, Quantity.AFFECTED_RATE))
