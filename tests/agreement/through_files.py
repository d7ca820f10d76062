"""Encodings as if they were engines: a question is written as files, these are solved, and the answers read back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Believing, ByParts, Encoding, Lowered, Solving, Standalone, encoding_of
from fairdsl.backends.solved import AnsweredDemand
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Verdict
from tests.agreement.engines import about_somebody
from tests.builders import ASKED


@dataclass(frozen=True)
class ThroughFiles:
    """What ``compile``, ``solve`` and ``recover`` come to, of a format by its name."""

    name: str

    @cached_property
    def encoding(self) -> Encoding:
        return encoding_of(self.name)

    def offer(self, problem: Problem) -> Offer | Refusal:
        return self.encoding.offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        lowered = self.encoding.lower(problem, ASKED)
        with TemporaryDirectory() as folder:
            answers = dict[str, Answer]()
            for name, content in lowered.files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            for name in self._questions(lowered):
                found = self._solve(Path(folder, name), lowered, budget, observer)
                if not isinstance(found, Answer):
                    return found
                answers[name] = found
            if isinstance(self.encoding, Standalone):
                (demand,) = self.encoding.results([Path(folder)], Believing(memory=budget.memory))
                return demand.verdict
        verdict = self.encoding.recover(problem, lowered, answers)
        return about_somebody(problem, verdict) if isinstance(self.encoding, ByParts) else verdict

    def _questions(self, lowered: Lowered) -> list[str]:
        """The files that are asked, not those that they refer to."""
        return [name for name in lowered.files if name.endswith(f".{self.encoding.extension}")]

    def _solve(self, path: Path, lowered: Lowered, budget: Budget, observer: Observer) -> Answer | Verdict:
        """The answer to a file, or the verdict on the demand that it states."""
        name = path.name
        solved = self.encoding.solve(path, Solving(budget=budget), observer)
        if isinstance(solved.found, AnsweredDemand):
            return solved.found.verdict
        if solved.answer is not None and not isinstance(self.encoding, Standalone):
            return self.encoding.answer(solved.answer.read_text(encoding="utf-8"), lowered.described[name])
        return self.encoding.answer(solved.to_json(), lowered.described[name])
