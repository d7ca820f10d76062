"""Fairify's questions: verdicts of whole networks, verdicts of partitions, second opinions on proofs.

    python benchmarks/individual_fairness.py verdicts NETWORKS [--timeout 60] [--families base ...] [--only GC-1 ...]
    python benchmarks/individual_fairness.py partitions NETWORKS [--timeout 600] [--jobs 1] [--ledgers FOLDER] ...
    python benchmarks/individual_fairness.py opinions NETWORKS --ledgers FOLDER [--sample 200] [--seconds 60] ...

NETWORKS is a folder that holds GC-1.onnx and the others, at any depth. The questions are those of
``specs/fairify``; what the paper prints for them is in ``fairify/published.csv``, and ``fairify/measured.csv`` is how
fast Fairify is here. ``opinions`` draws from the partitions that hold in the ledgers that ``partitions`` has written.
Ends with 1 if two answers contradict each other, or a pace is below a hundred times Fairify's where that is required.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairify import verdicts as whole
from fairify.opinions import PROVERS, Opinion, drawn, opinions
from fairify.opinions import summary as summary_of_opinions
from fairify.partitions import HEADER, Effort, Run, held, runs
from fairify.questions import FAMILIES, STRESS, STRICT, Question, networks_in, questions_of

#: Networks whose partitions take at least so many times fewer CPU seconds than Fairify's.
REQUIRED, LEAST_RATIO = ("GC-3", "BM-6"), 100.0


def save(file: str | None, records: Sequence[Mapping[str, str | int | float]]) -> None:
    """The table as CSV, where one was asked for."""
    if file and records:
        with Path(file).open("w", encoding="utf-8", newline="") as opened:
            writer = csv.DictWriter(opened, list(records[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)


def questions_in(networks: Sequence[Path], families: Sequence[str]) -> list[Question]:
    """One for each network and family, with the paper's protected attribute."""
    return [questions_of(network, (family,))[0] for family in families for network in networks]


def whole_networks(networks: Sequence[Path], arguments: argparse.Namespace) -> int:
    questions = [question for path in networks for question in questions_of(path, tuple(arguments.families))]
    found: list[whole.Verdict] = []
    print(whole.HEADER)
    for verdict in whole.verdicts(questions, arguments.timeout, arguments.seed):
        found.append(verdict)
        print(verdict.markdown(), flush=True)
    print(f"\n{whole.summary(found)}")
    save(arguments.csv, [verdict.record() for verdict in found])
    return 1 if any(verdict.contradicts for verdict in found) else 0


def partitions(networks: Sequence[Path], arguments: argparse.Namespace) -> int:
    found: list[Run] = []
    effort = Effort(timeout=arguments.timeout, query=arguments.query_timeout, seed=arguments.seed, jobs=arguments.jobs)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(arguments.ledgers or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        print(HEADER)
        for run in runs(questions_in(networks, arguments.families), effort, folder):
            found.append(run)
            print(run.markdown(), flush=True)
    save(arguments.csv, [run.record() for run in found])
    slow = [run for run in found if run.question.network.stem in REQUIRED and (run.ratio or LEAST_RATIO) < LEAST_RATIO]
    against = [run for run in found if run.contradicts]
    print(f"\nContradictions: {len(against)}. Below {LEAST_RATIO:g} times Fairify's pace where required: {len(slow)}")
    return 1 if slow or against else 0


def second_opinions(networks: Sequence[Path], arguments: argparse.Namespace) -> int:
    proved = held(questions_in(networks, arguments.families), Path(arguments.ledgers))
    sample = drawn(proved, arguments.sample, arguments.seed)
    found: list[Opinion] = []
    for opinion in opinions(sample, arguments.provers, arguments.seconds):
        found.append(opinion)
        network, says = opinion.question.network.stem, opinion.says
        print(f"{network:6} {opinion.partition:6} {opinion.prover:10} {says:9} {opinion.seconds:6.2f} s", flush=True)
    print(f"\n{len(sample)} partitions that hold. {summary_of_opinions(found)}")
    save(arguments.csv, [opinion.record() for opinion in found])
    return 1 if not sample or any(opinion.contradicts for opinion in found) else 0


def read_arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(required=True, metavar="PART")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("networks", help="folder of the networks")
    common.add_argument("--only", nargs="+", metavar="NAME", help="only these networks")
    common.add_argument("--seed", type=int, default=0, help="of every random choice")
    common.add_argument("--csv", metavar="FILE", help="where to write the table")

    part = parts.add_parser("verdicts", parents=[common], help="the whole question of every network")
    part.add_argument("--timeout", type=float, default=60.0, help="seconds for each verdict")
    part.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES, help="only these questions")
    part.set_defaults(run=whole_networks)

    asked = argparse.ArgumentParser(add_help=False)
    asked.add_argument(
        "--families", nargs="+", choices=(STRICT, STRESS, *FAMILIES), default=(STRICT,), help="of these questions"
    )

    part = parts.add_parser("partitions", parents=[common, asked], help="one question of every network, by partitions")
    part.add_argument("--timeout", type=float, default=600.0, help="seconds for each network")
    part.add_argument("--query-timeout", type=float, metavar="S", help="seconds for the solvers of one partition")
    part.add_argument("--jobs", type=int, default=1, help="processes")
    part.add_argument("--ledgers", metavar="FOLDER", help="where to keep the verdicts of the partitions")
    part.set_defaults(run=partitions)

    part = parts.add_parser("opinions", parents=[common, asked], help="other provers on partitions that hold")
    part.add_argument("--ledgers", metavar="FOLDER", required=True, help="the verdicts of the partitions")
    part.add_argument("--sample", type=int, default=200, help="partitions")
    part.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of a solver, and of intervals")
    part.add_argument("--provers", nargs="+", choices=PROVERS, default=PROVERS, help="only these")
    part.set_defaults(run=second_opinions)
    return parser


def main() -> int:
    parser = read_arguments()
    arguments = parser.parse_args()
    networks = networks_in(Path(arguments.networks), arguments.only)
    if not networks:
        parser.error(f"no networks to ask about in {arguments.networks}")
    return int(arguments.run(networks, arguments))


if __name__ == "__main__":
    sys.exit(main())
