"""Engines that other packages bring: their word is taken and named, and their pairs are replayed here.

A package names its engines as entry points of the group ``fairdsl.engines``: ``NAME = "module:Class"``. The class
implements :class:`fairdsl.backends.contract.Procedure`, and may say what it is asked at all by ``asked`` (``"pairs"``,
``"groups"`` or ``"rows"``) and what it needs of a model by ``needs`` (an :class:`fairdsl.ir.opaque.Access`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from fairdsl.backends.brought import Brought
from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Procedure, Refusal
from fairdsl.ir.problem import Problem
from fairdsl.replay import on_their_word
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict

__all__ = ["Outside"]


class Outside:
    """An engine of another package, held to what verdicts of fairdsl promise."""

    def __init__(self, brought: Brought) -> None:
        self.name, self.package, self._brought = brought.name, brought.package, brought
        self._broken = ""
        self._procedure: Procedure | None = None
        self.about = Capability(questions=(f"those of {self.package}, if it can be loaded",), quantities=(), models=())
        try:
            self._procedure = brought.point.load()()
            about = self._procedure.about
            self.about = replace(about, questions=(*about.questions, f"an engine of {self.package}"))
        except Exception as error:  # whatever it is, our engines go on
            self._procedure = None
            self._broken = (
                f"`{brought.point.value}` of {self.package} cannot be loaded: {type(error).__name__}: {error}"
            )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Its own offer, asked after those of fairdsl."""
        if self._procedure is None:
            return Refusal(why=self._broken)
        try:
            offer = self._procedure.offer(problem)
        except Exception as error:
            return Refusal(why=self._brought.failed(error))
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
            return Unknown(reason=Reason.ENGINE_CRASHED, detail=self._brought.failed(error), evidence=evidence)
        if not isinstance(verdict, get_args(Verdict)):
            detail = f"{self.package} gave no verdict"
            return Unknown(reason=Reason.MALFORMED, detail=detail, evidence=evidence)
        return on_their_word(problem, verdict, self.name, self.package)
