"""An encoding: the least and the largest value of a linear score as linear programs, which HiGHS solves."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import highspy

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.solved import Asked, Bounds, Solved
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Evidence, Holds, Reason, Unknown, Verdict
from fairdsl_one_sided.engine import linear, terms

__all__ = ["LinearProgram"]

#: What HiGHS may be off by: its own tolerance, a hundredfold.
_OFF = Fraction(1, 10**5)


class LinearProgram(Encoding):
    """Programs in the LP format, one for either end of the score."""

    name = "lp"
    ending = "lp"
    options = frozenset({"output"})
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"value": "an end of the score; equal decisions follow where the threshold lies beyond it"}
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """What the engine of this package answers."""
        return linear(problem) or Offer(method="the ends of a linear score", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """A program for the least score, and one for the largest; either alone may settle the question."""
        score, bounds = ["obj:"], list[str]()
        for number, (weight, (least, most)) in enumerate(terms(problem)):
            score.append(f"{float(weight):+.17g} x{number}")
            bounds.append(f" {float(least):.17g} <= x{number} <= {float(most):.17g}")
        (layer,) = problem.model.layers
        score.append(f"{float(layer.bias.at(0)):+.17g}")
        files = dict[str, bytes]()
        for end, aim in (("least", "Minimize"), ("largest", "Maximize")):
            text = "\n".join((aim, " " + " ".join(score), "Subject To", "Bounds", *bounds, "End", ""))
            files[f"{problem.name}.{end}.lp"] = text.encode()
        return Lowered(files=files, settled_by=tuple((name,) for name in files))

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By HiGHS."""
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("time_limit", how.budget.remaining)
        highs.readModel(str(path))
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise ValueError(f"HiGHS has no optimum of {path.name}: {highs.getModelStatus()}")
        value = Fraction(highs.getObjectiveValue())
        found = Bounds(variables=highs.getNumCol(), clauses=highs.getNumRow(), number=Enclosure.exactly(value))
        return Solved(format=self.name, file=path, solver=f"HiGHS {highs.version()}", seconds=0.0, found=found)

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """What `fairdsl solve` wrote."""
        found = Solved.from_json(output).found
        assert isinstance(found, Bounds), "solve finds nothing else"
        return Answer(status="value", bounds=Enclosure(low=found.number.low - _OFF, high=found.number.high + _OFF))

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """Holds where the least score, or the largest, is on one side of the threshold; unknown else."""
        rule = problem.model.rule
        assert isinstance(rule, ByThreshold), "checked by the offer"
        least, largest = (answers.get(name, Answer(status="unknown")).bounds for name in lowered.files)
        if (least is not None and least.low > rule.high) or (largest is not None and largest.high < rule.low):
            return Holds(evidence=self.evidence(problem))
        detail = "the threshold is not beyond the ends that were found"
        return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=self.evidence(problem))

    def evidence(self, problem: Problem) -> Evidence:
        """Linear programs in floating point."""
        return Evidence(backend=self.name, method="linear programs solved by HiGHS")
