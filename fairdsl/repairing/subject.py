"""What is repaired: a model of a spec, the property that it breaks, and the rows that it is trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer, Refusal
from fairdsl.backends.units import Units, units_of
from fairdsl.counterexamples.errors import no_question
from fairdsl.data.table import read_table
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.ir.declaration import (
    ByAnswer,
    ByRules,
    FileSource,
    Label,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Who, conjoin
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Precision, Quantity, SameDecision
from fairdsl.models.binding.absent import codes_of_missing
from fairdsl.models.classes.labels import high_outcome
from fairdsl.models.features import feature_matrix
from fairdsl.models.load import load_model
from fairdsl.numerics.predicates import mask
from fairdsl.pipeline import verify
from fairdsl.plan.choices import check_properties
from fairdsl.pruning.accuracy import label_of, outcomes_by_value
from fairdsl.repairing import errors
from fairdsl.report.model import Report
from fairdsl.semantics import CheckedSpec
from fairdsl.semantics.checked import CheckedProperty

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Individuals [n, attributes] and, for each, the outcome that was right, [n]."""

    values: ExactRows
    outcomes: Integers

    def __len__(self) -> int:
        return len(self.outcomes)

    def at(self, rows: Integers) -> Rows:
        """Some of them."""
        return Rows(self.values.at(rows), self.outcomes[rows])

    def and_also(self, others: Rows) -> Rows:
        """These and then those."""
        values = ExactRows.joined([self.values, others.values])
        return Rows(values, np.concatenate([self.outcomes, others.outcomes]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainee:
    """A model that is to be trained again, for a property of that ``name``.

    ``classes`` are the labels that stand for the outcomes when an estimator learns, such that the spec's decision
    clause reads the exported file as they are meant: ``grant when class = 1`` makes 1 of ``grant``. ``outcome_of`` says
    which outcome a value of the label stands for.
    """

    name: str
    declaration: ModelDeclaration
    source: FileSource
    domain: Domain
    label: Attribute
    outcome_of: Mapping[float, int]
    classes: tuple[Label, ...]

    @classmethod
    def of(cls, spec: CheckedSpec, checked: CheckedProperty, /, **asked: Any) -> Self:
        """The model of a property, with what is ``asked``; raises DiagnosticError where there is no file or label."""
        declaration = spec.models[checked.model].declaration
        source = declaration.source
        if not isinstance(source, FileSource) or isinstance(declaration.decision, ByRules):
            reason = f"`{declaration.name}` is not read from a file that an estimator could be exported to"
            help_text = 'write the model as `from "FILE.onnx"` with a decision such as `class = 1`'
            raise DiagnosticError(errors.not_repairable(reason, declaration.span, help_text))
        label = label_of(spec)
        return cls(
            name=checked.name,
            declaration=declaration,
            source=source,
            domain=checked.domain,
            label=Attribute(name=label.name, type=label.type, column=label.column, span=label.span),
            outcome_of=outcomes_by_value(label, declaration.outcomes, declaration.favourable),
            classes=_classes(declaration),
            **asked,
        )

    @property
    def file_name(self) -> str:
        """What the model's file is called."""
        return Path(self.source.path).name

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of what :meth:`features` gives: headers of columns, and numbers for what is made of several."""
        plain = {Form.of(AttributeInput(place)): each for place, each in enumerate(self.domain.attributes)}
        if self.declaration.reads is None:
            return tuple(each.column or each.name for each in self.domain.attributes)
        found = (plain.get(form) for form in self.declaration.reads)
        return tuple(f"read_{at + 1}" if each is None else each.column or each.name for at, each in enumerate(found))

    def features(self, values: ExactRows) -> NDArray[np.float32]:
        """What the model reads of individuals, [n, features]: its ``reads``, or else the attributes in order."""
        forms = self.declaration.reads
        if forms is None:
            forms = tuple(Form.of(AttributeInput(index)) for index in range(len(self.domain.attributes)))
        features = feature_matrix(forms, values.floats).astype(np.float32)
        for place, code in enumerate(codes_of_missing(forms, self.domain)):
            if code is not None:
                features[features[:, place] == np.float32(code), place] = np.nan
        return features

    def learned(self, outcomes: Integers) -> NDArray[Any]:
        """The classes of outcomes: numbers, or texts."""
        return np.array(self.classes)[outcomes]

    def original(self, reporter: Reporter) -> Model:
        """The model in the file that the spec names."""
        return load_model(self.declaration, self.domain, reporter=reporter)

    def load(self, path: str, reporter: Reporter | None = None) -> Model:
        """The model in another file, read as the spec declares it; a digest that it pins is the original's."""
        unpinned = replace(self.declaration, source=replace(self.source, sha256=None))
        return load_model(unpinned, self.domain, override_path=path, reporter=reporter)

    def rows(self, path: str) -> tuple[Rows, str]:
        """The rows of the CSV file at ``path`` and its digest; raises DiagnosticError (E0530 to E0533)."""
        table = read_table(path, self.domain, self.label)
        right = [self.outcome_of[value] for value in table.label_codes.tolist()]
        return Rows(table.values, np.array(right, dtype=np.int64)), table.sha256

    def unfair_of(self, values: ExactRows, model: Model) -> tuple[int, int]:
        """How many individuals are asked about by themselves, and to how many of these the model is unfair."""
        return 0, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject(Trainee):
    """The model that is to be trained again, and the question about pairs that it is asked."""

    pair: Pair

    def problem(self, model: Model, quantity: Quantity, precision: Precision | None = None) -> Problem:
        """The question about another model than the spec's."""
        return Problem(
            name=self.name,
            domain=self.domain,
            model=model,
            question=self.pair,
            quantity=quantity,
            precision=precision,
        )

    def units(self, model: Model) -> Units:
        """The units of the question; raises DiagnosticError (E0592) where they cannot be judged one by one."""
        units = units_of(self.problem(model, Quantity.DISCRIMINATION_RATE))
        if isinstance(units, Refusal):
            help_text = "ask about decisions of people who differ in attributes with few values"
            raise DiagnosticError(errors.not_repairable(units.why, units.span or self.pair.span, help_text))
        return units

    def unfair_of(self, values: ExactRows, model: Model) -> tuple[int, int]:
        """Those in the target, and those of them that lie in unfair units; one in doubt counts as unfair."""
        wanted = mask(conjoin(self.domain.where, self.pair.unit_target), {Who.EACH: values})
        judged = self.units(model).judge(values.at(wanted))
        asked = judged.in_question
        return int(asked.sum()), int(((judged.unfair | judged.doubtful) & asked).sum())


def subject_of(spec: CheckedSpec, path: str, asked: str | None) -> Subject:
    """What the spec at ``path`` has to be repaired; ``asked`` names the property where there are several about pairs.

    Raises DiagnosticError where there is no such property (E0633), no file (E0592), or no label (E0562).
    """
    if asked is not None:
        check_properties((asked,), spec)
    found = {checked.name: checked for checked in spec.properties if isinstance(checked.demands[0].question, Pair)}
    name = asked if asked is not None else next(iter(found), "") if len(found) == 1 else ""
    if name not in found:
        raise DiagnosticError(no_question(path, tuple(found), asked))
    checked = found[name]
    pair = checked.demands[0].question
    assert isinstance(pair, Pair), "the property was chosen for its pairs"
    if not isinstance(pair.demand, SameDecision) or pair.sure:
        reason = "how many people are treated unfairly is measured for equal decisions alone"
        raise DiagnosticError(
            errors.not_repairable(reason, checked.span, "name a property with `require same decision`")
        )
    return Subject.of(spec, checked, pair=pair)


def _classes(declaration: ModelDeclaration) -> tuple[Label, ...]:
    match declaration.decision:
        case WhenClass(classes=named):
            return _labelled(declaration, {each.outcome: each.label for each in named})
        case WhenScore() | WhenProbability() as clause:
            asked = clause.label if isinstance(clause, WhenProbability) else None
            high = declaration.outcomes.index(high_outcome(declaration, clause))
            return _labelled(declaration, {high: 1 if asked is None else asked})  # one number is that of class 1
        case ByAnswer():
            return declaration.outcomes
        case _:  # a column an outcome, in their order
            return tuple(range(len(declaration.outcomes)))


def _labelled(declaration: ModelDeclaration, known: Mapping[int, Label]) -> tuple[Label, ...]:
    """A label for each outcome: of one without, its own name beside texts, and the first free number beside numbers."""
    texts = any(isinstance(label, str) for label in known.values())
    free = (number for number in count() if number not in known.values())
    names = enumerate(declaration.outcomes)
    return tuple(known[place] if place in known else name if texts else next(free) for place, name in names)


def checked_file(
    path: str, let: Mapping[str, str], subject: Trainee, file: Path, budget: Budget, observer: Observer
) -> tuple[Report | None, tuple[Diagnostic, ...]]:
    """What ``check`` says of another file as the spec's model, or what keeps it from saying anything."""
    try:
        report = verify(
            path,
            models={subject.declaration.name: str(file)},
            data={},
            let=let,
            budget=budget,
            properties=(),
            observer=observer,
            hold=False,  # what was recorded are the decisions of the model that is replaced
        )
    except DiagnosticError as error:
        return None, error.diagnostics
    except KeyboardInterrupt:  # the file is there, and is not to be lost
        return None, ()
    return report, ()
