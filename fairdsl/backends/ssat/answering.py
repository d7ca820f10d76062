"""A question about groups answered *through the file*: what `compile`, `solve` and `recover` do, one after the other.

    problem --lower--> SDIMACS text --read and solved--> answers --recover--> the metric

Nothing of the text, and of how it is read, is taken on trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.encoding import Answer, Solving
from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.solved import Bounds
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.encode.linear import TooLargeError
from fairdsl.backends.ssat.files import Sdimacs
from fairdsl.backends.ssat.files.answers import answer_of_bounds
from fairdsl.backends.ssat.options import Groups, SsatOptions
from fairdsl.backends.ssat.questions import learnable
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Basis, Evidence, Reason, Refused, Unknown, Value, Word

_NAME = "ssat"


def answered(
    problem: Problem, budget: Budget, observer: Observer, distributions: Sequence[Distribution] = ()
) -> Value | Refused | Unknown:
    """The metric, exactly; as an interval where cells are known by their mass alone, or the budget ends first.

    ``distributions`` are those of the question, where somebody has made them.
    """
    try:
        return _answered(problem, budget, observer, distributions)
    except TooLargeError as error:
        evidence = Evidence(backend=_NAME, method="SDIMACS files, solved and read back")
        return Unknown(reason=Reason.MEMORY_OUT, detail=str(error), evidence=evidence)
    except DiagnosticError as error:  # an external solver that is not there, or not made for this
        return Refused(diagnostics=error.diagnostics)


def _answered(
    problem: Problem, budget: Budget, observer: Observer, distributions: Sequence[Distribution]
) -> Value | Refused | Unknown:
    options = budget.options[SsatOptions]
    encoding = Sdimacs(options)
    lowered = encoding.written(problem, None, distributions)
    answers = dict[str, Answer]()
    found = list[Bounds]()
    for place, (name, content) in enumerate(lowered.files.items()):
        observer.progress("ssat", place / len(lowered.files), f"{place} of {len(lowered.files)} files")
        how = Solving(budget=budget.share(len(lowered.files) - place))
        solved = encoding.solve_written(name, content, how, observer)
        assert isinstance(solved.found, Bounds), "a value is between two numbers"
        answers[name] = answer_of_bounds(solved.found, lowered.described[name])
        found.append(solved.found)
    verdict = encoding.recover(problem, lowered, answers)
    if isinstance(verdict, Refused):
        return verdict
    reason = next((each.reason for each in found if each.reason is not None), None)
    if isinstance(verdict, Value) and verdict.reason is Reason.INCOMPLETE and reason is not None:
        verdict = replace(verdict, reason=reason)
    own = _evidence(found, options.solver)
    notes = tuple(dict.fromkeys((*verdict.evidence.notes, *_not_learned(problem, options))))
    return replace(verdict, evidence=replace(own, notes=notes))


def _evidence(found: list[Bounds], solver: str | None) -> Evidence:
    """What an answer rests on, in words."""
    if not found:
        return Evidence(backend=_NAME, method="decided by unit propagation when SDIMACS files were to be written")
    files = f"{len(found)} SDIMACS file{'' if len(found) == 1 else 's'}"
    variables, clauses = max(each.variables for each in found), max(each.clauses for each in found)
    method = f"{files} of at most {variables:,} variables and {clauses:,} clauses, solved and read back"
    said = ", ".join(dict.fromkeys(each.detail for each in found if each.detail)) or "exact rationals"
    word = Word.OWN if solver is None else Word.SOLVER
    return Evidence(backend=_NAME, method=f"{method}: {said}", basis=Basis(word=word))


def _not_learned(problem: Problem, options: SsatOptions) -> list[str]:
    """Why every group was asked by itself, where that was not wanted."""
    if options.groups is not Groups.LEARN:
        return []
    why = (learnable(question_of(problem), Distribution(subject)) for subject in subjects_of(problem))
    return [f"every group was asked by itself, since {each}" for each in why if each is not None]
