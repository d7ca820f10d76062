"""Whatever is written is read back as an equal object, and the generated schema takes it."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import Bounds, Branch, Colour, Label, Leaf, Sample
from values import damaged, random_value

from fairdsl.codec import MisfitError, decode, encode, plain, schema
from fairdsl.source import SourceFile, Span

SPAN = Span(SourceFile("a.fair", "domain D {\n  x : int\n}\n"), 13, 14)
ONE = Sample(
    cells={"a": "1/2", "b": True, "c": 3, "d": Fraction(3), "e": Fraction(1, 3), "f": "x"},
    colour=Colour.RED,
    by_colour=((Colour.GREEN, 3),),
    tree=Branch((Leaf(Bounds(Fraction(1, 3), Fraction(1, 2))), Branch())),
    labels=(Label(SPAN, "here"),),
    exact=(Fraction(1, 3), Fraction(10**20)),
    share=Fraction(2, 3),
)


@given(st.integers(0, 2**32))
def test_every_value_comes_back(seed: int) -> None:
    value: Sample = random_value(Sample, Random(seed))
    text = value.to_json()
    again = Sample.from_json(text)
    assert again == value
    assert {name: type(cell) for name, cell in again.cells.items()} == {n: type(c) for n, c in value.cells.items()}
    assert again.to_json() == text
    jsonschema.Draft202012Validator(schema(Sample)).validate(json.loads(text))


def test_what_is_written() -> None:
    written = plain(ONE)
    assert written == {
        "schema": "fairdsl.sample/3",
        "fairdsl": written["fairdsl"],
        "cells": {"a": {"text": "1/2"}, "b": True, "c": 3, "d": 3.0, "e": "1/3", "f": "x"},
        "colour": "red",
        "by_colour": {"green": 3},
        "tree": {
            "kind": "branch",
            "below": [
                {"kind": "leaf", "bounds": {"low": 0.3333333333333333, "low_exact": "1/3", "high": 0.5}},
                {"kind": "branch", "below": []},
            ],
        },
        "share": 2 / 3,
        "share_exact": "2/3",
        "exact": ["1/3", "100000000000000000000/1"] if float(10**20) != 10**20 else ["1/3", 1e20],
        "labels": [
            {
                "path": "a.fair",
                "start": {"line": 2, "column": 3, "offset": 13},
                "end": {"line": 2, "column": 4, "offset": 14},
                "lines": "  x : int",
                "text": "here",
            }
        ],
        "pair": [False, 0.5],
        "either": "",
        "named": {},
        "size": 6,
        "half": 1 / 3,
    }
    assert Fraction(written["tree"]["below"][0]["bounds"]["low"]) < Fraction(1, 3)


def test_places_in_files_show_the_same_lines_again() -> None:
    (label,) = Sample.from_json(ONE.to_json()).labels
    assert (label.span.first, label.span.last, label.span.text) == (SPAN.first, SPAN.last, "x")
    assert label.span.file.line(2) == "  x : int"


def test_schemas_say_what_comments_say() -> None:
    keys = schema(Sample)["$defs"]["Bounds"]
    assert keys["description"] == "A number between two others."
    assert keys["properties"]["low"]["description"] == "Never above it, nor rounded up."
    assert schema(Sample)["properties"]["size"]["description"] == "How many cells."
    jsonschema.Draft202012Validator.check_schema(schema(Sample))


def misread(text: str) -> str:
    with pytest.raises(MisfitError) as caught:
        Sample.from_json(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"size": 6', '"size": 5', "`size` is not what the rest of it comes to (line 64, column 11)"),
        ('"size": 6', '"size": 6.0', "`size` is not what the rest of it comes to (line 64, column 11)"),
        ('"low": 0.33', '"low": 0.34', "`tree.below[0].bounds.low` is not what `low_exact` rounds to"),
        ('"low_exact": "1/3"', '"low_exact": "1/0"', "`tree.below[0].bounds.low_exact` is not a fraction `p/q`"),
        ('"high": 0.5', '"high": 0.25', "`tree.below[0].bounds` does not fit together: its ends are the wrong way"),
        ('"kind": "leaf"', '"kind": "x"', "`tree.below[0].kind` is not one of leaf, branch (line 22, column 17)"),
        ('"kind": "leaf",', "", "`tree.below[0].kind` is missing"),
        ('"colour": "red"', '"colour": "rot"', "`colour` is not one of red, green (line 14, column 13)"),
        ('"colour": "red"', '"colour": "red", "colour": "red"', "`colour` is given twice (line 14, column 20)"),
        ('"colour": "red"', '"color": "red"', "`color` is not a key that is read here; did you mean `colour`?"),
        ('"green": 3', '"green": 1e999', "`by_colour.green` is not a whole number (line 16, column 14)"),
        ('"green": 3', '"green": ' + "3" * 5000, "the document has a number with too many digits (line 16, column 14)"),
        ('"share": 0.6', '"share": NaN, "x": 0.6', "the document is not JSON: NaN is not a number of it"),
        ('"f": "x"', '"f g": null', '`cells["f g"]` is not text or a number or a whole number or true or false'),
        ('"f": "x"', '"f": "\\ud800"', "`cells.f` has half a surrogate pair, which is not a character"),
        ("sample/3", "sample/4", "`schema` is `fairdsl.sample/4`; this fairdsl reads `fairdsl.sample/3`"),
        ("fairdsl.sample/3", "other", "`schema` is not `fairdsl.sample/3` (line 2, column 13)"),
        ('"line": 2,', '"line": 3,', "`labels[0].lines` is not the text at `start` and `end`"),
        ('"half"', '"half', "the document is not JSON: "),
    ],
)  # fmt: skip
def test_every_mistake_has_a_place(before: str, after: str, said: str) -> None:
    text = ONE.to_json()
    assert before in text
    assert misread(text.replace(before, after, 1)).startswith(said)


def test_documents_do_not_nest_without_end() -> None:
    deep = '{"kind": "branch", "below": [' * 300 + "]}" * 300
    before, _, behind = ONE.to_json().partition('"tree": {')
    text = before + '"tree": ' + deep + behind[behind.index(',\n  "share"') :]
    assert "nests too deep" in misread(text)
    assert misread("[" * 100_000) == "the document nests too deep (line 1, column 101)"
    assert misread("[]") == "the document is not an object (line 1, column 1)"
    with pytest.raises(MisfitError, match="is not text in UTF-8: byte 2 is not a part of it"):
        Sample.from_json(b"{\xff}")


def test_numbers_that_people_write_are_decimals() -> None:
    assert decode(Fraction, "0.1", decimals=True) == Fraction(1, 10)
    assert decode(Fraction, "0.1") == Fraction(0.1)
    for text in ("1e999999999", "1e-999999999", "-1e301"):
        with pytest.raises(MisfitError, match="beyond the numbers"):
            decode(Fraction, text, decimals=True)


def test_what_cannot_be_told_apart_is_refused() -> None:
    for kind in (str | Colour, int | float | Colour | str, Bounds | dict[str, int], complex):
        with pytest.raises(TypeError):
            encode_type(kind)


def encode_type(kind: object) -> None:
    from fairdsl.codec.annotations import form_of

    form_of(kind)


def mutations(count: int) -> None:
    random, document = Random(7), plain(ONE)
    fitting = placeless = 0
    for _ in range(count):
        text = json.dumps(damaged(document, random))
        try:
            value = Sample.from_json(text)
        except MisfitError as misfit:
            placed = bool(misfit.place.steps) or "fit together" in misfit.what
            placeless += not placed
        else:
            fitting += 1
            assert Sample.from_json(encode(value)) == value
    assert placeless == 0
    assert 0 < fitting < count / 2


def test_damaged_documents_end_in_a_place() -> None:
    mutations(400)


@pytest.mark.slow
def test_many_damaged_documents_end_in_a_place() -> None:
    mutations(10_000)
