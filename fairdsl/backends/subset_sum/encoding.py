"""The encoding for ``compile --to subset-sum``: weighted sums as files that stand alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.rates.gate import refusal_of, refusal_of_sum
from fairdsl.backends.solved import AnsweredDemand, Asked, AskedData, Solved
from fairdsl.backends.subset_sum.instance import Instance, answered, instance_of
from fairdsl.backends.subset_sum.instance_file import pack_instance
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.codec import MisfitError
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.prelude import registered
from fairdsl.source.reading import content_of
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value, Verdict

#: Who answers instances.
_SOLVER = "the engine of weighted subset sums"


def solve_instance(path: Path, form: str, how: Solving, observer: Observer) -> Solved:
    """Answer an instance; DiagnosticError for a file that is not one. An instance written by hand is its own spec."""
    instance, digest = read_instance(path), sha256(content_of(path)).hexdigest()
    began = time.monotonic()
    verdict = _under(answered(instance, how.budget, observer), instance)
    seconds = time.monotonic() - began
    population, sample = instance.population, instance.population.sample
    found = AnsweredDemand(
        asked=instance.asked or in_words(instance, path),
        quantity=Quantity.METRIC,
        verdict=verdict,
        seconds=seconds,
        data=None if sample is None else AskedData(name=population.name, path=sample.path, sha256=sample.sha256),
    )
    return Solved(format=form, file=path, solver=_SOLVER, seconds=seconds, found=found, sha256=digest)


def _under(verdict: Value | Refused | Unknown, instance: Instance) -> Value | Refused | Unknown:
    """The verdict with the distribution that it is taken under, which is all that an instance knows of its basis."""
    if isinstance(verdict, Refused):
        return verdict
    basis = verdict.evidence.basis.under(instance.population)
    return replace(verdict, evidence=replace(verdict.evidence, basis=basis))


def in_words(instance: Instance, path: Path) -> Asked:
    """The demand of an instance that no spec was compiled to, in the file at ``path``."""
    threshold, metric = instance.threshold, instance.question.metric.name
    limit = "" if threshold is None else f" {threshold.relation.value} {threshold.text}"
    return Asked(
        spec=path.name,
        spec_sha256="",
        title=None,
        model="",
        model_path=None,
        model_sha256=None,
        property=path.stem,
        sentence=f"The metric `{metric}` of a distribution written by hand.",
        clauses=(),
        formula="",
        demand=f"{'measure' if threshold is None else 'require'} {metric}{limit}",
        metric=metric,
        threshold=threshold,
        required=threshold is not None,
    )


class SubsetSumInstance(Encoding):
    """Instances for ``fairdsl solve``, or for any other solver that counts weighted subset sums."""

    name = "subset-sum"
    options = frozenset({"memory", "output"})
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "value": "what `fairdsl solve FILE --json` prints is the metric, with the rates that it is made of",
            "unknown": "a file without an answer leaves the metric unknown",
        }
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """What `check` answers, as far as its task is finite and exact."""
        found = refusal_of(problem) or _unnamed(problem) or refusal_of_sum(problem) or instance_of(problem, None)
        if isinstance(found, Refusal):
            return found
        return Offer(method="weighted subset sums", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        instance = instance_of(problem, asked)
        if not isinstance(instance, Instance):
            raise ValueError("an instance was asked for of a problem that has none")
        name = f"{problem.name}.{self.extension}"
        return Lowered(
            files={name: pack_instance(instance)}, settled_by=((name,),), described={name: {"role": "instance"}}
        )

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By the engine that `check` uses."""
        return solve_instance(path, self.name, how, observer)

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on."""
        return Evidence(backend=self.name, method="an answer in a file")

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """What ``fairdsl solve --json`` printed: a number between two, with all that it was computed from."""
        try:
            found = Solved.from_json(output).found
        except MisfitError as misfit:
            return Answer(status="malformed", detail=f"it is not what `fairdsl solve --json` prints: {misfit}")
        match found:
            case AnsweredDemand(verdict=Value() as value):
                return Answer(status="value", values={_SOLVED: output}, bounds=value.number)
            case AnsweredDemand(verdict=Unknown() as unknown):
                return Answer(status="unknown", values={_SOLVED: output}, detail=unknown.detail)
            case AnsweredDemand(verdict=Refused()):
                return Answer(status="refused", values={_SOLVED: output})
        return Answer(status="malformed", detail="it is an answer to a file of another format")

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """The verdict of the answer, if that is about this very file."""
        evidence = self.evidence(problem)
        ((name, content),) = lowered.files.items()
        if name not in answers:
            return Unknown(reason=Reason.INCOMPLETE, detail="there is no answer", evidence=evidence)
        answer = answers[name]
        if _SOLVED not in answer.values:
            return Unknown(reason=Reason.MALFORMED, detail=answer.detail, evidence=evidence)
        solved = Solved.from_json(answer.values[_SOLVED])
        assert isinstance(solved.found, AnsweredDemand), "others have no text"
        if solved.sha256 != sha256(content).hexdigest():
            return Unknown(reason=Reason.MALFORMED, detail="the answer is to another file", evidence=evidence)
        match solved.found.verdict:
            case (Value() | Unknown()) as verdict:
                return replace(verdict, evidence=replace(evidence, notes=verdict.evidence.notes))
            case Refused() as refused:
                return refused
        return Unknown(reason=Reason.MALFORMED, detail="the answer is about pairs", evidence=evidence)


#: Under which name an answer keeps its text.
_SOLVED = "solved"


def _unnamed(problem: Problem) -> Refusal | None:
    """An instance says its metric by name, which stands alone for metrics of the language only."""
    question = problem.question
    if not isinstance(question, GroupMetric) or registered(question.metric.name) is not None:
        return None
    why = f"an instance names its metric, and `{question.metric.definition}` is none that the language names"
    return Refusal(why=why, span=question.span)
