"""Hypothesis profiles, and expected files that ``pytest --accept`` rewrites."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.strategies import SearchStrategy
from threadpoolctl import threadpool_limits

# Tests start hundreds of processes. Where Python is told not to keep what it compiles, each of them would compile the
# whole package again, which takes longer than what most of them are started for.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# pytest would rewrite the assertions of each package that brings a plugin, as ours does: it would compile all of it
# anew, beside what processes that tests start compile. Tests are found by their names.
for finder in sys.meta_path:
    getattr(finder, "_must_rewrite", set()).clear()

# What imports and collecting tests make is there to stay.
gc.disable()

# Tests ask engines, and not what an earlier run had kept.
os.environ.setdefault("FAIRDSL_NO_CACHE", "1")

# Shells without job control start what is in the background with Ctrl-C ignored, and tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Files of tests need not outlive a power cut: waiting for the disk thousands of times is time in which nothing is
# tested. That the package waits for it is tested with a stand-in (tests/source/test_writing.py).
os.fsync = lambda descriptor: None

# Workers share the processor: a second thread of BLAS only makes them wait for each other, here and in processes
# that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
threadpool_limits(limits=1, user_api="blas")

_SLOW_DRAWS = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "everyday")
# Everyday runs are short, and draw the same each time: tests that count what came up must not fail by chance. `nightly`
# is long, and draws at random. Tests draw a share of these (tests/drawing.py).
settings.register_profile(
    "everyday", max_examples=8, deadline=None, derandomize=True, suppress_health_check=_SLOW_DRAWS
)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=_SLOW_DRAWS)
settings.load_profile(_PROFILE)

# Else every worker parses all modules of the package for constants to draw, which takes seconds; and what is drawn
# depends on the modules that the tests before have loaded, also where it is to be reproducible.
if _PROFILE != "nightly":
    vars(providers)["is_local_module_file"] = lambda path: False
    # Strategies that are made while others are drawn are checked before they are drawn from, which takes a tenth of the
    # time of property tests and changes nothing that is drawn. A nightly run says what is wrong with them.
    SearchStrategy.validate = lambda self: None

#: Folders whose tests take minutes together and hardly use the compiled kernels.
_WITHOUT_KERNELS = {
    "architecture",
    "codec",
    "comparing",
    "data",
    "diagnostics",
    "elaborate",
    "fuzz",
    "metrics",
    "models",
    "numerics",
    "populations",
    "property",
    "search",
    "semantics",
    "smt",
    "ssat",
    "subset_sum",
    "syntax",
}
_COMPILE = "from tests.kernels_first import have_kernels; have_kernels()"


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels beside the first tests, where there are workers: their time counts in no test."""
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        subprocess.Popen([sys.executable, "-c", _COMPILE], cwd=config.rootpath)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Each worker of a whole run imports the tests from another one on: what one of them has compiled others load.

    Else all of them compile, and rewrite the assertions of, every file at the same time.
    """
    config = session.config
    if hasattr(config, "workerinput") and config.args == config.getini("testpaths"):
        files = sorted(Path(__file__).parent.rglob("test_*.py"))
        first = len(files) * int(config.workerinput["workerid"].removeprefix("gw")) // config.workerinput["workercount"]
        for file in files[first:] + files[:first]:
            # By the name under which pytest finds it again.
            sys.path.insert(0, str(file.parent))
            with suppress(Exception, pytest.skip.Exception):  # which are told about where the file is collected
                import_module(file.stem)
            sys.path.remove(str(file.parent))


def _needs_kernels(item: pytest.Item) -> bool:
    return item.path.relative_to(Path(__file__).parent).parts[0] not in _WITHOUT_KERNELS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that hardly use the kernels come first."""
    items.sort(key=_needs_kernels)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Without workers the kernels are compiled here, where some test needs them.

    What is there by now stays until the end: collections begin here, and need not walk it. Nor need they come every 700
    new objects, most of which are gone when their test is.
    """
    alone = not hasattr(session.config, "workerinput") and not session.config.getoption("numprocesses", None)
    if alone and any(map(_needs_kernels, session.items)):
        _have_kernels()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that needs the kernels waits for them before its own time begins."""
    if _needs_kernels(item):
        _have_kernels()


def _have_kernels() -> None:
    # Not above: it loads numba, which whoever only deals out tests does without.
    from tests.kernels_first import have_kernels

    have_kernels()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite the expected files of golden tests")


@pytest.fixture
def as_expected(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with an expected file, or rewrite the file; an empty text has no file."""
    accept = request.config.getoption("--accept")

    def compare(path: Path, text: str) -> None:
        if accept and text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        elif accept:
            path.unlink(missing_ok=True)
        else:
            expected = path.read_text(encoding="utf-8") if path.is_file() else ""
            assert text == expected, f"{path.name} differs; `pytest --accept` rewrites it"

    return compare
