"""Whole commands about rates of groups: drawn specs, what `fairdsl check` says of each, and its CPU seconds.

Trees and votes are over attributes of eight values that depend on a protected one by twos, forests over ten columns of
which one has 100,000 values, the learned network is of twelve columns of 4,000 drawn rows. Each command runs alone in a
process of its own, with an empty cache of answers; reading the spec and opening the model are part of it, and the
interpreter's start with its imports, which a command that checks one line shows by itself. With an older version beside
it both run by turns. The short ones are also asked in one process, by :func:`fairdsl.check`, where nothing starts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fairify.questions import SPECS
from trees import saved

import fairdsl
from group.measure import least

__all__ = ["BESIDE_HEADER", "COMMANDS_HEADER", "Command", "Ran", "by_turns", "checked", "checks", "commands", "ran"]

COMMANDS_HEADER = ("command", "cpu s", "wanted", "disparate impact, or what is measured", "by")
BESIDE_HEADER = ("command", "before: cpu s", "cpu s", "ratio", "disparate impact, or what is measured", "by")
#: Commands of at most so many wanted seconds are short: asked in one process, and more often by turns.
_SHORT, _OFTEN = 5, 4
#: This version's checkout.
ROOT = Path(__file__).parent.parent.parent
_EIGHT = (0, 7)
_DEMAND = "across SEX\n  under people\n  measure parity_gap"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A spec to be checked; ``wanted`` are CPU seconds, beside what the least command takes."""

    name: str
    spec: Path
    wanted: float
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What came out."""

    seconds: float
    found: str
    backend: str

    @property
    def cells(self) -> str:
        return f"{self.found} | {self.backend}"


def ran(command: Command, python: Sequence[str] = (), environment: Mapping[str, str] = os.environ) -> Ran:
    """Run it, and read its report."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    arguments = ["--root", "/", "check", str(command.spec), "--json", "--no-cache", *command.arguments]
    done = subprocess.run(
        [sys.executable, *python, "-m", "fairdsl", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 1, 3):
        return Ran(seconds=seconds, found=(done.stderr or done.stdout).strip().splitlines()[-1][:80], backend="")
    return _read(done.stdout, seconds)


def by_turns(command: Command, checkout: Path) -> tuple[Ran, Ran]:
    """What another version and this one take, one after the other, each at least.

    Both have the bytecode of earlier turns, wherever they lie, and nothing of the folder that this is called from.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    kept["PYTHONPYCACHEPREFIX"] = str(command.spec.parent / "bytecode")
    both = [kept | {"PYTHONPATH": str(each.absolute())} for each in (checkout, ROOT)]
    turns = [[ran(command, ("-P",), each) for each in both] for _ in range(_OFTEN if command.wanted <= _SHORT else 1)]
    before, now = (min(side, key=lambda each: each.seconds) for side in zip(*turns, strict=True))
    return before, now


def checked(command: Command) -> Ran:
    """The same in this process, which has asked it before: nothing starts, is imported or compiled."""
    fairdsl.check(command.spec)
    report, seconds = least(lambda: fairdsl.check(command.spec), _OFTEN)
    return _read(report.to_json(), seconds)


def checks(folder: Path, specs: Path | None) -> Iterator[Command]:
    """The short commands, and specs of a folder, each of which may take a second."""
    yield from (each for each in commands(folder, None) if each.wanted <= _SHORT)
    for spec in [] if specs is None else sorted(specs.glob("*.fair")):
        yield Command(name=spec.stem, spec=spec, wanted=1)


def _read(document: str, seconds: float) -> Ran:
    [demand] = json.loads(document)["properties"][0]["demands"]
    value, evidence = demand["verdict"], demand["verdict"]["evidence"]
    if "low" not in value:
        return Ran(seconds=seconds, found=f"unknown: {value.get('reason')}", backend=evidence["backend"])
    low, high = (float(number_of(value[end])) for end in ("low", "high"))
    widest = max(float(number_of(rate["high"]) - number_of(rate["low"])) for rate in value["rates"])
    found = f"{low:.4%}" if high - low < 1e-9 else f"{low:.2%} .. {high:.2%}, rates within {100 * widest:.1f} points"
    if value.get("drawn"):
        found += f", drawn {number_of(value['drawn']['estimate']['low']):.2%}"
    return Ran(seconds=seconds, found=found, backend=evidence["backend"])


def number_of(written: object) -> float:
    """A number of a report, which may be a fraction."""
    over, _, under = str(written).partition("/")
    return float(over) / float(under or 1)


def commands(folder: Path, networks: Path | None) -> Iterator[Command]:
    """All of them; ``networks`` holds the file GC-3.onnx somewhere, where that is to be asked."""
    eight = {f"x{place}": _EIGHT for place in range(8)}
    yield _of_trees(folder, "nothing to count", eight, trees=1, depth=1, wanted=0)
    for trees, depth, wanted in ((10, 3, 1), (20, 2, 1), (5, 5, 5), (1, 12, 1)):
        name = f"votes of {trees} trees of depth {depth}" if trees > 1 else f"a tree of depth {depth}"
        yield _of_trees(folder, name, eight, trees=trees, depth=depth, wanted=wanted)
    yield _of_groups(folder, 10)
    yield _of_rules(folder, 64)
    ten = {f"x{place}": _EIGHT for place in range(9)} | {"x9": (0, 99_999)}
    yield _of_trees(folder, "10 trees of depth 6, a column 0 .. 99999", ten, trees=10, depth=6, wanted=20)
    yield _learned(folder, trees=100, depth=4, wanted=60)
    for network in [] if networks is None else networks.rglob("GC-3.onnx"):
        yield _network(folder, network)


def _of_trees(
    folder: Path, name: str, columns: dict[str, tuple[int, int]], *, trees: int, depth: int, wanted: float
) -> Command:
    """A vote: more than half of the trees say yes; the first two columns depend on the group."""
    spec = folder / f"trees{trees}-{depth}-{len(columns)}.fair"
    saved(spec.with_suffix(".onnx"), trees, depth, 0.0, ends=list(columns.values()), votes=True)
    laws = [f"{column} : uniform({low}, {high})" for column, (low, high) in columns.items()]
    laws[:2] = [
        f"{column} : uniform({low}, {high}) given sex = {sex}"
        for column in list(columns)[:2]
        for sex, low, high in (("female", 0, 5), ("male", 2, 7))
    ]
    law = "\n  ".join(["sex : table { female : 0.5, male : 0.5 }", *laws])
    _write(spec, {"sex": "category { female, male }"}, columns, _voting(spec, columns, trees), law, "sex")
    return Command(name=name, spec=spec, wanted=wanted)


def _voting(spec: Path, columns: dict[str, tuple[int, int]], trees: int) -> str:
    return f'from "{spec.stem}.onnx"\n  reads {", ".join(columns)}\n  yes when score > {trees / 2}\n  favourable yes'


def _of_groups(folder: Path, protected: int) -> Command:
    """A tree of depth 4 over columns of which each depends on one protected Boolean."""
    spec, random = folder / "groups.fair", np.random.default_rng(1)
    columns = {f"x{place}": _EIGHT for place in range(protected)}
    groups = {f"g{place}": "boolean" for place in range(protected)}
    saved(spec.with_suffix(".onnx"), 1, 4, 0.0, ends=list(columns.values()), votes=True)
    laws = [f"{group} : bernoulli({int(random.integers(20, 80))}%)" for group in groups]
    laws += [
        f"{column} : uniform({low}, {low + 5}) given {group} = {value}"
        for column, group in zip(columns, groups, strict=True)
        for value, low in (("yes", 2), ("no", 0))
    ]
    _write(spec, groups, columns, _voting(spec, columns, 1), "\n  ".join(laws), ", ".join(groups))
    return Command(name=f"{2**protected:,} groups", spec=spec, wanted=0.15)


def _of_rules(folder: Path, rules: int) -> Command:
    """Rules of two comparisons each."""
    spec, random = folder / "rules.fair", np.random.default_rng(1)
    columns = {f"x{place}": _EIGHT for place in range(8)}
    lines = []
    for place in range(rules):
        one, other = random.choice(8, size=2, replace=False)
        sign = random.choice(["<=", ">"], size=2)
        condition = f"x{one} {sign[0]} {random.integers(7)} and x{other} {sign[1]} {random.integers(7)}"
        lines.append(f"{'then ' if place else 'first'} {'yes' if place % 2 else 'no'} when {condition}")
    laws = ["sex : table { female : 0.5, male : 0.5 }", *(f"{column} : uniform(0, 7)" for column in list(columns)[2:])]
    laws += [f"x{x} : uniform({low}, {low + 5}) given sex = {sex}" for x in (0, 1) for sex, low in SEXES]
    model = "\n  ".join([*lines, "otherwise no", "favourable yes"])
    _write(spec, {"sex": "category { female, male }"}, columns, model, "\n  ".join(laws), "sex")
    return Command(name=f"{rules} rules", spec=spec, wanted=0.6)


SEXES = (("female", 0), ("male", 2))


def _learned(folder: Path, *, trees: int, depth: int, wanted: float) -> Command:
    """Trees under a network that is learned from rows in which each column depends on the one before it."""
    spec, random = folder / "learned.fair", np.random.default_rng(1)
    columns = {f"x{place}": _EIGHT for place in range(11)}
    rows = [random.integers(0, 2, 4000)]
    for _ in columns:
        rows.append(np.clip(rows[-1] + 2 * (random.random(4000) < 0.3) + random.integers(-1, 3, 4000), 0, 7))
    text = "\n".join(",".join(map(str, row)) for row in np.array(rows).T.tolist())
    (folder / "people.csv").write_text(f"sex,{','.join(columns)}\n{text}\n", encoding="utf-8")
    saved(spec.with_suffix(".onnx"), trees, depth, 0.0, ends=list(columns.values()))
    model = f'from "learned.onnx"\n  reads {", ".join(columns)}\n  yes when score > 0\n  favourable yes'
    law = 'learn bayesian_network\n  from "people.csv"'
    _write(spec, {"sex": "category { female, male }"}, columns, model, law, "sex", within=" within 1%")
    return Command(name=f"{trees} trees of depth {depth}, 12 columns learned", spec=spec, wanted=wanted)


def _network(folder: Path, network: Path) -> Command:
    """Everybody alike, with the domain of Fairify's question."""
    spec = folder / "GC-3.fair"
    spec.write_text(
        f'fair 1\nuse "{SPECS / "german-model.fair"}"\ndistribution people over Applicant\n  uniform\n'
        f"property rates {{\n  {_DEMAND.replace('SEX', 'sex')}\n}}\n",
        encoding="utf-8",
    )
    arguments = ("--model", f"approve={network}", "--timeout", "20")
    return Command(name="GC-3, everybody alike", spec=spec, wanted=20, arguments=arguments)


def _write(
    spec: Path,
    groups: dict[str, str],
    columns: dict[str, tuple[int, int]],
    model: str,
    law: str,
    across: str,
    within: str = "",
) -> None:
    attributes = [f"{name} : {kind}" for name, kind in groups.items()]
    attributes += [f"{name} : integer {low} .. {high}" for name, (low, high) in columns.items()]
    lines = "\n  ".join(attributes)
    spec.write_text(
        f"fair 1\ndomain Person {{\n  {lines}\n}}\nprotected {', '.join(groups)}\n"
        f"model m : Person -> {{ no, yes }}\n  {model}\ndistribution people over Person\n  {law}\n"
        f"property rates {{\n  {_DEMAND.replace('SEX', across)}{within}\n}}\n",
        encoding="utf-8",
    )
