"""Python functions as models: what they are given, and what is made of their answers.

A function is called with one argument, about n individuals at once:

* where the spec writes ``reads``: float64 [n, features], the features in that order, as a file would get them;
* else a dictionary: from each attribute's column in data files (its ``column``, else its name) to an array [n], of
  texts for categories, truth values for booleans, int64 for integers and float64 for reals; a column that may be
  missing is of texts, or of float64, and NaN or the empty text says so.

Its answer is a sequence [n], or an array [n, columns]; the decision clause says what it is
(:mod:`fairdsl.models.black_boxes.reading`).
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import ByAnswer, ModelDeclaration, WhenClass
from fairdsl.ir.domain import Attribute, Boolean, Category, Domain, Integer
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import Answers, BlackBox
from fairdsl.models import errors
from fairdsl.models.binding.absent import codes_of_missing
from fairdsl.models.black_boxes.asked import check_steady
from fairdsl.models.black_boxes.pace import Pace
from fairdsl.models.black_boxes.reading import Asked, Kind, answers_of, kind_of, reading_of, rule_of, score_count
from fairdsl.models.classes.known import Classes
from fairdsl.models.features import feature_matrix

FloatArray = NDArray[np.float64]

_LARGEST_WHOLE = 2**53


def callable_model(declaration: ModelDeclaration, domain: Domain, function: Callable[[Any], Any]) -> Model:
    """The model that is the function's answers; raises DiagnosticError where it fails on a few individuals."""
    forms = declaration.reads
    attributes = range(len(domain.attributes))
    read = [AttributeInput(index) for index in attributes] if forms is None else [i for f in forms for i, _ in f.terms]
    scores = score_count(declaration.decision, declaration.outcomes)
    model = Model(
        name=declaration.name,
        outcomes=declaration.outcomes,
        inputs=tuple(dict.fromkeys(read)),
        layers=(),
        rule=rule_of(declaration.decision),
        favourable=declaration.favourable,
        opaque=BlackBox(scores=scores, domain=domain, call=_Called(declaration, domain, function, scores)),
        span=declaration.source.span,
    )
    check_steady(model)
    return model


class _Called:
    """A function between arrays of individuals and answers."""

    def __init__(
        self, declaration: ModelDeclaration, domain: Domain, function: Callable[[Any], Any], scores: int
    ) -> None:
        self._declaration, self._domain, self._function, self._scores = declaration, domain, function, scores
        self._pace = Pace()
        self._first = True

    def __call__(self, points: FloatArray) -> Answers:
        """The answers about individuals [n, attributes], in as many calls as the clock asks for."""
        parts = [self._answers(points[part]) for part in self._pace.parts(len(points))]
        if len(parts) == 1:
            return parts[0]
        return Answers(np.concatenate([p.decisions for p in parts]), np.concatenate([p.scores for p in parts]))

    def _answers(self, points: FloatArray) -> Answers:
        """The answers to one call."""
        declaration, span = self._declaration, self._declaration.source.span
        try:
            answer = self._function(self._argument(points))
        except Exception as problem:  # whatever the function raises
            reads = declaration.reads
            given = (
                "it was called with a dictionary of columns, of which `pandas.DataFrame(people)` makes a table"
                if reads is None
                else f"it was called with a matrix of {len(reads)} columns, those that `reads` lists"
            )
            raise DiagnosticError(
                errors.no_answer(declaration.name, f"raises {_raised(problem)}", given, span)
            ) from problem
        output = self._table(answer, len(points))
        kind = kind_of(output)
        told = reading_of(declaration, self._classes(output, kind), kind, output.shape[1])
        if told is None:
            each = "nothing that can be read" if kind is None else kind.several(output.shape[1])
            raise self._refusal(f"{each} for each individual", "the decision rule asks for another answer")
        return answers_of(Asked(declaration.name, self._domain, self._scores, span), told, output, points)

    def _classes(self, output: NDArray[Any], kind: Kind | None) -> Classes:
        """What is known of the classes: of labels those of the first answers, else nothing."""
        name = self._declaration.name
        if kind is Kind.NUMBERS or kind is None:
            return Classes.of_columns(name, (), output.shape[1])
        if not self._first:
            return Classes(name, (), complete=False)
        self._first = False
        met = sorted({value if isinstance(value, str) else int(value) for value in output[:, 0].tolist()}, key=str)
        return Classes(name, tuple(met), complete=False)

    def _argument(self, points: FloatArray) -> FloatArray | dict[str, NDArray[Any]]:
        """What the function is called with: arrays of its own, which it may change."""
        if self._declaration.reads is not None:
            features = feature_matrix(self._declaration.reads, points)
            for place, code in enumerate(codes_of_missing(self._declaration.reads, self._domain)):
                if code is not None:
                    features[features[:, place] == float(code), place] = np.nan
            return features
        return {
            attribute.column or attribute.name: _column(attribute, points[:, index])
            for index, attribute in enumerate(self._domain.attributes)
        }

    def _table(self, answer: Any, count: int) -> NDArray[Any]:
        """The answer as [n, columns], whole numbers and truth values as the clause takes them."""
        if np.ma.is_masked(answer):
            raise self._refusal("an array with values masked out", "an answer for each is needed")
        try:
            output = np.asarray(answer)
        except ValueError as problem:
            raise self._refusal("rows of different lengths", None) from problem
        if output.ndim not in (1, 2) or len(output) != count or not output.size:
            shape = ", ".join(str(size) for size in output.shape)
            raise self._refusal(f"an array of shape ({shape}) for {count} individuals", "an answer for each is needed")
        output = output.reshape(count, -1)
        kind = kind_of(output)
        named = isinstance(self._declaration.decision, ByAnswer | WhenClass)
        if kind is Kind.TEXTS:
            return output.astype(object)
        if kind is Kind.CLASSES and not (named and output.shape[1] == 1):
            return output.astype(np.float64)
        if kind is Kind.NUMBERS and named and output.shape[1] == 1 and _whole(output):
            return output.astype(np.int64)  # classes that a library stores as floats
        return output

    def _refusal(self, what: str, note: str | None) -> DiagnosticError:
        return DiagnosticError(
            errors.no_answer(self._declaration.name, f"answers {what}", note, self._declaration.source.span)
        )


def _whole(output: NDArray[Any]) -> bool:
    """Whether all numbers are whole ones, of a size at which every whole number is a float64 of its own."""
    return bool(((np.abs(output) <= _LARGEST_WHOLE) & (output == np.rint(output))).all())


def _column(attribute: Attribute, numbers: FloatArray) -> NDArray[Any]:
    """The values of one attribute in the spec's own words; of people who lack it NaN, or an empty text."""
    if attribute.missing is not None:
        lacking = numbers == float(attribute.missing)
        known = _column(attribute.known, np.where(lacking, float(attribute.known.bounds[0] or 0), numbers))
        return np.where(lacking, "", known) if known.dtype.kind == "U" else np.where(lacking, np.nan, known)
    match attribute.type:
        case Category(values=values):
            ordered = sorted(values, key=lambda value: value.code)
            places = np.searchsorted([value.code for value in ordered], numbers)
            return np.array([value.name for value in ordered])[places]
        case Boolean():
            return numbers.astype(np.bool_)
        case Integer():
            return numbers.astype(np.int64)
    return numbers.copy()


def _raised(problem: Exception) -> str:
    """The exception in a line, and where the function raised it."""
    frames = traceback.extract_tb(problem.__traceback__)
    text = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
    inside = [frame for frame in frames[1:] if frame.lineno is not None]
    if not inside:
        return text
    first = inside[0]
    file = first.filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{text} (in `{first.name}`, line {first.lineno} of `{file}`)"
