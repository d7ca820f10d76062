"""The encoding for ``compile --to smtlib``: one script per question, with the whole model in it.

Nothing is folded, so that a second solver also checks what the procedure's bounds and folding decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fairdsl.backends.contract import Answer, Asked, Lowered, Offer, Refusal
from fairdsl.backends.smt.cases import widened
from fairdsl.backends.smt.engine import SMTLIB, reason_of
from fairdsl.backends.smt.procedure import refusal
from fairdsl.backends.smt.recover import checked, is_violation, pair_in
from fairdsl.backends.smt.script import whole_script
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Evidence, Fidelity, Holds, Reason, Unknown, Verdict, Violated

__all__ = ["SmtLib"]


class SmtLib:
    """SMT-LIB 2.6 in the logic QF_LIRA."""

    name = "smtlib"
    format = SMTLIB
    meaning: Mapping[str, str] = MappingProxyType(
        {
            "holds": "every file is unsat",
            "violated": "some file is sat; its model is a pair, to be replayed on the original model",
        }
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Every question about pairs that has a yes or a no."""
        return refusal(problem) or Offer(method="SMT-LIB 2.6, QF_LIRA", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property. All that leads back is in the problem itself."""
        script = whole_script(problem).encode()
        return Lowered(files={f"{problem.name}.{SMTLIB.extension}": script}, recover=None)

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """All files unsat: holds. Sat: violated, once replayed. Anything else: unknown."""
        fidelity = Fidelity.WIDENS if widened(problem) else Fidelity.EXACT
        evidence = Evidence(backend=self.name, method="an external solver's answers", fidelity=fidelity)
        verdicts = [_one(problem, answers.get(file), evidence) for file in lowered.files]
        for kind in (Violated, Unknown):
            for verdict in verdicts:
                if isinstance(verdict, kind):
                    return verdict
        return Holds(evidence=evidence)


def _one(problem: Problem, answer: Answer | None, evidence: Evidence) -> Verdict:
    if answer is None:
        return Unknown(reason=Reason.INCOMPLETE, detail="a file has no answer", evidence=evidence)
    if answer.status == "unsat":
        return Holds(evidence=evidence)
    if answer.status != "sat":
        return Unknown(reason=reason_of(answer), detail=answer.detail, evidence=evidence)
    points = pair_in(problem, answer.values)
    if points is None:
        return Unknown(reason=Reason.MALFORMED, detail="the values are no numbers", evidence=evidence)
    found = checked(problem, *points)
    if found is None:
        detail = "the solver's pair breaks nothing when replayed"
        return Unknown(reason=Reason.REPLAY_FAILED, detail=detail, evidence=evidence)
    if not is_violation(problem, found):
        detail = "the pair breaks the demand in exact arithmetic but not in the deployed file's"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, witnesses=(found,))
    return Violated(witnesses=(found,), evidence=evidence)
