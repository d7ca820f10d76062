"""What the parser makes of right texts: every construct, exact numbers, exact spans, comments and doc text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse

DRAFTS = sorted((Path(__file__).parent / "drafts").glob("*.fair"))

EVERYTHING = """\
# A licence.

fair 1
## Every construct once.
audit "Everything"

use "base.fair"

## Four fifths.
let limit = 80%

domain Applicant {
  ## How old.
  age    : integer 18 .. limit  bins at 25, 45.5
  job    : category { clerk = 1, "school teacher" = -4, nurse } or missing  column "Job # title"
  income : real
  wealth : real -1.5 .. 80%  bins by quantiles 4
  old    : boolean  bins by model
  derived senior = age >= 62
  derived band = bins of 2 * age - 3 at 20, 40
  where age >= 30 or not job = nurse or job is missing
}

label reoffended : boolean column "two_year_recid"

model approve : Applicant -> { reject, grant }
  from onnx "a.onnx" sha256 "9f2c"
  from callable
  score = 2 * income - 3
  reads age, one_hot(job), (income - 38.6) / 13.2
  grant when score > 0
  decide by highest score
  first reject when age < 20
  then grant when income > 3
  otherwise reject
  favourable grant
  agrees with column "Decision (final)" in "recorded.csv" sha256 "9f2c" on 99.5%

distribution cohort over Applicant, reoffended
  learn bayesian_network
  uniform
  independent
  empirical from "x.csv"
  from csv "y.csv"
  set seed = 7
  set score = bic
  set name = "x"
  age : normal(0.6, 0.1) truncated given old = true
  job : table { clerk : 0.2, "school teacher" : 80%, 3 : 0 }

graph influence { age -> job -> approve  age -> approve }

condition seniors over Applicant = age >= 60

condition rich = income > 3

metric misses = ratio(rate(refuse given each label))
metric along = gap(rate(favourable along allowed paths))

apply preset four_fifths to approve across job, old under cohort

property everything "Once" {
  compare a, b : Applicant
  for each g in { job, 3, "x y", (job, old) }
  for each h in age
  across job, old
  model approve
  differ in any job, old
  differ in job
  within 5 in age
  regardless of income, wealth
  otherwise equal
  among a.age in 18 .. 30 and job in { clerk, "school teacher", 3 .. 5, -1 }
  when confidence(a) >= 0.9
  under cohort
  for each old
  excluding groups below 30 rows
  excluding groups of probability 0
  allow age -> job -> approve
  baseline most_favoured
  privileged old = false
  require abs(score(a) - score(b)) <= 5% with confidence 95%
  require same decision
  require influence of age, (job, old) on impact_ratio >= -0.1
  require misses of new >= misses of old - 1%
  measure fair_share within 0.1%, influence of (age in 20 .. 60, job) on acceptance_rate, discrimination_rate
  measure impact_ratio with confidence 95%
}
"""


def read(text: str) -> tree.Spec:
    result = parse(SourceFile("spec.fair", text))
    assert result.diagnostics == ()
    assert result.complete
    assert result.spec is not None
    return result.spec


def nodes(value: Any) -> Iterator[tree.Node]:
    """All nodes of a tree."""
    if isinstance(value, tuple):
        for element in value:
            yield from nodes(element)
    elif isinstance(value, tree.Node) and is_dataclass(value):
        yield value
        for field in fields(value):
            yield from nodes(getattr(value, field.name))


def condition(text: str) -> tree.Expression:
    """The condition of `among`."""
    (item,) = read(f"property p {{ among {text} }}").items
    assert isinstance(item, tree.Property)
    (clause,) = item.clauses
    assert isinstance(clause, tree.AmongClause)
    return clause.condition


@pytest.mark.parametrize("draft", DRAFTS, ids=lambda path: path.stem)
def test_the_drafts_are_read_and_are_canonical(draft: Path) -> None:
    text = draft.read_text(encoding="utf-8")
    assert format_spec(read(text)) == text


def test_every_construct_is_read() -> None:
    kinds = {type(node) for node in nodes(read(EVERYTHING))}
    known = {kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, tree.Node)}
    missing = known - kinds - {tree.Node, tree.Protected, tree.Disjunction, tree.Negative}
    assert not missing, f"EVERYTHING, above, has no line with {[kind.__name__ for kind in missing]}"
    assert tree.Disjunction in kinds


def test_spans_are_exact() -> None:
    for node in nodes(read(EVERYTHING)):
        match node:
            case tree.Name():
                assert node.span.text == (f'"{node.text}"' if node.quoted else node.text)
            case tree.Number():
                assert node.span.text == node.text
            case tree.Text():
                assert node.span.text == f'"{node.value}"'


def test_a_node_lies_inside_the_node_around_it() -> None:
    for node in nodes(read(EVERYTHING)):
        for inner in nodes(tuple(getattr(node, field.name) for field in fields(node))):
            assert node.span.start <= inner.span.start <= inner.span.end <= node.span.end


def test_declarations_begin_and_end_with_their_words() -> None:
    spec = read(EVERYTHING)
    property_ = spec.items[-1]
    assert property_.span.text.startswith("property everything")
    assert property_.span.text.endswith("}")
    model = next(item for item in spec.items if isinstance(item, tree.Model))
    assert model.span.text.endswith("on 99.5%")


@pytest.mark.parametrize(
    ("written", "value"),
    [("0.8", Fraction(4, 5)), ("80%", Fraction(4, 5)), ("80 %", Fraction(4, 5)), ("-3", Fraction(-3))],
)
def test_numbers_are_exact(written: str, value: Fraction) -> None:
    number = condition(written)
    assert isinstance(number, tree.Number)
    assert number.value == value
    assert number.text == written.replace(" ", "")


def test_signs_and_parentheses() -> None:
    assert condition("-3 * x") == condition("(-3) * x")
    assert isinstance(condition("-(3)"), tree.Negative)
    assert condition("1 - 2 - 3") == condition("(1 - 2) - 3")
    assert condition("1 - 2 - 3") != condition("1 - (2 - 3)")
    assert condition("not a = 1 and b or c") == condition("((not (a = 1)) and b) or c")
    conjunction = condition("a and b and c")
    assert isinstance(conjunction, tree.Conjunction)
    assert len(conjunction.parts) == 3
    assert condition("a and (b and c)") != conjunction


def test_bins_and_column_stand_in_any_order() -> None:
    one, other = 'bins at 3 column "x"', 'column "x" bins at 3'
    assert read(f"domain D {{ a : real {one} }}") == read(f"domain D {{ a : real {other} }}")


def test_layout_is_free() -> None:
    assert read(" ".join(DRAFTS[0].read_text(encoding="utf-8").split("\n")[1:])).items
    assert read("domain D {\r\n  a : boolean\r\n}\r\n") == read("\ufeffdomain D{a:boolean}")


# ---- comments and doc text -----------------------------------------------------------------------


def test_doc_text_goes_to_what_follows() -> None:
    spec = read(EVERYTHING)
    assert spec.audit is not None
    assert spec.audit.doc == ("Every construct once.",)
    domain = next(item for item in spec.items if isinstance(item, tree.Domain))
    age = domain.members[0]
    assert isinstance(age, tree.Attribute)
    assert age.doc == ("How old.",)
    assert [comment.text for comment in spec.comments] == ["# A licence."]


def test_doc_text_above_the_version_is_the_documents() -> None:
    spec = read('## One.\n##\n##  Two.\nfair 1\naudit "x"')
    assert spec.audit is not None
    assert spec.audit.doc == ("One.", "", " Two.")


def test_doc_text_before_nothing_it_could_document_is_a_comment() -> None:
    spec = read("protected sex ## beside\n## stray\nprotected age\n#### ruler\n## end")
    assert [(c.text, c.own_line) for c in spec.comments] == [
        ("## beside", False),
        ("# stray", True),
        ("#### ruler", True),
        ("# end", True),
    ]


def test_a_hash_in_a_text_is_no_comment() -> None:
    assert read('use "a#b.fair" # c').comments[0].text == "# c"


def test_callable_is_a_word_only_behind_from() -> None:
    """An attribute or an outcome may be called so, and so may a format, which is then refused as one."""
    spec = read(
        "domain D { callable : boolean }\n"
        "model callable : D -> { callable, no }\n from callable # a function\n callable when score > 0\n"
        'model other : D -> { yes, no }\n from callable "file.x"\n yes when score > 0\n'
    )
    first, second = (item for item in spec.items if isinstance(item, tree.Model))
    assert isinstance(first.clauses[0], tree.FromCallable)
    assert first.outcomes[0].text == "callable"
    named = second.clauses[0]
    assert isinstance(named, tree.From)
    assert named.format is not None
    assert (named.format.text, named.path.value) == ("callable", "file.x")
