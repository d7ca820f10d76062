"""VNN-LIB files: both versions parse, admit every pair of the question, and say unsat only where it holds."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import vnnlib
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from vnnlib.compat import transform

from fairdsl.backends.contract import Refusal
from fairdsl.backends.encoding import Lowered
from fairdsl.backends.smt import VnnLib
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.partition.grid import Grid, restricted
from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line, closed
from fairdsl.backends.smt.vnnlib.pair import greatest, network_of
from fairdsl.backends.smt.vnnlib.product import product_of
from fairdsl.ir.domain import Domain, Point
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.model import Layer
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity, Relaxation
from fairdsl.numerics.exact import exact_scores
from fairdsl.verdict import Holds, Unknown, Violated
from tests.agreement.engines import about_somebody, disagreement
from tests.builders import ASKED, BOOLEAN, domain, integer, layer, linear, model, problem, real, score
from tests.drawing import examples
from tests.oracle import true_for, truth
from tests.smt.test_agreement import ask_z3
from tests.smt.test_scripts import EXPECTED, small_problem
from tests.smt.vnnlib_reader import Network, assertions, commands, smt_of, true
from tests.strategies import domains, predicates, problems

PAIRS = problems(Quantity.HOLDS)


def lowered_by(problem: Problem) -> Lowered:
    encoding = VnnLib()
    offer = encoding.offer(problem)
    if isinstance(offer, Refusal):
        reject()
    return encoding.lower(problem, ASKED)


@st.composite
def conditions_of_people(draw: st.DrawFn) -> tuple[Domain, Predicate]:
    people = draw(domains())
    return people, draw(predicates(people.attributes))


@settings(max_examples=examples(2.5))
@given(conditions_of_people())
def test_closing_a_condition_changes_nothing_for_integers(drawn: tuple[Domain, Predicate]) -> None:
    people, predicate = drawn
    formula = closed(predicate, lambda variable: Line(((f"X_{variable.attribute}", Fraction(1)),)), lambda _: True)
    relaxed = closed(predicate, lambda variable: Line(((f"X_{variable.attribute}", Fraction(1)),)), lambda _: False)
    for point in product(*([Fraction(v) for v in attribute.values] for attribute in people.attributes)):
        values = {f"X_{index}": value for index, value in enumerate(point)}
        expected = true_for(predicate, {Who.EACH: point})
        assert satisfied(formula, values) == expected
        assert satisfied(relaxed, values) or not expected


def satisfied(formula: Formula, values: dict[str, Fraction]) -> bool:
    if isinstance(formula, Line):
        return formula.constant + sum(factor * values[name] for name, factor in formula.terms) >= 0
    return (all if isinstance(formula, All) else any)(satisfied(part, values) for part in formula.parts)


def script_of(lowered: Lowered, file: str) -> str:
    """The file and its network as one SMT-LIB script."""
    text = lowered.files[file].decode()
    network = Network.read(lowered.files[lowered.described[file]["network"]])
    width, outputs = len(network.layers[0][0][0]), len(network.layers[-1][1])
    lines = ["(set-logic QF_LRA)"]
    if lowered.described[file]["version"] == "2.0":
        copies = [("X", "Y", "f"), ("X2", "Y2", "g")]
        names = [
            ([f"|{x}[0,{i}]|" for i in range(width)], [f"|{y}[0,{i}]|" for i in range(outputs)], prefix)
            for x, y, prefix in copies
        ]
    else:
        names = [([f"X_{i}" for i in range(width)], [f"Y_{i}" for i in range(outputs)], "h")]
    for inputs, results, prefix in names:
        lines += [f"(declare-const {name} Real)" for name in inputs]
        plain = [f"{prefix}out{i}" for i in range(outputs)]
        lines += network.smt(inputs, plain, prefix)
        lines += [f"(define-fun {name} () Real {own})" for name, own in zip(results, plain, strict=True)]
    lines += [f"(assert {smt_of(formula)})" for formula in assertions(text)]
    inputs = " ".join(name for group in names for name in group[0])
    return "\n".join([*lines, "(check-sat)", f"(get-value ({inputs}))"]) + "\n"


def queries(lowered: Lowered) -> list[str]:
    return [file for file in lowered.files if file.endswith(".vnnlib")]


@settings(max_examples=examples(0.5))
@given(PAIRS)
def test_solved_and_recovered(problem: Problem) -> None:
    encoding, lowered, known = VnnLib(), lowered_by(problem), truth(problem)
    answers = {}
    for file in queries(lowered):
        answers[file] = ask_z3(script_of(lowered, file))
        assert answers[file].status in ("sat", "unsat")
    for alternative in lowered.settled_by:
        if all(answers[file].status == "unsat" for file in alternative):
            assert known.holds
    verdict = encoding.recover(problem, lowered, answers)
    assert isinstance(verdict, Holds | Violated | Unknown)
    if isinstance(verdict, Unknown):
        assert verdict.reason.value == "replay_failed"
    else:
        assert disagreement(problem, about_somebody(problem, verdict), known) is None


def individuals(problem: Problem, described: dict, pair: tuple) -> dict[str, Fraction] | None:
    """The point of a file that stands for a pair; None where the file fixes other values."""
    points = dict(zip("ab", pair, strict=True))
    names = [attribute.name for attribute in problem.domain.attributes]
    for who, values in described["fixed"].items():
        if any(points[who][names.index(name)] != Fraction(text) for name, text in values.items()):
            return None
    found = {}
    for entry in described["inputs"]:
        if "attribute" in entry:
            index = names.index(entry["attribute"])
            a, b = points["a"][index], points["b"][index]
            found[entry["name"]] = {"both": a, "a": a, "b": b, "offset": b - a}[entry["role"]]
        else:
            # The last input may be the one that is always 1, for digits that a bias in float32 has no place for.
            found[entry["name"]] = Fraction(int(entry is described["inputs"][-1] and len(found) > 0))
    return found


def no_indicators(problem: Problem) -> bool:
    return len(problem.model.inputs) == len(problem.domain.attributes)


@settings(max_examples=examples(0.5))
@given(PAIRS)
def test_every_violation_is_a_point_of_both_versions(problem: Problem) -> None:
    """Widening loses nobody: not at integers, not at ties, not through rounding, not through clipping."""
    assume(no_indicators(problem))
    assume(not truth(problem).holds)
    assert set(admitted(problem, lowered_by(problem)).values()) == {3}


def test_a_tie_that_rounding_would_lose() -> None:
    """0.7 + 0.1 - 0.8 is 0, which is granted; with the float64 numbers it is less than 0."""
    people = domain(x=integer(0, 1), y=integer(0, 1), sex=BOOLEAN)
    asked = problem(people, score(["7/10", "1/10", -1], "-8/10", relation=">="), 2)
    found = admitted(asked, VnnLib().lower(asked, ASKED))
    assert found
    assert set(found.values()) == {3}


def admitted(problem: Problem, lowered: Lowered) -> dict[tuple[Point, Point], int]:
    """By which versions (1: 2.0, 2: 1.0) the first violations are admitted."""
    violations = truth(problem).violations[:20]
    found = dict.fromkeys(violations, 0)
    for file in queries(lowered):
        about = lowered.described[file]
        network = Network.read(lowered.files[about["network"]])
        described = {"fixed": {}} | about | lowered.described[about["network"]]
        for pair in violations:
            # Of a symmetric question one orientation is enough.
            for oriented in [pair, pair[::-1]] if problem.question.symmetric else [pair]:
                values = individuals(problem, described, oriented)
                if values is not None and admits(lowered.files[file].decode(), about, network, values):
                    found[pair] |= 1 if about["version"] == "2.0" else 2
    return found


def admits(text: str, about: dict, network: Network, values: dict[str, Fraction]) -> bool:
    if about["version"] == "2.0":
        for x, y in (("X", "Y"), ("X2", "Y2")):
            width = len(network.layers[0][0][0])
            outputs = network.outputs([values[f"{x}[0,{index}]"] for index in range(width)])
            values = values | {f"{y}[0,{index}]": value for index, value in enumerate(outputs)}
    else:
        outputs = network.outputs([values[f"X_{index}"] for index in range(len(values))])
        values = values | {f"Y_{index}": value for index, value in enumerate(outputs)}
    return all(true(formula, values) for formula in assertions(text))


@settings(max_examples=examples(0.7))
@given(PAIRS)
def test_the_reference_parser_reads_version_2(problem: Problem) -> None:
    lowered = lowered_by(problem)
    for file in queries(lowered):
        about, text = lowered.described[file], lowered.files[file].decode()
        network = Network.read(lowered.files[about["network"]])
        if about["version"] == "1.0":
            declared = {command[1] for command in commands(text) if command[0] == "declare-const"}
            assert {f"X_{index}" for index in range(len(network.layers[0][0][0]))} <= declared
            assert {f"Y_{index}" for index in range(len(network.layers[-1][1]))} <= declared
            assert all(command[0] in ("declare-const", "assert") for command in commands(text))
            assert len(vnnlib.parse_query_string(as_version_2(text, network)).assertions) == len(assertions(text))
            a_box_and_bounds_of_outputs(text)
            continue
        query = vnnlib.parse_query_string(text)
        assert [one.equal_to for one in query.networks] == ["", "f"]
        assert list(query.networks[0].inputs[0].shape) == [1, len(network.layers[0][0][0])]
        assert list(query.networks[1].outputs[0].shape) == [1, len(network.layers[-1][1])]
        # Of another type a solver would answer about rounded arithmetic, which proves nothing about the reals.
        kinds = {tensor.dtype for one in query.networks for tensor in (*one.inputs, *one.outputs)}
        assert kinds == {vnnlib.DType.Real}
        assert len(query.assertions) == len(assertions(text))


def a_box_and_bounds_of_outputs(text: str) -> None:
    """What every verifier of VNN-COMP reads: at most two bounds of each input, and one of each output."""
    bounds = [(relation, name) for relation, name, _ in assertions(text)]
    assert len(set(bounds)) == len(bounds)
    assert all(name[0] == "X" or (name[0] == "Y" and relation == ">=") for relation, name in bounds)


def as_version_2(text: str, network: Network) -> str:
    """A file of version 1.0 with the declarations and the names of version 2.0, whose parser checks types."""
    widths = len(network.layers[0][0][0]), len(network.layers[-1][1])
    tensors = f"(declare-input X real [1,{widths[0]}]) (declare-output Y real [1,{widths[1]}])"
    asserted = "\n".join(line for line in text.splitlines() if line.startswith("(assert"))
    return f"(vnnlib-version <2.0>) (declare-network f {tensors})\n" + re.sub(r"\b([XY])_(\d+)", r"\1[0,\2]", asserted)


@settings(max_examples=examples(0.5))
@given(PAIRS)
def test_numbers_have_neither_exponents_nor_fractions(problem: Problem) -> None:
    for name, content in lowered_by(problem).files.items():
        if name.endswith(".vnnlib"):
            code = " ".join(line.split(";")[0] for line in content.decode().splitlines())
            tokens = code.replace("(", " ").replace(")", " ").split()
            numbers = [token for token in tokens if token[0].isdigit() or (token[0] == "-" and len(token) > 1)]
            assert all(re.fullmatch(r"-?\d+\.\d+", token) for token in numbers)


def test_golden_files(as_expected: Callable[[Path, str], None]) -> None:
    """Networks are left out: their names say their content."""
    lowered = VnnLib().lower(small_problem(), ASKED)
    for name in queries(lowered):
        if name in ("p.vnnlib", "p.case1.vnnlib"):
            as_expected(EXPECTED / name, lowered.files[name].decode())


def test_a_question_about_a_box_stays_one() -> None:
    """Many verifiers take bounds of single inputs only; relaxing must not cost that."""
    people = domain(age=integer(18, 90), income=real(0, 100), sex=BOOLEAN)
    network = model(layer([[1, "1/4", 3], [-1, 1, 0]], [-40, 1]), layer([[1, -2]], [0], 1), attributes=3)
    relaxed = (Relaxation(attribute=0, by=Fraction(5)), Relaxation(attribute=1, by=Fraction("2.5")))
    asked = problem(people, network, 2, relax=relaxed, target=linear({0: 1}, ">=", 30))
    lowered = VnnLib().lower(asked, ASKED)
    files = [file for file in queries(lowered) if lowered.described[file]["version"] == "1.0"]
    assert len(files) == 2
    for file in files:
        for formula in assertions(lowered.files[file].decode()):
            assert formula[0] in ("<=", ">=")
            assert isinstance(formula[1], str)
            assert isinstance(formula[2], str)
        # What verifiers of VNN-COMP make of it: one box of inputs, one polytope of outputs.
        network = Network.read(lowered.files[lowered.described[file]["network"]])
        (case,) = transform(vnnlib.parse_query_string(as_version_2(lowered.files[file].decode(), network)))
        assert case.input_box == [(30.0, 90.0), (-5.0, 5.0), (0.0, 100.0), (-2.5, 2.5)]
        assert len(case.output_constraints) == 1


@pytest.mark.parametrize(("low", "high"), [(0, 100), (None, 100), (0, None), (None, None)])
def test_the_product_computes_the_partner(low: int | None, high: int | None) -> None:
    """b = a + d, clipped to what the attribute can be, also where it has no ends."""
    people = domain(income=real(low, high), sex=BOOLEAN)
    network = model(layer([[1, 7], [-1, 1]], [-40, 1]), layer([[1, -2]], [0], 1), attributes=2)
    asked = problem(people, network, 1, relax=(Relaxation(attribute=0, by=Fraction(8)),))
    case = cases(asked)[0]
    both = product_of(asked, case)
    stored = Network(tuple((weight.tolist(), bias.tolist()) for weight, bias in both.chain.arrays), 11)
    for a, d in [(0, -8), (0, 8), (50, 3), (97, 8), (100, -8), (3, -5)]:
        b = a + d
        b = b if low is None else max(b, low)
        b = b if high is None else min(b, high)
        fixed = [both.fixed[who, 1] for who in "ab"]
        scores = [exact_scores(network, (Fraction(x), sex)) for x, sex in zip((a, b), fixed, strict=True)]
        expected = [
            sum(f * s for f, s in zip(atom.a + atom.b, scores[0] + scores[1], strict=True)) + atom.constant
            for atom in case.atoms
        ]
        assert stored.outputs([Fraction(a), Fraction(d)]) == expected


def test_the_runtime_computes_what_the_file_says() -> None:
    rng = np.random.default_rng(3)
    weights = [rng.standard_normal(shape).astype(np.float32) for shape in ((6, 3), (5, 6), (1, 5))]
    stack = [
        Layer(
            weight=ExactArray.from_floats(weight),
            bias=ExactArray.from_floats(rng.standard_normal(len(weight)).astype(np.float32)),
            slope=ExactArray.from_floats(np.full(len(weight), slope)),
        )
        for weight, slope in zip(weights, (0.0, 1.0, 1.0), strict=True)
    ]
    asked = problem(domain(age=integer(0, 9), pay=real(-1, 1), sex=BOOLEAN), model(*stack, attributes=3), 2)
    lowered = VnnLib().lower(asked, ASKED)
    for file in queries(lowered):
        content = lowered.files[lowered.described[file]["network"]]
        network = Network.read(content)
        assert network.element == (1 if lowered.described[file]["version"] == "2.0" else network.element)
        session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        kind = np.float32 if network.element == 1 else np.float64
        for row in rng.uniform(0, 1, (20, len(network.layers[0][0][0]))).astype(np.float32).astype(kind):
            (found,) = session.run(["Y"], {"X": row[None, :]})
            exact = network.outputs([Fraction(float(value)) for value in row])
            assert np.allclose(found[0], [float(value) for value in exact], rtol=1e-4, atol=1e-5)


@settings(max_examples=examples(1))
@given(PAIRS)
def test_rounding_is_within_its_bound(problem: Problem) -> None:
    """The stored network's scores and the model's, both exact, are no further apart than the bound."""
    assume(no_indicators(problem))
    chain = network_of(problem)
    ends = [attribute.bounds for attribute in problem.domain.attributes]
    errors = chain.errors(greatest(ends))
    stored = Network(
        tuple(
            ([[Fraction(w) for w in row] for row in weight.tolist()], [Fraction(b) for b in bias.tolist()])
            for weight, bias in chain.arrays
        ),
        11,
    )
    for point in list(product(*([low, high] for low, high in ends)))[:8]:
        for ours, theirs, error in zip(stored.outputs(point), exact_scores(problem.model, point), errors, strict=True):
            assert abs(ours - theirs) <= Fraction(error)


def test_thirds_are_stored_with_a_bound_and_refused_without_ends() -> None:
    rule = score(["1/3", 1], threshold="1/7")
    assert network_of(problem(domain(pay=real(0, 1), sex=BOOLEAN), rule, 1)).errors(np.array([1.0, 1.0]))[0] > 0
    refused = VnnLib().offer(problem(domain(pay=real(), sex=BOOLEAN), rule, 1))
    assert isinstance(refused, Refusal)
    assert "no float64 stores" in refused.why
    assert not isinstance(VnnLib().offer(problem(domain(pay=real(), sex=BOOLEAN), score([3, 1]), 1)), Refusal)


def test_partitions_share_their_networks() -> None:
    people = domain(age=integer(0, 29), sex=BOOLEAN)
    network = model(layer([[1, 7], [-1, 1]], [-40, 1]), layer([[1, -2]], [0], 1), attributes=2)
    asked = problem(people, network, 1, relax=(Relaxation(attribute=0, by=Fraction(2)),))
    grid = Grid.of(asked, 10)
    names = [set(VnnLib().lower(restricted(asked, grid.box(index)), ASKED).files) for index in range(grid.count)]
    networks = [{name for name in files if name.endswith(".onnx")} for files in names]
    assert len(networks) == 3
    assert len(set.union(*networks)) == len(networks[0])


def test_instances_are_listed_as_competitions_have_them() -> None:
    lowered = lowered_by(small_problem())
    described = {name: {**lowered.described[name], "sha256": ""} for name in lowered.files}
    ((name, content),) = VnnLib().beside(described, 7).items()
    rows = [line.split(",") for line in content.decode().splitlines()]
    assert name == "instances.csv"
    assert rows
    assert {query for _, query, _ in rows} == {each for each in lowered.files if ".case" in each}
    assert all(network.endswith(".onnx") and network in lowered.files for network, _, _ in rows)
    assert all(network in lowered.files[query].decode() for network, query, _ in rows)
    assert {seconds for *_, seconds in rows} == {"7"}
