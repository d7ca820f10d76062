"""Programs that behave as ssatABC and SharpSSAT do, mistakes included: for tests on machines without them.

A stand-in reads the file as its solver does (digits, float32, what it aborts on), computes the value by the
definition, and prints it in the solver's words. ``behaviour`` makes it do one of the other things that were seen.
It imports nothing of fairdsl, and is itself the program: ``install`` writes an executable that calls it.
"""

from __future__ import annotations

import os
import re
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

#: What a run can be made to do, instead of solving.
BEHAVIOURS = ("bounds", "silent", "abort", "segfault", "shell134", "hang", "flood", "nan", "above", "twice", "orphan")


def install(folder: Path, solver: str, behaviour: str = "", name: str = "") -> Path:
    """An executable in the folder that stands in for the solver."""
    program = folder / (name or {"ssatABC": "abc", "SharpSSAT": "SharpSSAT"}[solver])
    program.write_text(
        f"#!{sys.executable}\n"
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from stand_in import main\nmain({solver!r}, {behaviour!r}, {str(folder / 'seen')!r})\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program


def main(solver: str, behaviour: str, seen: str) -> None:
    """Run as the solver; what it was called with, and given, is left in the folder ``seen``."""
    path = Path(sys.argv[-1].split()[-1])
    text = path.read_text()
    Path(seen).mkdir(exist_ok=True)
    (Path(seen) / "arguments").write_text("\n".join([os.getcwd(), *sys.argv[1:]]))
    (Path(seen) / "file").write_text(text)
    if behaviour:
        _misbehave(solver, behaviour, seen)
    (_ssat_abc if solver == "ssatABC" else _sharp_ssat)(text)


def _misbehave(solver: str, behaviour: str, seen: str) -> None:
    match behaviour:
        case "bounds":
            print(
                "\n==== Solving results ====\n\n  > Best upper bound: 7.500000e-01\n  > Best lower bound: 2.500000e-01"
            )
        case "silent":
            print("[INFO] Starting analysis ...", file=sys.stderr)
        case "abort":
            print(_answer(solver, "5.000000e-01"), flush=True)  # an answer before the crash
            os.abort()
        case "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "shell134":
            print("assertion failed", file=sys.stderr)
            sys.exit(134)
        case "hang" | "orphan":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
            (Path(seen) / "child").write_text(str(child.pid))
            time.sleep(60 if behaviour == "hang" else 0)
        case "flood":
            while True:
                sys.stdout.write("x" * (1 << 20))
        case "nan" | "above":
            print(_answer(solver, {"nan": "nan", "above": "1.500000e+00"}[behaviour]))
        case "twice":
            print(_answer(solver, "5.000000e-01"), _answer(solver, "2.500000e-01"), sep="\n")
    sys.exit(0)


def _answer(solver: str, number: str) -> str:
    prefix = "  > Satisfying probability: " if solver == "ssatABC" else "# satisfying probability = "
    return prefix + number


def _read(text: str, number: str) -> tuple[list[tuple[str, int, float]], list[list[int]]]:
    """The prefix and the clauses; the program ends at a mistake."""
    prefix: list[tuple[str, int, float]] = []
    clauses: list[list[int]] = []
    for line in text.splitlines()[1:]:
        if line[0] in "ea":
            prefix += [(line[0], int(each), 0.0) for each in line.split()[1:-1]]
        elif line[0] == "r":
            _, chance, *names, _ = line.split()
            if not re.fullmatch(number, chance):
                sys.exit(3)
            prefix += [("r", int(each), float(chance)) for each in names]
        else:
            clauses.append([int(each) for each in line.split()[:-1]])
    return prefix, clauses


def _value(prefix: list[tuple[str, int, float]], clauses: list[list[int]], truths: dict[int, bool]) -> float:
    """By the definition, except that a clause of chances that stands there twice counts as often: a known mistake."""
    if not prefix:
        return float(all(any(truths[abs(each)] == (each > 0) for each in clause) for clause in clauses))
    (quantifier, variable, chance), *others = prefix
    true, false = (_value(others, clauses, truths | {variable: truth}) for truth in (True, False))
    if quantifier == "r":
        return chance * true + (1 - chance) * false
    return max(true, false) if quantifier == "e" else min(true, false)


def _repeated(clauses: list[list[int]]) -> float:
    """A wrong factor where clauses, or literals in one, are repeated."""
    distinct = {frozenset(clause) for clause in clauses}
    return 1.0 if len(distinct) == len(clauses) and all(len(set(c)) == len(c) for c in clauses) else 0.5


def _ssat_abc(text: str) -> None:
    prefix, clauses = _read(text, r"0\.[0-9]{1,15}")
    if {abs(each) for clause in clauses for each in clause} - {variable for _, variable, _ in prefix}:
        sys.exit(1)
    blocks = re.sub(r"(.)\1*", r"\1", "".join(quantifier for quantifier, _, _ in prefix))
    if blocks == "rer":
        print(_answer("ssatABC", "1.000000e+00"))  # wrong, as it was seen to be
    elif blocks not in ("er", "re", "ere"):
        print("  > Best upper bound: 1.000000e+00\n  > Best lower bound: 0.000000e+00")
    else:
        value = _value(prefix, clauses, {}) * _repeated(clauses)
        if blocks.startswith("e"):
            print("  > Found an optimizing assignment to exist vars:\n\t" + _best(prefix, clauses, value))
        print(_answer("ssatABC", f"{value:e}"))


def _best(prefix: list[tuple[str, int, float]], clauses: list[list[int]], value: float) -> str:
    """The literals of an outermost choice that attains the value."""
    truths: dict[int, bool] = {}
    while prefix[0][0] == "e":
        (_, variable, _), *prefix = prefix
        truths[variable] = _value(prefix, clauses, truths | {variable: True}) == value
    return " ".join(str(each if truth else -each) for each, truth in truths.items()) + " 0"


def _sharp_ssat(text: str) -> None:
    prefix, clauses = _read(text, r"[0-9.eE+-]+")
    Path("data.out").write_text("statistics")
    if any(len(clause) < 2 for clause in clauses):
        os.abort()
    prefix = [(quantifier, each, struct.unpack("f", struct.pack("f", p))[0]) for quantifier, each, p in prefix]
    if "-u" not in sys.argv:
        prefix = [("e" if quantifier == "a" else quantifier, each, p) for quantifier, each, p in prefix]
    value = _value(prefix, clauses, {}) * _repeated(clauses)
    if "-q" not in sys.argv:
        print("Solving " + sys.argv[-1] + "\nPreprocessing .. DONE\n" + _answer("SharpSSAT", f"{value:.7g}"))
