"""Linear models as documents: decimals are decimals, and what is unclear is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from model_files import SPAN, declaration, domain

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.declaration import Highest, InlineScore, WhenProbability
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import ByHighest, ByThreshold
from fairdsl.models import load_model
from fairdsl.numerics.exact import exact_scores

PEOPLE = domain("age", "hours", "debt")


def written(folder: Path, document: object) -> str:
    path = folder / "model.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "document",
    [
        '{"coefficients": [0.1, -2, 1e-2], "intercept": 2.50}',
        '{"coef_": [[0.1, -2, 1e-2]], "intercept_": [2.50]}',
        '{"features": ["debt", "age", "hours"], "coefficients": [1e-2, 0.1, -2], "intercept": 2.5}',
    ],
)
def test_decimals_are_exact(document: str, tmp_path: Path) -> None:
    model = load_model(declaration(written(tmp_path, document)), PEOPLE)
    score = exact_scores(model, (Fraction(1), Fraction(1), Fraction(1)))
    assert score == (Fraction("0.1") - 2 + Fraction("0.01") + Fraction("2.5"),)
    assert exact_scores(model, (Fraction(1), Fraction(0), Fraction(0))) == (Fraction("2.6"),)
    assert model.deployed is None
    assert model.sha256 is not None


def test_the_order_of_the_features_is_the_documents(tmp_path: Path) -> None:
    path = written(tmp_path, {"features": ["debt"], "coefficients": [3]})
    model = load_model(declaration(path), PEOPLE)
    assert model.inputs == (AttributeInput(2),)
    reads = (model.inputs[0],)
    assert reads == (AttributeInput(2),)


def test_several_scores(tmp_path: Path) -> None:
    path = written(tmp_path, {"coefficients": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "intercept": [0, 1, 2]})
    model = load_model(declaration(path, Highest(span=SPAN), outcomes=("a", "b", "c")), PEOPLE)
    assert isinstance(model.rule, ByHighest)
    assert exact_scores(model, (Fraction(1), Fraction(1), Fraction(1))) == (1, 2, 3)


def test_probabilities_are_logistic_and_it_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, {"coefficients": [1, 2, 3]})
    clause = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
    reporter = Reporter()
    model = load_model(declaration(path, clause), PEOPLE, reporter=reporter)
    assert isinstance(model.rule, ByThreshold)
    assert (model.rule.low, model.rule.relation, [found.code for found in reporter]) == (0, Relation.GE, ["W0702"])


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("not json", "is not JSON: expecting value"),
        ("[1, 2]", "is not an object"),
        ('{"intercept": 1}', "no list of `coefficients`"),
        ('{"coefficients": [1, "2", 3]}', "`coefficients[1]` is not a fraction `p/q`"),
        ('{"coefficients": [1, NaN, 3]}', "NaN is not a number of it"),
        ('{"coefficients": [1, true, 3]}', "`coefficients[1]` is not text or a number"),
        ('{"coefficients": [1, 1e999999, 3]}', "beyond the numbers"),
        ('{"coefficients": [[1, 2, 3], [1, 2]]}', "different lengths"),
        ('{"coefficients": [[1, 2, 3], [1, 2, 4]], "intercept": 1}', "one intercept for 2 rows"),
        ('{"coefficients": [1, 2, 3], "intercept": [1, 2]}', "2 intercepts"),
        ('{"coefficients": [1], "coef_": [1]}', "both"),
        ('{"coefficients": [1], "coefficients": [2]}', "given twice"),
        ('{"features": ["age", "age"], "coefficients": [1, 2]}', "twice"),
        ('{"features": ["age"], "coefficients": [1, 2]}', "1 features for 2"),
        ("[" * 5000, "nests too deep"),
        ('{"coefficients": [1, [2], 3]}', "different lengths"),
    ],
)
def test_documents_that_are_refused(document: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        load_model(declaration(written(tmp_path, document)), PEOPLE)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0510"
    assert problem.primary is not None
    assert says in problem.primary.text


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("bias", "did you mean `intercept`?"),
        ("weights", "did you mean `coefficients`?"),
        ("interceptt", "did you mean `intercept`?"),
        ("scale", "there are `features`, `feature_names_in_`, `coefficients`, `coef_`, `intercept`"),
    ],
)
def test_a_key_that_nothing_reads_is_refused(key: str, advice: str, tmp_path: Path) -> None:
    """A bias that is passed over would change every score."""
    path = written(tmp_path, {"coefficients": [1, 2, 3], key: 5})
    with pytest.raises(DiagnosticError) as caught:
        load_model(declaration(path), PEOPLE)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0510"
    assert problem.primary is not None
    assert problem.primary.text.startswith(f"`{key}` is not a key that is read here; {advice}")
    assert (problem.primary.span.file.path, problem.primary.span.text) == (path, f'"{key}"')
    assert [label.text for label in problem.secondary] == ["read as a linear model"]


def test_thirds_are_texts(tmp_path: Path) -> None:
    path = written(tmp_path, {"coefficients": ["1/3", 0, 0]})
    assert exact_scores(load_model(declaration(path), PEOPLE), (Fraction(1), Fraction(0), Fraction(0))) == (
        Fraction(1, 3),
    )


def test_every_key_that_is_listed_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, {"coefficients": [1, 2, 3], "intercepts": [5]})
    assert exact_scores(load_model(declaration(path), PEOPLE), (Fraction(0),) * 3) == (5,)


def test_unknown_features_are_refused(tmp_path: Path) -> None:
    """Trap 1: a name that does not exist is never skipped."""
    path = written(tmp_path, {"features": ["age", "hourz"], "coefficients": [1, 2]})
    with pytest.raises(DiagnosticError) as caught:
        load_model(declaration(path), PEOPLE)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0509"
    assert problem.help is not None
    assert "did you mean `hours`?" in problem.help


def test_the_probability_of_a_formula_is_a_logit_and_it_is_said() -> None:
    clause = WhenProbability(outcome=1, relation=Relation.GT, threshold=Fraction(1, 2), span=SPAN)
    formula = InlineScore(form=Form.of(AttributeInput(0)), span=SPAN)
    reporter = Reporter()
    load_model(replace(declaration("", clause), source=formula), PEOPLE, reporter=reporter)
    (warning,) = reporter
    assert (warning.code, warning.title) == (
        "W0702",
        "`probability` is read as the logistic of the formula's raw score",
    )
