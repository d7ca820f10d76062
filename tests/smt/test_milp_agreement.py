"""Linear programs and their certificates against brute force: never refuted where a pair exists."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import Case, cases
from fairdsl.backends.smt.milp.decide import settle_case
from fairdsl.backends.smt.milp.highs import mixed_point
from fairdsl.backends.smt.milp.place import places
from fairdsl.backends.smt.milp.program import program, with_binaries
from fairdsl.backends.smt.milp.query import pair_query
from fairdsl.backends.smt.region import Region
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Who
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity, Relaxation
from tests.builders import BOOLEAN, domain, integer, layer, linear, member, model, problem, real, score
from tests.drawing import examples
from tests.oracle import scores, truth
from tests.strategies import problems

NETWORKS = problems(Quantity.HOLDS, widths=(0, 2, 3, 4))


def meeting(
    asked: Problem, violations: list[tuple[Point, Point]], case: Case, region: Region
) -> list[tuple[Point, Point]]:
    """The pairs of the region that meet the case, among all violations."""
    found = []
    for a, b in violations:
        inside = all(s.contains(x) for s, x in zip((*region.a, *region.b), (*a, *b), strict=True))
        if inside and all(value > 0 if atom.strict else value >= 0 for atom, value in atoms(asked, case, a, b)):
            found.append((a, b))
    return found


def atoms(asked: Problem, case: Case, a: Point, b: Point):
    of_a, of_b = scores(asked.model, a), scores(asked.model, b)
    for atom in case.atoms:
        value = sum((x * y for x, y in zip(atom.a, of_a, strict=True)), atom.constant)
        yield atom, value + sum((x * y for x, y in zip(atom.b, of_b, strict=True)), Fraction(0))


@settings(max_examples=examples(0.7))
@given(NETWORKS)
def test_every_answer_is_right(asked: Problem) -> None:
    violations = truth(asked).violations
    for case in cases(asked):
        (bounded,) = Bounder(asked.model, case).bound([case.region])
        answer = settle_case(asked, case, bounded, seconds=5.0, nodes=500)
        known = meeting(asked, violations, case, case.region)
        if answer.status == "candidate":
            assert (answer.a, answer.b) in known
        else:
            assert not (known and answer.status == "refuted")


@settings(max_examples=examples(0.5))
@given(NETWORKS, st.data())
def test_parts_of_a_case_too(asked: Problem, data: st.DataObject) -> None:
    """Regions inside the case's: indicators and listings follow the values that are left."""
    violations = truth(asked).violations
    for case in cases(asked)[:3]:
        region = case.region
        for _ in range(data.draw(st.integers(1, 3))):
            halves = [half for way in region.halves() for half in way if not half.empty]
            region = data.draw(st.sampled_from(halves)) if halves else region
        (bounded,) = Bounder(asked.model, case).bound([region])
        answer = settle_case(asked, case, bounded, seconds=5.0, nodes=500)
        known = meeting(asked, violations, case, region)
        assert (answer.a, answer.b) in known if answer.status == "candidate" else not (known and "ref" in answer.status)


@settings(max_examples=examples(0.5))
@given(NETWORKS)
def test_the_program_admits_every_pair(asked: Problem) -> None:
    """The mixed-integer program is a relaxation: there is a point with a t as great as any pair reaches."""
    violations = truth(asked).violations
    for case in cases(asked)[:4]:
        known = meeting(asked, violations, case, case.region)
        if not known:
            continue
        query = pair_query(asked, case)
        whole = with_binaries(program(query, places(query, [case.region])[0]))
        reached = max(min(value for _, value in atoms(asked, case, a, b)) for a, b in known)
        whole.low[-1] = float(reached) - 1e-6 * max(1.0, abs(float(reached)))
        assert not mixed_point(whole, seconds=5.0).infeasible
        whole.low[-1] = 1e9
        assert mixed_point(whole, seconds=5.0).infeasible


PEOPLE = domain(age=integer(0, 9), hours=integer(0, 9), sex=BOOLEAN)
#: With sex comes a bonus, which counts where age or hours are large.
NETWORK = model(
    layer([[1, 0, 8], [0, 1, 8], [1, 0, 0], [0, 1, 0]], [-14, -14, -5, -5]),
    layer([[1, 1, "-1/2", "-1/2"]], ["-1/4"], 1),
    attributes=3,
)


def settled(asked: Problem, **limits: object):
    for case in cases(asked):
        (bounded,) = Bounder(asked.model, case).bound([case.region])
        yield bounded, settle_case(asked, case, bounded, seconds=600.0, **limits)


def test_a_pair_is_found_and_is_one() -> None:
    asked = problem(PEOPLE, NETWORK, 2)
    pairs = [answer for _, answer in settled(asked) if answer.status == "candidate"]
    assert pairs
    assert all((answer.a, answer.b) in truth(asked).violations for answer in pairs)


def test_conditions_of_the_domain_and_the_pair_take_part() -> None:
    """Refuted because of them, with certificates: without each of them there is a pair."""
    people = domain(where=linear({0: 1, 1: 1}, "<=", 10), x=integer(0, 9), y=integer(0, 9), sex=BOOLEAN)
    network = model(layer([[1, 1, 1]], [-10]), layer([[1]], ["-1/2"], 1), attributes=3)
    found = {answer.status for _, answer in settled(problem(people, network, 2, target=linear({0: 1, 1: 2}, ">", 14)))}
    assert "candidate" in found
    # x + y < 10 is x + y <= 9 between whole numbers; then nobody's unit is above zero.
    found = {answer.status for _, answer in settled(problem(people, network, 2, target=linear({0: 1, 1: 1}, "<", 10)))}
    assert found == {"refuted"}


def test_relaxed_attributes_stay_within_their_distance() -> None:
    people = domain(age=integer(0, 90), sex=BOOLEAN)
    for by in (1, 2):
        asked = problem(
            people,
            model(layer([[1, 0], [-1, 0]], [-50, 45]), layer([[1, 1]], ["-1/2"], 1), attributes=2),
            1,
            relax=(Relaxation(attribute=0, by=Fraction(by)),),
            pair_target=linear({0: 1}, ">=", 46, who=Who.A),
            target=linear({0: 1}, "<=", 50),
        )
        found = {answer.status for _, answer in settled(asked)}
        assert found <= {"refuted", "candidate"}
        assert ("candidate" in found) == bool(truth(asked).violations) == (by == 2)


def test_a_listed_attribute_takes_one_value() -> None:
    """Two indicators of one attribute are never 1 together: box bounds alone cannot know that."""
    people = domain(job=integer(0, 5), sex=BOOLEAN)
    base = model(layer([[2, 2, "1/2"]], [-3], 0), layer([[1]], ["-2/5"], 1), attributes=3)
    inputs = (IndicatorInput(member(0, 1)), IndicatorInput(member(0, 4)), AttributeInput(1))
    network = Model(name="m", outcomes=base.outcomes, inputs=inputs, layers=base.layers, rule=base.rule, favourable=1)
    asked = problem(people, network, 1)
    assert not truth(asked).violations
    assert {answer.status for _, answer in settled(asked)} == {"refuted"}
    assert any(not bounded.settled for bounded, _ in settled(asked))


def test_real_attributes_are_branched_on_by_signs_alone() -> None:
    people = domain(x=real(-1, 1), y=real(-1, 1), sex=BOOLEAN)
    # |x| + |y| >= 0 > -1/4, whoever asks: needs the signs of four units in each copy.
    network = model(
        layer([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], [0, 0, 0, 0]),
        layer([[1, 1, 1, 1]], ["1/4"], 1),
        attributes=3,
    )
    assert {answer.status for _, answer in settled(problem(people, network, 2))} == {"refuted"}


def test_unbounded_attributes_are_left_to_others() -> None:
    people = domain(x=real(), sex=BOOLEAN)
    answers = [answer.status for _, answer in settled(problem(people, score([1, 0]), 1))]
    assert set(answers) <= {"unknown", "candidate", "infeasible", "refuted"}
    network = model(layer([[1, 1]], [0]), layer([[1]], [-1], 1), attributes=2)
    assert "refuted" not in {a.status for _, a in settled(problem(people, network, 1)) if a.detail != "by bounds"}


def test_what_the_solver_finds_infeasible_is_no_proof() -> None:
    """Without branch and bound only the solver's word is left, and it is not called a refutation."""
    people = domain(x=integer(-9, 9), sex=BOOLEAN)
    # |x| less |x|, by four units: always 1/4.
    network = model(
        layer([[1, 0], [-1, 0], [1, 0], [-1, 0]], [0, 0, 0, 0]), layer([[1, 1, -1, -1]], ["1/4"], 1), attributes=2
    )
    asked = problem(people, network, 1)
    assert {answer.status for _, answer in settled(asked, nodes=1)} == {"infeasible"}
    assert {answer.status for _, answer in settled(asked)} == {"refuted"}


@pytest.mark.parametrize("nodes", [1, 3])
def test_the_limit_of_nodes_is_kept(nodes: int) -> None:
    asked = problem(PEOPLE, NETWORK, 2)
    assert all(answer.nodes <= 2 * nodes + 1 for _, answer in settled(asked, nodes=nodes))
