"""Python functions as models: what they are called with, how their answers are read, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from model_files import SPAN

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.declaration import (
    ByAnswer,
    CallableSource,
    DecisionClause,
    Highest,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer, Real
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Model, read_attributes
from fairdsl.models import load_model
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator

COLOURS = Category(values=(CategoryValue(name="red", code=7), CategoryValue(name="blue", code=3)))
PEOPLE = Domain(
    name="Applicant",
    attributes=(
        Attribute(name="age", type=Integer(low=0, high=9)),
        Attribute(name="member", type=Boolean()),
        Attribute(name="colour", type=COLOURS, column="Favourite colour"),
        Attribute(name="income", type=Real(low=Fraction(0), high=Fraction(10))),
    ),
    where=TRUE,
)
FEW = np.array([[4, 1, 7, 2.5], [0, 0, 3, 1], [9, 1, 3, 0.1]])
SCORE = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(2), span=SPAN)

Function = Callable[[Any], Any]


def model(function: Function | None, decision: DecisionClause = SCORE, **settings: Any) -> Model:
    settings.setdefault("outcomes", ("reject", "grant"))
    declaration = ModelDeclaration(
        name="approve", favourable=1, source=CallableSource(span=SPAN), decision=decision, span=SPAN, **settings
    )
    return load_model(declaration, PEOPLE, function=function)


def decided(function: Function, decision: DecisionClause = SCORE, **settings: Any) -> list[int]:
    return BlackBoxEvaluator(model(function, decision, **settings)).ask(FEW).decisions.tolist()


def refusal(function: Function | None, decision: DecisionClause = SCORE, **settings: Any) -> Diagnostic:
    with pytest.raises(DiagnosticError) as caught:
        model(function, decision, **settings)
    (only,) = caught.value.diagnostics
    return only


def test_a_dictionary_in_the_specs_words() -> None:
    seen: list[dict[str, Any]] = []

    def grant(people: dict[str, Any]) -> Any:
        seen.append({name: column.copy() for name, column in people.items()})
        people["age"][:] = 0  # its own arrays, to do with as it likes
        return np.where(people["member"], 3.0, 1.0)

    assert decided(grant) == [1, 0, 1]
    few = seen[-1]
    assert list(few) == ["age", "member", "Favourite colour", "income"]
    assert {name: column.dtype.kind for name, column in few.items()} == {
        "age": "i",
        "member": "b",
        "Favourite colour": "U",
        "income": "f",
    }
    assert few["age"].tolist() == [4, 0, 9]
    assert few["Favourite colour"].tolist() == ["red", "blue", "blue"]
    assert few["income"].tolist() == [2.5, 1.0, 0.1]


def test_reads_asks_for_a_matrix() -> None:
    forms = (Form.of(AttributeInput(3)), Form.of(AttributeInput(0)).scaled(Fraction(1, 2)))
    built = model(lambda rows: rows @ np.array([1.0, 1.0]), reads=forms, reads_spans=(SPAN, SPAN))
    answers = BlackBoxEvaluator(built).ask(FEW)
    assert answers.scores[:, 0].tolist() == [4.5, 1.0, 4.6]
    assert read_attributes(built) == {0, 3}


@pytest.mark.parametrize("shape", [(-1,), (-1, 1)])
def test_scores(shape: tuple[int, ...]) -> None:
    assert decided(lambda people: people["income"].reshape(shape)) == [1, 0, 0]
    assert decided(lambda people: people["age"].reshape(shape)) == [1, 0, 1]  # whole numbers are scores, too
    assert decided(lambda people: people["income"].tolist()) == [1, 0, 0]


def test_thresholds_are_compared_in_the_answers_own_type() -> None:
    tenth = WhenScore(outcome=1, relation=Relation.GE, threshold=Fraction(1, 10), span=SPAN)
    assert decided(lambda people: people["income"], tenth) == [1, 1, 1]
    assert decided(lambda people: people["income"].astype(np.float32), tenth) == [1, 1, 1]


def test_probabilities() -> None:
    half = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
    no_half = WhenProbability(outcome=0, relation=Relation.GE, threshold=Fraction(1, 2), label=0, span=SPAN)
    assert decided(lambda people: people["member"] * 0.5, half) == [1, 0, 1]
    both = lambda people: np.column_stack([1 - people["income"] / 4, people["income"] / 4]) % 1  # noqa: E731
    assert decided(both, half) == [1, 0, 0]
    assert decided(both, no_half) == [1, 0, 0]


def test_classes_scores_and_names() -> None:
    one = WhenClass.of(1, 1, SPAN)
    assert decided(lambda people: people["member"], one) == [1, 0, 1]
    assert decided(lambda people: people["member"] * 1.0, one) == [1, 0, 1]  # as some libraries store classes
    answer = ByAnswer(span=SPAN)
    assert decided(lambda people: np.where(people["member"], "grant", "reject"), answer) == [1, 0, 1]
    assert decided(lambda people: [int(m) for m in people["member"]], answer) == [1, 0, 1]
    thirds = lambda people: np.column_stack([people["age"], 10 * people["member"], people["income"] * 3])  # noqa: E731
    assert decided(thirds, Highest(span=SPAN), outcomes=("a", "b", "c")) == [1, 2, 1]


def wrong_length(people: dict[str, Any]) -> Any:
    return people["income"][:3]


def ragged(people: dict[str, Any]) -> Any:
    return [[1.0], [1.0, 2.0]] * (len(people["age"]) // 2)


def undefined(people: dict[str, Any]) -> Any:
    return np.where(people["age"] > 4, np.nan, 1.0)


@pytest.mark.parametrize(
    ("function", "decision", "said"),
    [
        (wrong_length, SCORE, "shape (3) for 16"),
        (ragged, SCORE, "different lengths"),
        (undefined, SCORE, "not finite"),
        (lambda people: people["Favourite colour"], SCORE, "one text"),
        (lambda people: None, SCORE, "shape ()"),
        (lambda people: people["Favourite colour"], ByAnswer(span=SPAN), "none"),
        (lambda people: people["age"], ByAnswer(span=SPAN), "none"),
        (lambda people: people["income"], ByAnswer(span=SPAN), "one number"),
        (lambda people: people["income"], Highest(span=SPAN), "one number"),
        (
            lambda people: people["income"],
            WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN),
            "outside 0 .. 1",
        ),
    ],
)
def test_answers_that_are_none(function: Function, decision: DecisionClause, said: str) -> None:
    found = refusal(function, decision)
    assert found.code == "E0517"
    assert said in " ".join(found.notes)


def test_exceptions_are_shown_with_their_place() -> None:
    def fails(people: dict[str, Any]) -> Any:
        return people["shoe size"]

    found = refusal(fails)
    assert found.code == "E0517"
    assert "KeyError: 'shoe size' (in `fails`, line" in found.notes[0]
    assert "test_black_box_calls.py" in found.notes[0]


def test_chance_is_found_out() -> None:
    rng = np.random.default_rng(1)
    found = refusal(lambda people: rng.random(len(people["age"])))
    assert found.code == "E0518"
    assert found.notes[0].startswith("the same batch asked again: 0.5118")
    assert "colour = " in found.notes[0]


def test_what_the_rest_of_the_batch_changes_is_found_out() -> None:
    assert "alone" in refusal(lambda people: people["income"] - people["income"].mean()).notes[0]
    ranked = lambda people: people["age"] > np.median(people["age"])  # noqa: E731
    assert "`grant` and `reject`" in refusal(ranked, ByAnswer(span=SPAN)).notes[0]


def test_rounding_that_depends_on_the_batch_is_none_of_that() -> None:
    def sums(people: dict[str, Any]) -> Any:
        return people["income"] + 1e-9 * len(people["age"])

    assert decided(sums) == [1, 0, 0]


def test_without_a_function() -> None:
    assert refusal(None).code == "E0516"


@pytest.mark.parametrize("far", [np.inf, -np.inf, 2.0**64, 1e300])
def test_numbers_that_are_no_whole_numbers_are_no_classes(far: float) -> None:
    """As an int64 each of them would be some class, and never the one that is asked for."""
    one = WhenClass.of(1, 1, SPAN)
    problem = refusal(lambda people: np.where(people["member"], 1.0, far), one)
    assert problem.code == "E0517"
    assert "one number for each individual" in problem.notes[0]


def test_masked_answers_are_no_answers() -> None:
    problem = refusal(lambda people: np.ma.masked_array(people["income"], mask=people["member"]))
    assert problem.code == "E0517"
    assert decided(lambda people: np.ma.masked_array(people["income"])) == [1, 0, 0]  # nothing is masked


def test_what_is_shown_was_answered_alike_twice() -> None:
    """A function that answers by the number of its calls is found out where it matters."""
    calls: list[int] = []

    def grant(people: dict[str, Any]) -> Any:
        calls.append(len(people["age"]))
        return np.full(len(people["age"]), 1.0 if len(calls) < 25 else float(len(calls)))

    evaluator = BlackBoxEvaluator(model(grant))
    calls.extend([1] * 25)
    with pytest.raises(DiagnosticError) as caught:
        evaluator.ask_exactly([(Fraction(4), Fraction(1), Fraction(7), Fraction(5, 2))])
    assert caught.value.diagnostics[0].code == "E0518"
