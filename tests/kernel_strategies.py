"""Random small problems about kernel machines: few vectors, near and far, some of which cancel."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from fairdsl.ir.domain import Domain
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from tests.strategies import DYADIC, ORDERS, SMALL, domains, layers, models, questions

#: The linear kernel is read as a layer.
KERNELS = st.sampled_from([Kernel.RBF, Kernel.RBF, Kernel.POLY, Kernel.SIGMOID])


@st.composite
def machines(draw: st.DrawFn, inputs: int) -> KernelMachine:
    """A machine whose vectors come in pairs now and then, with opposite coefficients, so that scores are 0."""
    width, count = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    vectors = np.array([[float(draw(st.one_of(SMALL, DYADIC))) for _ in range(width)] for _ in range(count)])
    row = np.array([float(draw(st.one_of(SMALL, DYADIC))) for _ in range(count)])
    if draw(st.booleans()):
        vectors, row = np.concatenate([vectors, -vectors]), np.concatenate([row, -row])
    return KernelMachine(
        kernel=draw(KERNELS),
        # Features are below 300: no kernel value is so small that it could be taken for 0.
        gamma=draw(st.sampled_from([2.0**-11, 2.0**-13, float(np.float32(0.0003))])),
        coef0=draw(st.sampled_from([0.0, 1.0, -0.5])),
        degree=draw(st.integers(1, 3)),
        features=draw(layers(inputs, width, True)),
        vectors=ExactArray.from_floats(vectors),
        coefficients=ExactArray.from_floats(row[None, :]),
        offsets=ExactArray.from_floats([float(draw(st.sampled_from([0, 0, 1, -1, 0.25])))]),
    )


@st.composite
def kernel_models(draw: st.DrawFn, domain: Domain) -> Model:
    inputs = draw(models(domain, True, (0,))).inputs
    threshold = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1), Fraction(1, 3)]))
    granted = draw(st.integers(0, 1))
    rule = ByThreshold(
        relation=draw(st.sampled_from(ORDERS)), low=threshold, high=threshold, granted=granted, otherwise=1 - granted
    )
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=inputs,
        layers=(draw(layers(1, 1, True)),),
        rule=rule,
        favourable=1,
        opaque=draw(machines(len(inputs))),
    )


@st.composite
def kernel_problems(draw: st.DrawFn) -> Problem:
    domain = draw(domains())
    question = draw(questions(domain, draw(st.integers(0, 4)) == 0))
    model = draw(kernel_models(domain))
    return Problem(name="p", domain=domain, model=model, question=question, quantity=Quantity.HOLDS)
