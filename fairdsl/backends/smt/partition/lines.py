"""What a line of a ledger may say: a verdict that no run writes was written by somebody else.

A ledger is believed no more than it must be, and only what a run can have found there at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any

from fairdsl.backends.smt.partition.record import box_words
from fairdsl.backends.smt.sieves.boxes import Box
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.ir.domain import Domain
from fairdsl.verdict import Reason

__all__ = ["check_line", "place_of", "said_place"]

#: What decides: bounds prove, sampling finds pairs, solvers do both.
_DECIDES = {
    Status.HOLDS: frozenset({"bounds", "bounds of pairs", "milp", "trusted milp", "z3"}),
    Status.VIOLATED: frozenset({"sampling", "milp", "z3", "pruned network"}),
}
#: The keys that a line always has, and those that it has with some verdicts.
_ALWAYS = frozenset({"partition", "box", "volume", "verdict", "by", "units", "undecided_units", "seconds"})
_WITH = {
    Status.HOLDS: frozenset[str](),
    Status.VIOLATED: frozenset({"witness", "pruned_network"}),
    Status.UNKNOWN: frozenset({"disagreement", "reason", "detail", "holds_without_units", "pruned_network"}),
}


def check_line(line: Mapping[str, Any]) -> Status:
    """The verdict of a line; ValueError, KeyError or TypeError for one that no run writes."""
    status = Status(line["verdict"])
    by, units, undecided = line["by"], line["units"], line["undecided_units"]
    keys = set(line)
    if not keys >= _ALWAYS or not keys <= _ALWAYS | _WITH[status]:
        raise ValueError(f"its keys are not those of a line that says `{status.value}`")
    if status in _DECIDES and by not in _DECIDES[status]:
        raise ValueError(f"nothing is found to be `{status.value}` by `{by}`")
    if status is Status.VIOLATED and not isinstance(line["witness"], dict):
        raise TypeError("a violation has its pair")
    if status is Status.UNKNOWN:
        Reason(line["reason"])
    if not isinstance(by, str) or not all(type(count) is int for count in (units, undecided)):
        raise TypeError("a verdict says what decided it, and counts units")
    if not 0 <= undecided <= units:
        raise ValueError("more units are undecided than there are")
    if not 0 <= float(line["seconds"]) < float("inf"):
        raise ValueError("it took no time that there is")
    return status


def place_of(box: Box, volume: Fraction, domain: Domain, cut: tuple[int, ...]) -> str:
    """A digest of a partition as its lines describe it."""
    return _digest(box_words(box, domain, cut), str(volume))


def said_place(line: Mapping[str, Any]) -> str:
    """The same of what a line says."""
    return _digest(line["box"], line["volume"])


def _digest(box: object, volume: object) -> str:
    return sha256(json.dumps([box, volume], sort_keys=True).encode()).hexdigest()[:16]
