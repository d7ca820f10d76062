"""What files say, read by somebody else: a small reader of counts, counters that others wrote, the definition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from brute import value as defined
from files_spec import run, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_populations import rule_problems
from test_ssat_small_populations import NOBODY, answered, labelled

import fairdsl
from fairdsl.backends.contract import Offer
from fairdsl.backends.encoding import Answer, Lowered
from fairdsl.backends.solved import Asked
from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.files import Dimacs, Mcc, Sdimacs
from fairdsl.backends.ssat.files import encoding as encoding_module
from fairdsl.backends.ssat.files.quantities import asked_of
from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.options import Groups, PbEncoding, SsatOptions
from fairdsl.backends.ssat.reading import read_sdimacs
from fairdsl.backends.ssat.writing import as_dimacs, as_mcc
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.solver_files.manifest import read_manifest
from fairdsl.verdict import Reason, Refused, Value
from tests.drawing import examples

F = Fraction
NOTHING, WIDE = F(0), F(1, 50)
PROBLEMS = st.one_of(rule_problems(), rule_problems(), labelled())
SOME = settings(max_examples=examples(0.7), deadline=None, suppress_health_check=list(HealthCheck))
ASKED = Asked(
    spec="spec.fair", spec_sha256="", title=None, model="m", model_path=None, model_sha256=None, property="p",
    sentence="s", clauses=(), formula="", demand="measure", metric="parity_gap", threshold=None,
    required=False,
)  # fmt: skip


@dataclass
class Read:
    """A count as its lines have it."""

    variables: int = 0
    clauses: list[tuple[int, ...]] = field(default_factory=list)
    announced: int = 0
    kind: str = ""
    shown: list[int] = field(default_factory=list)
    weights: dict[int, Fraction] = field(default_factory=dict)


def read(text: str) -> Read:
    found = Read()
    for line in text.splitlines():
        match line.split():
            case ["c", "t", kind]:
                found.kind = kind
            case ["c", "p", "show", *variables, "0"]:
                found.shown += map(int, variables)
            case ["c", "p", "weight", literal, weight, "0"]:
                found.weights[int(literal)] = F(weight)
            case ["c", *_]:
                pass
            case ["p", "cnf", variables, clauses]:
                found.variables, found.announced = int(variables), int(clauses)
            case [*literals, "0"]:
                found.clauses.append(tuple(map(int, literals)))
            case other:
                raise AssertionError(other)
    assert len(found.clauses) == found.announced
    return found


def plain_enough(variables: int, clauses: list[tuple[int, ...]]) -> None:
    """What solvers get wrong is not in it."""
    assert len({frozenset(clause) for clause in clauses}) == len(clauses)
    assert all(len({abs(literal) for literal in clause}) == len(clause) for clause in clauses)
    assert all(clauses)
    assert {abs(literal) for clause in clauses for literal in clause} == set(range(1, variables + 1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("formats")
    spec = written(made)
    for form in ("sdimacs", "mcc", "dimacs"):
        fairdsl.compile(spec, to=form, directory=made / form)
    return made


def by_name(folder: Path, form: str) -> dict[str, str]:
    return {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((folder / form).iterdir())
        if path.suffix != ".json"
    }


def described(folder: Path, form: str) -> Mapping[str, Any]:
    return read_manifest(folder / form / "manifest.json").files


def solved(text: str) -> Fraction:
    solution = Engine(read_sdimacs(text, "file.sdimacs")).solve()
    assert solution.exact
    return solution.low


def test_files_are_in_normal_form(folder: Path) -> None:
    for text in by_name(folder, "sdimacs").values():
        instance = read_sdimacs(text, "file.sdimacs")
        plain_enough(instance.variables, list(instance.clauses))
        assert all(len(clause) > 1 for clause in instance.clauses)
        assert len(instance.prefix) == instance.variables
    for form in ("mcc", "dimacs"):
        for text in by_name(folder, form).values():
            found = read(text)
            if form == "mcc":
                plain_enough(found.variables, found.clauses)
            assert len({frozenset(clause) for clause in found.clauses}) == len(found.clauses)


def test_files_say_what_they_are(folder: Path) -> None:
    text = by_name(folder, "sdimacs")["compound.sex-female_region-north"]
    lines = text.splitlines()
    assert lines[:3] == ["c admission.fair, property compound", "c Nobody is favoured much", "c model admit"]
    assert lines[3] == "c the number: the probability that somebody with sex = female and region = north gets `admit`"
    assert any(line.startswith("c name 1 ") for line in lines)
    assert any(line.startswith("c exact ") and line.endswith(" 15/43") for line in lines)
    about = read_manifest(folder / "sdimacs" / "manifest.json").questions[0].parts[0]
    assert about.quantities[0]["file"] == "compound.sex-female_region-north.sdimacs"
    assert about.combined["laws"][0]["groups"][0] == {
        "group": "sex = female and region = north", "mass": "7/40", "favourable": "mass * q1", "total": "mass",
    }  # fmt: skip


def test_weighted_counts_are_the_values(folder: Path) -> None:
    pyganak = pytest.importorskip("pyganak")
    files, about = by_name(folder, "mcc"), described(folder, "mcc")
    values = {name: solved(text) for name, text in by_name(folder, "sdimacs").items()}
    assert files.keys() == values.keys()
    for name, text in files.items():
        found = read(text)
        assert found.kind == ("wmc" if len(found.shown) == found.variables else "pwmc")
        assert set(found.weights) == {sign * each for each in found.shown for sign in (1, -1)}
        assert all(found.weights[each] + found.weights[-each] == 1 for each in found.shown)
        counter = pyganak.WeightedCounter()
        counter.new_vars(found.variables)
        counter.add_clauses(found.clauses)
        for literal, weight in found.weights.items():
            counter.set_lit_weight(literal, float(weight))
        counter.set_sampling_set(found.shown)
        count = counter.count()
        answer = Mcc().answer(f"s SATISFIABLE\nc s exact double prec-sci {count:.15e}\n", about[f"{name}.cnf"])
        assert answer.bounds is not None
        low, high = answer.bounds
        assert low <= values[name] <= high
        assert high - low < F(1, 10**12)


def test_counts_are_the_values_exactly(folder: Path) -> None:
    pyganak = pytest.importorskip("pyganak")
    about = described(folder, "dimacs")
    values = {name: solved(text) for name, text in by_name(folder, "sdimacs").items()}
    for name, text in by_name(folder, "dimacs").items():
        found = read(text)
        counter = pyganak.Counter()
        counter.new_vars(found.variables)
        counter.add_clauses(found.clauses)
        counter.set_sampling_set(found.shown)
        answer = Dimacs().answer(f"c s exact arb int {int(counter.count())}\n", about[f"{name}.cnf"])
        assert answer.bounds == Enclosure.exactly(values[name])


def weighted(found: Read) -> Fraction:
    """The weighted count by enumeration of the shown variables, and of the others until some do."""
    others = [each for each in range(1, found.variables + 1) if each not in set(found.shown)]
    total = F(0)
    for truths in product((1, -1), repeat=len(found.shown)):
        shown = {sign * each for sign, each in zip(truths, found.shown, strict=True)}
        left = [[x for x in clause if -x not in shown] for clause in found.clauses if not shown & set(clause)]
        if any(
            all(any(x in chosen for x in clause) for clause in left)
            for rest in product((1, -1), repeat=len(others))
            for chosen in [{sign * each for sign, each in zip(rest, others, strict=True)}]
        ):
            total += prod((found.weights.get(literal, F(1)) for literal in shown), start=F(1))
    return total


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """A few chances, and choices within them."""
    chances = draw(st.lists(st.fractions(F(1, 12), F(11, 12), max_denominator=12), min_size=1, max_size=3))
    inner = draw(st.integers(0, 2))
    count = len(chances) + inner
    literal = st.integers(1, count).flatmap(lambda each: st.sampled_from([each, -each]))
    clauses = draw(st.lists(st.lists(literal, min_size=1, max_size=3, unique_by=abs), min_size=1, max_size=4))
    prefix = [Bound(k + 1, Quantifier.RANDOM, chance) for k, chance in enumerate(chances)]
    prefix += [Bound(len(chances) + k + 1, Quantifier.EXISTS) for k in range(inner)]
    return Instance(variables=count, prefix=tuple(prefix), clauses=tuple(map(tuple, clauses)))


@settings(max_examples=examples(1), deadline=None)
@given(instances())
def test_counts_are_the_definition(instance: Instance) -> None:
    truth = defined(instance)
    found = read(as_mcc(instance, ("p cnf in a comment", "t")).text)
    assert abs(weighted(found) - truth) <= F(len(found.shown), 10**17)
    counted = as_dimacs(instance, ())
    found = read(counted.text)
    if len(found.shown) + instance.variables <= 14:
        models = weighted(found)
        assert models.denominator == 1
        assert models / prod(int(each) for each in counted.about["out_of"]) == truth


@settings(max_examples=examples(0.35), deadline=None)
@given(instances())
def test_counts_are_those_of_a_solver_that_lists_models(instance: Instance) -> None:
    solvers = pytest.importorskip("pysat.solvers")
    counted = as_dimacs(instance, ())
    found, models = read(counted.text), 0
    with solvers.Solver(name="m22", bootstrap_with=[list(clause) for clause in found.clauses]) as solver:
        while solver.solve():
            true = {literal for literal in solver.get_model() if abs(literal) in set(found.shown)}
            free = [each for each in found.shown if each not in true and -each not in true]
            models += 2 ** len(free)
            solver.add_clause([-literal for literal in true])
    assert F(models, prod(int(each) for each in counted.about["out_of"])) == defined(instance)


def answers(
    problem: Problem,
    encoding: Sdimacs | Mcc | Dimacs,
    lowered: Lowered,
    below: Fraction = NOTHING,
    above: Fraction = NOTHING,
) -> dict[str, Answer]:
    """What an exact solver would say of each file, as an interval that reaches so far below and above."""
    groups = encoding._groups
    values = {
        quantity.left.digest: Engine(quantity.left.instance).solve().low
        for asking in asked_of(problem, groups, PbEncoding.DIAGRAM)
        for quantity in asking.quantities
        if quantity.left.settled is None
    }
    found = {}
    for each in lowered.quantities:
        if "file" in each:
            value = values[each["instance"]]
            bounds = Enclosure(low=max(F(0), value - below), high=min(F(1), value + above))
            found[each["file"]] = Answer(status="value", bounds=bounds)
    return found


def numbers(value: Value | Refused | object) -> tuple[Fraction, Fraction] | None:
    return (value.low, value.high) if isinstance(value, Value) else None


@SOME
@given(
    st.one_of(rule_problems(), rule_problems(), labelled()),
    st.sampled_from([Sdimacs(SsatOptions(groups=Groups.ENUMERATE)), Mcc(), Dimacs()]),
)
def test_exact_answers_make_the_very_value(problem: Problem, encoding: Sdimacs | Mcc | Dimacs) -> None:
    offered = encoding.offer(problem)
    assert isinstance(offered, Offer)
    lowered = encoding.lower(problem, ASKED)
    found = encoding.recover(problem, lowered, answers(problem, encoding, lowered))
    truth = answered(problem, "enumerate")
    if isinstance(truth, Refused):
        assert isinstance(found, Refused)
        return
    assert isinstance(found, Value)
    assert replace(found, evidence=NOBODY) == replace(truth, evidence=NOBODY)


@SOME
@given(PROBLEMS)
def test_answers_about_extremes_make_the_same_value_without_names(problem: Problem) -> None:
    encoding = Sdimacs(SsatOptions(groups=Groups.LEARN))
    lowered = encoding.lower(problem, ASKED)
    found = encoding.recover(problem, lowered, answers(problem, encoding, lowered))
    truth = answered(problem, "enumerate")
    assert numbers(found) == numbers(truth)
    if isinstance(found, Value) and isinstance(truth, Value):
        assert (found.reason is Reason.UNDEFINED) == (truth.reason is Reason.UNDEFINED)
        assert set(truth.most) <= set(found.most)
        assert set(truth.least) <= set(found.least)


@settings(SOME, max_examples=examples(2))
@given(
    PROBLEMS,
    st.sampled_from(["enumerate", "learn", "learn"]),
    st.sampled_from([(WIDE, NOTHING), (NOTHING, WIDE), (WIDE, WIDE)]),
    st.integers(0, 3),
)
def test_wide_and_missing_answers_contain_the_value(
    problem: Problem, groups: str, width: tuple[Fraction, Fraction], missing: int
) -> None:
    encoding = Sdimacs(SsatOptions(groups=groups))
    lowered = encoding.lower(problem, ASKED)
    given_answers = answers(problem, encoding, lowered, *width)
    if not missing:
        given_answers.pop(next(iter(given_answers), ""), None)
    found = encoding.recover(problem, lowered, given_answers)
    truth = answered(problem, "enumerate")
    if isinstance(truth, Value):
        assert isinstance(found, Value)
        assert found.low <= truth.low <= truth.high <= found.high


def test_many_groups_are_learned_and_have_no_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding_module, "_FILES", 100)
    spec = written(tmp_path)
    text = spec.read_text(encoding="utf-8").replace("  bins at 30, 45", "")
    text = text.replace("protected sex, region", "protected sex, region, age")
    text = text.replace("across   sex, region", "across   sex, region, age")
    spec.write_text(text[: text.index("property errors")], encoding="utf-8")
    done = run("compile", spec, "--to", "mcc", "-o", tmp_path / "mcc")
    assert done.exit_code == 2
    assert "there would be a file for each of 258 groups" in " ".join(done.stderr.split())
    done = run("compile", spec, "--to", "sdimacs", "-o", tmp_path / "sdimacs")
    names = {path.name for path in (tmp_path / "sdimacs").iterdir()}
    assert names == {"compound.most.sdimacs", "compound.least.sdimacs", "manifest.json"}
    assert "acceptance_rate` of `compound` is not among the files" in done.stderr
