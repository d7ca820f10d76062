"""What product networks are made of: conditions as outputs, and numbers that float32 stores."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt import VnnLib
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.vnnlib.chain import Chain, Stored, beside, in_float32, rounded
from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line, Some
from fairdsl.backends.smt.vnnlib.networks import conditions_chain
from fairdsl.backends.smt.vnnlib.product import product_of
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Or
from fairdsl.ir.model import Layer, Model
from fairdsl.ir.question import Relaxation
from tests.builders import ASKED, BOOLEAN, domain, integer, layer, linear, model, problem, real, score
from tests.drawing import examples
from tests.smt.vnnlib_reader import Network, assertions

WIDTH = 3
COEFFICIENTS = st.builds(Fraction, st.integers(-4, 4), st.sampled_from([1, 2, 3, 10]))
LINES = st.builds(
    lambda factors, constant: Line.of({f"X_{index}": factor for index, factor in enumerate(factors)}, constant),
    st.lists(COEFFICIENTS, min_size=WIDTH, max_size=WIDTH).filter(any),
    COEFFICIENTS,
)
FORMULAS = st.recursive(
    LINES,
    lambda parts: st.builds(
        lambda join, chosen: join(tuple(chosen)), st.sampled_from([All, Some]), st.lists(parts, min_size=1, max_size=4)
    ),
    max_leaves=9,
)


def stored(chain: Chain) -> Network:
    return Network(tuple((weight.tolist(), bias.tolist()) for weight, bias in chain.arrays), 11)


def exactly(chain: Chain, inputs: list[Fraction]) -> list[Fraction]:
    exact = Network(
        tuple(
            ([[Fraction(w) for w in row] for row in weight.tolist()], [Fraction(b) for b in bias.tolist()])
            for weight, bias in chain.arrays
        ),
        11,
    )
    return exact.outputs(inputs)


def satisfied(formula: Formula, values: list[Fraction]) -> bool:
    if isinstance(formula, Line):
        return formula.constant + sum(factor * values[int(name[2:])] for name, factor in formula.terms) >= 0
    return (all if isinstance(formula, All) else any)(satisfied(part, values) for part in formula.parts)


@settings(max_examples=examples(1.3))
@given(st.lists(FORMULAS, min_size=1, max_size=3), st.integers(0, 4), st.data())
def test_an_output_is_at_least_zero_where_its_condition_holds(
    formulas: list[Formula], depth: int, data: st.DataObject
) -> None:
    chain = conditions_chain(tuple(formulas), WIDTH, depth)
    assert len(chain.layers) > depth
    assert all(layer.exact for layer in chain.layers)  # thirds and tenths became whole numbers
    assert chain.single
    for _ in range(8):
        point = [data.draw(COEFFICIENTS) for _ in range(WIDTH)]
        outputs = exactly(chain, point)
        assert [output >= 0 for output in outputs] == [satisfied(formula, point) for formula in formulas]


def test_a_disjunction_is_no_deeper_than_it_must_be() -> None:
    far = Some(tuple(Line(((f"X_{index % WIDTH}", Fraction(1)),), Fraction(-index)) for index in range(1, 9)))
    assert len(conditions_chain((far,), WIDTH, 0).layers) == 1 + 1 + 3
    line = Line((("X_0", Fraction(1)),))
    assert len(conditions_chain((line, line), WIDTH, 0).layers) == 1
    assert len(conditions_chain((line, far), WIDTH, 0).layers) == 1 + 1 + 3


WHERE = {
    "a line": (linear({0: 3, 1: -1}, ">=", 2), lambda x, y: 3 * x - y >= 2),
    "an equation": (linear({0: 1, 1: 1}, "=", 5), lambda x, y: x + y == 5),
    "a disjunction": (
        Or((linear({0: 1, 1: 1}, "<", 3), And((linear({0: 1, 1: -1}, ">=", 2), linear({0: 2, 1: 1}, ">", 9))))),
        lambda x, y: x + y <= 2 or (x - y >= 2 and 2 * x + y >= 10),
    ),
}


@pytest.mark.parametrize("name", list(WHERE))
@pytest.mark.parametrize("deep", [False, True])
def test_a_condition_of_two_attributes_is_an_output(name: str, deep: bool) -> None:
    """Of a network of any depth, also without ReLUs; the box stays a box, and the atoms what they were."""
    where, expected = WHERE[name]
    people = domain(where, x=integer(0, 6), y=integer(0, 6), sex=BOOLEAN)
    hidden = model(layer([[1, -2, 3], [-1, 1, 1]], [-4, 1]), layer([[1, -2]], [1]), attributes=3)
    asked = problem(people, hidden if deep else score([1, -2, 3], -4), 2)
    plain = problem(domain(x=integer(0, 6), y=integer(0, 6), sex=BOOLEAN), asked.model, 2)
    for case, free in zip(cases(asked), cases(plain), strict=True):
        both, alone = product_of(asked, case), product_of(plain, free)
        assert [column.role for column in both.columns] == ["both", "both"]
        assert both.conditions
        for x, y in product(range(7), repeat=2):
            point = [Fraction(x), Fraction(y)]
            outputs = stored(both.chain).outputs(point)
            assert outputs[: len(case.atoms)] == stored(alone.chain).outputs(point)
            assert all(output >= 0 for output in outputs[len(case.atoms) :]) == expected(x, y)


def test_conditions_that_are_about_one_input_narrow_it() -> None:
    """`x + 3 sex <= 5` is one of x alone where the case fixes sex; one that leaves nobody leaves no file."""
    people = domain(linear({0: 1, 1: 3}, "<=", 5), x=integer(0, 9), sex=BOOLEAN)
    asked = problem(people, score([1, 1], -3), 1)
    lowered = VnnLib().lower(asked, ASKED)
    files = [name for name in lowered.files if ".case" in name and name.endswith(".vnnlib")]
    assert len(files) == 2
    for file in files:
        text = lowered.files[file].decode()
        assert "(assert (<= X_0 2.0))" in text
        assert "(assert (<= X_0 5.0))" not in text
        assert all(formula[1][0] in "XY" for formula in assertions(text))
    nobody = problem(domain(linear({0: 1, 1: 3}, "<=", 2), x=integer(0, 9), sex=BOOLEAN), score([1, 1], -3), 1)
    assert all(product_of(nobody, case) is None for case in cases(nobody))


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    """Chains whose numbers have about so many bits: 20, 40 or 53."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    bits = draw(st.sampled_from([20, 40, 53]))
    inputs_of_more = draw(st.booleans())
    widths = [WIDTH, *draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))]

    def numbers(shape: tuple[int, ...], wide: bool) -> np.ndarray:
        scale = 2.0 ** ((bits if wide else 20) - 2)
        return np.rint(rng.uniform(-1, 1, shape) * scale) / scale

    layers = []
    for at, (before, after) in enumerate(pairwise(widths)):
        weight, bias = numbers((after, before), wide=at > 0 or inputs_of_more), numbers((after,), wide=True)
        layers.append(Stored(weight, bias, np.zeros_like(weight), np.zeros_like(bias)))
    return Chain(tuple(layers))


@settings(max_examples=examples(1.3))
@given(chains(), st.data())
def test_the_same_function_in_float32(chain: Chain, data: st.DataObject) -> None:
    found = in_float32(chain)
    if found is None:
        assert not chain.single
        return
    assert found.single
    for _ in range(4):
        point = [data.draw(COEFFICIENTS) for _ in range(WIDTH)]
        assert exactly(found, [*point, Fraction(1)]) == exactly(chain, point)


@settings(max_examples=examples(1.3))
@given(chains(), st.data())
def test_rounding_to_float32_is_within_its_bound(chain: Chain, data: st.DataObject) -> None:
    reach = np.full(WIDTH, 4.0)
    found = rounded(chain, reach)
    assert found is not None
    assert found.single
    errors = found.errors(reach)
    assert (errors <= 1e-3).all()
    for _ in range(4):
        point = [data.draw(COEFFICIENTS.filter(lambda number: abs(number) <= 4)) for _ in range(WIDTH)]
        for ours, theirs, error in zip(exactly(found, point), exactly(chain, point), errors, strict=True):
            assert abs(ours - theirs) <= Fraction(error)


def test_what_rounding_would_change_too_much_stays_as_it_is() -> None:
    large = Chain((Stored(np.array([[1e9 + 0.1]]), np.zeros(1), np.zeros((1, 1)), np.zeros(1)),))
    assert rounded(large, np.array([1.0])) is None
    assert rounded(large, np.array([np.inf])) is None
    beyond = Chain((Stored(np.array([[1e60]]), np.zeros(1), np.zeros((1, 1)), np.zeros(1)),))
    assert rounded(beyond, np.array([1.0])) is None
    assert in_float32(beyond) is None


def test_two_chains_side_by_side() -> None:
    one = conditions_chain((Line((("X_0", Fraction(2)),), Fraction(-1)),), 2, 2)
    other = conditions_chain((Some((Line((("X_1", Fraction(1)),)), Line((("X_0", Fraction(-1)),)))),), 2, 2)
    for point in ([Fraction(0), Fraction(-1)], [Fraction(3), Fraction(-2)], [Fraction(-3, 7), Fraction(2)]):
        assert exactly(beside(one, other), point) == exactly(one, point) + exactly(other, point)


def float32_model() -> Model:
    rng = np.random.default_rng(5)
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in ((5, 3), (4, 5), (1, 4))]
    return model(
        *(
            Layer(
                weight=ExactArray.from_floats(weight),
                bias=ExactArray.from_floats(rng.standard_normal(len(weight)).astype(np.float32)),
                slope=ExactArray.from_floats(np.full(len(weight), slope)),
            )
            for weight, slope in zip(weights, (0.0, 0.0, 1.0), strict=True)
        ),
        attributes=3,
    )


def test_the_product_of_a_float32_model_is_one_without_rounding() -> None:
    """Folding a protected value into a bias takes more than 24 bits; nothing is lost, and verifiers can read it."""
    people = domain(age=integer(18, 90), pay=real(-1, 1), code=integer(3, 9))
    asked = problem(people, float32_model(), 2, relax=(Relaxation(attribute=0, by=Fraction(2)),))
    for case in cases(asked)[:4]:
        both = product_of(asked, case)
        assert both.chain.single
        assert set(both.errors) == {0.0}
        assert [column.role for column in both.columns] == ["a", "offset", "both", "nothing"]
        assert (both.columns[-1].low, both.columns[-1].high) == (1, 1)
