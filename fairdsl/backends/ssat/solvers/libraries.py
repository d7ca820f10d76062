"""Libraries as solvers: each answers in a process of its own, because native code cannot be interrupted.

The process reads the instance from a file, calls one function, and prints a line with a fraction and one with a choice.
What the library itself prints goes nowhere.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from pathlib import Path

from fairdsl.backends.ssat.instance import Instance, Quantifier
from fairdsl.backends.ssat.reading import read_sdimacs
from fairdsl.backends.ssat.writing import counting

#: The process finds the modules where its parent finds them, also those of a checkout.
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_PROGRAM += "from fairdsl.backends.ssat.solvers.libraries import answer; answer(sys.argv[2], sys.argv[3])"
_ANSWER = re.compile(r"value (\d+)/(\d+)\n(?:choice((?: -?\d+)+)\n)?")


@dataclass(frozen=True, slots=True)
class Valued:
    """What a function of a library returns: the value, and truths of the outermost choices that attain it."""

    value: Fraction
    choice: Mapping[int, bool] | None = None


def program_of(function: str, file: str) -> list[str]:
    """What the interpreter is called with to print what a function makes of the instance in a file."""
    # An entry that stands for the current folder must go on to mean the parent's.
    path = [os.path.abspath(entry) for entry in sys.path]
    return ["-c", _PROGRAM, json.dumps(path), file, function]


def answer(path: str, function: str) -> None:
    """In the process: read the instance, ask the library and print what it says."""
    own = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries in C and C++ write to the descriptor itself
    instance = read_sdimacs(Path(path).read_text(encoding="ascii"), path)
    if function == "evaluate":
        from fairdsl.backends.ssat.solvers.sdd import evaluate as asked
    else:
        asked = {"count": count, "weigh": weigh}[function]
    found = asked(instance)
    lines = f"value {found.value.numerator}/{found.value.denominator}\n"
    if found.choice:
        lines += " ".join(["choice", *(str(each if truth else -each) for each, truth in found.choice.items())]) + "\n"
    os.write(own, lines.encode("ascii"))


def printed(output: str) -> Valued | None:
    """What :func:`answer` printed, None if it is nothing of that kind."""
    found = _ANSWER.fullmatch(output)
    if found is None or not int(found[2]):
        return None
    choice = None if found[3] is None else {abs(each): each > 0 for each in map(int, found[3].split())}
    return Valued(Fraction(int(found[1]), int(found[2])), choice)


def count(instance: Instance) -> Valued:
    """The value of an instance of chances, and choices within them, by counting models."""
    import pyganak

    asked = counting(instance)
    counter = pyganak.Counter()
    counter.new_vars(asked.variables)
    counter.add_clauses(list(asked.clauses))
    counter.set_sampling_set(list(asked.kept))
    return Valued(Fraction(int(counter.count()), prod(asked.out_of)))


def weigh(instance: Instance) -> Valued:
    """The value of such an instance by weighted counting in floating point, before it is widened."""
    import pyganak

    counter = pyganak.WeightedCounter()
    counter.new_vars(instance.variables)
    counter.add_clauses(list(instance.clauses))
    random = [bound for bound in instance.prefix if bound.quantifier is Quantifier.RANDOM]
    for bound in random:
        assert bound.chance is not None
        counter.set_lit_weight(bound.variable, float(bound.chance))
        counter.set_lit_weight(-bound.variable, float(1 - bound.chance))
    counter.set_sampling_set([bound.variable for bound in random])
    return Valued(Fraction(counter.count()))
