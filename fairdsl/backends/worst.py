"""The worst two: how far apart the scores of a pair in force are at most.

The number lies between the gap of the worst pair that was met and a bound. Every engine that has a bound puts the pairs
that it comes by to one :class:`Worst`, which replays them on the original model; so what bounds the number from below
is always a pair that can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Refusal
from fairdsl.ir.domain import Point
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, WorstPair
from fairdsl.replay import admissible, replay
from fairdsl.verdict import Evidence, Individual, Reason, Unknown, Vacuous, Value, Witness


def refusal_of_worst(problem: Problem) -> Refusal | None:
    """Why there is no such number; None where there is, or something else is asked."""
    if not isinstance(problem.question, WorstPair):
        return None
    if problem.model.score_count != 1:
        return Refusal(why="a gap of scores needs a model with one score", span=problem.question.span)
    return None


@dataclass(slots=True, eq=False)
class Worst:
    """The worst pair of a problem that was met so far."""

    problem: Problem
    #: The number is at least this.
    low: Fraction = Fraction(0)
    #: Who shows it; nobody while no two are known that have different scores.
    witness: Witness | None = None
    #: Whether anybody was met who is compared.
    somebody: bool = False

    def meet(self, a: Point, b: Point) -> Enclosure | None:
        """The gap between the scores of two; None where they are not compared."""
        asked = self.problem.of_pairs
        assert isinstance(asked.question, Pair), "the largest score gap is asked of pairs"
        if admissible(asked.question, asked.domain, a, b, asked.model) is not None:
            return None
        self.somebody = True
        found = replay(asked, a, b)
        apart, error = abs(found.scores_a[0] - found.scores_b[0]), 2 * found.score_error
        low = max(Fraction(0), apart - error)
        if low > self.low:
            one, other = (Individual.of(asked.domain, point) for point in (a, b))
            self.low, self.witness = low, Witness(a=one, b=other, replay=found)
        return Enclosure(low=low, high=apart + error)

    def verdict(self, high: Fraction | None, evidence: Evidence, reason: Reason | None) -> Value | Vacuous | Unknown:
        """What is known where nobody's scores are further apart than ``high`` (None: no bound is known).

        ``reason`` says why not everybody was looked at; None: everybody was, so if nobody was met nobody is compared.
        """
        if not self.somebody and reason is None:
            return Vacuous(evidence=evidence)
        if not self.somebody or high is None:
            detail = "no bound of the scores is known" if self.somebody else "nobody was found who is compared"
            low = self.low if self.somebody else None
            why = reason or Reason.INCOMPLETE
            return Unknown(reason=why, detail=detail, evidence=evidence, low=low, high=high)
        witnesses = () if self.witness is None else (self.witness,)
        number = Enclosure(low=self.low, high=max(high, self.low))
        return Value(number=number, evidence=evidence, reason=reason, witnesses=witnesses)
