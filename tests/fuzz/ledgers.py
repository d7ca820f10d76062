"""A small question with a ledger, and how it is opened again."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition.ledger import Ledger
from fairdsl.ir.problem import Problem
from tests.builders import domain, integer, problem, score

__all__ = ["ledgers", "opened"]

_CUT = (1,)


@cache
def _problem() -> Problem:
    return problem(domain(a=integer(0, 1), b=integer(0, 9)), score([1, 1], -5))


def opened(file: Path) -> Ledger:
    """The ledger of an earlier run; DiagnosticError where it is none."""
    return Ledger.open(Partition(size=5, ledger=str(file), resume=True), _problem(), 0, _CUT, 2)


def ledgers() -> list[bytes]:
    """One with its first line, a violation, a partition that holds and one that was halved."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "a.jsonl"
        Ledger.open(Partition(size=5, ledger=str(file)), _problem(), 0, _CUT, 2).close()
        first = file.read_text(encoding="utf-8")
    held = {"partition": "0", "verdict": "holds", "by": "bounds", "units": 1, "undecided_units": 0, "seconds": 0.1}
    pair = {"a": {"a": 0, "b": 5}, "b": {"a": 1, "b": 5}}
    found = held | {"partition": "1", "verdict": "violated", "by": "sampling", "witness": pair}
    halved = {"partition": "1", "split": "b"}
    return [
        (first + "".join(json.dumps(line) + "\n" for line in lines)).encode() for lines in ([], [held, found, halved])
    ]
