"""Engines that other packages bring: their word is taken and named, and their pairs are replayed here.

A package names its engines as entry points of the group ``fairdsl.engines``: ``NAME = "module:Class"``. The class
implements :class:`fairdsl.backends.contract.Procedure`, and may say what it is asked at all by ``asked`` (``"pairs"``,
``"groups"`` or ``"rows"``) and what it needs of a model by ``needs`` (an :class:`fairdsl.ir.opaque.Access`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import get_args

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Procedure, Refusal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.replay import admissible, witness
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

__all__ = ["Outside"]


class Outside:
    """An engine of another package, held to what verdicts of fairdsl promise."""

    def __init__(self, name: str, point: EntryPoint) -> None:
        self.name = name
        dist = point.dist
        self.package = "another package" if dist is None else f"{dist.name} {dist.version}"
        self._broken = ""
        self._procedure: Procedure | None = None
        self.about = Capability(questions=(f"those of {self.package}, if it can be loaded",), quantities=(), models=())
        try:
            self._procedure = point.load()()
            about = self._procedure.about
            self.about = replace(about, questions=(*about.questions, f"an engine of {self.package}"))
        except Exception as error:  # whatever it is, our engines go on
            self._procedure = None
            self._broken = f"`{point.value}` of {self.package} cannot be loaded: {type(error).__name__}: {error}"

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Its own offer, asked after those of fairdsl."""
        if self._procedure is None:
            return Refusal(why=self._broken)
        try:
            offer = self._procedure.offer(problem)
        except Exception as error:
            return Refusal(why=self._failed(error))
        if isinstance(offer, Offer):
            return replace(offer, method=f"{offer.method} ({self.package})", fits=-1)
        return offer if isinstance(offer, Refusal) else Refusal(why=f"{self.package} made no offer and did not refuse")

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """Its verdict, whose word is that of another solver but for pairs that were replayed."""
        evidence = Evidence(backend=self.name, method=f"by {self.package}")
        assert self._procedure is not None, "it refused"
        own = Facts(alone=facts.alone, enough=facts.enough, witnesses=list(facts.witnesses))
        try:
            verdict = self._procedure.answer(problem, own, budget, observer)
        except Exception as error:
            return Unknown(reason=Reason.ENGINE_CRASHED, detail=self._failed(error), evidence=evidence)
        if not isinstance(verdict, get_args(Verdict)):
            detail = f"{self.package} gave no verdict"
            return Unknown(reason=Reason.MALFORMED, detail=detail, evidence=evidence)
        return self._held(problem, verdict)

    def _held(self, problem: Problem, verdict: Verdict) -> Verdict:
        if isinstance(verdict, Refused):
            return verdict
        evidence = replace(
            verdict.evidence,
            backend=self.name,
            basis=replace(verdict.evidence.basis, word=Word.SOLVER),
            notes=(*verdict.evidence.notes, f"`{self.name}` is an engine of {self.package}, whose word is taken"),
        )
        if isinstance(verdict, Violated | Shares | Estimated):
            replayed = _replayed(problem, verdict.witnesses)
            if isinstance(verdict, Violated) and problem.quantity is Quantity.HOLDS and not replayed:
                detail = f"no pair of {self.package} breaks the demand when it is replayed"
                return Unknown(reason=Reason.REPLAY_FAILED, detail=detail, evidence=evidence)
            return replace(verdict, witnesses=replayed, evidence=evidence)
        return replace(verdict, evidence=evidence)

    def _failed(self, error: Exception) -> str:
        return f"{self.package} failed: {type(error).__name__}: {error}"


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
