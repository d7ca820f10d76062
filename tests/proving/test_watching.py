"""Proofs that take long: how far they are, Ctrl-C, and several processes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import count
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from fairdsl.backends.contract import Silent
from fairdsl.cli.app import cli
from fairdsl.clock import Deadline, OutOfTimeError, listening
from fairdsl.proving import prove_spec, run, spec, watching
from fairdsl.proving.watching import Watch
from fairdsl_verify.command import check
from tests.proving.proved_networks import SPEC, network


class Heard:
    """What an observer hears."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, float | None]] = []

    def progress(self, stage: str, fraction: float | None, detail: str) -> None:
        self.stages.append((stage, fraction))


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    network(folder / "m.onnx", 3)
    (folder / "p.fair").write_text(SPEC)
    return folder


def proved(folder: Path, to: Path, **more: Any) -> dict[str, run.Proved]:
    given = {"models": {}, "data": {}, "seconds": 60.0, "observer": Silent(), **more}
    return {each.property: each for each in prove_spec(str(folder / "p.fair"), str(to), **given)}


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C comes at a later look at it."""

    def at(look: int) -> None:
        looks = count()
        monkeypatch.setattr(watching, "_LISTEN", 0.0)
        for module in (watching, spec):
            monkeypatch.setattr(module, "received", lambda: signal.SIGINT if next(looks) >= look else None)

    return at


def test_a_watched_deadline_passes_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_LISTEN", 0.0)
    heard = Heard()
    end = Watch("proving p", 1000, heard).end
    half = end.later(-500)
    assert not end.passed
    assert 499 < half.remaining <= 500
    assert Watch("proving p", 0, heard).end.passed
    monkeypatch.setattr(watching, "received", lambda: signal.SIGINT)
    assert end.passed
    assert half.passed
    assert end.remaining == half.later(100).remaining == 0
    assert heard.stages[0][0] == "proving p"
    assert all(fraction is not None and 0 <= fraction <= 1 for _, fraction in heard.stages)


def test_ctrl_c_leaves_a_smaller_proof(
    asked: Path, tmp_path: Path, interrupted: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there when it comes is written, checked, and claims no more than follows."""
    monkeypatch.setattr(run, "many_passes", lambda _: False)
    monkeypatch.setattr("fairdsl.proving.prover.EVALUATED", 8)
    one, reached = {"properties": ("share",), "observer": (heard := Heard())}, [Fraction(-1)]
    for look, said in ((0, "no proof: the run was interrupted"), (10, "no proof: nothing was proved")):
        interrupted(look)
        assert [each.said for each in proved(asked, tmp_path / str(look), **one).values()] == [said]
        assert not list(tmp_path.glob("*/*.proof"))
    for look in (40, 80, 10**6):
        interrupted(look)
        (each,) = proved(asked, tmp_path / str(look), **one).values()
        assert each.proof is not None
        found = check(Path(each.proof.path), asked / "m.onnx")
        assert found.follows
        assert found.totals.certified == each.proof.certified
        reached.append(each.proof.certified)
    assert reached == sorted(set(reached)), "the sooner, the less"
    assert {stage for stage, _ in heard.stages} == {"proving share", "checking share"}


def test_ctrl_c_in_the_checker_is_said(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is whole, claims nothing yet, and nothing is said of what it shows."""

    def cut(*_: object, **__: object) -> None:
        monkeypatch.setattr(watching, "received", lambda: signal.SIGINT)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "check", cut)
    found = proved(asked, tmp_path)
    first, *others = found.values()
    assert first.proof is None
    assert first.said.endswith("which is not checked: the run was interrupted")
    assert all(each.said == "no proof: the run was interrupted" for each in others)
    (written,) = tmp_path.glob("*.proof")
    assert check(written, asked / "m.onnx").follows


def test_a_signal_that_nobody_listens_to_means_what_it_does(asked: Path, tmp_path: Path) -> None:
    def cut() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Watch("proving p", 1, Silent()).checked(1, cut)


RATES = """fair 1
domain Person {{
  sex : category {{ f, m }}
{columns}
}}
protected sex
model m : Person -> {{ no, yes }}
  score = {score}
  yes when score > {limit}
  favourable yes
distribution d over Person
  sex : table {{ f : 0.5, m : 0.5 }}
{tables}
property one {{ across sex under d measure parity_gap }}
property two {{ across sex under d measure parity_gap }}
"""


def rates(folder: Path, columns: int) -> Path:
    """A spec about the rates of so many columns, whose sums are all different."""
    places = range(columns)
    text = RATES.format(
        columns="\n".join(f"  x{at} : integer 0 .. 3" for at in places),
        score=" + ".join(f"{997 ** (at + 1) % 99991} * x{at}" for at in places),
        limit=columns * 75000,
        tables="\n".join(f"  x{at} : uniform(0, 3)" for at in places),
    )
    (folder / "p.fair").write_text(text)
    return folder


@pytest.mark.parametrize("stage", ["order_for", "check"])
def test_ctrl_c_ends_a_proof_of_rates_wherever_it_is(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks there."""

    def endless(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        raise AssertionError

    monkeypatch.setattr(run, stage, endless)
    with listening():
        one, two = proved(rates(tmp_path, 2), tmp_path / "proofs").values()
    assert two.said == "no proof: the run was interrupted"
    if stage == "check":
        (written,) = tmp_path.glob("proofs/*")
        assert one.said == f"a proof was written to {written}, which is not checked: the run was interrupted"
        assert check(written).follows
    else:
        assert one.said == two.said
        assert not list(tmp_path.glob("proofs/*"))


def test_the_time_ends_a_proof_of_rates_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> None:
        began = time.monotonic()
        while time.monotonic() < began + 5:
            pass
        raise AssertionError

    monkeypatch.setattr(run, "order_for", endless)
    found = proved(rates(tmp_path, 2), tmp_path / "proofs", seconds=0.2)
    assert [each.said for each in found.values()] == ["no proof: the time was up"] * 2


def test_a_process_does_with_a_signal_what_one_process_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "order_for", lambda *_: signal.raise_signal(signal.SIGINT))
    path, folder = rates(tmp_path, 2) / "p.fair", str(tmp_path)
    none: dict[Any, Any] = {}
    order = spec.Order(
        path=str(path), folder=folder, models=none, let=None, data=none, properties=(), deployed=frozenset(), known=none
    )
    ours, theirs = Pipe()
    for message in (order, ("one", 60.0)):
        ours.send(message)
    heard = list[run.Proved]()

    def hear() -> None:
        with suppress(EOFError):
            while not isinstance(found := ours.recv(), run.Proved):
                pass
            heard.append(found)
        ours.close()

    thread = Thread(target=hear)
    thread.start()
    try:
        spec.serve(theirs)
    except KeyboardInterrupt:
        pytest.fail("nobody listens")
    finally:
        theirs.close()
        thread.join()
    assert heard[0].said == "no proof: the run was interrupted"


@pytest.mark.slow
def test_ctrl_c_ends_rates_in_real_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sent a signal, and none of them is waited for until it is killed."""
    asked_at = time.monotonic() + 8
    monkeypatch.setattr(spec, "received", lambda: signal.SIGINT if time.monotonic() > asked_at else None)
    found = proved(rates(tmp_path, 14), tmp_path / "proofs", seconds=600.0, jobs=2)
    assert time.monotonic() < asked_at + watching.AFTER / 2
    assert [each.said for each in found.values()] == ["no proof: the run was interrupted"] * 2
    assert not list(tmp_path.glob("proofs/*"))


def test_the_checker_has_seconds_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "AFTER", 0.0)
    monkeypatch.setattr(watching, "received", lambda: signal.SIGINT)

    def late() -> None:
        raise OutOfTimeError

    assert Watch("proving p", 1, Silent()).checked(1, late) is None
    assert Watch("proving p", 1, Silent()).checked(1, lambda: "said") == "said"


class Thereby:
    """A process that is a thread."""

    interrupted = False

    def __init__(self, target: str) -> None:
        self.connection, theirs = Pipe()
        self.name: str | None = None
        self.written = False
        self.thread = Thread(target=self.serve, args=(theirs,), daemon=True)
        self.thread.start()

    @staticmethod
    def serve(theirs: Connection[object, object]) -> None:
        spec.serve(theirs)
        theirs.close()

    def send(self, message: object) -> None:
        self.connection.send(message)

    def receive(self) -> object:
        try:
            return self.connection.recv()
        except EOFError as problem:
            raise spec.GoneError from problem

    def gone(self) -> SimpleNamespace:
        return SimpleNamespace(last=": killed")

    def interrupt(self) -> None:
        type(self).interrupted = True

    def end(self) -> None:
        self.connection.close()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec, "_Prover", Thereby)
    monkeypatch.setattr(Thereby, "interrupted", False)
    monkeypatch.setattr(spec, "_PAYS", 0.0)


@pytest.mark.usefixtures("threads")
def test_two_processes_prove_what_one_does(asked: Path, tmp_path: Path) -> None:
    heard = Heard()
    one, two = proved(asked, tmp_path / "one"), proved(asked, tmp_path / "two", jobs=2, observer=heard)
    assert list(one) == list(two)
    for name, each in one.items():
        other = two[name]
        assert each.said == other.said
        assert (each.proof is None) == (other.proof is None)
        if each.proof is not None and other.proof is not None:
            assert Path(each.proof.path).read_bytes() == Path(other.proof.path).read_bytes()
    assert heard.stages


@pytest.mark.usefixtures("threads")
def test_a_process_that_is_gone_leaves_the_others_their_proofs(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, whole = run.Order.proved, proved(asked, tmp_path / "one")
    lost = next(name for name, each in whole.items() if each.proof is not None)

    def failing(self: run.Order, name: str, *given: Any) -> run.Proved:
        if name == lost:
            raise OSError
        return real(self, name, *given)

    monkeypatch.setattr(run.Order, "proved", failing)
    found = proved(asked, tmp_path / "two", jobs=2)
    assert found[lost].said == "no proof: the process that proved it is gone: killed"
    assert all(found[name].said == each.said for name, each in whole.items() if name != lost)


@pytest.mark.usefixtures("threads")
def test_ctrl_c_reaches_processes(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec, "received", lambda: signal.SIGINT)
    monkeypatch.setattr(watching, "received", lambda: signal.SIGINT if Thereby.interrupted else None)
    monkeypatch.setattr(watching, "_LISTEN", 0.0)
    for each in proved(asked, tmp_path, jobs=2).values():
        if each.proof is None:
            assert each.said.startswith("no proof: ")
        else:
            assert check(Path(each.proof.path), asked / "m.onnx").follows


@pytest.mark.slow
def test_real_processes_prove_the_same(asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec, "_PAYS", 0.0)
    one, two = proved(asked, tmp_path / "one"), proved(asked, tmp_path / "two", jobs=2)
    assert [each.said for each in one.values()] == [each.said for each in two.values()]
    for each in two.values():
        assert each.proof is None or check(Path(each.proof.path), asked / "m.onnx").follows
    assert Deadline.within(1).passed is False


def test_what_no_time_would_prove_is_not_said_to_lack_time(tmp_path: Path) -> None:
    """The model is none of a file."""
    path = tmp_path / "rule.fair"
    path.write_text(
        "domain P {\n  sex : boolean\n  age : integer 0 .. 9\n}\nprotected sex\n"
        "model m : P -> { no, yes }\n  score = age - 4\n  yes when score > 0\n"
        "property p {\n  compare a, b : P\n  differ in sex\n  require same decision\n}\n"
    )
    arguments = ["check", str(path), "--proof", str(tmp_path / "proofs"), "--proof-seconds", "0.000001"]
    said = CliRunner().invoke(cli, arguments).output
    assert "no proof: only models of ONNX files have proofs so far" in said
