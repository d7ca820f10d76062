"""SDIMACS: what is written is read back, and what is wrong is refused with its place."""

from __future__ import annotations

import re
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.reading import read_sdimacs
from fairdsl.backends.ssat.writing import sdimacs_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.plain_decimals import decimal_of, digits_of
from tests.ssat.random_instances import instances

E, A, R = Quantifier.EXISTS, Quantifier.FORALL, Quantifier.RANDOM

SMALL = """\
c the example of the format
p cnf 3 2
e 1 0
r 0.3 2 0
r 0.6 3 0
1 2 0
-1 3 0
"""

chances = st.one_of(
    st.fractions(0, 1, max_denominator=10**6),
    st.builds(lambda digits, places: Fraction(digits % 10**places, 10**places), st.integers(0), st.integers(0, 60)),
    st.builds(lambda size, complement: abs(complement - Fraction(1, 3**size)), st.integers(0, 200), st.booleans()),
)


def read(text: str) -> Instance:
    return read_sdimacs(text, "x.sdimacs")


# ---- reading -------------------------------------------------------------------------------------


def test_the_example_of_the_format() -> None:
    assert read(SMALL) == Instance(
        variables=3,
        prefix=(Bound(1, E), Bound(2, R, Fraction(3, 10)), Bound(3, R, Fraction(6, 10))),
        clauses=((1, 2), (-1, 3)),
    )
    assert read(SMALL).comments == ("the example of the format",)


def test_lines_bind_several_variables_and_clauses_may_take_several_lines() -> None:
    text = "c\nc x\r\np  cnf 5 3\n\ne 5 1 0\na 2 0\nr 3e-1 4 3 0\n1\n2 0 -3\n 0\t\n0\n"
    asked = read(text)
    assert asked.prefix == (Bound(5, E), Bound(1, E), Bound(2, A), *(Bound(v, R, Fraction(3, 10)) for v in (4, 3)))
    assert asked.clauses == ((1, 2), (-3,), ())
    assert asked.comments == ("", "x")


@pytest.mark.parametrize(
    ("text", "chance"),
    [
        ("0", 0),
        ("1", 1),
        ("1.0", 1),
        (".5", "1/2"),
        ("1.", 1),
        ("1e-05", "1/100000"),
        ("+2.5E-1", "1/4"),
        ("1/3", "1/3"),
    ],
)
def test_probabilities_in_every_form(text: str, chance: str | int) -> None:
    assert read(f"p cnf 1 0\nr {text} 1 0\n").prefix == (Bound(1, R, Fraction(chance)),)


@pytest.mark.parametrize(
    "text", ["1.5", "-0.3", "1e1", "1/0", "4/3", "nan", "inf", "0,3", ".", "e-1", "0x1", "1_0", "³"]
)
def test_other_probabilities_are_refused(text: str) -> None:
    """Published solvers take 1.5 and -0.3 in silence."""
    refused("E0641", 3, 3, f"c\np cnf 1 0\nr {text} 1 0\n")


def test_names_and_exact_probabilities_in_comments() -> None:
    text = "c name 2 age < 40\nc exact 1 1/3\nc exact values follow\np cnf 2 0\nr 0.333 1 0\nr 0.5 2 0\n"
    asked = read(text)
    assert asked.names == {2: "age < 40"}
    assert asked.prefix == (Bound(1, R, Fraction(1, 3)), Bound(2, R, Fraction(1, 2)))
    assert asked.comments == ("exact values follow",)


def refused(code: str, line: int, column: int, text: str) -> None:
    """The only finding, and where it points."""
    with pytest.raises(DiagnosticError) as error:
        read(text)
    (found,) = error.value.diagnostics
    assert found.code == code
    assert found.help
    assert found.primary is not None
    place = found.primary.span.first
    assert (place.line, place.column) == (line, column)


@pytest.mark.parametrize(
    ("code", "line", "column", "old", "new"),
    [
        ("E0640", 2, 1, "p cnf 3 2", "p dnf 3 2"),
        ("E0640", 2, 1, "p cnf 3 2", "p cnf 3"),
        ("E0640", 2, 7, "p cnf 3 2", "p cnf -3 2"),
        ("E0640", 2, 7, "p cnf 3 2", "p cnf 99999999999 2"),
        ("E0640", 2, 1, "p cnf 3 2\n", ""),
        ("E0640", 3, 1, "p cnf 3 2\n", "p cnf 3 2\np cnf 3 2\n"),
        ("E0640", 3, 3, "e 1 0", "e 1"),
        ("E0640", 3, 1, "e 1 0", "e"),
        ("E0640", 4, 1, "r 0.3 2 0", "r"),
        ("E0640", 3, 3, "e 1 0", "e -1 0"),
        ("E0640", 3, 3, "e 1 0", "e 0 1 0"),
        ("E0640", 3, 3, "e 1 0", "e x 0"),
        ("E0640", 3, 1, "e 1 0", "d 1 0"),
        ("E0640", 7, 1, "1 2 0\n", "1 2 0\ne 1 0\n"),
        ("E0640", 7, 1, "1 2 0\n", "1 2\ne 1 0\n"),
        ("E0640", 6, 3, "1 2 0", "1 2.0 0"),
        ("E0640", 6, 3, "1 2 0", "1 2-3 0"),
        ("E0640", 6, 3, "1 2 0", "1 ² 0"),
        ("E0640", 7, 4, "-1 3 0", "-1 3"),
        ("E0641", 4, 3, "0.3", "30"),
        ("E0641", 4, 3, "r 0.3 2 0", "r 2 0"),
        ("E0642", 4, 7, "r 0.3 2", "r 0.3 1"),
        ("E0642", 3, 5, "e 1 0", "e 1 1 0"),
        ("E0643", 3, 5, "e 1 0", "e 1 4 0"),
        ("E0643", 7, 4, "-1 3 0", "-1 -4 0"),
        ("E0643", 1, 8, "c the", "c name 4 the"),
        ("E0644", 2, 9, "p cnf 3 2", "p cnf 3 4"),
        ("E0644", 7, 1, "p cnf 3 2", "p cnf 3 1"),
        ("E0645", 1, 1, "c the example of the format", "c exact 2 1/2"),
        ("E0645", 1, 1, "c the example of the format", "c exact 2 0.3"),
        ("E0645", 1, 1, "c the example of the format", "c exact 1 3/10"),
        ("E0645", 2, 1, "c the example of the format", "c exact 2 3/10\nc exact 2 3/10"),
    ],
)
def test_mistakes_and_their_places(code: str, line: int, column: int, old: str, new: str) -> None:
    assert old in SMALL
    refused(code, line, column, SMALL.replace(old, new, 1))


def test_a_file_without_anything() -> None:
    with pytest.raises(DiagnosticError) as error:
        read("c only words\n")
    (found,) = error.value.diagnostics
    assert found.code == "E0640"
    assert found.notes == ("the file has no header",)


@given(st.text(alphabet="pcnfear 0123.-/\n", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    # Any other exception fails the test.
    with suppress(DiagnosticError):
        assert read(f"p cnf 3 2\n{text}").variables == 3


# ---- writing -------------------------------------------------------------------------------------


def test_the_text_that_is_written() -> None:
    asked = Instance(
        variables=6,
        prefix=(
            Bound(2, E),
            Bound(1, E),
            Bound(3, R, Fraction(1, 100000)),
            Bound(4, R, Fraction(1, 100000)),
            Bound(5, A),
        ),
        clauses=((1, -2), ()),
        names={3: "a\nname", 1: "sex"},
        comments=("what it\nis about", "name 3 is not a name", ""),
    )
    assert sdimacs_of(asked) == (
        "c what it\nc is about\nc # name 3 is not a name\nc\nc name 1 sex\nc name 3 a name\n"
        "p cnf 6 2\ne 2 1 0\nr 0.00001 3 4 0\na 5 0\n1 -2 0\n0\n"
    )


def test_rounded_probabilities_are_exact_in_a_comment() -> None:
    asked = Instance(variables=1, prefix=(Bound(1, R, Fraction(1, 3)),), clauses=())
    text = sdimacs_of(asked)
    assert "\nr 0.33333333333333333" in text
    assert text.startswith("c exact 1 1/3\n")
    assert read(text) == asked


@given(instances(), st.lists(chances, min_size=8, max_size=8), st.data())
def test_what_is_written_is_read_back(asked: Instance, drawn: list[Fraction], data: st.DataObject) -> None:
    prefix = tuple(
        bound if bound.chance is None else Bound(bound.variable, R, drawn[bound.variable - 1]) for bound in asked.prefix
    )
    words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6)
    names = data.draw(st.dictionaries(st.integers(1, asked.variables), words))
    comments = tuple(data.draw(st.lists(words | st.sampled_from(["name 1 x", "exact 1 1/2", "exact"]), max_size=3)))
    expected = tuple(f"# {each}" if each.startswith(("name", "exact")) else each for each in comments)
    written = Instance(variables=asked.variables, prefix=prefix, clauses=asked.clauses, names=names, comments=comments)
    text = sdimacs_of(written)
    again = read(text)
    assert again == written
    assert again.names == names
    assert again.comments == expected
    assert sdimacs_of(again) == text
    # Line by line, where numbers are not all that follows: a comment at the end, or in the middle of a clause.
    assert read(f"{text}c end\n").clauses == asked.clauses
    head, rest = text.rsplit("\n", 2)[:2]
    if asked.clauses:
        assert read("\n".join([head, *rest.split()[:1], "c here", *rest.split()[1:], ""])) == written


@given(chances)
def test_decimals_are_plain_and_close_and_never_turn_certain(chance: Fraction) -> None:
    """`1e-05` stops a published solver; a chance of 10^-30 must not become impossible, nor its complement certain."""
    text = decimal_of(chance)
    assert re.fullmatch(r"[01](\.[0-9]*[1-9])?", text)
    written = Fraction(text)
    assert 0 <= written <= 1
    for number, exactly in ((written, chance), (1 - written, 1 - chance)):
        assert abs(number - exactly) <= exactly / 10**16
        assert (number > 0) == (exactly > 0)


@given(st.integers(0, 10**50), st.integers(0, 9000))
def test_numbers_of_any_length_have_digits(number: int, zeros: int) -> None:
    assert digits_of(number * 10**zeros) == str(number) + "0" * (zeros if number else 0)


def test_a_probability_with_more_digits_than_python_converts_at_once() -> None:
    asked = Instance(variables=1, prefix=(Bound(1, R, Fraction(2**40_000, 3**40_000)),), clauses=())
    assert read(sdimacs_of(asked)) == asked
