"""Every reader on what once broke it, on the documents that fuzzing begins with, and on some inputs made from them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from fairdsl.source import SourceFile
from fairdsl.syntax.parse import parse
from tests.drawing import examples
from tests.fuzz import calls, documents
from tests.fuzz.readers import READERS, Reader, inputs
from tests.fuzz.sentences import sentence
from tests.fuzz.session import Limits, run_inputs, try_input

EACH = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
LIMITS = Limits(seconds=10.0)


def _wrong(reader: Reader, content: bytes, folder: Path) -> str:
    return try_input(reader.name, content, LIMITS, folder).wrong


@EACH
def test_what_once_broke_it_ends_well(reader: Reader, tmp_path: Path) -> None:
    for content in (*documents.corpus(reader.name), *reader.begins()[:6]):
        assert not _wrong(reader, content, tmp_path), content[:400]


@EACH
def test_inputs_end_well(reader: Reader, tmp_path: Path) -> None:
    """The first ones that `python -m tests.fuzz` tries."""
    for number in range(examples(0.5)):
        content = inputs(reader, number)
        assert not _wrong(reader, content, tmp_path), (number, content[:400])


def test_inputs_are_the_same_every_time() -> None:
    for reader in READERS:
        assert [inputs(reader, number) for number in range(5)] == [inputs(reader, number) for number in range(5)]
        assert len({inputs(reader, number) for number in range(20)}) > 10


def test_made_up_specs_are_often_right() -> None:
    """Else nothing but the reading around errors is tried."""
    texts = [sentence(Random(seed)).decode() for seed in range(200)]
    assert sum(parse(SourceFile("spec.fair", text)).complete for text in texts) > 20


def _crashes(content: bytes, folder: Path) -> None:
    raise KeyError(content[:3])


def _hangs(content: bytes, folder: Path) -> None:
    while True:
        pass


@pytest.mark.parametrize(("read", "said"), [(_crashes, "KeyError"), (_hangs, "over 0.2 s")])
def test_crashes_and_hangs_are_seen(read: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Reader(name="broken", begins=list, read=read, modules=())  # type: ignore[arg-type]
    monkeypatch.setattr("tests.fuzz.readers.READERS", (broken,))
    assert said in try_input("broken", b"abc", Limits(seconds=0.2), tmp_path).wrong


def test_a_layout_that_means_something_else_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = iter(("domain B {}", "domain C {}", "domain D {}"))
    monkeypatch.setattr(calls, "laid_out", lambda source: next(texts))
    with pytest.raises(AssertionError, match="twice"):
        calls.fmt(b"domain A {}", tmp_path)


@pytest.mark.slow
def test_a_session_with_workers(tmp_path: Path) -> None:
    names = [reader.name for reader in READERS]
    tally = run_inputs(names, 1000, LIMITS, hours=0.1, most=len(names) * 4, workers=2, crashers=tmp_path)
    assert tally.tried.total() == len(names) * 4
    assert not tally.wrong, tally.wrong
    assert 0 < tally.memory < 1 << 30
