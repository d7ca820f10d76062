"""Prove partition-sized questions about the public networks, and ask a second solver.

    python benchmarks/proofs.py NETWORKS [--csv RESULTS] [--timeout 30] [--second 60] [--only BM-6 ...]

NETWORKS is a folder that holds GC-1.onnx and the others, at any depth. Every question of
``partition_questions.csv`` is written as a spec on the domains in ``specs/``, answered by the backend
``smt``, and compiled to SMT-LIB with the whole network in it. cvc5 (when ``--second`` is not 0) gets that
file: nothing in it rests on the bounds and the folding of the first proof.
"""

from __future__ import annotations

import argparse
import csv
import math
import multiprocessing
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import fairdsl

#: How many times a solver's CPU seconds are waited for, on a core that others use too.
PATIENCE = 10.0
HERE = Path(__file__).parent
QUESTIONS = HERE / "partition_questions.csv"
SPECS = HERE.parent / "specs"
DOMAINS = {"GC": ("german.fair", "Applicant"), "BM": ("bank.fair", "Client"), "AC": ("adult.fair", "Person")}


@dataclass(frozen=True, kw_only=True)
class Question:
    network: str
    protected: str
    target: str


@dataclass(frozen=True, kw_only=True)
class Result:
    network: str
    protected: str
    target: str
    verdict: str
    how: str
    seconds: float
    cvc5: str
    cvc5_seconds: float


def questions() -> list[Question]:
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        return [Question(**row) for row in csv.DictReader(file)]


def spec_of(question: Question, network: Path) -> str:
    file, domain = DOMAINS[question.network[:2]]
    return f"""fair 1
audit "{question.network}, one partition"

use "{(SPECS / file).resolve()}"

model approve : {domain} -> {{ no, yes }}
  from "{network.resolve()}"
  yes when score > 0

property partition {{
  compare  a, b : {domain}
  differ   in {question.protected}
  among {question.target}
  require  same decision
}}
"""


@fairdsl.reading(root="/")  # the spec lies in a folder of its own
def prove(question: Question, network: Path, timeout: float, second: float, folder: Path) -> Result:
    spec = folder / "partition.fair"
    spec.write_text(spec_of(question, network), encoding="utf-8")
    started = time.monotonic()
    report = fairdsl.check(spec, backend="smt", timeout=timeout, jobs=1)
    seconds = time.monotonic() - started
    ((demand,),) = (checked.demands for checked in report.properties)
    answer, answer_seconds = "", 0.0
    if second:
        fairdsl.compile(spec, to="smtlib", directory=folder)
        started = time.monotonic()
        answer = second_opinion((folder / "partition.smt2").read_text(encoding="utf-8"), second)
        answer_seconds = time.monotonic() - started
    return Result(
        **asdict(question),
        verdict=demand.judgement.value,
        how=demand.method,
        seconds=round(seconds, 2),
        cvc5=answer,
        cvc5_seconds=round(answer_seconds, 2),
    )


def second_opinion(text: str, seconds: float) -> str:
    """cvc5's answer, from a process of its own that is ended after so many CPU seconds, its imports not among them."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=ask_cvc5, args=(text, seconds, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        return str(ours.recv()) if ours.poll(PATIENCE * seconds) else "timeout"
    except EOFError:
        process.join()
        return "timeout" if process.exitcode == -signal.SIGXCPU else "crashed"
    finally:
        process.kill()
        process.join()


def ask_cvc5(text: str, seconds: float, pipe: multiprocessing.connection.Connection) -> None:
    import cvc5

    limit = math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    solver = cvc5.Solver()
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "partition")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        printed = str(command.invoke(solver, symbols)).strip()
        if printed in ("sat", "unsat", "unknown"):
            pipe.send(printed)
            return


def results(arguments: argparse.Namespace) -> Iterator[Result]:
    networks = {path.stem: path for path in Path(arguments.networks).rglob("*.onnx")}
    with tempfile.TemporaryDirectory() as folder:
        for question in questions():
            if arguments.only and question.network not in arguments.only:
                continue
            if question.network not in networks:
                print(f"{question.network}: no such network, left out", file=sys.stderr)
                continue
            yield prove(question, networks[question.network], arguments.timeout, arguments.second, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", help="folder of the networks")
    parser.add_argument("--csv", help="where to write the results")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for each proof")
    parser.add_argument("--second", type=float, default=60.0, help="seconds for cvc5; 0: do not ask it")
    parser.add_argument("--only", nargs="*", help="only these networks")
    arguments = parser.parse_args()
    found = []
    for result in results(arguments):
        found.append(result)
        print(
            f"{result.network:6} {result.verdict:9} {result.seconds:7.2f} s  "
            f"cvc5 {result.cvc5:8} {result.cvc5_seconds:6.2f} s  {result.how}\n       {result.target}",
            flush=True,
        )
    held = [result for result in found if result.verdict == "holds"]
    confirmed = sum(result.cvc5 == "unsat" for result in held)
    asked = f", {confirmed} of them confirmed by cvc5 on the whole network" if arguments.second else ""
    print(f"{len(held)} of {len(found)} proved{asked}")
    if arguments.csv:
        with Path(arguments.csv).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Result)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(asdict(result) for result in found)


if __name__ == "__main__":
    main()
