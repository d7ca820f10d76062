"""The procedure as a whole: shares that enclose the truth, proofs, witnesses, float32, and running out of time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event

from fairdsl.backends import warmup as compiling
from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.intervals import Intervals, warmup
from fairdsl.backends.intervals.kernels import tree
from fairdsl.backends.intervals.lowering import _float32_error
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.refining.workers import refine_in_parallel
from fairdsl.backends.solved import Ending
from fairdsl.backends.warmup import Kernels
from fairdsl.clock import NEVER, OutOfTimeError
from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import Form
from fairdsl.ir.model import Deployed, Feed, Layer, Model, Readout
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Quantity, Relaxation
from fairdsl.models.onnx_written.chain import relu_chain
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.kernels import compiled
from fairdsl.numerics.kernels.compiled import kernels_compiled
from fairdsl.numerics.narrow import narrow
from fairdsl.plan import Plan, execute, negotiate
from fairdsl.replay import admissible
from fairdsl.verdict import Fidelity, Holds, Reason, Shares, Unknown, Vacuous, Verdict, Violated
from tests.builders import BOOLEAN, category, domain, integer, linear, model, problem, real, score

SHARE = Quantity.FAIR_SHARE


def answer(asked: Problem, seconds: float = 20.0, facts: Facts | None = None) -> Verdict:
    return Intervals().answer(asked, facts or Facts(), Budget.of(seconds), Silent())


def network(inputs: int, *widths: int, seed: int = 0, scale: tuple[float, ...] = ()) -> Model:
    """Random float32 weights; ``scale`` is the range of each input."""
    rng = np.random.default_rng(seed)
    layers = []
    for depth, width in enumerate((*widths, 1)):
        weight = rng.standard_normal((width, inputs)) / np.sqrt(inputs)
        if depth == 0 and scale:
            weight /= np.array(scale)
        layers.append(
            Layer(
                weight=ExactArray.from_floats(weight.astype(np.float32)),
                bias=ExactArray.from_floats(rng.standard_normal(width).astype(np.float32)),
                slope=ExactArray.from_floats(np.full(width, 1.0 if depth == len(widths) else 0.0)),
            )
        )
        inputs = width
    rule = model(*layers, attributes=layers[0].weight.shape[1])
    # Half of those drawn are granted, so that decisions go both ways.
    drawn = np.floor(rng.random((999, layers[0].weight.shape[1])) * (np.array(scale or (1.0,)) + 1))
    middle = -np.median(BatchEvaluator(rule).approximate(drawn)).astype(np.float32)
    last = replace(layers[-1], bias=ExactArray.from_floats((layers[-1].bias.floats + middle).astype(np.float32)))
    return replace(rule, layers=(*layers[:-1], last))


PEOPLE = domain(
    linear({1: 1, 2: -1}, "<=", -16),
    amount=integer(0, 60),
    work=integer(0, 40),
    age=integer(18, 60),
    job=category(3, 0, 7),
    sex=BOOLEAN,
)
SCALE = (60.0, 40.0, 60.0, 7.0, 1.0)


@pytest.mark.parametrize(
    ("differ", "mode"), [((4,), Differ.ANY), ((3, 4), Differ.ANY), ((3, 4), Differ.EACH), ((2,), Differ.EACH)]
)
def test_shares_are_those_of_enumeration(differ: tuple[int, ...], mode: Differ) -> None:
    few = replace_amount(PEOPLE, 9)
    asked = problem(few, network(5, 8, 6, seed=3, scale=SCALE), *differ, mode=mode, quantity=SHARE)
    expected = Enumerate().answer(asked, Facts(), Budget.of(60), Silent())
    found = answer(asked, 60.0)  # it ends as soon as all is decided
    assert isinstance(expected, Shares)
    assert isinstance(found, Shares)
    assert found.total == expected.total
    assert found.vacuous == expected.vacuous
    assert found.certified <= expected.certified <= 1 - found.falsified
    assert found.undecided <= Fraction(1, 100)
    assert (found.estimate is None) == (not found.undecided)
    assert expected.falsified > 0
    assert found.regions
    assert len(found.witnesses) == 10
    assert len({frozenset((pair.a.point, pair.b.point)) for pair in found.witnesses}) == 10


def test_a_finished_domain_is_counted_exactly() -> None:
    """Nothing undecided, so the share is a number and no estimate is given beside it."""
    small = replace_amount(PEOPLE, 5)
    asked = problem(small, network(5, 6, seed=3, scale=SCALE), 4, quantity=SHARE)
    expected = Enumerate().answer(asked, Facts(), Budget.of(60), Silent())
    found = answer(asked)
    assert isinstance(expected, Shares)
    assert isinstance(found, Shares)
    assert (found.certified, found.falsified, found.undecided) == (expected.certified, expected.falsified, 0)
    assert found.falsified > 0
    assert found.reason is None
    assert found.estimate is None
    assert "undecided" not in found.evidence.method


def test_what_is_left_undecided_has_an_estimate_a_map_and_witnesses() -> None:
    wide = domain(
        amount=integer(0, 10**4), work=integer(0, 40), age=integer(18, 60), job=category(3, 0, 7), sex=BOOLEAN
    )
    asked = problem(wide, network(5, 20, 20, 20, seed=1, scale=(10.0**4, *SCALE[1:])), 4, quantity=SHARE)
    began = time.monotonic()
    found = answer(asked, 3.0)
    assert time.monotonic() - began < 4.5
    assert isinstance(found, Shares)
    assert found.undecided > 0
    assert found.estimate is not None
    assert found.certified <= found.estimate.interval.high
    assert found.estimate.interval.low <= 1 - found.falsified
    heaviest = found.regions[0]
    assert 0 < heaviest.falsified + heaviest.undecided <= found.falsified + found.undecided + Fraction(1, 1000)
    assert 1 < len(found.witnesses) <= 10
    assert len({pair.a.point for pair in found.witnesses}) == len(found.witnesses)
    assert all(pair.replay.agrees for pair in found.witnesses)


class Heard:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        self.stages.append(stage)


class Announced(Heard):
    """Also remembers what was to be said at once, and how far the stages were."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.fractions: list[tuple[float | None, str]] = []

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        super().progress(stage, fraction, detail)
        self.fractions.append((fraction, detail))

    def announce(self, text: str) -> None:
        assert not self.fractions[1:], "it is said before anything is compiled"
        self.said.append(text)


@pytest.fixture
def nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache of a machine on which nothing was compiled."""
    monkeypatch.setattr(compiling, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(compiling, "_LOADED", set())
    monkeypatch.setattr(compiling, "_BESIDE", {})
    return tmp_path


def no_process(*_: str) -> None:
    raise OSError


def three_kernels() -> None:
    for _ in range(3):
        event.broadcast(event.Event("numba:compile", event.EventStatus.START))
        event.broadcast(event.Event("numba:compile", event.EventStatus.END))


def interrupted() -> None:
    raise KeyboardInterrupt


def test_compiling_is_a_part_of_the_time_and_said_once(nothing_kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as beside:
        monkeypatch.setattr(compiling, "left_to_itself", lambda *_: beside)
        asked = problem(PEOPLE, network(5, 12, seed=2, scale=SCALE), 4, quantity=SHARE)
        heard, began = Announced(), time.monotonic()
        answering = Intervals().answering(asked, Facts(), Budget.of(0.5), heard)
        found = next(answering)
        assert 0.4 < time.monotonic() - began < 5.0
        assert isinstance(found, Unknown)
        assert (found.reason, found.low, found.high) == (Reason.TIMEOUT, 0, 1)
        assert "still being compiled" in found.detail
        (nothing_kept / "complete").touch()
        beside.communicate(b"\n")
        with pytest.raises(StopIteration) as ended:
            answering.send(Budget.of(60.0))
    shares = ended.value.value
    assert isinstance(shares, Shares)
    assert shares.certified + shares.falsified > 0
    assert heard.said == ["compiling the kernels, once on this machine (some ten seconds of a processor)"]


def test_compiling_here_tells_of_each_kernel(nothing_kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = iter([(1, 4), (2, 4), (4, 4)])
    monkeypatch.setattr(compiling, "left_to_itself", no_process)
    monkeypatch.setattr(compiled, "kernels_compiled", lambda: next(counts))
    heard, kernels = Announced(), Kernels("toy", f"{__name__}:three_kernels", "a second")
    assert kernels.ready(heard, NEVER)
    assert heard.said == ["compiling the kernels, once on this machine (a second)"]
    assert heard.fractions == [
        (None, "a second"),
        (0.25, "1 of 4 kernels"),
        (0.5, "2 of 4 kernels"),
        (1.0, "4 of 4 kernels"),
    ]
    assert kernels.ready(heard, NEVER)
    assert len(heard.said) == 1
    event.broadcast(event.Event("numba:compile", event.EventStatus.END))
    assert len(heard.fractions) == 4, "nobody listens any more"


def test_compiling_that_fails_is_not_taken_for_done(nothing_kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "left_to_itself", no_process)
    with pytest.raises(KeyboardInterrupt):
        Kernels("toy", f"{__name__}:interrupted", "").ready(Silent(), NEVER)
    assert not (nothing_kept / "toy").exists()
    assert Kernels("toy", f"{__name__}:three_kernels", "").ready(Silent(), NEVER)
    assert (nothing_kept / "toy").exists()


def test_the_toy_compiles_every_kernel_that_questions_use() -> None:
    warmup.use_all()
    kernels = (tree.expand, tree.totals)
    assert all(kernel.signatures for kernel in kernels)
    compiled, known = kernels_compiled()
    # Those that only other kernels call have code of their own where they were compiled in this very process.
    assert len(kernels) <= compiled <= known
    people = domain(rate=real(0, 2), job=category(1, 5, 9), sex=BOOLEAN)
    answer(problem(people, network(3, 8, 4), 2, quantity=SHARE), 0.3)
    assert [len(kernel.signatures) for kernel in kernels] == [1, 1]


def test_relaxed_shares_enclose_those_of_enumeration() -> None:
    relax = (Relaxation(attribute=0, by=Fraction(2)),)
    asked = problem(PEOPLE, network(5, 6, seed=3, scale=SCALE), 4, relax=relax, quantity=SHARE)
    expected = Enumerate().answer(asked, Facts(), Budget.of(60), Silent())
    assert isinstance(expected, Shares)
    near = expected.certified - Fraction(1, 10)
    found = answer(asked, 20.0, Facts(enough=lambda known: isinstance(known, Shares) and known.certified > near))
    assert isinstance(found, Shares)
    assert found.total == expected.total
    assert near < found.certified <= expected.certified <= 1 - found.falsified
    for pair in found.witnesses:
        assert admissible(asked.question, asked.domain, pair.a.point, pair.b.point) is None


def test_reals_are_measured_by_volume() -> None:
    """Unfair is 1/4 < rate <= 5/4 of [0, 2], and nobody with rate > 3/2 is in the target."""
    people = domain(rate=real(0, 2), sex=BOOLEAN)
    close = Facts(enough=lambda known: isinstance(known, Shares) and known.undecided < Fraction(1, 10**4))
    found = answer(problem(people, score([1, 1], "-5/4"), 1, quantity=SHARE), facts=close)
    assert isinstance(found, Shares)
    assert found.measure == "volume"
    assert found.total is None
    assert found.certified <= Fraction(1, 2) <= 1 - found.falsified
    assert found.undecided < Fraction(1, 10**4)
    target = linear({0: 2}, "<=", 3)
    within = answer(problem(people, score([1, 1], "-5/4"), 1, target=target, quantity=SHARE), facts=close)
    assert isinstance(within, Shares)
    assert within.certified <= Fraction(1, 3) <= 1 - within.falsified
    assert within.undecided < Fraction(1, 10**4)


@pytest.mark.parametrize("kind", [real(0, 6000), integer(0, 6000)], ids=["reals", "many whole numbers"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("widths", [(), (6,)], ids=["linear", "network"])
def test_who_differ_in_more_than_can_be_listed(widths: tuple[int, ...], seed: int, kind: Real | Integer) -> None:
    """Whom the ends of the range decide unlike is unfair; in a linear model nobody else is."""
    people = domain(pay=kind, y=integer(0, 30), z=integer(0, 30))
    rule = network(3, *widths, seed=seed, scale=(6000, 30, 30))
    rest = np.array([(y, z) for y in range(31) for z in range(31)], dtype=float)
    decisions = [
        BatchEvaluator(rule).approximate(np.column_stack([np.full(len(rest), pay), rest]))[:, 0] > 0
        for pay in np.linspace(0, 6000, 61)
    ]
    ends = Fraction(int((decisions[0] != decisions[-1]).sum()), len(rest))
    anywhere = Fraction(int((np.array(decisions) != decisions[0]).any(axis=0).sum()), len(rest))
    close = Facts(
        enough=lambda known: isinstance(known, Shares) and known.undecided <= anywhere - ends + Fraction(1, 50)
    )
    found = answer(problem(people, rule, 0, quantity=SHARE), 10.0, close)
    assert isinstance(found, Shares)
    assert found.falsified <= anywhere
    assert found.certified <= 1 - anywhere
    if not widths:
        assert found.falsified >= ends - Fraction(1, 20)
    assert found.evidence.fidelity is Fidelity.EXACT


def test_constraints_that_cannot_be_settled_stay_undecided() -> None:
    """A slanted bound in reals is never met by boxes; what it leaves open is said."""
    people = domain(linear({0: 1, 1: 1}, "<=", 1), x=real(0, 1), y=real(0, 1), sex=BOOLEAN)
    found = answer(problem(people, score([1, 1, 1], -4), 2, quantity=SHARE), 8.0)
    assert isinstance(found, Shares)
    assert Fraction(95, 100) < found.certified < 1
    assert any("asked about" in note for note in found.evidence.notes)
    # To hold for whoever may be in the target is enough to hold.
    assert isinstance(answer(problem(people, score([1, 1, 1], -4), 2), 20.0), Holds)


def test_what_is_certified_as_a_whole_holds() -> None:
    wide = domain(amount=integer(0, 10**6), month=integer(0, 80), sex=BOOLEAN)
    assert isinstance(answer(problem(wide, score([1, 1000, 1], "1/2"), 2)), Holds)
    violated = answer(problem(wide, score([1, 1000, 300], "-777777"), 2))
    assert isinstance(violated, Violated)
    assert all(entry.replay.agrees for entry in violated.witnesses)
    nobody = answer(problem(domain(x=integer(0, 3), sex=category(5)), score([1, 1]), 1))
    assert isinstance(nobody, Vacuous)


def test_a_known_pair_is_a_violation_already() -> None:
    asked = problem(domain(x=integer(0, 3), sex=BOOLEAN), score([0, 1]), 1)
    facts = Facts()
    first = answer(asked, facts=facts)
    assert isinstance(first, Violated)
    assert facts.witnesses
    assert isinstance(answer(asked, 0.0, facts), Violated)


def test_without_time_nothing_is_claimed() -> None:
    asked = problem(PEOPLE, network(5, 30, 30, 30, seed=1, scale=SCALE), 4, quantity=SHARE)
    found = answer(asked, 0.0)
    assert isinstance(found, Shares)
    assert found.certified + found.falsified + found.undecided == 1
    assert found.undecided > Fraction(1, 2)
    assert found.reason is Reason.TIMEOUT
    assert isinstance(answer(replace(asked, quantity=Quantity.HOLDS), 0.0), Unknown | Violated)


def test_the_planner_prefers_the_exact_and_the_complete() -> None:
    small = problem(PEOPLE, network(5, 4), 4, quantity=SHARE)
    large = replace(small, domain=replace_amount(PEOPLE, 10**6))
    stages = [[stage.procedure.name for stage in negotiate(asked).stages] for asked in (small, large)]
    assert stages == [["enumerate"], ["intervals"]]
    holds = negotiate(replace(large, quantity=Quantity.HOLDS))
    assert [stage.procedure.name for stage in holds.stages] == ["search", "smt"]


def replace_amount(people: Domain, high: int) -> Domain:
    amount, *others = people.attributes
    return replace(people, attributes=(replace(amount, type=integer(0, high)), *others))


def deployed(rule: Model, folder: Path) -> Model:
    """The model with a file that computes its layers."""
    layers = [(layer.weight.floats, layer.bias.floats) for layer in rule.layers]
    content = relu_chain(layers, "test", single=True)
    path = folder / "model.onnx"
    path.write_bytes(content)
    forms = tuple(Form.of(item) for item in rule.inputs)
    feed = Feed(name="X", features=tuple(range(len(forms))), dtype="float32")
    file = Deployed(
        path=str(path),
        sha256=sha256(content).hexdigest(),
        features=forms,
        feeds=(feed,),
        output="Y",
        readout=Readout.SCORE,
        relation=Relation.GT,
        threshold=Fraction(0),
    )
    return replace(rule, deployed=file)


@pytest.mark.parametrize("seed", range(4))
def test_float32_stays_within_its_bound(seed: int, tmp_path: Path) -> None:
    """At corners and inside."""
    people = domain(x=integer(-1000, 1000), y=integer(0, 7), z=real(0, 1), sex=BOOLEAN)
    rule = deployed(network(4, 40, 30, 20, seed=seed), tmp_path)
    assert rule.deployed is not None
    bound = _float32_error(rule, narrow(people))
    assert bound is not None
    rng = np.random.default_rng(seed)
    low, high = np.array([-1000, 0, 0, 0]), np.array([1000, 7, 1, 1])
    points = low + (high - low) * np.concatenate([rng.integers(0, 2, (200, 4)), rng.random((200, 4))])
    points[:, [0, 1, 3]] = np.round(points[:, [0, 1, 3]])
    exact, rough = points, Runtime(rule.deployed).scores_array(points)
    for depth, each in enumerate(rule.layers):
        exact = exact @ each.weight.floats.T + each.bias.floats
        exact = np.maximum(exact, 0) if depth < len(rule.layers) - 1 else exact
    worst = float(np.abs(exact - rough).max())
    assert 0 < worst <= bound[0] < 1e5 * worst


def test_no_bound_is_known_for_what_is_not_the_models_own_file(tmp_path: Path) -> None:
    people = domain(x=integer(0, 9), sex=BOOLEAN)
    rule = deployed(network(2, 4), tmp_path)
    file = rule.deployed
    assert file is not None
    assert _float32_error(rule, narrow(people)) is not None
    assert _float32_error(network(2, 4), narrow(people)) is None
    swapped = (file.features[1], file.features[0])
    for change in ({"readout": Readout.LABEL}, {"features": swapped}, {"sha256": "0"}, {"output": "h1"}):
        assert _float32_error(replace(rule, deployed=replace(file, **change)), narrow(people)) is None
    other = replace(rule.layers[-1], bias=ExactArray.from_floats([1.0]))
    assert _float32_error(replace(rule, layers=(*rule.layers[:-1], other)), narrow(people)) is None


def test_what_holds_by_less_than_float32_rounds_is_a_gap(tmp_path: Path) -> None:
    """A ten-thousandth decides alike for all in exact arithmetic, but is lost when float32 adds it to a million."""
    people = domain(x=integer(0, 10**6), sex=BOOLEAN)
    tiny = float(np.float32(1e-4))
    layer = Layer(
        weight=ExactArray.from_floats([[np.float32(1.0), np.float32(tiny)]]),
        bias=ExactArray.from_floats([np.float32(tiny)]),
        slope=ExactArray.from_floats([1.0]),
    )
    asked = problem(people, deployed(replace(score([0, 0], 0), layers=(layer,)), tmp_path), 1)
    verdict = answer(asked)
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.NUMERIC_GAP
    clear = replace(layer, bias=ExactArray.from_floats([1.0]))
    apart = problem(people, deployed(replace(score([0, 0], 0), layers=(clear,)), tmp_path), 1)
    assert isinstance(answer(apart), Holds)


def test_who_finds_another_at_it_waits(nothing_kept: Path) -> None:
    asked = "toy", f"{__name__}:three_kernels", ""
    waiting = threading.Thread(target=compiling.compile_beside, args=asked)
    with compiling._alone(compiling._lock(nothing_kept, "toy")):
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        assert not (nothing_kept / "toy").exists()
    waiting.join(10)
    assert not waiting.is_alive()
    assert (nothing_kept / "toy").exists()
    compiling.compile_beside("toy", f"{__name__}:interrupted", "")  # what another one compiled is not compiled again


_LOADING = """
from fairdsl.clock import NEVER
from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.intervals import Intervals, warmup
from tests.intervals.test_interval_procedure import PEOPLE, SHARE, network, problem

intervals, loaded = Intervals(), []
asked = problem(PEOPLE, network(5, 8, 4, seed=1), 4, quantity=SHARE)
intervals.preparation(asked).ready(Silent(), NEVER)

from numba.core import event
from fairdsl.numerics.kernels.cache import KernelCache

load = KernelCache.load_overload
KernelCache.load_overload = lambda *arguments: loaded.append(arguments) or load(*arguments)
with event.install_recorder("numba:compile") as compiled:
    shares = intervals.answer(asked, Facts(), Budget.of(30.0), Silent())
assert shares.certified + shares.falsified > 0
print(len(loaded), len(compiled.buffer))
"""


@pytest.mark.slow
def test_nothing_is_loaded_any_more_once_a_share_has_its_time() -> None:
    command = [sys.executable, "-c", _LOADING]
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("0 0\n", "")


def test_a_share_goes_on_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another budget the boxes are the same ones, and the bounds are closer."""

    def so_many(refinement: Refinement, **others: Any) -> Ending:
        ending = refine_in_parallel(refinement, **{**others, "jobs": 1}, nodes=40)
        return ending if ending is Ending.FINISHED else Ending.DEADLINE

    monkeypatch.setattr("fairdsl.backends.refining.workers.refine_in_parallel", so_many)
    asked = problem(PEOPLE, network(5, 12, seed=2, scale=SCALE), 4, quantity=SHARE)
    answering = Intervals().answering(asked, Facts(), Budget.of(60.0), Silent())
    known = [next(answering)]
    known += [answering.send(Budget.of(60.0)) for _ in range(3)]
    answering.close()
    boxes = [int(each.evidence.method.split()[0].replace(",", "")) for each in known if isinstance(each, Shares)]
    assert boxes == sorted(set(boxes))
    assert len(boxes) == 4
    for before, after in pairwise(each for each in known if isinstance(each, Shares)):
        assert before.certified <= after.certified
        assert before.falsified <= after.falsified
        assert before.undecided > after.undecided


def test_a_share_that_is_cut_while_it_is_refined_has_its_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(*_: object, **__: object) -> None:
        raise OutOfTimeError(cut=True)

    monkeypatch.setattr("fairdsl.backends.refining.workers.refine_in_parallel", cut)
    wide = replace_amount(PEOPLE, 10**6)
    asked = problem(wide, network(5, 30, 30, 30, seed=1, scale=(10.0**6, *SCALE[1:])), 4, quantity=SHARE)
    plan = negotiate(asked)
    assert isinstance(plan, Plan)
    shares = execute(plan, asked, Budget.of(30.0), Silent())
    assert isinstance(shares, Shares)
    assert (shares.certified, shares.undecided, shares.reason) == (0, 1, Reason.TIMEOUT)
    assert shares.estimate is not None
