"""The toy on which the kernels are compiled, or loaded (:mod:`fairdsl.backends.warmup`)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.backends.warmup import Kernels
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity

#: All kernels of this engine.
KERNELS = Kernels("complete", f"{__name__}:use_all", "some ten seconds of a processor")


def use_all() -> None:
    """Kernels are compiled, or loaded, when they are used: refine a toy, and cut no box of it into regions."""
    import numpy as np

    from fairdsl.backends.intervals.lowering import lower
    from fairdsl.backends.intervals.refine import Refinement
    from fairdsl.backends.intervals.splits import Splitting

    refinement = Refinement.start(lower(_toy()).task)
    refinement.advance(1)
    refinement.bounds()
    Splitting(refinement, range(4), regions=True).regions_of(np.zeros((0, 4, 2), dtype=np.int64), 0.0)


def _toy() -> Problem:
    """Four numbers, a protected one, three units: enough boxes to be split, units to be cut by."""
    numbers = (Attribute(name=f"x{number}", type=Integer(low=0, high=99)) for number in range(4))
    domain = Domain(name="Toy", attributes=(*numbers, Attribute(name="group", type=Boolean())), where=TRUE)
    hidden = _layer([[3, -2, 1, 5, 70], [-1, 4, 2, -3, -30], [2, 3, -5, 1, 20]], [-300, -100, 30], slope=0)
    model = Model(
        name="toy",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(number) for number in range(5)),
        layers=(hidden, _layer([[2, -3, 1]], [-100], slope=1)),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
    )
    question = Pair(differ=(4,), mode=Differ.ANY)
    return Problem(name="toy", domain=domain, model=model, question=question, quantity=Quantity.FAIR_SHARE)


def _layer(weight: Sequence[Sequence[int]], bias: Sequence[int], *, slope: int) -> Layer:
    weights, biases, slopes = (ExactArray.from_floats(numbers) for numbers in (weight, bias, [slope] * len(bias)))
    return Layer(weight=weights, bias=biases, slope=slopes)
