"""The door for writing: all of a file or what was there before, never through a link, never half."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairdsl.source.writing import append, appended, disk_failed, draft, new_folder, write_file


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may have more than 1,000 bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_link_is_replaced_and_never_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "out").symlink_to("victim")
    write_file(tmp_path / "out", "new")
    assert (tmp_path / "victim").read_text() == "precious"
    assert (tmp_path / "out").read_text() == "new"
    assert not (tmp_path / "out").is_symlink()
    (tmp_path / "ledger").symlink_to("victim")
    for new in (True, False):
        with pytest.raises(OSError):  # noqa: PT011  # it exists, or it is a link
            appended(tmp_path / "ledger", new=new)
    assert (tmp_path / "victim").read_text() == "precious"


def test_modes_are_those_of_other_files_or_of_the_file_before(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_file(tmp_path / "new", b"x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    write_file(tmp_path / "new", b"y")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


@pytest.mark.usefixtures("small_files")
def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    write_file(tmp_path / "file", "before")
    with pytest.raises(OSError) as caught:  # noqa: PT011  # its number says it
        write_file(tmp_path / "file", b"x" * 2000)
    assert disk_failed(caught.value)
    with appended(tmp_path / "ledger", new=True) as file:
        append(file, b"whole\n")
        with pytest.raises(OSError):  # noqa: PT011
            append(file, b"x" * 2000)
    with pytest.raises(OSError), new_folder(tmp_path / "folder") as folder:  # noqa: PT011, PT012
        write_file(folder / "one", "1")
        write_file(folder / "two", b"x" * 2000)
    assert (tmp_path / "file").read_text() == "before"
    assert (tmp_path / "ledger").read_bytes().startswith(b"whole\n")
    assert sorted(os.listdir(tmp_path)) == ["file", "ledger"]


def test_what_is_appended_is_flushed_to_the_disk_as_often_as_it_is_cheap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flush of three seconds is not repeated for a minute, whatever is written; but it is at the end."""
    clock, flushed = [0.0], []

    def flush(handle: int) -> None:
        clock[0] += 3.0
        flushed.append(os.fstat(handle).st_size)

    monkeypatch.setattr("os.fsync", flush)
    monkeypatch.setattr("fairdsl.source.writing.monotonic", lambda: clock[0])
    with appended(tmp_path / "ledger", new=True) as file:
        for _ in range(100):
            append(file, b"line\n")
            clock[0] += 1.0
    assert flushed == [5, 61 * 5, 500]


def test_what_raises_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), draft(tmp_path / "file.csv") as file:  # noqa: PT012
        file.write(b"half")
        assert file.name.endswith(".csv")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_nothing_is_replaced_that_must_not_be(tmp_path: Path) -> None:
    write_file(tmp_path / "file", "one", replace=False)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "file", "two", replace=False)
    assert (tmp_path / "file").read_text() == "one"
    assert os.listdir(tmp_path) == ["file"]


def test_a_place_that_cannot_be_is_no_failure_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:  # noqa: PT011
        write_file(tmp_path / "nowhere" / "file", "x")
    assert not disk_failed(caught.value)
