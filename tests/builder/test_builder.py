"""Specs that are built in Python: what they print, what is read of it, and what cannot be written."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairdsl
from fairdsl.builder import (
    Boolean,
    Category,
    Distribution,
    Domain,
    Groups,
    Integer,
    Label,
    Model,
    Pairs,
    Preset,
    Protected,
    Quantiles,
    Real,
    Rows,
    Spec,
    Written,
)
from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

#: One of everything, and what it is as text.
PARTS = [
    Domain(
        "Person",
        {
            "sex": Category(["female", "male"]),
            "job": Category({"clerk": 0, "self-employed": 4}, column="Job title", as_stored=True),
            "age": Integer(18, 75, bins=[25, 45]),
            "income": Real(0, 200.5, or_missing=True, bins=Quantiles(4)),
            "debt": Real(),
        },
        where=["age >= 18", "debt <= 5 or income > 1"],
        derived={"senior": "age >= 62"},
    ),
    Protected(["sex", "senior"]),
    Label("repaid", Boolean(), deserving=False),
    Model(
        name="approve",
        domain="Person",
        outcomes=["reject", "grant"],
        source=Path("approve.onnx"),
        format="onnx",
        sha256="ab" * 32,
        reads=["age", "one_hot(job)", "income / 100"],
        decides={"grant": "probability >= 60%"},
        favourable="grant",
    ),
    Model(name="rank", domain="Person", outcomes=["low", "mid", "high"], ordered=True, source="callable"),
    Model(name="rule", domain="Person", outcomes=["no", "yes"], clauses=["first no when age < 20", "otherwise yes"]),
    Rows("cohort", ["Person", "repaid"], "cohort.csv"),
    Distribution("everybody", "Person", ["independent", 'from "cohort.csv"']),
    Written("condition grown = age >= 21"),
    Pairs(
        name="alike",
        sentence="Nobody is decided otherwise",
        domain="Person",
        differ=["sex", "age"],
        mode="each",
        within={"income": Fraction(1, 2)},
        regardless_of="debt",
        among="grown",
        model="approve",
        require="same decision",
        measure=["fair_share within 1%", "discrimination_rate"],
    ),
    Groups(
        name="rates",
        across="sex",
        for_each="age",
        excluding_below=30,
        privileged="sex = male",
        under="cohort",
        require=["impact_ratio >= limit with confidence 95%"],
        clauses="# as the law says",
    ),
    Preset("four_fifths", "approve", "sex", "cohort"),
]
TEXT = """\
fair 1

audit "All of it"

let limit = 0.8

domain Person {
  sex : category { female, male }
  job : category { clerk = 0, "self-employed" = 4 } column "Job title" as_stored
  age : integer 18 .. 75 bins at 25, 45
  income : real 0 .. 200.5 or missing bins by quantiles 4
  debt : real
  derived senior = age >= 62
  where age >= 18
  where debt <= 5
      or income > 1
}

protected sex, senior

label repaid : boolean deserving no

model approve : Person -> { reject, grant }
  from onnx "approve.onnx"
      sha256 "DIGEST"
  reads age, one_hot(job), income / 100
  grant when probability >= 60%
  favourable grant

model rank : Person -> { low < mid < high }
  from callable
  decide by highest score

model rule : Person -> { no, yes }
  first no when age < 20
  otherwise yes

distribution cohort over Person, repaid
  empirical from "cohort.csv"

distribution everybody over Person
  independent
  from "cohort.csv"

condition grown = age >= 21

property alike "Nobody is decided otherwise" {
  compare a, b : Person
  differ in each sex, age
  within 0.5 in income
  regardless of debt
  model approve
  among grown
  require same decision
  measure fair_share within 1%
  measure discrimination_rate
}

property rates {
  across sex
  for each age
  excluding groups below 30 rows
  privileged sex = male
  under cohort
  # as the law says
  require impact_ratio >= limit with confidence 95%
}

apply preset four_fifths to approve across sex under cohort
"""


def test_one_of_everything() -> None:
    text = str(Spec(PARTS, title="All of it", let={"limit": 0.8}))
    assert text.replace("ab" * 32, "DIGEST").split() == TEXT.split()
    assert format_spec_of(text) == text


def format_spec_of(text: str) -> str:
    read = parse(SourceFile("again.fair", text))
    assert read.spec is not None
    return format_spec(read.spec)


NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
TEXTS = st.text(st.characters(blacklist_categories=("C", "Z"), blacklist_characters='"'), min_size=1, max_size=8)
NUMBERS = st.one_of(st.integers(-(10**6), 10**6), st.floats(-(10**6), 10**6).map(lambda number: round(number, 8)))


@given(
    st.lists(NAMES, min_size=1, max_size=3, unique=True), st.lists(TEXTS, min_size=1, max_size=3, unique=True), NUMBERS
)
def test_what_is_built_is_what_is_read(names: list[str], values: list[str], end: float) -> None:
    columns: dict[str, Any] = dict.fromkeys(names, Category(values, column=values[0]))
    spec = Spec([Domain("D", {**columns, "Number": Real(end, 10**7)}), Protected(names)], let={"limit": end})
    read = parse(SourceFile("built.fair", spec.text))
    assert read.spec is not None
    parameter, domain, protected = read.spec.items
    assert isinstance(parameter, tree.Parameter)
    assert parameter.number.value == Fraction(str(end))
    assert isinstance(domain, tree.Domain)
    assert isinstance(protected, tree.Protected)
    assert [each.text for each in protected.names] == names
    *categories, real = (each for each in domain.members if isinstance(each, tree.Attribute))
    assert isinstance(real.type, tree.RealType)
    assert real.type.low is not None
    assert real.type.low.value == Fraction(str(end))
    for attribute, called in zip(categories, names, strict=len(names) == len(categories)):
        assert isinstance(attribute.type, tree.CategoryType)
        assert attribute.column is not None
        assert (attribute.name.text, attribute.column.value) == (called, values[0])
        assert [entry.name.text for entry in attribute.type.entries] == values


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (Domain("My domain", {}), "'My domain' is not a name"),
        (Domain("D", {"age in years": Integer(0, 9)}), "a header of the data goes into `column`"),
        (Domain("D", {"age": Integer(0, "9 of")}), "built.fair"),  # a text is a number or a name, or it is not read
        (Domain("D", {"age": Integer(0, True)}), "True is not a number"),
        (Domain("D", {"age": Real(0, Fraction(1, 3))}), "has no decimal"),
        (Domain("D", {"age": Real(0, float("inf"))}), "has no decimal"),
        (Domain("D", {"job": Category(['the "boss"'])}), "cannot be written between quotes"),
        (Protected([1]), "1 is not a text"),  # type: ignore[list-item]
        ("domain D { }", "is none"),
        (Groups(name="g", across="sex", under="t", require="impact_ratio >="), "built.fair"),
        (Domain("P", {"x": Real(low=0)}), "it has one end"),
        (Domain("P", {"x": Real(high=9)}), "it has one end"),
    ],
)
def test_what_cannot_be_written(part: Any, said: str) -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        print(Spec([part]))
    found = caught.value.diagnostics[0]
    shown = f"{caught.value} {found.code} {found.primary.span.file.path if found.primary else ''}"
    assert said in shown


def test_edges_may_be_an_array() -> None:
    edges = np.array([0.25, 0.5])
    assert (
        Spec([Domain("P", {"x": Real(0, 1, bins=edges)})]).text
        == Spec([Domain("P", {"x": Real(0, 1, bins=[0.25, 0.5])})]).text
    )


def test_a_spec_that_was_built_is_checked() -> None:
    parts = [
        Domain("Person", {"sex": Boolean(), "age": Integer(0, 9)}),
        Protected("sex"),
        Model(name="m", domain="Person", outcomes=["no", "yes"], decides={"yes": "age > 4"}),
        Pairs(name="alike", domain="Person", differ="sex", require="same decision"),
    ]
    assert [each.judgement.value for each in fairdsl.check(Spec(parts)).properties] == ["holds"]
