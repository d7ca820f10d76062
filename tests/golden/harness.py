"""Golden cases: a folder with a spec, the command that runs there, and the files it is expected to leave.

``case.toml`` (every key may be left out)::

    command = "check spec.fair --seed 1"   # `{out}` is an empty folder whose files are compared too
    exit = 1
    ignore = ["[0-9]+ tries"]              # what differs between runs; replaced by `*`
    largest_file = 100                     # bytes of a file at most, as on a disk that is full
"""

from __future__ import annotations

import re
import resource
import shlex
import shutil
import tomllib
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from fairdsl.cli.app import cli

HERE = Path(__file__).parent

#: What always differs between runs: times, how far the search got in them, and versions.
_ALWAYS = (
    r"[\d,]+(?= individuals drawn)",
    r"under 0\.1 s|\d+(?:\.\d)? s\b",
    r'(?<="seconds": )[\d.e-]+',
    r'(?<="fairdsl": ")[^"]+',
    r'(?<="versions": )\{[^}]*\}',
    r'(?<="spent": )\d+',
    r'(?<="work": )\{[^}]*\}',
    r'(?<="jobs": )\d+',
    r'(?<="platform": )"[^"]*"',
    r"(?<=z3 )\d+(?:\.\d+)+",
)
#: A paragraph that has the number of individuals drawn in its first line.
_FLOWING = re.compile(r"^ +rests on +\* individuals drawn.*(?:\n {17,}\S.*)*", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A folder and what its case.toml says."""

    folder: Path
    command: str
    exit: int
    ignore: tuple[str, ...] = ()
    largest_file: int | None = None

    @classmethod
    def of(cls, folder: Path, *, command: str, exit: int) -> Case:  # noqa: A002
        """Read the folder; the arguments are the defaults."""
        described = folder / "case.toml"
        said = tomllib.loads(described.read_text(encoding="utf-8")) if described.is_file() else {}
        unknown = said.keys() - {"command", "exit", "ignore", "largest_file"}
        assert not unknown, f"{described} says {sorted(unknown)}, which nobody reads"
        return cls(
            folder=folder,
            command=said.get("command", command),
            exit=said.get("exit", exit),
            ignore=tuple(said.get("ignore", ())),
            largest_file=said.get("largest_file"),
        )

    def steady(self, text: str) -> str:
        """The text without what differs between runs, and without line breaks that depend on how long that is."""
        for pattern in (*_ALWAYS, *self.ignore):
            text = re.sub(pattern, "*", text)
        return _FLOWING.sub(lambda paragraph: re.sub(r"\n +", " ", paragraph[0]), text)


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    exit: int
    stdout: str
    stderr: str
    files: dict[str, str] = field(default_factory=dict)


@contextmanager
def no_larger_files(size: int | None) -> Iterator[None]:
    """A limit of this process; whoever writes more hears that the file is too large."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, before if size is None else (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def cases(kind: str) -> list[Path]:
    """The folders of one kind, for parametrisation."""
    return sorted(path for path in (HERE / kind).iterdir() if path.is_dir())


def run(case: Case, scratch: Path, *extra: str) -> Outcome:
    """Run the case's command on a copy of its folder: a run must leave nothing behind in the repository."""
    folder = scratch / case.folder.name
    shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("expected*"), dirs_exist_ok=True)
    out = Path("out")
    words = [word.replace("{out}", str(out)) for word in shlex.split(case.command)]
    with chdir(folder):
        with no_larger_files(case.largest_file):
            result = CliRunner().invoke(cli, [*words, *extra])
        files = {
            path.relative_to(out).as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(out.rglob("*"))
            if path.is_file()
        }
    return Outcome(result.exit_code, result.stdout, result.stderr, files)


def lint_text(text: str) -> Iterator[str]:
    """What no output may contain: paths of this machine, double words, names from inside the program."""
    if found := re.search(r"(?<![\w./])/(?:home|tmp|usr|var|root|work|private|Users)/\S*", text):
        yield f"the absolute path {found.group()}"
    prose = re.sub(r"`[^`]*`", "`", text)
    if found := re.search(r"\b([A-Za-z]+) \1\b", prose):
        yield f"the double word `{found.group()}`"
    for pattern in (r"\binvalid\b", r"unexpected token", r"Traceback", r"\bNoneType\b", r"<class "):
        if found := re.search(pattern, prose, re.IGNORECASE):
            yield f"`{found.group()}`, which tells the user nothing"
    for name in re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b|\b[A-Z]{4,}\b", prose):
        if name in internal_names():
            yield f"the internal name {name}"


@cache
def internal_names() -> frozenset[str]:
    """Names of classes and of the grammar's terminals, which users never see."""
    package = Path(__file__).parents[2] / "fairdsl"
    classes = {
        name
        for path in package.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    grammar = (package.parent / "grammar" / "fair.lark").read_text(encoding="utf-8")
    return frozenset(classes | set(re.findall(r"^_?([A-Z][A-Z0-9_]+)(?:\.\d+)?\s*:", grammar, re.MULTILINE)))
