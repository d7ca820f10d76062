"""The whole question of every network, beside the verdict that the paper prints.

Fairify counts a pair as a violation only if one score is below 0 and the other above; the specs count 0 as a
refusal. A verdict is *strict* where both readings have it: a proof always, a violation if one of its witnesses has
no score of 0.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import fairdsl
from fairdsl.verdict import Witness
from fairify.questions import Published, Question, published

__all__ = ["HEADER", "Verdict", "summary", "verdicts"]

HEADER = (
    "| network | question | verdict | strict | replayed | s | by | Fairify | partitions tried | coverage |\n"
    "| --- | --- | --- | --- | ---: | ---: | --- | --- | ---: | ---: |"
)
#: What the paper calls our verdicts.
_SAME = {"violated": "SAT", "holds": "UNSAT", "unknown": "UNK"}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One question's answer; ``seconds`` are those of a whole ``fairdsl.check``, reading the files included."""

    question: Question
    verdict: str
    strict: bool
    replayed: int
    seconds: float
    backend: str
    detail: str
    paper: Published | None

    @property
    def contradicts(self) -> bool:
        """Whether one of the two proves what the other refutes."""
        return self.paper is not None and {_SAME.get(self.verdict), self.paper.verdict} == {"SAT", "UNSAT"}

    def markdown(self) -> str:
        tried, coverage = ("", "") if self.paper is None else (f"{self.paper.partitions:,}", "-")
        if self.paper is not None and self.paper.coverage is not None:
            coverage = f"{self.paper.coverage:.2f}%"
        columns = (
            self.question.network.stem,
            self.question.family,
            self.verdict,
            "yes" if self.strict else "-",
            str(self.replayed),
            f"{self.seconds:.2f}",
            self.backend,
            "-" if self.paper is None else self.paper.verdict,
            tried,
            coverage,
        )
        return f"| {' | '.join(columns)} |"

    def record(self) -> dict[str, str | int | float]:
        paper = self.paper
        return {
            "network": self.question.network.stem,
            "family": self.question.family,
            "verdict": self.verdict,
            "strict": int(self.strict),
            "replayed": self.replayed,
            "seconds": round(self.seconds, 3),
            "backend": self.backend,
            "detail": self.detail,
            "fairify_verdict": paper.verdict if paper else "",
            "fairify_partitions": paper.partitions if paper else "",
            "fairify_coverage": "" if paper is None or paper.coverage is None else paper.coverage,
        }


def verdicts(questions: Sequence[Question], timeout: float, seed: int) -> Iterator[Verdict]:
    """Each question's verdict as it comes."""
    printed = published()
    for question in questions:
        started = time.monotonic()
        report = fairdsl.check(question.spec, models={question.model: question.network}, timeout=timeout, seed=seed)
        seconds = time.monotonic() - started
        (asked,) = report.properties
        (demand,) = asked.demands
        verdict = asked.judgement.value
        yield Verdict(
            question=question,
            verdict=verdict,
            strict=verdict == "holds" or any(opposite(witness) for witness in asked.witnesses),
            replayed=sum(witness.replay.agrees for witness in asked.witnesses),
            seconds=seconds,
            backend=demand.backend or "-",
            detail=demand.detail or demand.method or "",
            paper=printed.get((question.family, question.network.stem)),
        )


def opposite(witness: Witness) -> bool:
    """Whether one score is certainly below 0 and the other certainly above, of a pair that was replayed."""
    (a,), (b,) = witness.replay.scores_a, witness.replay.scores_b
    return witness.replay.agrees and min(a, b) < -witness.replay.score_error and max(a, b) > witness.replay.score_error


def summary(found: Sequence[Verdict]) -> str:
    """How many of each verdict, ours and the paper's on the same questions."""
    ours = Counter(one.verdict for one in found)
    theirs = Counter(one.paper.verdict for one in found if one.paper is not None)
    strict = sum(one.strict for one in found)
    decided = sum(one.paper.verdict == "UNK" and one.verdict != "unknown" for one in found if one.paper is not None)
    return (
        f"{len(found)} questions: {counted(ours)}; {strict} of these verdicts are strict. "
        f"Fairify: {counted(theirs)}. Decided here and UNK there: {decided}. "
        f"Contradictions: {sum(one.contradicts for one in found)}. Slowest: {max(one.seconds for one in found):.2f} s"
    )


def counted(verdicts: Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
