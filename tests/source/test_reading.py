"""The door for reading: regular files, once, within the root where a file names them, up to a size."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

import fairdsl
from fairdsl.source.reading import NamedPath, content_of, named_in, opened, reading, root_of


@pytest.fixture
def spec(tmp_path: Path) -> str:
    """A file in a folder of its own, beside which nothing is its business."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "audit" / "near").write_text("near")
    (tmp_path / "audit" / "a.fair").write_text("")
    return str(tmp_path / "audit" / "a.fair")


def test_what_the_user_names_is_opened_wherever_it_lies(tmp_path: Path, spec: str) -> None:
    assert content_of(tmp_path / "secret") == b"hunter2"
    assert content_of(os.path.join(os.path.dirname(spec), "..", "secret")) == b"hunter2"


@pytest.mark.parametrize("written", ["../secret", "/etc/passwd", "/proc/self/environ", "link", "folder/secret"])
def test_what_a_file_names_stays_within_the_root(tmp_path: Path, spec: str, written: str) -> None:
    (tmp_path / "audit" / "link").symlink_to("../secret")
    (tmp_path / "audit" / "folder").symlink_to("..")
    assert content_of(named_in(spec, "near")) == b"near"
    with pytest.raises(PermissionError) as caught:
        content_of(named_in(spec, written))
    assert f"it lies outside of `{tmp_path / 'audit'}`" in caught.value.strerror


def test_the_root_is_the_repository_or_what_the_user_says(tmp_path: Path, spec: str) -> None:
    assert root_of(spec) == str(tmp_path / "audit")
    (tmp_path / ".git").mkdir()
    assert content_of(named_in(spec, "../secret")) == b"hunter2"
    with reading(root=tmp_path / "audit"), pytest.raises(PermissionError):
        content_of(named_in(spec, "../secret"))
    used = named_in(named_in(spec, "sub/b.fair"), "../../../x")
    assert used.root == str(tmp_path), "a file that is used does not get a root of its own"
    assert pickle.loads(pickle.dumps(used)).root == used.root


def test_a_folder_that_becomes_a_link_while_it_is_opened(
    tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "audit" / "data"
    inside.mkdir()
    (inside / "secret").write_text("harmless")
    really = os.open

    def swapped(path: str, flags: int) -> int:
        inside.rename(tmp_path / "moved")
        inside.symlink_to("..")
        return really(path, flags)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(PermissionError), opened(named_in(spec, "data/secret")):
        pass


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        for named in (str(path), NamedPath(str(path), "/")):
            with pytest.raises(OSError, match=r"it is (not a regular file|a folder)"):
                content_of(named)


def test_sizes_are_limited_also_where_nobody_knows_them_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 11)
    with reading(largest=11):
        assert len(content_of(tmp_path / "file")) == 11
    with reading(largest=10), pytest.raises(OSError, match="it has 11 bytes, and at most 10 are read"):
        content_of(tmp_path / "file")
    with reading(largest=10), pytest.raises(OSError, match="it has more bytes"):
        content_of("/proc/self/status")


@pytest.mark.parametrize("name", ["../secret", "pipe", "zero"])
@pytest.mark.parametrize("line", ['use "{}"', 'model m : A -> {{ no, yes }}\n  from onnx "{}"\n  yes when score > 0'])
def test_nothing_of_such_files_is_told(tmp_path: Path, spec: str, name: str, line: str) -> None:
    os.mkfifo(tmp_path / "audit" / "pipe")
    (tmp_path / "audit" / "zero").symlink_to("/dev/zero")
    text = "domain A {\n  x : boolean\n  sex : boolean\n}\nprotected sex\n" + line.format(name) + "\n"
    if line.startswith("model"):
        text += "property p {\n  compare a, b : A\n  differ in sex\n  require same decision\n}\n"
    Path(spec).write_text(text)
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(spec)
    assert "hunter2" not in str(caught.value)
    assert "outside of" in str(caught.value) or "not a regular file" in str(caught.value)


def test_a_file_that_is_no_text_is_not_shown(spec: str) -> None:
    Path(spec).with_name("near").write_bytes(b"SECRET=hunter2\0PATH=/bin\0")
    Path(spec).write_text('use "near"\n')
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(spec)
    assert "it is not text" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_names_of_one_file_are_one_file_and_chains_may_be_long(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"{number}.fair").write_text(f'use "{number + 1}.fair"\nuse "again/{number + 1}.fair"\n')
    (tmp_path / "again").symlink_to(".")
    (tmp_path / "1500.fair").write_text("domain A {\n  x : boolean\n}\n")
    assert not [finding for finding in fairdsl.lint(tmp_path / "0.fair") if finding.severity.value == "error"]
