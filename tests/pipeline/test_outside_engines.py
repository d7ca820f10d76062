"""Engines, strategies and encodings of other packages: installed as installers do it, and lies are found out."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.formats import format_of
from fairdsl.plan.registry import ENGINES
from fairdsl.verdict import Judgement, Word

PLUGIN = Path(__file__).parents[2] / "examples" / "plugin"
SPEC = """\
domain P { sex : category { f, m }  age : integer 18 .. 30 }
protected sex
model m : P -> { no, ok }
  score = age + (sex = m)
  ok when score > LIMIT
property same { compare a, b : P  differ in sex  require same decision }
"""


def install(folder: Path, name: str, version: str, points: dict[str, str], group: str = ENGINES) -> None:
    """What an installer leaves of a package, beside its modules."""
    install_groups(folder, name, version, {group: points})


def install_groups(folder: Path, name: str, version: str, groups: dict[str, dict[str, str]]) -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        for group, points in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    install_groups(tmp_path, project["name"], project["version"], project["entry-points"])
    monkeypatch.syspath_prepend(str(PLUGIN))
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def spec(tmp_path: Path) -> Callable[[int], Path]:
    def written(limit: int) -> Path:
        path = tmp_path / "spec.fair"
        path.write_text(SPEC.replace("LIMIT", str(limit)))
        return path

    return written


@pytest.mark.usefixtures("example")
def test_the_example_answers(spec: Callable[[int], Path]) -> None:
    (demand,) = fairdsl.check(spec(40), backend="one_sided").properties[0].demands
    assert (demand.judgement, demand.backend) == (Judgement.HOLDS, "one_sided")
    assert demand.basis is not None
    assert demand.basis.word is Word.SOLVER
    assert any("fairdsl-one-sided 1.0" in note for note in demand.notes)
    (open_,) = fairdsl.check(spec(24), backend="one_sided").properties[0].demands
    assert open_.judgement is Judgement.UNKNOWN


@pytest.mark.usefixtures("example")
def test_it_is_asked_after_all_others(spec: Callable[[int], Path]) -> None:
    (plan,) = fairdsl.plans(spec(40))
    assert plan.stages[-1].startswith("one_sided: the ends of a linear score (fairdsl-one-sided 1.0); asked where")
    assert "one_sided" in {row.backend for row in fairdsl.capabilities()}
    (demand,) = fairdsl.check(spec(40)).properties[0].demands
    assert demand.backend == "enumerate"


LIAR = """
from fairdsl.backends.contract import Capability, Offer
from fairdsl.verdict import Evidence, Individual, Replay, Violated, Witness
from fractions import Fraction as F

class Liar:
    name = "liar"
    about = Capability(questions=(), quantities=(), models=())

    def offer(self, problem):
        return Offer(method="by lying", decides=True, fits=2)

    def answer(self, problem, facts, budget, observer):
        pair = [Individual.of(problem.domain, (F(sex), F(30))) for sex in (0, 1)]
        replay = Replay(exact=True, float32=None, scores_a=(F(0),), scores_b=(F(0),), decision_a="no", decision_b="ok")
        witness = Witness(a=pair[0], b=pair[1], replay=replay)
        return Violated(witnesses=(witness,), evidence=Evidence(backend="enumerate", method="by lying"))

class Silent(Liar):
    name = "silent"

    def answer(self, problem, facts, budget, observer):
        return True

class Failing(Liar):
    name = "failing"

    def answer(self, problem, facts, budget, observer):
        raise ZeroDivisionError("nobody looked")
"""


@pytest.mark.parametrize(
    ("name", "reason"), [("liar", "replay_failed"), ("silent", "malformed"), ("failing", "engine_crashed")]
)
def test_what_is_no_verdict_is_unknown(
    name: str, reason: str, spec: Callable[[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lying_engines.py").write_text(LIAR)
    install(tmp_path, "lies", "0.1", {name: f"lying_engines:{name.capitalize()}"})
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    sys.modules.pop("lying_engines", None)
    (demand,) = fairdsl.check(spec(24), backend=name).properties[0].demands
    assert demand.judgement is Judgement.UNKNOWN
    assert demand.reason is not None
    assert demand.reason.value == reason
    assert demand.backend == name
    assert fairdsl.check(spec(40)).properties[0].judgement is Judgement.HOLDS


def test_what_cannot_be_loaded_refuses_and_the_others_answer(
    spec: Callable[[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "broken", "2", {"broken": "no_such_module:Engine"})
    monkeypatch.syspath_prepend(str(tmp_path))
    report = fairdsl.check(spec(40))
    assert report.properties[0].judgement is Judgement.HOLDS
    (plan,) = fairdsl.plans(spec(40))
    assert any("broken: not used, `no_such_module:Engine` of broken 2 cannot be loaded" in why for why in plan.reasons)


@pytest.mark.usefixtures("example")
def test_its_strategy_finds_pairs_that_are_replayed(spec: Callable[[int], Path]) -> None:
    found = fairdsl.search(spec(18), strategy="corners", count=1)
    assert (found.count, found.strategy) == (1, "corners")
    assert dict(found.by_strategy) == {"corners (fairdsl-one-sided 1.0)": 1}
    with pytest.raises(fairdsl.SpecError, match="E0604"):
        fairdsl.search(spec(18), strategy="corner")


STRATEGIES = """
import numpy as np
from fairdsl.backends.search.strategy import Proposal, Strategy

def outside(ground):
    while True:
        yield Proposal("outside", np.full((64, len(ground.space.columns)), 1e6) * ground.rng.standard_normal((64, 1)))

def wide(ground):
    yield Proposal("wide", np.zeros((4, 99)))

def failing(ground):
    raise ZeroDivisionError("nobody looked")
    yield

def ended(ground):
    yield Proposal("ended", np.zeros((1, len(ground.space.columns))))

RUNS = outside, wide, failing, ended
OUTSIDE, WIDE, FAILING, ENDED = (Strategy(name=run.__name__, about="", run=run) for run in RUNS)
NONE = 3
"""


@pytest.fixture
def strategies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd_strategies.py").write_text(STRATEGIES)
    names = ("outside", "wide", "failing", "ended", "none")
    points = {name: f"odd_strategies:{name.upper()}" for name in names} | {"uniform": "odd_strategies:FAILING"}
    install(tmp_path, "odd", "0.2", points, "fairdsl.strategies")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    sys.modules.pop("odd_strategies", None)


@pytest.mark.usefixtures("strategies")
def test_what_is_proposed_is_moved_into_the_space(spec: Callable[[int], Path]) -> None:
    """Its candidates are the two ends of an age of 13 values, so the domain is not exhausted by trying them often."""
    found = fairdsl.search(spec(30), strategy="outside", timeout=20)
    assert dict(found.by_strategy) == {"outside (odd 0.2)": 1}
    assert found.tried <= 13
    assert dict(fairdsl.search(spec(30), strategy="uniform").by_strategy) == {"uniform": 1}, "ours keeps its name"


@pytest.mark.usefixtures("strategies")
@pytest.mark.parametrize("name", ["wide", "failing", "ended", "none", "odd:uniform"])
def test_strategies_that_fail_are_named(name: str, spec: Callable[[int], Path]) -> None:
    with pytest.raises(fairdsl.SpecError) as raised:
        fairdsl.search(spec(40), strategy=name)
    (finding,) = raised.value.diagnostics
    assert finding.code == "E0628"
    assert "odd 0.2" in finding.notes[0]


@pytest.mark.usefixtures("example")
@pytest.mark.parametrize(("limit", "judgement"), [(40, Judgement.HOLDS), (24, Judgement.UNKNOWN)])
def test_its_files_are_written_solved_and_read_back(
    limit: int, judgement: Judgement, spec: Callable[[int], Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    fairdsl.compile(spec(limit), to="lp", directory=out)
    for file in sorted(out.glob("*.lp")):
        fairdsl.solve(file, output=f"{file}.answer")
    report = fairdsl.recover(out)
    (demand,) = report.properties[0].demands
    assert demand.judgement is judgement
    if judgement is Judgement.HOLDS:
        assert demand.basis is not None
        assert demand.basis.word is Word.FILES
        assert any("fairdsl-one-sided 1.0" in note for note in demand.notes)
    (out / "same.least.lp.answer").write_text("{}")
    (out / "same.largest.lp.answer").unlink()
    assert fairdsl.recover(out).properties[0].judgement is Judgement.UNKNOWN


def test_an_encoding_that_cannot_be_loaded_is_named(
    spec: Callable[[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "broken", "2", {"odd-format": "no_such_module:Form"}, "fairdsl.encodings")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(fairdsl.SpecError) as raised:
        fairdsl.compile(spec(40), to="odd-format", directory=tmp_path / "out")
    assert raised.value.diagnostics[0].code == "E0628"
    fairdsl.compile(spec(40), to="smtlib", directory=tmp_path / "out")


LIKE_OURS = """
from fairdsl_one_sided import LinearProgram

class Marked(LinearProgram):
    ending = "cnf"
    line = "c marked"
"""


@pytest.mark.usefixtures("example")
def test_files_that_end_as_ours_are_told_by_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "marked_files.py").write_text(LIKE_OURS)
    install(tmp_path, "marking", "1", {"marked": "marked_files:Marked"}, "fairdsl.encodings")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    for name, text in (("marked", "c marked\np cnf 1 0\n"), ("dimacs", "p cnf 1 0\n")):
        (tmp_path / "a.cnf").write_text(text)
        assert format_of(tmp_path / "a.cnf") == name
