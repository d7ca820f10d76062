"""Refinement on a Dask cluster of this machine: the same shares, also when a worker is killed midway."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.intervals.refine import Bounds, Refinement
from fairdsl.backends.leaf_boxes import graft, judging, refinement
from fairdsl.backends.rates import cover, shares
from fairdsl.backends.refining import clock
from fairdsl.backends.refining.clock import Checkpoints
from fairdsl.backends.refining.cluster import Cluster, _Run, refine_on_cluster
from fairdsl.backends.refining.workers import refine_within
from fairdsl.backends.solved import Ending
from fairdsl.clock import Deadline, Meter, metered
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Shares
from tests.intervals.bisection import SlowBisection, plane
from tests.leaf_boxes.test_pair_jobs import BOOSTER, KINDS
from tests.leaf_boxes.test_pair_jobs import job_file as forest_job
from tests.lent_shares import SPEC
from tests.oracle import truth

distributed = pytest.importorskip("distributed")

LARGE = plane((4000, 3000, 500), (3, -2, 5), -2001)


@contextmanager
def workers(**options: Any) -> Iterator[Any]:
    """A cluster of two."""
    plain = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with distributed.LocalCluster(**plain, **options) as started:
        yield started


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Workers that are threads here, and are sent everything as others are: processes import for seconds."""
    with workers(processes=False, protocol="tcp://") as started:
        yield started


@pytest.fixture
def address(cluster: Any) -> str:
    return cluster.scheduler_address


@pytest.fixture(scope="module")
def processes() -> Iterator[str]:
    """The address of workers that are processes."""
    with workers(processes=True) as started:
        yield started.scheduler_address


def refined(address: str, checkpoints: Checkpoints | None = None) -> SlowBisection:
    refinement = SlowBisection.start(LARGE)
    ending = refine_on_cluster(
        refinement,
        address,
        deadline=Deadline(0.0),
        observer=Silent(),
        memory=2**30,
        checkpoints=checkpoints,
        nodes=10_000,
        parts=2,
    )
    assert ending is Ending.NODES
    assert refinement.nodes == 10_000
    return refinement


def pids(address: str) -> list[int]:
    with distributed.Client(address, set_as_default=False) as client:
        return sorted(client.run(os.getpid).values())


@pytest.mark.slow
def test_a_killed_worker_changes_no_share(processes: str) -> None:
    undisturbed = refined(processes)
    before = pids(processes)
    joins: list[Bounds] = []

    def kill(refinement: Refinement) -> None:
        if not joins:
            os.kill(before[0], signal.SIGKILL)
        joins.append(refinement.bounds())

    disturbed = refined(processes, Checkpoints(kill, seconds=0.5))
    assert before[0] not in pids(processes)
    # It was killed midway: nodes were still to come.
    assert joins[0] != joins[-1]
    assert disturbed.bounds() == undisturbed.bounds()
    assert sorted(disturbed.leaves) == sorted(undisturbed.leaves)


@pytest.mark.slow
def test_the_deadline_ends_it(processes: str) -> None:
    refinement = SlowBisection.start(LARGE)
    began = time.monotonic()
    ending = refine_on_cluster(
        refinement, processes, deadline=Deadline(began + 4), observer=Silent(), memory=2**30, checkpoints=None
    )
    assert ending is Ending.DEADLINE
    assert time.monotonic() - began < 12
    assert refinement.nodes > 1000


def one_batch(seconds: float, stop: Callable[[], bool]) -> Callable[[], bool]:
    """To stop after a batch, however fast it goes."""
    looks = iter([False])
    return lambda: stop() or next(looks, True)


@pytest.mark.parametrize(
    ("engine", "asked"),
    [pytest.param("leaf_boxes", "of_everybody", marks=pytest.mark.slow), ("rates", "of_people")],
)
def test_shares_of_trees_and_of_people(address: str, engine: str, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lent out after the first few boxes, they come back as what counting everybody comes to."""
    nodes, take = list[int](), _Run._take
    monkeypatch.setattr(clock, "_LEAVES", 1)
    monkeypatch.setattr(clock, "_or_after", one_batch)
    monkeypatch.setattr(cover, "_BATCH", 64)
    monkeypatch.setattr(shares, "_PAUSE", 0.0)
    monkeypatch.setattr(_Run, "_take", lambda run, part, found: (nodes.append(found.nodes), take(run, part, found)))
    verdicts = [
        fairdsl.check(SPEC, properties=[asked], backend=each, options=options).properties[0].demands[0].verdict
        for each, options in ((engine, {engine: {"scheduler": address}}), ("enumerate", None))
    ]
    found, counted = verdicts
    assert sum(nodes) > 0
    assert isinstance(found, Shares)
    assert isinstance(counted, Shares)
    assert (found.certified, found.falsified, found.undecided) == (counted.certified, counted.falsified, 0)


@pytest.mark.parametrize("kind", ["one score", "within"])
def test_forest_jobs(address: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped in the first slices and gone on with on the cluster, a job comes to what counting everybody comes to."""
    problem = KINDS.get(kind, BOOSTER)
    path, known = forest_job(tmp_path, problem), truth(problem)
    slices, take = list[int](), _Run._take
    monkeypatch.setattr(refinement, "_CUTS", 1)
    monkeypatch.setattr(graft, "_LEAVES", 0)
    monkeypatch.setattr(judging, "_BOXES", 1)
    monkeypatch.setattr(clock, "_LEAVES", 1)
    monkeypatch.setattr(clock, "_or_after", one_batch)
    monkeypatch.setattr(_Run, "_take", lambda run, part, found: (slices.append(found.nodes), take(run, part, found)))
    on_cluster = {"leaf_boxes": {"scheduler": address}}
    with monkeypatch.context() as stopped:
        stopped.setattr(_Run, "until", lambda run, clock: run._finish())
        first = fairdsl.solve(path, timeout=60.0, options=on_cluster)
    assert first.found.standing.undecided > 0  # type: ignore[union-attr]
    fairdsl.solve(path, timeout=120.0, resume=True, options=on_cluster)
    assert sum(slices) > 0
    (item,) = fairdsl.recover(tmp_path, recheck=True).properties
    assert item.shares is not None
    fair = Fraction(known.fair, known.total)
    assert (item.shares.certified, item.shares.falsified, item.shares.undecided) == (fair, 1 - fair, 0)


def test_population_jobs(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both shards are refined on the cluster, and come to what `check` comes to here, the domain's share beside it."""
    spec = tmp_path / "s.fair"
    spec.write_text(SPEC[: SPEC.index("property of_everybody")] + SPEC[SPEC.index("property of_people") :])
    boxes, take = list[int](), _Run._take
    monkeypatch.setattr(clock, "_LEAVES", 1)
    monkeypatch.setattr(clock, "_LOOK", 0.0)
    monkeypatch.setattr(_Run, "_take", lambda run, part, found: (boxes.append(found.nodes), take(run, part, found)))
    written = fairdsl.compile(spec, to="population-job", directory=tmp_path / "jobs")
    (job,) = (path for path in written.files if path.suffix == ".job")
    for shard in (1, 2):
        fairdsl.solve(job, shard=shard, shards=2, options={"rates": {"scheduler": address}}, timeout=100.0)
    assert sum(boxes) > 0
    (found,), (known,) = (each.properties for each in (fairdsl.recover(job.parent, recheck=True), fairdsl.check(spec)))
    assert found.shares is not None
    assert known.shares is not None
    assert found.shares.undecided == 0
    assert (found.shares.certified, found.shares.of_domain) == (known.shares.certified, known.shares.of_domain)


def test_effort_is_spent_here() -> None:
    """Nobody is asked for a cluster where work is counted, for what is done there is not."""
    refinement = SlowBisection.start(plane((4, 3), (3, -2), -7))
    with metered(Meter(10**9)):
        ending = refine_within(refinement, Budget.of(1000), Silent(), scheduler="nonsense://x")
    assert ending is Ending.FINISHED


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x"])
def test_no_cluster(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairdsl.backends.refining.cluster._PATIENCE", 1.0)
    with pytest.raises(DiagnosticError) as caught:
        refine_on_cluster(SlowBisection.start(LARGE), address, deadline=Deadline(0.0), observer=Silent(), memory=2**30)
    assert [finding.code for finding in caught.value.diagnostics] == ["E0614"]


def test_a_cluster_without_workers() -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs="CRITICAL") as cluster,
        pytest.raises(DiagnosticError, match="E0614"),
    ):
        refine_on_cluster(
            SlowBisection.start(LARGE),
            cluster.scheduler_address,
            deadline=Deadline(0.0),
            observer=Silent(),
            memory=2**30,
        )


def test_a_client_that_gave_up_is_a_cluster_that_is_gone(address: str) -> None:
    """Asked after it has closed, a client raises whatever its state leads to; here it is always the same."""
    with Cluster(address) as cluster:
        cluster.client.close()
        with pytest.raises(OSError, match="closed"):
            _ = cluster.places


def test_a_cluster_that_goes_away_keeps_what_was_certified(cluster: Any) -> None:
    """The last test: the cluster is closed."""
    refinement = SlowBisection.start(LARGE)
    joins: list[Bounds] = []

    def leave(refined: Refinement) -> None:
        joins.append(refined.bounds())
        if len(joins) == 1:
            cluster.close()

    ending = refine_on_cluster(
        refinement,
        cluster.scheduler_address,
        deadline=Deadline.within(60),
        observer=Silent(),
        memory=2**30,
        checkpoints=Checkpoints(leave, seconds=1.0),
    )
    assert ending is Ending.STOPPED
    assert refinement.bounds().falsified >= joins[0].falsified > 0
