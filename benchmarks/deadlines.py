"""How well `--timeout` is kept: wall and CPU seconds, and the peak of memory, of whole commands.

    python benchmarks/deadlines.py SPEC... [--networks FOLDER] [--timeout 5] [--commands check search ...] [--csv FILE]

SPEC is a `.fair` file or a folder of them, at any depth, or a solver file, which is solved. Each command runs as a
program of its own on each spec, start and imports included; ``repair`` where rows and estimators lie beside the spec.
With ``--networks`` the base questions of ``specs/fairify`` are asked of each network in the folder, too. Kernels must
have been compiled before (run any `check` of a share once). On a machine that others use the wall clock says little, so
a command is late where its wall time and its CPU time are both above ``--most`` seconds. Ends with 1 if a command was
late, or ended with a bug of ours.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

#: Files that `compile` writes, by format, and whether `solve` reads them.
SOLVED = {"smtlib": "*.smt2", "interval-job": "*.json", "subset-sum": "*.json", "sdimacs": "*.sdimacs"}
FORMATS = ("smtlib", "interval-job", "subset-sum", "sdimacs", "mcc", "dimacs", "vnnlib")

os.environ["FAIRDSL_NO_CACHE"] = "1"  # what is measured has to run
COMMANDS = ("check", "smt", "partition", "adaptive", "search", "explain", "lint", "fmt", "compare", "prune", "repair")
COMMANDS += ("compile", "solve", "recover")
#: Beside a spec that can be repaired: rows to train on by its name, and a module with a function `tree`.
ESTIMATORS = "estimators.py"
#: Seconds after which a command is killed: how late it would have ended does not matter any more.
PATIENCE = 60.0

HEADER = "| spec | command | exit | wall s | cpu s | peak MB | says |\n| --- | --- | ---: | ---: | ---: | ---: | --- |"


@dataclass(frozen=True, slots=True)
class Case:
    """A spec, with the arguments that give it its model."""

    name: str
    spec: Path
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """One command: CPU seconds are those of all its processes, the peak is that of the largest one."""

    spec: str
    command: str
    code: int | None  # None: it was killed
    wall: float
    cpu: float
    megabytes: float
    says: str

    def late(self, most: float) -> bool:
        """Whether it took longer than that, and not because others had the machine; a killed one did in any case."""
        return self.wall > most and (self.cpu > most or self.code is None)

    def markdown(self, most: float) -> str:
        wall = f"**{self.wall:.2f}**" if self.late(most) else f"{self.wall:.2f}"
        code = "killed" if self.code is None else str(self.code)
        return (
            f"| {self.spec} | {self.command} | {code} | {wall} | {self.cpu:.2f} | {self.megabytes:,.0f} | {self.says} |"
        )


def run(case: str, name: str, command: Sequence[str]) -> Ran:
    """The command in a process group of its own, killed when nobody would wait any longer."""
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "fairdsl", *command], stdout=output, stderr=output, start_new_session=True
        )
        code: int | None = None
        while time.monotonic() < began + PATIENCE:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                code = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.01)
        else:
            os.killpg(process.pid, signal.SIGKILL)
            _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # it was waited for
        output.seek(0)
        lines = [line.strip() for line in output.read().decode(errors="replace").splitlines() if line.strip()]
    return Ran(
        spec=case,
        command=name,
        code=code,
        wall=time.monotonic() - began,
        cpu=usage.ru_utime + usage.ru_stime,
        megabytes=usage.ru_maxrss / 1024,
        says=said(lines),
    )


def said(lines: Sequence[str]) -> str:
    """The first line that names a verdict or a mistake, else the last one, cut short."""
    words = ("VIOLATED", "HOLDS", "UNKNOWN", "REFUSED", "error", "Error", "bug in fairdsl", "certified", "MEASURED")
    told = [line for line in lines if not line.startswith(("reading confirmed", "warning", "="))]
    chosen = next((line for line in told if any(word in line for word in words)), lines[-1] if lines else "")
    return chosen[:90].replace("|", "/")


def commands_of(case: Case, timeout: float, wanted: Sequence[str]) -> Iterator[Ran]:
    """Every command that is wanted, in an order in which files are there when they are read."""
    spec, limit = [str(case.spec), *case.arguments], ["--timeout", f"{timeout:g}"]
    if case.spec.suffix != ".fair":
        yield run(case.name, "solve", ["solve", *spec, *limit])
        return
    plain: Mapping[str, list[str]] = {
        "check": ["check", *spec],
        "smt": ["check", *spec, "--backend", "smt"],
        "json": ["check", *spec, "--json"],
        "partition": ["check", *spec, "--partition", "10"],
        "adaptive": ["check", *spec, "--partition", "adaptive"],
        "search": ["search", *spec],
        "explain": ["explain", "--population", *spec],
        "lint": ["lint", "--files", *spec],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, command in plain.items():
            if name in wanted:
                yield run(case.name, name, [*command, *limit])
        if "compare" in wanted:
            report = Path(folder) / "report.json"
            with report.open("w", encoding="utf-8") as written:
                subprocess.run([sys.executable, "-m", "fairdsl", *plain["json"], *limit], stdout=written, check=False)
            yield run(case.name, "compare", ["compare", str(report), str(report)])
        if "prune" in wanted:
            yield run(case.name, "prune", ["prune", *spec, "-o", f"{folder}/pruned.onnx", *limit])
        if "fmt" in wanted:
            yield run(case.name, "fmt", ["fmt", "--check", str(case.spec)])
        rows, estimators = case.spec.with_suffix(".csv"), case.spec.with_name(ESTIMATORS)
        if "repair" in wanted and rows.exists() and estimators.exists():
            trained = ["--train", str(rows), "--estimator", f"{estimators}:tree", "-o", f"{folder}/repaired"]
            yield run(case.name, "repair", ["repair", *spec, *trained, *limit])
        for form in FORMATS if "compile" in wanted else ():
            place = Path(folder) / form
            yield run(case.name, f"compile {form}", ["compile", *spec, "--to", form, "-o", str(place), *limit])
            written = sorted(place.glob(SOLVED[form])) if form in SOLVED else []
            written = [file for file in written if file.name != "manifest.json"]
            if written and "solve" in wanted:
                yield run(case.name, f"solve {form}", ["solve", str(written[0]), *limit])
            if written and "recover" in wanted:
                yield run(case.name, f"recover {form}", ["recover", str(place), *limit])


def cases_of(paths: Sequence[Path], networks: Path | None) -> Iterator[Case]:
    """The specs that are named, and the base questions of the networks."""
    for path in paths:
        for spec in sorted(path.rglob("*.fair")) if path.is_dir() else [path]:
            yield Case(spec.stem, spec)
    families = {"AC": ("adult", "income"), "BM": ("bank", "subscribe"), "GC": ("german", "credit")}
    fairify = Path(__file__).parents[1] / "specs" / "fairify"
    for network in sorted(networks.rglob("*.onnx")) if networks is not None else []:
        family, _ = families[network.stem.split("-")[0]]
        spec = fairify / f"base-{family}.fair"
        model = (fairify / f"{family}-model.fair").read_text(encoding="utf-8")
        name = next(line.split()[1] for line in model.splitlines() if line.startswith("model "))
        yield Case(network.stem, spec, ("--model", f"{name}={network}"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", type=Path, metavar="SPEC")
    parser.add_argument("--networks", type=Path, metavar="FOLDER")
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--most", type=float, default=6.0, help="seconds that no command may pass")
    parser.add_argument("--commands", nargs="+", default=COMMANDS)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these specs and networks alone")
    parser.add_argument("--csv", metavar="FILE")
    arguments = parser.parse_args()
    found: list[Ran] = []
    print(HEADER, flush=True)
    for case in cases_of(arguments.specs, arguments.networks):
        if arguments.only and case.name not in arguments.only:
            continue
        for ran in commands_of(case, arguments.timeout, arguments.commands):
            found.append(ran)
            print(ran.markdown(arguments.most), flush=True)
    late = [ran for ran in found if ran.late(arguments.most)]
    bugs = [ran for ran in found if ran.code is not None and (ran.code < 0 or ran.code == 70)]
    print(f"\n{len(found)} commands; later than {arguments.most:g} s: {len(late)}; ended by a bug: {len(bugs)}")
    if arguments.csv and found:
        with Path(arguments.csv).open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, list(asdict(found[0])), lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(ran) for ran in found)
    return 1 if late or bugs else 0


if __name__ == "__main__":
    sys.exit(main())
