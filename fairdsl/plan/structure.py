"""The proof that is asked for first: the model reads nothing in which the two individuals may differ.

Then it computes both alike, whatever it is, and every pair meets the demand. No engine is needed, and no search before
one. Trees are bound without the nodes that nobody reaches, so a test that decides nothing is not read either.
"""

from __future__ import annotations

from dataclasses import replace

from fairdsl.backends.contract import Budget, Capability, Cost, Facts, Observer, Offer, Refusal
from fairdsl.ir.alike import apart, computed_alike
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import narrow
from fairdsl.verdict import Arithmetic, Basis, Evidence, Holds

__all__ = ["Structure"]


class Structure:
    """Proves what follows from what a model reads."""

    name = "structure"
    about = Capability(
        questions=("pairs: same decision, score gap; whoever is compared",),
        quantities=(Quantity.HOLDS.value,),
        models=("every model that reads nothing in which the two may differ; of black boxes files alone",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Ready where the model reads nothing in which the two may differ."""
        if problem.quantity is not Quantity.HOLDS or not computed_alike(problem):
            return Refusal(why="the model reads something in which the two may differ", span=problem.model.span)
        return Offer(
            method="the model reads nothing in which the two may differ", decides=True, fits=2, cost=Cost.COUNT
        )

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Holds:
        """It holds; of the deployed file too where that is known to compute with nothing else."""
        evidence = Evidence(backend=self.name, method="the model reads nothing in which the two may differ")
        facts.so_far = Holds(evidence=evidence)
        if _file_too(problem):
            notes = ("the file computes both individuals alike, rounding included",)
            evidence = replace(evidence, notes=notes, basis=Basis(arithmetic=Arithmetic.DEPLOYED))
        return Holds(evidence=evidence)


def _pair(problem: Problem) -> Pair:
    assert isinstance(problem.question, Pair), "structure was asked what it refuses"
    return problem.question


def _file_too(problem: Problem) -> bool:
    """Whether the deployed file is known to compute with nothing in which the two may differ."""
    pair, model = _pair(problem), problem.model
    if model.deployed is None or pair.sure:
        return False
    if isinstance(model.opaque, BlackBox):  # what is known of it is known of the file
        return True
    # Importing the reader of files is for those that have one.
    from fairdsl.models.float32.decision import analysis_of, attributes_read

    file = analysis_of(model, narrow(problem.domain, pair.target))
    read = None if file is None else attributes_read(file)
    return read is not None and apart(pair).isdisjoint(read)
