"""Machine code is kept where nobody else can put any, and whatever is wrong with the files costs time alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairdsl.backends import warmup as compiling
from fairdsl.backends.contract import Announcing, Silent
from fairdsl.backends.intervals import warmup
from fairdsl.clock import NEVER
from fairdsl.numerics.kernels import cache
from fairdsl.private_folder import private_folder, why_not_private

#: A program that has a kernel of one line at every word: it says what the kernel gives, and whether its machine code
#: came from the cache. Imported anew, a module knows nothing of what was compiled before.
PROGRAM = """
import sys
from fairdsl.numerics.kernels import compiled
sys.path.insert(0, sys.argv[1])
print('ready', flush=True)
for _ in sys.stdin:
    sys.modules.pop('one', None)
    from one import double
    print(double(2.0), compiled._FOLDER, sum(double.stats.cache_hits.values()), flush=True)
"""
KERNEL = "from fairdsl.numerics.kernels.compiled import exact\n\n\n@exact\ndef double(x):\n    return 2 * x\n"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the environment names for machine code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o755)
    return tmp_path / "cache"


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_the_folder_is_made_for_the_user_alone(tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv(variable, str(tmp_path / "new" / "cache"))
    folder = cache.cache_folder()
    assert folder is not None
    for path in (folder, folder.parent, folder.parent.parent):
        assert path.stat().st_mode & 0o777 == 0o700


def test_folders_that_others_can_write_to_are_not_used(base: Path) -> None:
    folder = cache.cache_folder()
    assert folder is not None
    for path in (folder, folder.parent, base):
        before = path.stat().st_mode
        path.chmod(0o777)
        assert cache.cache_folder() is None
        assert str(path) in cache.why_no_cache()
        assert "0777" in cache.why_no_cache()
        path.chmod(before)
    folder.chmod(0o750)
    assert "0700 is needed" in (why_not_private(folder) or "")
    folder.chmod(0o700)
    assert cache.cache_folder() == folder


def test_a_folder_where_everybody_has_files_of_their_own_may_be_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    assert private_folder("mine", tmp_path / "tmp") == tmp_path / "tmp" / "mine"


def test_a_link_is_followed_before_the_folder_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open")
    assert private_folder("mine", tmp_path / "link") is None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can make files of other users")
def test_a_folder_of_another_user_is_not_used(base: Path) -> None:
    folder = cache.cache_folder()
    assert folder is not None
    for path in (folder, base):
        os.chown(path, 12345, -1)
        assert cache.cache_folder() is None
        assert "another user's" in cache.why_no_cache()
        os.chown(path, 0, -1)


class Program:
    """A fresh process that has the kernel whenever it is told to."""

    def __init__(self, module: Path) -> None:
        (module / "one.py").write_text(KERNEL)
        line = [sys.executable, "-c", PROGRAM, str(module)]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.said() == ["ready"]

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def said(self) -> list[str]:
        """The words of its next line."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().split()

    def has_it(self) -> list[str]:
        """What it says of the kernel."""
        self.begin()
        return self.said()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=120)
        assert self._process.returncode == 0


def test_machine_code_is_kept_and_torn_files_are_compiled_again(base: Path, tmp_path: Path) -> None:
    folder = cache.cache_folder()
    with Program(tmp_path) as first:
        assert first.has_it() == ["4.0", str(folder), "0"]
    with Program(tmp_path) as second:
        assert second.has_it() == ["4.0", str(folder), "1"]
        kept = [path for path in base.rglob("*") if path.suffix in (".nbi", ".nbc")]
        assert len(kept) == 2
        for path in kept:
            whole = path.read_bytes()
            path.write_bytes(whole[: len(whole) // 2])
            assert second.has_it() == ["4.0", str(folder), "0"]
            assert second.has_it()[2] == "1"
    base.chmod(0o777)
    with Program(tmp_path) as third:
        assert third.has_it() == ["4.0", "None", "0"]


@pytest.mark.slow
def test_two_cold_runs_at_once(base: Path, tmp_path: Path) -> None:
    """Both compile or wait for the other, both have the kernel, and what they leave is whole."""
    folder = cache.cache_folder()
    with Program(tmp_path) as one, Program(tmp_path) as other:
        for each in (one, other):  # nothing is there yet, and both begin
            each.begin()
        assert [each.said()[:2] for each in (one, other)] == [["4.0", str(folder)]] * 2
        assert one.has_it() == ["4.0", str(folder), "1"]


class Heard(Silent, Announcing):
    """Remembers what was to be said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def announce(self, text: str) -> None:
        self.said.append(text)


def test_compiling_in_memory_is_said_with_its_reason(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base.chmod(0o777)
    compiled: list[int] = []
    monkeypatch.setattr(compiling, "_LOADED", set())
    monkeypatch.setattr(compiling, "_call", lambda _: compiled.append(1))
    heard = Heard()
    assert warmup.KERNELS.ready(heard, NEVER)
    assert warmup.KERNELS.ready(heard, NEVER)
    assert compiled == [1]
    (said,) = heard.said
    assert said.startswith("compiling the kernels, which cannot be kept (some ten seconds of a processor): `")
    assert f"`{base}`" in said
