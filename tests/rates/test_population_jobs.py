"""Jobs about people of a distribution: in shards, stopped and gone on with, they come to what counting comes to."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Offer, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.rates import PopulationJob
from fairdsl.backends.rates.closed import Closed
from fairdsl.backends.rates.frontier import Frontier
from fairdsl.backends.rates.job import POPULATION_JOB, PopulationJobs, read_job
from fairdsl.backends.rates.people import Case, domain_of, people_of
from fairdsl.backends.rates.points import Individuals
from fairdsl.backends.rates.refinement import Refinement
from fairdsl.backends.refining.container import unpack
from fairdsl.backends.refining.jobs import Job
from fairdsl.backends.refining.recheck import ALL
from fairdsl.cli.app import cli
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Evidence, Reason, Shares, Vacuous
from tests.builders import ASKED
from tests.drawing import examples
from tests.job_files import job_of as read_again
from tests.job_files import shares as recovered
from tests.job_files import solve
from tests.rates.test_population_shares import AMONG, APART, R1, R4, ROWS, shares

JOBS = PopulationJobs()


def job_of(asks: Problem) -> Job:
    return read_again(asks, PopulationJob(), read_job)


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


@pytest.mark.parametrize(
    ("where", "clause", "under", "fair", "vacuous", "of_domain", "shards"),
    [
        ("", "", "people", "141/200", 0, "2/3", 1),
        ("", "", "people given sex = f", "33/40", 0, "2/3", 3),
        ("", "within 1 in job", "people", "111/200", 0, "1/2", 2),
        ("", "within 0 in job", "people", "141/200", 0, "2/3", 1),
        ("", AMONG, "people", "22/31", 0, "3/4", 3),
        ("", AMONG, "alike", "3/4", 0, "3/4", 1),
        (APART, "", "people", "113/136", "3/20", "3/4", 3),
        (APART, "", "alike", "3/4", "1/5", "3/4", 1),
        (APART, AMONG, "people", "1", "2/7", "1", 3),
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
    @settings(max_examples=examples(2.5))
    def offered(asks: Problem) -> None:
        asked[asks.quantity] += isinstance(PopulationJob().offer(asks), Offer)

    offered()
    assert all(asked[quantity] for quantity in (Quantity.FAIR_SHARE, Quantity.AFFECTED_RATE))
