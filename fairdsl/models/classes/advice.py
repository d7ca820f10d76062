"""What to write where a decision rule does not say which class means which outcome.

Whoever follows such a help must not end at another audit than the meant one without a word. So where labels do not
settle the meaning, every way of writing it is offered together with what it means.
"""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.ir.declaration import Label, WhenProbability, WhenScore
from fairdsl.ir.domain import show_number
from fairdsl.models.classes.known import Classes, shown, writable, written
from fairdsl.source.names import is_name

_UNWRITABLE = "export the model with labels without quotation marks"


def by_class(outcomes: Sequence[str], classes: Classes, outcome: str) -> str:
    """Clauses about the class, for ``outcome``."""
    labels = classes.labels
    if not classes.complete and len(labels) != len(outcomes):
        return "write a line for each outcome, as `OUTCOME when class = LABEL` with the label that means it"
    if len(labels) != len(outcomes):
        return as_many(classes)
    if classes.named and any(name in labels for name in outcomes):
        return by_name(outcomes, classes, outcome)
    if len(outcomes) > 2:
        lines = "a line for each outcome, as `OUTCOME when class = LABEL` with the label that means it"
        in_order = ", ".join(f"`{name}`" for name in outcomes)
        return (
            f"write {lines}" if classes.named else f"write {lines}, or `decide by highest score` if they are {in_order}"
        )
    other = next(name for name in outcomes if name != outcome)
    ways = []
    for mine, rest in (labels, labels[::-1]):
        one, label = (outcome, mine) if writable(mine) else (other, rest)
        if not writable(label):
            return _UNWRITABLE
        ways.append((f"{one} when class = {written(label)}", mine))
    return _choices(ways, classes, outcome)


def by_name(outcomes: Sequence[str], classes: Classes, outcome: str) -> str:
    """For labels among which there are the names of outcomes: nothing is left to choose."""
    name = outcome if outcome in classes.labels else next(name for name in outcomes if name in classes.labels)
    line = f"write `{name} when class = {written(name)}`"
    if {*outcomes} == {*classes.labels}:
        return (
            f"{line}, or no rule: labels that are the outcomes' names are bound by name"
            if len(outcomes) == 2
            else ("leave the rule out: labels that are the outcomes' names are bound by name")
        )
    if len(outcomes) == 2:
        return line
    return "give each outcome the label that is its name, and the others the labels that mean them"


def by_probability(outcomes: Sequence[str], clause: WhenProbability, high: str, classes: Classes) -> str:
    """Clauses about the probability of one class of two; ``high`` is the outcome that a high one leads to."""
    labels = classes.labels
    low = next(name for name in outcomes if name != high)
    start, end = (
        f"{outcomes[clause.outcome]} when probability(class = ",
        f") {clause.relation.value} {show_number(clause.threshold)}",
    )
    named: list[Label] = []
    if classes.named and {high, low} & {*labels}:
        named = [label for label in labels if label == high or (high not in labels and label != low)]
    if not all(writable(label) for label in named or labels):
        return _UNWRITABLE
    if named:
        return f"write `{start}{written(named[0])}{end}`"
    return _choices([(f"{start}{written(label)}{end}", label) for label in labels], classes, high)


def by_number(outcomes: Sequence[str], condition: str, what: str) -> str:
    """Clauses about the one number of a file, where nothing says yet what a high one means."""
    if len(outcomes) != 2:
        return f"declare two outcomes, and write `OUTCOME when {condition}` for the one that {what} means"
    first, second = outcomes[1], outcomes[0]
    ways = [f"`{name} when {condition}` if {what} means `{name}`" for name in (first, second)]
    return "write " + ", or ".join(ways)


def by_threshold(outcomes: Sequence[str], clause: WhenScore | WhenProbability, label: str, high: str) -> str:
    """Clauses about the one number of a file, which is that of the outcome ``label``, and would lead to ``high``."""
    mine, other = outcomes[clause.outcome], outcomes[1 - clause.outcome]
    relation, threshold = clause.relation, show_number(clause.threshold)
    if isinstance(clause, WhenScore):
        return f"write `{other} when score {relation.value} {threshold}`"
    turned = f"{mine} when probability {relation.mirrored.value} {show_number(1 - clause.threshold)}"
    return (
        f"write `{other} when probability {relation.value} {threshold}` if {threshold} is a probability of `{label}`, "
        f"or `{turned}` if {threshold} is a probability of `{high}`"
    )


def as_many(classes: Classes) -> str:
    """For a file with more or fewer classes than there are outcomes."""
    labels = [str(label) for label in classes.labels if _is_name(label)]
    if classes.named and len(labels) == len(classes.labels):
        return (
            f"declare the outcomes `{{ {', '.join(labels)} }}` and no rule: then they are bound to the labels by name"
        )
    lines = "a line for each, as `OUTCOME when class = LABEL` with the label that means it"
    return f"declare {len(classes.labels)} outcomes, and {lines}"


def _is_name(label: Label) -> bool:
    return isinstance(label, str) and is_name(label)


def _choices(ways: Sequence[tuple[str, Label]], classes: Classes, outcome: str) -> str:
    """Each clause with what it takes for granted."""
    what = "the label" if classes.named else "column"
    parts = [f"`{clause}` if {what} {shown(label)} means `{outcome}`" for clause, label in ways]
    return "write " + ", or ".join(parts)
