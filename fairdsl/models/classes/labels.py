"""What a label of the file means: one rule for all models, whoever reads or runs the file.

* ``OUTCOME when class = LABEL`` is the label that the file returns: a text by name, a whole number by value. A file
  without labels has columns, counted from 0.
* ``decide by highest score`` and no clause bind labels that are the outcomes' names by name, in whatever order.
  ``decide by highest score`` gives whole numbers 0, 1, ... and columns without names to the outcomes in their order.
* ``probability`` alone is that of the outcome that a high number leads to: of the column of this name, or of class 1
  where that is the second outcome. Everything else is asked for by ``probability(class = LABEL)``.

What could be read in two ways is refused (E0511), and the help says what each way of writing it means.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import (
    ClassOf,
    Highest,
    Label,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import show_number
from fairdsl.models import errors
from fairdsl.models.classes.advice import as_many, by_class, by_name, by_probability, by_threshold
from fairdsl.models.classes.known import Classes, listing, shown
from fairdsl.source import Span

#: Labels of which the second one is the positive class wherever classes are counted.
_POSITIVE_SECOND: tuple[tuple[Label, ...], ...] = ((0, 1), (-1, 1))


def places_of(declaration: ModelDeclaration, classes: Classes) -> tuple[int, ...]:
    """The position of each outcome's class, by the clause `class = ...`, `decide by highest score` or none.

    Raises DiagnosticError (E0511) where the clause does not say it.
    """
    clause, outcomes, labels = declaration.decision, declaration.outcomes, classes.labels
    _check_known(classes, clause.span)
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        title = f"two classes of the file have the same label {shown(twice)}"
        remedy = "export the model with a label of its own for each class"
        raise _refusal(title, "cannot tell them apart", remedy, clause.span, classes)
    if len(labels) != len(outcomes) and classes.complete:
        title = f"the file chooses among {len(labels)} classes, and `{declaration.name}` has {len(outcomes)} outcomes"
        raise _refusal(title, "cannot say which class is which outcome", as_many(classes), clause.span, classes)
    if isinstance(clause, WhenClass):
        found = _written(declaration, clause, classes)
    elif {*labels} == {*outcomes}:
        return tuple(labels.index(outcome) for outcome in outcomes)
    elif isinstance(clause, Highest) and labels in (tuple(range(len(outcomes))), *_POSITIVE_SECOND):
        return tuple(range(len(outcomes)))
    else:
        title = "nothing says which class of the file means which outcome"
        label = "its labels are not the names of the outcomes" if classes.named else "its columns have no names"
        raise _refusal(title, label, by_class(outcomes, classes, outcomes[-1]), clause.span, classes)
    _check_names(declaration, [labels[place] for place in found], classes, clause.span)
    return found


def labels_of(declaration: ModelDeclaration, clause: WhenClass, classes: Classes) -> tuple[Label | None, ...]:
    """The label of each outcome, of what is only run: None stands for every other label.

    ``classes`` are the labels that are known. Raises DiagnosticError (E0511) where the clause names another one, unless
    it names one for each outcome: then every other label ends the audit when it is met.
    """
    found: list[Label | None] = [None] * len(declaration.outcomes)
    for each in clause.classes:
        found[each.outcome] = each.label
    for each in clause.classes:
        other_kind = all(isinstance(label, str) != isinstance(each.label, str) for label in classes.labels)
        unmet = classes.labels and each.label not in classes.labels
        if unmet and (None in found or classes.complete or other_kind):
            raise _no_such_label(declaration, each, classes)
    _check_names(declaration, found, classes, clause.span)
    if None in found:
        rest = declaration.outcomes[found.index(None)]
        others = [label for label in classes.labels if label not in found and label != rest]
        if any(label in declaration.outcomes for label in others):
            raise _misnamed(declaration, others, rest, clause.span, classes)
    return tuple(found)


def column_of(declaration: ModelDeclaration, clause: WhenProbability, classes: Classes) -> int:
    """The column of two whose probability a clause is about; raises DiagnosticError (E0511) where it is not said."""
    labels, high = classes.labels, high_outcome(declaration, clause)
    _check_known(classes, clause.span)
    if clause.label is not None:
        return _asked_column(declaration, clause, classes)
    if clause.relation.upwards:
        if high in labels:
            return labels.index(high)
        if clause.outcome == 1 and labels in _POSITIVE_SECOND:
            return 1
    title, remedy = "the file has a probability for each class", _by_probability(declaration, clause, classes)
    raise _refusal(title, "does not say of which class", remedy, clause.span, classes)


def check_high(declaration: ModelDeclaration, clause: WhenScore | WhenProbability, classes: Classes) -> None:
    """Check a threshold of a number that rises with the one class ``classes`` against the name of this class.

    Raises DiagnosticError (E0511) where a high number leads to another outcome than that of this name.
    """
    (label,), high = classes.labels, high_outcome(declaration, clause)
    if isinstance(clause, WhenProbability) and clause.label not in (None, label):
        asked = ClassOf(outcome=clause.outcome, label=clause.label or "", span=clause.span)
        raise _no_such_label(declaration, asked, classes)
    if label != high and label in declaration.outcomes:
        word = "probability" if isinstance(clause, WhenProbability) else "score"
        title = f"a high {word} of the file means {shown(label)}, and would lead to `{high}`"
        remedy = by_threshold(declaration.outcomes, clause, str(label), high)
        raise _refusal(title, f"is about `{high}`", remedy, clause.span, classes)


def single_probability(declaration: ModelDeclaration, clause: WhenProbability, output: str) -> None:
    """Refuse ``probability(class = LABEL)`` of a single number that no label stands beside (E0511)."""
    if clause.label is None:
        return
    condition = f"probability {clause.relation.value} {show_number(clause.threshold)}"
    plain = f"`{declaration.outcomes[clause.outcome]} when {condition}`"
    remedy = f"write {plain} if the file's number is the probability of {shown(clause.label)}"
    title, label = "the file has a single probability, and no label says of which class", "names a class by its label"
    raise _refusal(title, label, remedy, clause.span, Classes.of_columns(output, (), 1))


def _check_known(classes: Classes, span: Span) -> None:
    """Refuse columns of which nothing shows the classes, beside a label that has names (E0511)."""
    if not classes.labels:
        title, remedy = (
            "nothing shows which column belongs to which label",
            "write a rule about the label, `class = ...`",
        )
        raise _refusal(title, "is about columns", remedy, span, classes)


def ordered(declaration: ModelDeclaration, order: Sequence[int] | None) -> tuple[tuple[str, ...], int | None]:
    """The outcomes and the position of the favourable one, in the order in which a file has its classes.

    Ties go to the file's first class, so a model of three outcomes and more has them in this order.
    """
    outcomes, favourable = declaration.outcomes, declaration.favourable
    if order is None:
        return outcomes, favourable
    return tuple(outcomes[place] for place in order), None if favourable is None else list(order).index(favourable)


def high_outcome(declaration: ModelDeclaration, clause: WhenScore | WhenProbability) -> str:
    """The outcome that a high number leads to, of two."""
    rises = clause.relation.upwards
    return declaration.outcomes[clause.outcome if rises else 1 - clause.outcome]


def _written(declaration: ModelDeclaration, clause: WhenClass, classes: Classes) -> tuple[int, ...]:
    """The positions of the labels that the clause names; an outcome that it leaves out has the one that is left."""
    found: dict[int, int] = {}
    for each in clause.classes:
        if each.label not in classes.labels:
            raise _no_such_label(declaration, each, classes)
        found[each.outcome] = classes.labels.index(each.label)
    left = next((place for place in range(len(classes.labels)) if place not in found.values()), 0)
    return tuple(found.get(outcome, left) for outcome in range(len(declaration.outcomes)))


def _asked_column(declaration: ModelDeclaration, clause: WhenProbability, classes: Classes) -> int:
    assert clause.label is not None
    if clause.label not in classes.labels:
        raise _no_such_label(
            declaration, ClassOf(outcome=clause.outcome, label=clause.label, span=clause.span), classes
        )
    high = high_outcome(declaration, clause)
    if clause.label != high and clause.label in declaration.outcomes:
        title = f"a high probability of {shown(clause.label)} would lead to `{high}`"
        remedy = _by_probability(declaration, clause, classes)
        raise _refusal(title, "the label is the name of another outcome", remedy, clause.span, classes)
    return classes.labels.index(clause.label)


def _check_names(declaration: ModelDeclaration, found: Sequence[Label | None], classes: Classes, span: Span) -> None:
    """A label that is the name of an outcome stands for this outcome and no other."""
    for outcome, label in zip(declaration.outcomes, found, strict=True):
        if label is not None and label != outcome and label in declaration.outcomes:
            raise _misnamed(declaration, [label], outcome, span, classes)


def _misnamed(
    declaration: ModelDeclaration, labels: Sequence[Label], outcome: str, span: Span, classes: Classes
) -> DiagnosticError:
    """One of the labels is the name of another outcome than the one that it would be bound to."""
    label = next(label for label in labels if label in declaration.outcomes)
    title = f"the label {shown(label)} is the name of another outcome than it is bound to"
    remedy = by_name(declaration.outcomes, classes, outcome)
    return _refusal(title, f"would make `{outcome}` of {shown(label)}", remedy, span, classes)


def _no_such_label(declaration: ModelDeclaration, asked: ClassOf, classes: Classes) -> DiagnosticError:
    """A label that the file does not have: of the other kind, or unknown."""
    clause, texts = declaration.decision, [isinstance(label, str) for label in classes.labels]
    has = f"it has {listing(classes.labels)}"
    if not classes.named:
        has = f"it has columns without labels, counted from 0: {listing(classes.labels)}"
    elif isinstance(asked.label, int) and all(texts):
        has = f"a number; its labels are the texts {listing(classes.labels)}"
    elif isinstance(asked.label, str) and not any(texts):
        has = f"a text; its labels are the numbers {listing(classes.labels)}"
    if isinstance(clause, WhenProbability):
        remedy = _by_probability(declaration, clause, classes)
    else:
        remedy = by_class(declaration.outcomes, classes, declaration.outcomes[asked.outcome])
    return _refusal(f"the file has no class {shown(asked.label)}", has, remedy, asked.span, classes)


def _by_probability(declaration: ModelDeclaration, clause: WhenProbability, classes: Classes) -> str:
    return by_probability(declaration.outcomes, clause, high_outcome(declaration, clause), classes)


def _refusal(title: str, label: str, remedy: str, span: Span, classes: Classes) -> DiagnosticError:
    return DiagnosticError(errors.decision_does_not_fit(title, label, remedy, span, [classes.note]))
