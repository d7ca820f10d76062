"""Which solvers are meant, where they are, and how each is called for a file."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from fairdsl.diagnostics import DiagnosticError
from fairdsl.options import Options, Run, options_of
from fairdsl.plan.registry import sections
from fairdsl.processes import run


@dataclass(frozen=True, slots=True)
class Question:
    """A file that a solver is asked, its network where it has one, and the seconds that the solver has."""

    file: Path
    network: Path | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """One that is to be asked: which files it reads, and how.

    ``missing`` says why it cannot be asked here. Without a ``command`` the files are answered by the adapter of that
    name that fairdsl has for solvers of stochastic satisfiability, under ``options``.
    """

    name: str
    #: The format of its files, and of several kinds of files in it the role of those that it reads.
    form: str
    role: str | None = None
    version: str | None = None
    missing: str | None = None
    command: Callable[[Question], list[str]] | None = None
    options: Options = field(default_factory=Options)
    #: Whether it is known to answer files wrongly in which every input is a constant.
    fails_on_constants: bool = False


#: What a template may say a format is: the format's name, and the role of its files.
_FORMS = {
    "smtlib": ("smtlib", None),
    "vnnlib": ("vnnlib", "case"),
    "vnnlib2": ("vnnlib", "pair"),
    "sdimacs": ("sdimacs", None),
    "mcc": ("mcc", None),
    "dimacs": ("dimacs", None),
}
_TEMPLATE = re.compile(r"(?P<name>[A-Za-z][\w.+-]*)(?::(?P<form>\w+))?=(?P<command>.+)", re.DOTALL)
_WRITE = "write `NAME=COMMAND {file}`, as in `yices=yices-smt2 {file}`, or `NAME:FORMAT=..` with one of the formats"
#: Seconds in which a program says its version.
_SECONDS = 5.0
_NUMBER = re.compile(r"\b[0-9]+(?:\.[0-9]+)+\S*")


def solvers_of(texts: Iterable[str]) -> tuple[Solver, ...]:
    """The solvers that ``--also`` names: names with commas between, or a template; each once.

    ValueError, in words, for a name that means none, and for a template that cannot be read.
    """
    names = [part for text in texts for part in ([text] if "=" in text else text.split(","))]
    found = [_solver(name.strip()) for name in names if name.strip()]
    if not found:
        raise ValueError(f"no solver is named: write cvc5, marabou or pyganak, or {_WRITE}")
    twice = next((one.name for one in found if sum(other.name == one.name for other in found) > 1), None)
    if twice is not None:
        raise ValueError(f"the solver `{twice}` is named twice")
    return tuple(found)


def _solver(text: str) -> Solver:
    name, equals, rest = text.partition("=")
    known = _KNOWN.get(name.lower())
    if known is not None and "{" not in rest:
        return known(rest)
    return _by_template(text) if equals and "{" in rest else _by_adapter(text)


def _by_template(text: str) -> Solver:
    """A solver of the user's: ``NAME[:FORMAT]=COMMAND``, where ``{file}``, ``{network}`` and ``{seconds}`` stand."""
    match = _TEMPLATE.fullmatch(text)
    form = None if match is None else match["form"] or ("vnnlib" if "{network}" in match["command"] else "smtlib")
    if match is None or form not in _FORMS:
        raise ValueError(f"`{text}` is not a solver: {_WRITE} {', '.join(_FORMS)}")
    try:
        words = shlex.split(match["command"])
    except ValueError as error:
        raise ValueError(f"the command of `{match['name']}` cannot be read: {str(error).lower()}") from error
    foreign = set(re.findall(r"\{\w*\}", match["command"])) - {"{file}", "{network}", "{seconds}"}
    if "{file}" not in match["command"] or foreign:
        what = f"`{min(foreign)}` means nothing" if foreign else "it has no `{file}`"
        raise ValueError(
            f"in the command of `{match['name']}` {what}; it may have {{file}}, {{network}} and {{seconds}}"
        )
    program = _program(words[0])
    format_, role = _FORMS[form]

    def command(asked: Question) -> list[str]:
        stands = {
            "{file}": str(asked.file),
            "{network}": "" if asked.network is None else str(asked.network),
            "{seconds}": str(max(1, int(asked.seconds))),
        }
        filled = [re.sub(r"\{\w+\}", lambda found: stands[found[0]], word) for word in words[1:]]
        return [program or words[0], *filled]

    missing = None if program else f"there is no program `{words[0]}`"
    return Solver(name=match["name"], form=format_, role=role, missing=missing, command=command)


def _by_adapter(text: str) -> Solver:
    """A solver of stochastic satisfiability, as ``--set ssat.solver`` names it. Groups are asked one by one."""
    name = text.partition("=")[0]
    options = options_of(Run(), {"ssat": {"solver": text, "groups": "enumerate"}}, sections())
    missing = None
    try:
        for section in options.sections:
            section.ready()
    except DiagnosticError as error:
        first = error.diagnostics[0]
        if first.code != "E0650":
            raise ValueError(f"`{text}` is not a solver that is known here: cvc5, marabou, or {_WRITE}") from error
        missing = f"{first.title}{'' if first.help is None else f'; {first.help}'}"
    package = {"pyganak": "pyganak", "pyganak-double": "pyganak", "pysdd": "PySDD"}.get(name.lower())
    return Solver(
        name=name, form="sdimacs", options=options, missing=missing, version=_of_package(package) if package else None
    )


def _cvc5(path: str) -> Solver:
    """The program, or else the library."""
    program = _program(path or "cvc5")
    one = Solver(name="cvc5", form="smtlib")
    if program is not None:
        return replace(
            one,
            version=_said_by([program, "--version"]),
            command=lambda asked: [program, f"--tlimit-per={_milliseconds(asked)}", str(asked.file)],
        )
    if path or find_spec("cvc5") is None:
        missing = f"there is no program `{path}`" if path else "cvc5 is not installed: pip install cvc5"
        return replace(one, missing=missing)
    ours = str(Path(__file__).with_name("cvc5_program.py"))
    return replace(
        one,
        version=_of_package("cvc5"),
        command=lambda asked: [sys.executable, "-P", ours, str(asked.file), str(_milliseconds(asked))],
    )


def _marabou(path: str) -> Solver:
    """The program: on PATH, or beside this interpreter, where its package puts it."""
    beside = str(Path(sys.executable).with_name("Marabou"))
    program = _program(path) if path else _program("Marabou") or _program(beside)
    one = Solver(name="marabou", form="vnnlib", role="case", fails_on_constants=True)
    if program is None:
        missing = f"there is no program `{path}`" if path else "Marabou is not installed: pip install maraboupy"
        return replace(one, missing=missing)
    return replace(
        one,
        version=_said_by([program, "--version"]) or _of_package("maraboupy"),
        command=lambda asked: [program, str(asked.network), str(asked.file), f"--timeout={max(1, int(asked.seconds))}"],
    )


_KNOWN: dict[str, Callable[[str], Solver]] = {"cvc5": _cvc5, "marabou": _marabou}


def _milliseconds(asked: Question) -> int:
    return max(1, int(1000 * asked.seconds))


def _program(name: str) -> str | None:
    """Its absolute path, for it runs in another folder."""
    found = shutil.which(name)
    return None if found is None else os.path.abspath(found)


def _of_package(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _said_by(command: Sequence[str]) -> str | None:
    """The version in what a program prints."""
    try:
        found = _NUMBER.search(run(lambda _: list(command), _SECONDS).output)
    except OSError:
        return None
    return None if found is None else found[0]
