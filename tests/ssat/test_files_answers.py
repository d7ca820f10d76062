"""What solvers print, and how wide it is taken."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.encoding import Answer
from fairdsl.backends.solved import Bounds, Choosing, Solved, Status
from fairdsl.backends.ssat.files.answers import answer_of_count, answer_of_value, answer_of_weight
from fairdsl.ir.enclosure import Enclosure

F = Fraction
#: Of a file with two choices and three chances, one of which is rounded.
ABOUT: dict[str, Any] = {
    "variables": 6,
    "clauses": 4,
    "chances": 3,
    "rounded": 1,
    "choices": [1, 2],
    "out_of": ["3", "4"],
}
ONE, ROUNDED = F(1, 10**6), F(1, 10**17)
DOUBLE, FLOAT = F(12, 2**53), F(12, 2**24)


def bounds(answer: Answer) -> Enclosure:
    assert answer.status == "value"
    assert answer.bounds is not None
    return answer.bounds


def near(answer: Answer, value: Fraction, width: Fraction) -> bool:
    """Around the number, and no wider than that."""
    low, high = bounds(answer)
    return low < value < high and high - low <= 2 * width


@pytest.mark.parametrize(
    ("output", "value", "width"),
    [
        ("==== Solving results ====\n\n  > Satisfying probability: 6.000000e-01\n", F(3, 5), ONE + DOUBLE),
        ("c o \n# satisfying probability = 0.6\n", F(3, 5), ONE + FLOAT),
        ("0.625\n", F(5, 8), F(1, 1000) + ONE),
        ("6.25e-2", F(1, 16), F(1, 10000) + ONE),
        ("3/5", F(3, 5), ROUNDED),
    ],
)
def test_values_are_as_wide_as_they_were_printed(output: str, value: Fraction, width: Fraction) -> None:
    assert near(answer_of_value(output, ABOUT), value, width)


def test_bounds_are_bounds() -> None:
    low, high = bounds(answer_of_value("  > Best upper bound: 7.5e-01\n  > Best lower bound: 2.5e-01\n", ABOUT))
    assert F(1, 4) - ONE < low < F(1, 4)
    assert F(3, 4) < high < F(3, 4) + ONE
    text = "a file.sdimacs   from 0.25 to 0.75   5 variables, 1 clause\n    tried by   the embedded solver in 1.0 s\n"
    assert bounds(answer_of_value(text, ABOUT)) == Enclosure(low=F(1, 4), high=F(3, 4))


@pytest.mark.parametrize(
    ("shown", "value"), [("0.6 = 3/5", F(3, 5)), ("1/3, about 0.333333333333", F(1, 3)), ("1", F(1)), ("0", F(0))]
)
def test_what_solve_prints_is_exact(shown: str, value: Fraction) -> None:
    text = f"x.sdimacs   {shown}   1,200 variables, 3 clauses\n    choose     not sex <= female\n"
    assert bounds(answer_of_value(text, ABOUT)) == Enclosure.exactly(value)


def test_a_long_fraction_is_rounded_in_print() -> None:
    low, high = bounds(answer_of_value("x.sdimacs   about 0.333333333333   3 variables, 3 clauses\n", ABOUT))
    assert low < F(1, 3) < high
    assert high - low == F(2, 10**12)


def test_json_has_the_choice() -> None:
    choice = (Choosing(variable=1, name="a", true=True), Choosing(variable=2, true=False))
    known = Bounds(variables=3, clauses=2, number=Enclosure.exactly(F(1, 3)), choice=choice)
    said = Solved(format="sdimacs", file=Path("a.sdimacs"), solver="x", seconds=0.5, found=known)
    found = answer_of_value(said.to_json(), ABOUT)
    assert bounds(found) == Enclosure.exactly(F(1, 3))
    assert found.values == {"1": "true", "2": "false"}
    apart = replace(said, found=Bounds(variables=3, clauses=2, number=Enclosure(low=F(1, 4), high=F(3, 4))))
    assert bounds(answer_of_value(apart.to_json(), ABOUT)) == Enclosure(low=F(1, 4), high=F(3, 4))
    assert answer_of_value(said.to_json().replace("solved/2", "solved/3"), ABOUT).bounds is None
    word = replace(said, found=Status(status="sat", detail=""))
    assert answer_of_value(word.to_json(), ABOUT).bounds is None


def test_the_choice_of_ssatabc() -> None:
    output = "Found an optimizing assignment to exist vars:\n1 -2 0\n  > Satisfying probability: 5.000000e-01\n"
    assert answer_of_value(output, ABOUT).values == {"1": "true", "2": "false"}


@pytest.mark.parametrize(
    ("output", "value", "width"),
    [
        (
            "s SATISFIABLE\nc s type pwmc\nc s log10-estimate -0.301\nc s exact arb float 5.0e-01\n",
            F(1, 2),
            F(1, 100) + ONE,
        ),
        ("s SATISFIABLE\nc s exact arb float 1.8999e-01\nc o exact arb 19/100\n", F(19, 100), ROUNDED),
        ("c s exact double prec-sci 1.9000000000e-01\n", F(19, 100), F(1, 10**11) + ONE),
        ("c s exact arb frac 19/100\n", F(19, 100), ROUNDED),
        ("c s log10-estimate -0.30103\n", F(1, 2), F(1, 50000)),
    ],
)
def test_weighted_counts(output: str, value: Fraction, width: Fraction) -> None:
    assert near(answer_of_weight(output, ABOUT), value, width)


def test_nothing_that_satisfies_counts_nothing() -> None:
    for output in ("s UNSATISFIABLE\n", "c s exact arb int 0\n", "c s log10-estimate -inf\n"):
        assert bounds(answer_of_count(output, ABOUT)) == Enclosure.exactly(F(0))
        assert bounds(answer_of_weight(output, ABOUT)).high < F(1, 10**14)


def test_counts_are_divided() -> None:
    for output in ("s SATISFIABLE\nc s type pmc\nc s exact arb int 5\n", "5\n"):
        assert bounds(answer_of_count(output, ABOUT)) == Enclosure.exactly(F(5, 12))
    low, high = bounds(answer_of_count("c s log10-estimate 0.69897\n", ABOUT))
    assert low < F(5, 12) < high
    long = 3 * 10**4400
    about = ABOUT | {"out_of": ["4" + "0" * 4400]}
    assert bounds(answer_of_count(f"c s exact arb int 3{'0' * 4400}\n", about)) == Enclosure.exactly(
        F(long, 4 * 10**4400)
    )


@pytest.mark.parametrize(
    "output",
    [
        "",
        "sat",
        "killed",
        "nan",
        "1.5",
        "-0.5",
        "7/5",
        "1/0",
        "0.5 0.6",
        "# satisfying probability = 0.6\n# satisfying probability = 0.7\n",
        "  > Satisfying probability: 6.0e-01\n  > Satisfying probability: 7.0e-01\n",
        "  > Best upper bound: 7.5e-01\n",
        '{"schema": "fairdsl.solved/2"}',
        '{"schema": "fairdsl.solved/1", "value": {"low": 0, "high": 1}, "exact": "1/2", "choice": null}',
        '{"diagnostics": []}',
        "[]",
        "x   0.5   3 variables, 3 clauses\ny   0.6   3 variables, 3 clauses\n",
        "c s exact arb int 1\n",
    ],
)
def test_what_is_no_value_is_no_answer(output: str) -> None:
    assert answer_of_value(output, ABOUT).status == "malformed"


@pytest.mark.parametrize(
    "output",
    [
        "",
        "s SATISFIABLE\n",
        "c s approx arb int 5\n",
        "c s log10-estimate 0.7\nc s approx arb int 5\n",
        "c s exact arb int 5\nc s exact arb int 6\n",
        "0.5",
        "13\n",
        "5/12",
    ],
)
def test_what_is_no_count_is_no_answer(output: str) -> None:
    assert answer_of_count(output, ABOUT).status == "malformed"


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
    | st.text(alphabet='0123456789.eE+-/ cs>#\n{}[]":', max_size=60)
)
def test_anything_is_read(output: str) -> None:
    for read in (answer_of_value, answer_of_weight, answer_of_count):
        found = read(output, ABOUT)
        assert found.status in ("value", "malformed")
        if found.bounds is not None:
            assert 0 <= found.bounds.low <= found.bounds.high <= 1
