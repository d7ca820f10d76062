"""The printed text: exact numbers, quoted names, gaps that stay gaps, one golden script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.recover import number, parse_answer
from fairdsl.backends.smt.script import case_script, whole_script
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Who
from fairdsl.ir.model import Layer
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Relaxation
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, problem, real, score
from tests.smt.second_solver import ask_cvc5

EXPECTED = Path(__file__).parent / "expected"


def small_problem() -> Problem:
    people = domain(
        member(1, 1, 5),
        age=integer(-3, 80),
        job=category(1, 2, 5),
        income=real(0, "100000.5"),
        sex=BOOLEAN,
    )
    network = model(
        layer([["1/2", -1, 0, 3], [1, 0, "1/10", 0]], ["-1/4", 2]),
        layer([[1, -1]], [0], 1),
        attributes=4,
        relation=">=",
    )
    return problem(
        people,
        network,
        3,
        relax=(Relaxation(attribute=0, by=Fraction(3, 2)), Relaxation(attribute=1, by=None)),
        target=linear({0: 2, 2: 1}, ">", "1/3"),
        pair_target=linear({0: -1}, "<=", 5, who=Who.A),
    )


def first_case_script(asked: Problem) -> str:
    case = cases(asked)[0]
    (bounded,) = Bounder(asked.model, case).bound([case.region])
    return case_script(asked, case, bounded)


def test_golden_whole_script(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(EXPECTED / "whole.smt2", whole_script(small_problem()))


def test_golden_folded_script(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(EXPECTED / "folded.smt2", first_case_script(small_problem()))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(float(np.float32(0.1))), "(/ 13421773.0 134217728.0)"),
        (Fraction(-3, 2), "(- (/ 3.0 2.0))"),
        (Fraction(0), "0.0"),
        (Fraction(-7), "(- 7.0)"),
        (Fraction(10) ** 30, "1" + 30 * "0" + ".0"),
    ],
)
def test_numbers_are_exact(value: Fraction, text: str) -> None:
    """Trap: decimal(float32) went into the solver instead of the weight."""
    assert terms.rational(value) == text
    assert number(text) == value


def test_float32_weights_are_printed_exactly() -> None:
    """Trap: decimal(float32) went into the solver instead of the weight."""
    one = ExactArray.from_floats(np.ones(1))
    exact = Layer(weight=ExactArray.from_floats(np.array([[0.1]], dtype=np.float32)), bias=one, slope=one)
    rule = replace(score([1]), layers=(exact,))
    assert "(* (/ 13421773.0 134217728.0) va.0)" in whole_script(problem(domain(sex=BOOLEAN), rule, 0))


def test_names_are_quoted_where_they_need_it() -> None:
    names = {"marital status": BOOLEAN, "and": BOOLEAN, "a|b": BOOLEAN, "12": BOOLEAN, "größe": BOOLEAN}
    asked = problem(domain(**names), score([1, 1, 1, 1, 1], -3), 0)
    text = whole_script(asked)
    for symbol in ("|a.marital status|", "x.and", "x..2", "x.12", "|x.größe|"):
        assert f"(declare-const {symbol} Int)" in text
    assert ask_cvc5(text).status == "sat"


def test_gaps_between_codes_stay_gaps() -> None:
    asked = problem(domain(job=category(0, 1, 2, 5, 9), sex=BOOLEAN), score([1, 1]), 1)
    assert "(assert (or (<= 0 x.job 2) (= x.job 5) (= x.job 9)))" in whole_script(asked)


def test_every_protected_value_and_both_orientations_become_cases() -> None:
    """Trap: only the smallest and largest value of a protected attribute were compared."""
    asked = problem(domain(race=category(0, 3, 4), sex=BOOLEAN), score([1, 1]), 0)
    assert len(cases(asked)) == 6
    both = problem(domain(race=category(0, 3, 4), sex=BOOLEAN), score([1, 1]), 0, 1, mode=Differ.EACH)
    assert len(cases(both)) == 3 * 2 * 2 * 1
    either = problem(domain(race=category(0, 3, 4), sex=BOOLEAN), score([1, 1]), 0, 1)
    assert len(cases(either)) == 6 * 5


def test_stable_units_are_folded_and_dead_ones_dropped() -> None:
    network = model(
        layer([[1, 1], [-1, -1], [1, -1]], [5, -5, 0]),
        layer([[1, 1, 0]], [-7], 1),
        attributes=2,
    )
    text = first_case_script(problem(domain(age=integer(0, 9), sex=BOOLEAN), network, 1))
    assert "declare-const h" not in text
    assert "x.age" in text


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("sat\n((x 3) (|y z| (- (/ 1.0 3.0))))\n", "sat"),
        ('unsat\n(error "no model")', "unsat"),
        ("unknown", "unknown"),
        ("; cvc5\ntimeout", "unknown"),
        ("", "malformed"),
        ("sat ((x 3)", "malformed"),
        ("Segmentation fault (core dumped)", "malformed"),
    ],
)
def test_outputs_of_other_solvers_are_read(output: str, status: str) -> None:
    assert parse_answer(output).status == status


def test_values_of_other_solvers_are_read() -> None:
    values = parse_answer("sat\n((x 3) (|y z| (- (/ 1.0 3.0))) (r 0.25))\n").values
    assert {name: number(text) for name, text in values.items()} == {
        "x": 3,
        "|y z|": Fraction(-1, 3),
        "r": Fraction(1, 4),
    }
    for garbage in ("", "(", "x", "(+ 1 2)", "1e5", "(/ 1)", "(- 1) 2"):
        with pytest.raises(ValueError):  # noqa: PT011
            number(garbage)
