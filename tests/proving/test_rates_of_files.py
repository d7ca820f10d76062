"""Rates whose proofs are more than the number in real arithmetic: of the deployed file, of influences, along paths."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper

from fairdsl.backends.contract import Silent
from fairdsl.cli.app import cli
from fairdsl.clock import Deadline
from fairdsl.elaborate import elaborate
from fairdsl.ir.domain import Point
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.proving import Proved, prove_spec
from fairdsl.proving.distributions import order_for
from fairdsl.proving.question import Unproved
from fairdsl.semantics import front_end
from fairdsl_verify import RejectedError, masses, rates
from fairdsl_verify.bounds import Integers
from fairdsl_verify.command import check
from fairdsl_verify.groups import RatesQuestion
from fairdsl_verify.rates import Cohort, Number, cohort_of
from tests.agreement import group_truth
from tests.agreement.bank import groups_of_laws, groups_of_rows
from tests.oracle import RELATIONS, scores
from tests.proving.test_checker_review import chain_file
from tests.proving.test_rates_proofs import SPEC, by_definition, person_masses, rates_of
from tests.rates.test_boxed_paths import problems, sums, whole
from tests.rule_strategies import rule_models
from tests.strategies import models, shares

F = Fraction
#: People whose decision is open, at most: each of all decisions that they may get is tried.
OPEN = 4


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Problem, Fraction]:
    """About groups, of a score, and how far off it may be: often just as far as somebody is from the threshold."""
    problem = draw(st.one_of(groups_of_laws(), groups_of_rows()))
    model = draw(models(problem.domain, True, widths=(0,)))
    rule = model.rule
    assert isinstance(rule, ByThreshold)
    model = replace(model, favourable=draw(st.integers(0, len(model.outcomes) - 1)))
    far = sorted({abs(scores(model, one)[0] - rule.low) for one in inputs(problem)})
    by = draw(st.sampled_from([F(0), F(1, 1000), *far[:3]]))
    return replace(problem, model=model), by


def inputs(problem: Problem) -> list[Point]:
    """All that the model may be fed."""
    found = [[F(value) for value in attribute.values or ()] for attribute in problem.domain.attributes]
    return list(product(*found))


def possible(model: Model, by: Fraction, one: Point) -> list[int]:
    """What somebody may be decided where the score is off by so much."""
    rule, (score,) = model.rule, scores(model, one)
    assert isinstance(rule, ByThreshold)
    relation = RELATIONS[rule.relation.value]
    return sorted({rule.granted if relation(at, rule.low) else rule.otherwise for at in (score - by, score + by)})


def behaviours(problem: Problem, by: Fraction) -> Iterator[dict[Point, int]]:
    """Everything that a file may do whose scores are off by so much."""
    choices = {one: possible(problem.model, by, one) for one in inputs(problem)}
    assume(sum(len(each) > 1 for each in choices.values()) <= OPEN)
    for decided in product(*choices.values()):
        yield dict(zip(choices, decided, strict=True))


def number_of(problem: Problem, by: Fraction | int = 0) -> Number | None:
    """The checker's number; None where it has none, or nobody is in a group."""
    try:
        found, _ = rates_of(problem, by)
        found.follow(order_for(found, Deadline.within(60)))
        return found.number()
    except Unproved:
        assume(False)
    except RejectedError:
        return None
    raise AssertionError


def holds_whatever_the_file_does(problem: Problem, by: Fraction) -> bool:
    """Whether there is a number; then each file that is off by no more has one, and it lies within."""
    number = number_of(problem, by)
    if number is None:
        return False
    with pytest.MonkeyPatch.context() as patch:
        for each in behaviours(problem, by):
            patch.setattr(group_truth, "outcome", lambda model, one, each=each: each[tuple(map(F, one))])
            known = group_truth.truth(problem).ends
            assert known is not None
            assert number[0] <= known[0] <= known[1] <= number[1]
    return True


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(weighted())
def test_a_number_is_that_of_every_file_that_is_off_by_no_more(asked: tuple[Problem, Fraction]) -> None:
    holds_whatever_the_file_does(*asked)


@pytest.mark.slow
@settings(max_examples=3000, suppress_health_check=list(HealthCheck))
@given(weighted())
def test_thousands_of_numbers_are_those_of_every_file(asked: tuple[Problem, Fraction]) -> None:
    holds_whatever_the_file_does(*asked)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=3),
    st.lists(st.sampled_from(("hit", "miss", "nobody")), min_size=6, max_size=6),
)
def test_whoever_may_be_decided_either_way_counts_both_ways(
    found: list[tuple[int, int, int]], kinds: list[str]
) -> None:
    """Each of them is decided in each way, one by one: the rates lie between the ends, and come to both."""
    sides = {(at, side): kinds[2 * at + side] for at in range(len(found)) for side in (False, True)}
    rate = rates.Rate(*([place for place, kind in sides.items() if kind == of] for of in ("hit", "miss")))
    cohort = cohort_of((), found, rate)
    seen, sizes = [], []
    for chosen in product(*(range(either + 1) for _, either, _ in found)):
        count = {"hit": 0, "miss": 0, "nobody": 0}
        for at, ((denied, either, favoured), yes) in enumerate(zip(found, chosen, strict=True)):
            count[sides[at, False]] += denied + either - yes
            count[sides[at, True]] += favoured + yes
        sizes.append(count["hit"] + count["miss"])
        seen += [F(count["hit"], sizes[-1])] if sizes[-1] else []
    assert (cohort.fewest, cohort.people) == (min(sizes), max(sizes))
    if cohort.fewest:
        assert cohort.rate == (min(seen), max(seen))


@pytest.mark.parametrize("how", ["gap", "ratio", "difference", "quotient", "every", "most", "least"])
def test_what_is_made_of_rates_lies_between_its_ends(how: str) -> None:
    """Of rates that are somewhere within, the number is within, and at random nearly comes to both ends."""
    rng = random.Random(how)
    for _ in range(50):
        ends = [tuple(sorted((F(rng.randrange(9), 8), F(rng.randrange(9), 8)))) for _ in range(2)]
        ends = ends if how in ("difference", "quotient") else ends * rng.randint(1, 2)
        number = rates._compared(how, ends)  # type: ignore[arg-type]
        if number is None:
            continue
        found = []
        for some in product(*ends):
            made = rates._compared(how, [(each, each) for each in some])
            assert made is not None
            found += made
        assert number[0] <= min(found) <= max(found) <= number[1]
        # A gap is 0, and a ratio 1, where ranges overlap; and the ends of all other numbers are at ends of rates.
        assert max(found) == number[1] or (how == "ratio" and number[1] == 1)
        assert min(found) == number[0] or (how == "gap" and number[0] == 0)


# ---- files -----------------------------------------------------------------------------------------

INFLUENCES = """
property owed {{ across sex under by_hand measure influence of age on parity_gap }}
property each {{ across sex under by_hand measure influence of job on acceptance_rate }}
"""
ALL = SPEC + INFLUENCES
NAMES = ("parity", "ratio", "deserving", "chosen", "owed", "each")
Favoured = Callable[[Sequence[int]], bool]


def tenths(rng: random.Random, folder: Path) -> Favoured:
    """A linear model with decimals, of scores that are near each other and the threshold; as onnxruntime runs it."""
    weights = [rng.randint(-4, 4) / 10, rng.randint(-4, 4) / 10, rng.choice((-0.3, 0.1, 0.7))]
    bias = -round(sum(weight * rng.choice((1, 2, 3)) for weight in weights), 1)
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    model = chain_file(nodes, {"w": [weights], "b": [bias]}, width=3)
    onnx.save(model, folder / "m.onnx")
    run = onnxruntime.InferenceSession(model.SerializeToString()).run
    people = list(product(range(10), (1, 3), (0, 2, 3)))
    found = run(None, {"x": np.array(people, dtype=np.float32)})[0][:, 0] > 0
    return dict(zip(people, found.tolist(), strict=True)).__getitem__


def prove(folder: Path, text: str = ALL, *, deployed: bool = True) -> dict[str, Proved]:
    """Proofs of the properties, by their names."""
    (folder / "p.fair").write_text(text.format(file="m.onnx", when="score > 0", favourable="yes"))
    spec, _ = front_end(str(folder / "p.fair"), None)
    asked = [(item.property.name, item.demand.text) for item in elaborate(spec, {}, data={}, hold=False).demands]
    given_: dict[str, Any] = {"models": {}, "data": {}, "seconds": 60, "observer": Silent()}
    found = prove_spec(str(folder / "p.fair"), str(folder), deployed=asked if deployed else (), **given_)
    return {each.property: each for each in found}


def influence_of(column: int, values: Sequence[int], favoured: Favoured) -> list[Fraction]:
    """Of each sex the acceptance rate, and that of a model which reads each of the values as often, whoever it is."""

    def part(sex: int, instead: Callable[[int], Sequence[int]]) -> Fraction:
        own = {one: mass for one, mass in person_masses().items() if one[1] == sex}
        fed = [([*one[:column], value, *one[column + 1 : 3]], mass / len(instead(one[column])))
               for one, mass in own.items() for value in instead(one[column])]  # fmt: skip
        return F(sum(mass for read, mass in fed if favoured(tuple(read)))) / sum(own.values())

    return [each for sex in (1, 3) for each in (part(sex, lambda value: [value]), part(sex, lambda _: values))]


def by_files(of: str, favoured: Favoured) -> Number | None:
    """The metric of a property, of whoever decides so; None where there is none."""
    if of == "owed":
        one, without, other, others = influence_of(0, range(10), favoured)
        return (abs(one - other) - abs(without - others),) * 2
    if of == "each":
        one, without, other, others = influence_of(2, (0, 2, 3), favoured)
        return min(one - without, other - others), max(one - without, other - others)
    number = by_definition(of, lambda one: favoured(tuple(one[:3])))
    return None if number is None else (number, number)


def held_of_files(folder: Path, seed: int) -> int:
    """Each number that is proved in float32 is that of onnxruntime, and of exact arithmetic; how many are wider."""
    folder.mkdir()
    favoured, wide = tenths(random.Random(seed), folder), 0
    exact = {name: check(Path(each.proof.path), folder / "m.onnx").number
             for name, each in prove(folder, deployed=False).items() if each.proof is not None}  # fmt: skip
    for name, each in prove(folder).items():
        if each.proof is None:
            continue
        found = check(Path(each.proof.path), folder / "m.onnx")
        assert found.follows
        if found.margin is None:  # float32 leaves open whether there is a number, or what is required
            continue
        assert found.margin == each.proof.margin > 0
        known = by_files(name, favoured)
        for number in (known, exact[name]):
            assert number is not None
            assert found.number is not None
            assert found.number[0] <= number[0] <= number[1] <= found.number[1]
        wide += found.number != known
    return wide


@pytest.mark.parametrize("seed", range(3))
def test_what_the_file_does_is_within_what_is_proved(tmp_path: Path, seed: int) -> None:
    held_of_files(tmp_path / "one", seed)


@pytest.mark.slow
def test_what_other_files_do_is_within_what_is_proved(tmp_path: Path) -> None:
    assert sum(held_of_files(tmp_path / str(seed), seed) > 0 for seed in range(3, 60)) > 10


def near(folder: Path, **changed: str) -> tuple[Path, Path]:
    """A proof whose number is wider than in exact arithmetic, for somebody's score is the threshold but for rounding.

    ``0.1 age + 0.2 sex - 0.5`` of a woman of three is 0 in decimals.
    """
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)]
    onnx.save(chain_file(nodes, {"w": [[0.1, 0.2, 0.0]], "b": [-0.5]}, width=3), folder / "m.onnx")
    proof = prove(folder, SPEC + INFLUENCES)["parity"].proof
    assert proof is not None
    assert proof.number is not None
    assert proof.number.high - proof.number.low > F(1, 10)
    path = Path(proof.path)
    if changed:
        question, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        data = json.loads(question)
        for key, value in changed.items():
            part = data["claims"] if key in data["claims"] else data
            part[key] = value
        path.write_bytes(gzip.compress("\n".join([json.dumps(data), *lines, ""]).encode()))
    return path, folder / "m.onnx"


def test_a_margin_that_is_too_small_is_rejected(tmp_path: Path) -> None:
    found = check(*near(tmp_path))
    assert found.follows
    assert found.margin is not None
    assert found.margin > 0
    for part in (F(0), F(1, 2), 1 - F(1, 10**9)):
        with pytest.raises(RejectedError, match="smaller than what float32"):
            check(*near(tmp_path, margin=str(found.margin * part)))
    wider = check(*near(tmp_path, margin=str(found.margin * 2)))
    assert wider.margin == 2 * found.margin
    with pytest.raises(RejectedError, match="not real or float32"):
        check(*near(tmp_path, arithmetic="float64"))
    with pytest.raises(RejectedError, match="smaller"):
        check(*near(tmp_path, arithmetic="real", margin="-1"))
    with pytest.raises(RejectedError, match="no file that runs"):
        check(*near(tmp_path, kind="written", model=""))


def test_what_is_claimed_without_those_near_the_threshold_does_not_follow(tmp_path: Path) -> None:
    assert not check(*near(tmp_path, high="37/100")).follows
    assert not check(*near(tmp_path, low="38/100")).follows
    # In real arithmetic the margin is only that: no file is spoken of, and the number is as wide.
    real = check(*near(tmp_path, arithmetic="real"))
    assert real.follows
    assert real.margin is None


def _no_margin(question: RatesQuestion, rounding: Any, scale: int) -> int:
    return 0


def _half(question: RatesQuestion, rounding: Any, scale: int) -> int:
    return MARGIN(question, rounding, scale) // 2


def _one_way(group: tuple[int, ...], found: Any, rate: Any) -> Cohort:
    return COHORT(group, [(denied + either, 0, favoured) for denied, either, favoured in found], rate)


def _strict(*given_: Any, **how: Any) -> int:
    return SUM(*given_, **{**how, "zero": not how["zero"]})


def _overlooked(masses_of: list[Number]) -> list[Number]:
    return OPPOSITE([(high, high) for _, high in masses_of])


MARGIN, COHORT, SUM, OPPOSITE = rates.margin_of, rates.cohort_of, masses.Formulas.sum, rates._opposite
#: Faults of an engine, which goes by the checker's own functions: with one in them it claims what does not follow.
FAULTS: dict[str, tuple[object, str, Any]] = {
    "nobody is near the threshold": (rates, "margin_of", _no_margin),
    "whoever is near is denied": (rates, "cohort_of", _one_way),
    "zero is on the other side": (masses.Formulas, "sum", _strict),
    "the least rates are forgotten": (rates, "_opposite", _overlooked),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_faulty_engine_proves_of_the_file_is_rejected(fault: str, tmp_path: Path) -> None:
    near(tmp_path)
    owner, name, wrong = FAULTS[fault]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, wrong)
        found = prove(tmp_path)
    proofs = [each.proof for each in found.values() if each.proof is not None]
    assert len(proofs) > 2
    assert not all(check(Path(each.path), tmp_path / "m.onnx").follows for each in proofs)


def test_a_margin_of_half_the_size_is_rejected(tmp_path: Path) -> None:
    near(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Integers, "rounding", lambda self, sound=Integers.rounding: sound(self) / 2)
        found = [each.proof for each in prove(tmp_path).values()]
    for proof in found:
        assert proof is not None
        assert proof.margin is not None
        with pytest.raises(RejectedError, match="smaller than what float32"):
            check(Path(proof.path), tmp_path / "m.onnx")


def test_where_the_verdict_is_about_the_file_its_proof_is_as_well(tmp_path: Path) -> None:
    """Rates of a file that rounds, with somebody near the threshold: of what holds, and of what does not."""
    near(tmp_path)
    for limit, code, said in (("60%", 0, "HOLDS"), ("40%", 0, "HOLDS"), ("20%", 1, "VIOLATED")):
        text = SPEC.replace("measure parity_gap", f"require parity_gap <= {limit}")
        (tmp_path / "p.fair").write_text(text.format(file="m.onnx", when="score > 0", favourable="yes"))
        report = tmp_path / "report.json"
        # Effort, for on a busy machine there are not always seconds for what the file makes of the number.
        given_ = ["check", str(tmp_path / "p.fair"), "--property", "parity", "--require-proof", "--effort", "10000000"]
        done = CliRunner().invoke(cli, [*given_, "--proof", str(tmp_path / "proofs"), "--report", str(report)])
        assert done.exit_code == code, done.output
        proof = json.loads(report.read_text())["properties"][0]["demands"][0]["proof"]
        assert said in proof["said"]
        # At 40 % only exact arithmetic settles it, and so it is exact arithmetic that is proved.
        assert ("margin" in proof) is (limit != "40%")


# ---- influences, and paths -------------------------------------------------------------------------


def test_an_influence_names_what_is_read_instead(tmp_path: Path) -> None:
    """What is drawn is a column of its own, once, and not the one that it stands for."""
    near(tmp_path)
    proof = prove(tmp_path)["owed"].proof
    assert proof is not None
    question, *lines = gzip.decompress(Path(proof.path).read_bytes()).decode().splitlines()
    data = json.loads(question)
    assert data["influence"] == [["age", "age_drawn"]]
    for pairs in ([["age"]], [["age", "age"]], [["age", "age_drawn"]] * 2, [["age", "nobody"]], "age"):
        data["influence"] = pairs
        Path(proof.path).write_bytes(gzip.compress("\n".join([json.dumps(data), *lines, ""]).encode()))
        with pytest.raises(RejectedError, match=r"influence|listed twice|there is not"):
            check(Path(proof.path), tmp_path / "m.onnx")
    data["influence"] = []
    Path(proof.path).write_bytes(gzip.compress("\n".join([json.dumps(data), *lines, ""]).encode()))
    assert not check(Path(proof.path), tmp_path / "m.onnx").follows


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(problems(), st.data())
def test_a_gap_along_paths_is_that_of_the_definition(problem: Problem, data: st.DataObject) -> None:
    along_paths(problem, data)


@pytest.mark.slow
@settings(max_examples=1500, suppress_health_check=list(HealthCheck))
@given(problems(), st.data())
def test_thousands_of_gaps_along_paths_are_those_of_the_definition(problem: Problem, data: st.DataObject) -> None:
    along_paths(problem, data)


def along_paths(problem: Problem, data: st.DataObject) -> None:
    model = data.draw(st.one_of(models(problem.domain, True, widths=(0,)), rule_models(problem.domain)))
    law = whole(problem.population, lambda size: data.draw(shares(size)))  # type: ignore[arg-type]
    problem = replace(problem, model=replace(model, favourable=0), population=law)
    part, total = sums(problem, problem.question.baseline)  # type: ignore[union-attr, arg-type]
    number = number_of(problem)
    if not all(total.values()):
        assert number is None
        return
    found = [part[group] / mass for group, mass in total.items()]
    known = max(found) - min(found)
    assert number in ((known, known), None)
    assert (number is None) is (len(found) < 2)
