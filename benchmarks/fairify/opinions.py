"""Second opinions on partitions that hold: other provers, which share nothing with the first proof but the network.

z3 and cvc5 get the SMT-LIB script of the question on the partition, with the whole network in it and nothing folded or
bounded; the interval engine gets the question itself, or a wider one: it knows no confidence, so scores of 0 count as
refusals there. A prover that finds a violation of the question contradicts the proof; one that does not finish says
nothing, and neither does a violation of the wider question.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from proofs import second_opinion

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.intervals import Intervals
from fairdsl.backends.smt.engine import answer_of_z3
from fairdsl.backends.smt.partition.grid import Grid, restricted
from fairdsl.backends.smt.script import whole_script
from fairdsl.elaborate import elaborate
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.semantics import front_end
from fairdsl.verdict import Shares
from fairify.questions import Question

__all__ = ["PROVERS", "Opinion", "drawn", "opinions", "problem_of", "summary"]

PROVERS = ("z3", "cvc5", "intervals")
#: What the solvers' answers mean for the property.
_MEANS = {"unsat": "holds", "sat": "violated"}


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What one prover says of one partition, and after how many seconds."""

    question: Question
    partition: int
    prover: str
    says: str
    seconds: float

    @property
    def contradicts(self) -> bool:
        return self.says == "violated"

    def record(self) -> dict[str, str | int | float]:
        return {
            "network": self.question.network.stem,
            "partition": self.partition,
            "prover": self.prover,
            "says": self.says,
            "seconds": round(self.seconds, 3),
        }


def problem_of(question: Question) -> Problem:
    """The question about the whole domain, closed."""
    checked, _ = front_end(str(question.spec))
    (demand,) = elaborate(checked, {question.model: str(question.network)}).demands
    assert demand.problem is not None, "pairs of one domain and one model have a problem"
    return demand.problem


def drawn(held: Mapping[Question, Sequence[int]], count: int, seed: int) -> list[tuple[Question, int]]:
    """So many of the partitions that hold: the networks in turn, each with its own in an order from the seed."""
    random_order = random.Random(seed)
    waiting = [(question, random_order.sample(sorted(indices), len(indices))) for question, indices in held.items()]
    chosen: list[tuple[Question, int]] = []
    while len(chosen) < count and any(indices for _, indices in waiting):
        for question, indices in waiting:
            if indices and len(chosen) < count:
                chosen.append((question, indices.pop()))
    return sorted(chosen, key=lambda one: (one[0].name, one[1]))


def opinions(sample: Sequence[tuple[Question, int]], provers: Sequence[str], seconds: float) -> Iterator[Opinion]:
    """Every prover's opinion on every partition, each within so many seconds."""
    closed = {question: problem_of(question) for question, _ in sample}
    for question, index in sample:
        whole = closed[question]
        problem = restricted(whole, Grid.of(whole, question.size).box(index))
        for prover in provers:
            started = time.monotonic()
            says = said_by(prover, problem, seconds)
            yield Opinion(
                question=question, partition=index, prover=prover, says=says, seconds=time.monotonic() - started
            )


def said_by(prover: str, problem: Problem, seconds: float) -> str:
    """``holds``, ``violated``, or how the prover came to neither."""
    match prover:
        case "z3":
            answer = answer_of_z3(whole_script(problem), Budget.of(seconds))
            return _MEANS.get(answer.status, answer.detail or answer.status)
        case "cvc5":
            status = second_opinion(whole_script(problem), seconds)
            return _MEANS.get(status, status)
        case "intervals":
            return share_said(problem, seconds)
    raise ValueError(f"no prover `{prover}`")


def share_said(problem: Problem, seconds: float) -> str:
    """What the interval engine's shares come to: it counts unfair units also where it shows no pair."""
    pair = problem.question
    assert isinstance(pair, Pair), "Fairify compares pairs"
    asked = replace(problem, quantity=Quantity.FAIR_SHARE, question=replace(pair, sure=()))
    shares = Intervals().answer(asked, Facts(), Budget.of(seconds), Silent())
    assert isinstance(shares, Shares), "a share was asked for"
    if shares.falsified:
        return "violated, 0 included" if pair.sure else "violated"
    return "holds" if shares.certified == 1 else "undecided"


def summary(found: Sequence[Opinion]) -> str:
    """For each prover how many of its partitions it proves too."""
    asked = Counter(one.prover for one in found)
    agree = Counter(one.prover for one in found if one.says == "holds")
    against = sum(one.contradicts for one in found)
    alone = {(one.question, one.partition) for one in found} - {
        (one.question, one.partition) for one in found if one.says == "holds"
    }
    shares = ", ".join(f"{prover} {agree[prover]} of {count}" for prover, count in asked.items())
    return f"Proved again: {shares}. By nobody else: {len(alone)}. Contradictions: {against}"
