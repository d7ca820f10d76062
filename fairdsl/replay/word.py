"""Verdicts of other packages: their word is taken and named, and their pairs are replayed here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.replay.admissible import admissible
from fairdsl.replay.run import witness
from fairdsl.verdict import (
    Estimated,
    Evidence,
    Reason,
    Refused,
    Shares,
    Unknown,
    Verdict,
    Violated,
    Witness,
    Word,
)


def on_their_word(problem: Problem, verdict: Verdict, name: str, package: str) -> Verdict:
    """A verdict as what it is: the word of another package, but for pairs, which are replayed here."""
    if isinstance(verdict, Refused):
        return verdict
    evidence = _named(verdict.evidence, name, package)
    if isinstance(verdict, Violated | Shares | Estimated):
        replayed = _replayed(problem, verdict.witnesses)
        if isinstance(verdict, Violated) and problem.quantity is Quantity.HOLDS and not replayed:
            detail = f"no pair of {package} breaks the demand when it is replayed"
            return Unknown(reason=Reason.REPLAY_FAILED, detail=detail, evidence=evidence)
        return replace(verdict, witnesses=replayed, evidence=evidence)
    return replace(verdict, evidence=evidence)


def _named(evidence: Evidence, name: str, package: str) -> Evidence:
    note = f"`{name}` is of {package}, whose word is taken"
    basis = replace(evidence.basis, word=Word.SOLVER)
    return replace(evidence, backend=name, basis=basis, notes=(*evidence.notes, note))


def _replayed(problem: Problem, pairs: Sequence[Witness]) -> tuple[Witness, ...]:
    """Those of the pairs that break the demand, by the original model."""
    if not isinstance(problem.question, Pair):
        return ()
    found = list[Witness]()
    for pair in pairs:
        points = pair.a.point, pair.b.point
        if admissible(problem.question, problem.domain, *points, problem.model) is None:
            again = witness(problem, *points)
            if again is not None and again.replay.agrees:
                found.append(again)
    return tuple(found)
