"""Libraries as solvers: each answers in a process of its own, because native code cannot be interrupted.

The process is given the instance as JSON, calls one function, and prints a line with a fraction and one with a choice.
What the library itself prints goes nowhere.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier

__all__ = ["Valued", "answer", "called", "installed", "printed"]

_FILE = "instance.json"
#: The process finds the modules where its parent finds them, also those of a checkout.
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_PROGRAM += "from fairdsl.backends.ssat.solvers.library import answer; answer(sys.argv[2], sys.argv[3], sys.argv[4])"
_ANSWER = re.compile(r"value (\d+)/(\d+)\n(?:choice((?: -?\d+)+)\n)?")


@dataclass(frozen=True, slots=True)
class Valued:
    """What a function of a library returns: the value, and truths of the outermost choices that attain it."""

    value: Fraction
    choice: Mapping[int, bool] | None = None


def installed(package: str) -> bool:
    """Whether the package can be imported; does not import it."""
    return find_spec(package) is not None


def called(module: str, function: str, folder: Path, instance: Instance) -> list[str]:
    """The command line of a process that prints the function's value of the instance."""
    prefix = [[each.variable, each.quantifier.value, None if each.chance is None else str(each.chance)]
              for each in instance.prefix]  # fmt: skip
    written = {"variables": instance.variables, "prefix": prefix, "clauses": instance.clauses}
    (folder / _FILE).write_text(json.dumps(written), encoding="ascii")
    # An entry that stands for the current folder must go on to mean the parent's.
    path = [os.path.abspath(entry) for entry in sys.path]
    return [sys.executable, "-c", _PROGRAM, json.dumps(path), _FILE, module, function]


def answer(path: str, module: str, function: str) -> None:
    """In the process: read the instance, call ``module.function`` and print what it returns."""
    own = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries in C and C++ write to the descriptor itself
    found: Valued = getattr(importlib.import_module(module), function)(_read(Path(path)))
    lines = f"value {found.value.numerator}/{found.value.denominator}\n"
    if found.choice:
        lines += " ".join(["choice", *(str(each if truth else -each) for each, truth in found.choice.items())]) + "\n"
    os.write(own, lines.encode("ascii"))


def _read(path: Path) -> Instance:
    written = json.loads(path.read_text(encoding="ascii"))
    prefix = tuple(
        Bound(variable, Quantifier(quantifier), None if chance is None else Fraction(chance))
        for variable, quantifier, chance in written["prefix"]
    )
    clauses = tuple(tuple(clause) for clause in written["clauses"])
    return Instance(variables=written["variables"], prefix=prefix, clauses=clauses)


def printed(output: str) -> Valued | None:
    """What :func:`answer` printed, None if it is nothing of that kind."""
    found = _ANSWER.fullmatch(output)
    if found is None or not int(found[2]):
        return None
    choice = None if found[3] is None else {abs(each): each > 0 for each in map(int, found[3].split())}
    return Valued(Fraction(int(found[1]), int(found[2])), choice)
