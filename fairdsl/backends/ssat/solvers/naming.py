"""Which solver ``ssat.solver`` means, and where its program is."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from fairdsl.backends.ssat.solvers import errors
from fairdsl.backends.ssat.solvers.adapter import Adapter
from fairdsl.backends.ssat.solvers.ganak import Ganak, WeightedGanak
from fairdsl.backends.ssat.solvers.sdd import Sdd
from fairdsl.backends.ssat.solvers.sharpssat import SharpSsat
from fairdsl.backends.ssat.solvers.ssatabc import SsatAbc
from fairdsl.diagnostics import DiagnosticError

__all__ = ["ADAPTERS", "Solver", "available", "solver_of"]

ADAPTERS: tuple[Adapter, ...] = (SsatAbc(), SharpSsat(), Ganak(), WeightedGanak(), Sdd())


@dataclass(frozen=True, slots=True)
class Solver:
    """An adapter and the program that it is for; libraries run in this very interpreter's program."""

    adapter: Adapter
    program: str


def available() -> tuple[str, ...]:
    """The names of the solvers that can be used here; imports nothing heavy."""
    found = []
    for adapter in ADAPTERS:
        try:
            solver_of(adapter.name)
        except DiagnosticError:
            continue
        found.append(adapter.name)
    return tuple(found)


def solver_of(command: str) -> Solver:
    """The solver that ``command`` means: a name, the path of a program with a known file name, or ``NAME=PATH``.

    DiagnosticError if it means none (E0651), or one that is not here (E0650).
    """
    name, equals, path = command.partition("=")
    adapter = _named(name) if equals else _named(command) or _called(Path(command).name)
    if adapter is None:
        raise DiagnosticError(errors.unknown_solver(command, [each.name for each in ADAPTERS]))
    if not adapter.programs:
        return Solver(adapter, _interpreter(adapter, given=path if equals else ""))
    if equals:
        return Solver(adapter, _program(adapter, path))
    # A name is looked for on PATH; what has a folder is a path.
    return Solver(adapter, _program(adapter, command) if os.sep in command else _found(adapter, command))


def _named(name: str) -> Adapter | None:
    return next((adapter for adapter in ADAPTERS if adapter.name.lower() == name.lower()), None)


def _called(file: str) -> Adapter | None:
    """By the file name of a program, without an extension."""
    stem = file.split(".")[0].lower()
    return next((each for each in ADAPTERS if stem in {program.lower() for program in each.programs}), None)


def _interpreter(adapter: Adapter, *, given: str) -> str:
    if given:
        instead = f"write `{adapter.name}`"
        raise DiagnosticError(errors.missing_solver(adapter.name, "it is a library and no program", instead))
    package = adapter.missing()
    if package is not None:
        instead = "pip install 'fairdsl[counting]'"
        raise DiagnosticError(errors.missing_solver(adapter.name, f"the package `{package}` is not installed", instead))
    return sys.executable


def _program(adapter: Adapter, path: str) -> str:
    """An absolute path: the program runs in another folder."""
    if not path or not Path(path).is_file():
        reason = f"there is no file `{path}`"
    elif not os.access(path, os.X_OK):
        reason = f"`{path}` is no program that can be run"
    else:
        return str(Path(path).absolute())
    instead = f"name the program: `{adapter.name}=/path/to/{adapter.programs[-1]}`"
    raise DiagnosticError(errors.missing_solver(adapter.name, reason, instead))


def _found(adapter: Adapter, command: str) -> str:
    """The first of the solver's programs on PATH; the one that was named, if one was."""
    named = [program for program in adapter.programs if program.lower() == command.lower()]
    for program in dict.fromkeys([command, *named, *adapter.programs]):
        path = shutil.which(program)
        if path is not None:
            return str(Path(path).absolute())
    reason = f"there is no `{'` or `'.join(adapter.programs)}` on PATH"
    instead = f"name the program: `{adapter.name}=/path/to/{adapter.programs[-1]}`"
    raise DiagnosticError(errors.missing_solver(adapter.name, reason, instead))
