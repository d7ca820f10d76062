"""Write proofs with `check --proof`, check each with `fairdsl-verify`, and say what both take.

    python benchmarks/checked_proofs.py [NETWORKS ...] [--ensembles FOLDER] [--only NAME ...] [--csv FILE]

NETWORKS are folders that hold GC-1.onnx and the others, at any depth; FOLDER holds specs with the question `share`
about one model of trees. There are the spec of ``examples/credit``, the questions of ``partition_questions.csv``,
shares of the networks and of the ensembles, of one tree (the first of the last forest that tests the sex), and rates:
``examples/recidivism`` and ``examples/admissions``. For shares `check` has 10 seconds (``--seconds``), once without a
proof and once with one, which has four times as many (or ``--proof-seconds``); for all else it is 30. Both programs run
in processes of their own. Ends with 1 if a proof is not verified.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import onnx
from onnx import helper
from proofs import questions, spec_of
from shares.questions import networks_in, write_spec

#: The command, by the clock, and by CPU seconds of its process: how others use the machine changes less then.
COMMAND = ["-m", "fairdsl"]
BY_CPU = ["-c", "import time; time.monotonic = time.process_time; from fairdsl.__main__ import main; main()"]
VERIFY = "import sys; from fairdsl_verify.command import main; sys.exit(main())"
EXAMPLES = Path(__file__).parent.parent / "examples"
#: Which column Adult's sex is, and the lists of an ensemble that have one entry a vote.
SEX, VOTES = 8, ("class_ids", "class_nodeids", "class_treeids", "class_weights")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One demand: what `check` says alone and with the proof, what that shows, and what the checker takes."""

    what: str
    demand: str
    alone: str
    verdict: str
    proved: str
    leaves: int
    size: int
    written: float
    checked: float
    verified: bool

    def markdown(self) -> str:
        answer = "yes" if self.verified else "**no**"
        return (
            f"| {self.what} | {self.demand} | {self.alone} | {self.verdict} | {self.proved} | {self.leaves:,} | "
            f"{self.size:,} | {self.written:.1f} | {self.checked:.1f} | {answer} |"
        )


def percent(value: float | str) -> str:
    return f"{float(Fraction(value)):.2%}"


@dataclass(frozen=True)
class Asking:
    """How `check` is run: its seconds, those of a proof if they are others, and whether they are CPU seconds."""

    seconds: float = 30.0
    proof: float | None = None
    by_cpu: bool = False

    def report(self, spec: Path, folder: Path, *more: str) -> list[tuple[str, dict[str, Any]]]:
        """Each demand of a spec as the report has it, with its property; none, and that is said, where it is none."""
        command = [*(BY_CPU if self.by_cpu else COMMAND), "--root", "/", "check", str(spec), *more]
        command += ["--timeout", str(self.seconds), *(["--jobs", "1"] if self.by_cpu else [])]
        report = folder / "report.json"
        done = subprocess.run(
            [sys.executable, *command, "--report", str(report)], capture_output=True, text=True, check=False
        )
        if not report.exists():
            print(f"{spec.stem}: {done.stderr.strip().splitlines()[:1]}", file=sys.stderr)
            return []
        properties = json.loads(report.read_text())["properties"]
        report.unlink()
        return [(item["name"], each) for item in properties for each in item["demands"]]


def asked(spec: Path, what: str, asking: Asking, *names: str, share: bool = False) -> Iterator[Row]:
    """Each demand of a spec, or of these properties; a ``share`` is asked for without a proof as well."""
    with tempfile.TemporaryDirectory() as name:
        folder, given = Path(name), [arg for name in names for arg in ("--property", name)]
        alone = [said_of(each) for _, each in asking.report(spec, folder, *given)] if share else []
        proving = ["--proof", str(folder / "proofs")]
        proving += [] if asking.proof is None else ["--proof-seconds", str(asking.proof)]
        started = cpu()
        demands = asking.report(spec, folder, *given, *proving)
        written = cpu() - started
        models = [
            arg for path in (*spec.parent.glob("*.onnx"), *spec.parent.glob("*.json")) for arg in ("--model", str(path))
        ]
        for number, (name, demand) in enumerate(demands):
            if (proof := demand.get("proof")) is None:
                continue
            path = Path(proof["path"])
            verify = [sys.executable, "-c", VERIFY, str(path), *models, "--question", proof["question"]]
            before = cpu()
            done = subprocess.run(verify, capture_output=True, text=True, check=False)
            reached = next((line for line in done.stdout.splitlines() if line.startswith("reached")), "")
            yield Row(
                what=what,
                demand=name,
                alone=alone[number] if alone else "",
                verdict=said_of(demand),
                proved=proved_of(proof),
                leaves=int(reached.split("(")[-1].split(" ")[0]) if "leaves)" in reached else 0,
                size=path.stat().st_size,
                written=written / len(demands),
                checked=cpu() - before,
                verified=done.returncode == 0,
            )


def cpu() -> float:
    """Seconds of the cores that programs took which were started here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def said_of(demand: dict[str, object]) -> str:
    verdict = demand["verdict"]
    assert isinstance(verdict, dict)
    if verdict["kind"] == "shares":
        return f"{percent(verdict['certified'])} fair, {percent(verdict['falsified'])} unfair"
    return str(demand["judgement"])


def proved_of(proof: dict[str, object]) -> str:
    if "low" in proof and proof["low"] is not None:
        return "the number"
    if proof["holds"]:
        return "holds"
    return f"{percent(str(proof['certified']))} fair, {percent(str(proof['falsified']))} unfair"


def one_tree(ensemble: Path, folder: Path) -> Path:
    """The spec of an ensemble with its first tree alone, whose votes count for all."""
    spec = folder / ensemble.name
    model = onnx.load(ensemble.with_suffix(".onnx"))
    (node,) = (each for each in model.graph.node if each.op_type == "TreeEnsembleClassifier")
    lists = {
        each.name: list(helper.get_attribute_value(each))
        for each in node.attribute
        if each.ints or each.floats or each.strings
    }
    of, tests = lists["nodes_treeids"], zip(lists["nodes_treeids"], lists["nodes_featureids"], strict=True)
    chosen = next(tree for tree, feature in tests if feature == SEX)
    del node.attribute[:]
    for name, entries in lists.items():
        owners = (
            of if name.startswith("nodes_") else lists["class_treeids"] if name in VOTES else [chosen] * len(entries)
        )
        kept = [entry for entry, tree in zip(entries, owners, strict=True) if tree == chosen]
        kept = [weight * len(set(of)) for weight in kept] if name == "class_weights" else kept
        node.attribute.append(helper.make_attribute(name, kept))
    onnx.save(model, spec.with_suffix(".onnx"))
    spec.write_text(ensemble.read_text())
    return spec


def rows(arguments: argparse.Namespace, folder: Path) -> Iterator[Row]:
    networks = {path.stem: path for each in arguments.networks for path in networks_in(Path(each), None)}
    asking = Asking(arguments.seconds, arguments.proof_seconds, arguments.cpu)
    wanted = lambda name: not arguments.only or name in arguments.only  # noqa: E731
    for name in ("credit", "recidivism", "admissions"):
        if wanted(name):
            yield from asked(EXAMPLES / name / f"{name}.fair", name, Asking())
    for number, question in enumerate(questions(), 1):
        if question.network in networks and wanted("partitions"):
            spec = folder / "partition" / "partition.fair"
            spec.parent.mkdir(exist_ok=True)
            held = spec.with_name(f"{question.network}.onnx")
            held.write_bytes(networks[question.network].read_bytes())
            spec.write_text(spec_of(question, held))
            yield from asked(spec, f"{number}: {question.network}, {question.target}", Asking())
    for name, network in networks.items():
        if wanted(name):
            spec = folder / name / "share.fair"
            spec.parent.mkdir()
            held = spec.with_name(network.name)
            held.write_bytes(network.read_bytes())
            write_spec(spec, held)
            yield from asked(spec, name, asking, share=True)
    ensembles = sorted(Path(arguments.ensembles).glob("*.fair")) if arguments.ensembles else []
    for ensemble in ensembles:
        if wanted(ensemble.stem):
            yield from asked(ensemble, ensemble.stem, asking, "share", share=True)
    forests = [each for each in ensembles if each.stem.startswith("rf")]
    if forests and wanted("tree"):
        what = f"one tree of {forests[-1].stem}"
        yield from asked(one_tree(forests[-1], folder), what, Asking(arguments.seconds), "share", share=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", help="folders of networks")
    parser.add_argument("--ensembles", help="folder of specs about trees")
    parser.add_argument("--seconds", type=float, default=10.0, help="seconds for shares, of `check`")
    parser.add_argument("--proof-seconds", type=float, help="seconds for the proof of a share")
    parser.add_argument("--cpu", action="store_true", help="seconds for shares are CPU seconds of one process")
    parser.add_argument(
        "--only", nargs="*", help="credit, partitions, recidivism, admissions, tree, or names of models"
    )
    parser.add_argument("--csv", help="where to write the rows")
    arguments = parser.parse_args()
    print("| of | demand | `check` | with proof | proved | leaves | bytes | CPU s for both | checked in | verified |")
    print("| --- | --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- |")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(arguments, Path(folder)):
            found.append(row)
            print(row.markdown(), flush=True)
    if arguments.csv:
        with Path(arguments.csv).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(row) for row in found)
    return 0 if found and all(row.verified for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
