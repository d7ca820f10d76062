"""``grant when score > 0``, ``... probability >= 50%``, ``... class = "good"``: the rule on what a model gives."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import ClassOf, Label, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.semantics import errors
from fairdsl.semantics.models.own_numbers import own_comparison
from fairdsl.source import Span
from fairdsl.syntax import tree


def one_of_two(outcomes: Sequence[str], span: Span, reporter: Reporter) -> bool:
    """Whether one condition tells the outcomes apart; that it does not is reported."""
    if len(outcomes) < 3:
        return len(outcomes) == 2  # a single outcome has been reported
    reporter.report(
        errors.rule_not_understood(
            span,
            f"one condition cannot tell {len(outcomes)} outcomes apart",
            "write `decide by highest score`, or list two outcomes",
        )
    )
    return False


def own_number_rule(
    when: tree.DecidesWhen, outcome: int | None, outcomes: Sequence[str], reporter: Reporter
) -> WhenScore | WhenProbability | None:
    """The rule of one comparison with a number; None, and reported, where it is none.

    ``outcome`` is the position of the one that it names, if there is.
    """
    parts = own_comparison(when.condition)
    if parts is None:
        reporter.report(errors.rule_not_understood(when.condition.span, *_no_comparison(when)))
        return None
    if outcome is None or not one_of_two(outcomes, when.span, reporter):
        return None
    assert not isinstance(parts.value, str), "only a class is compared with a text"
    subject, relation, threshold = parts.subject, parts.relation, parts.value
    if relation in (Relation.EQ, Relation.NE):
        reporter.report(
            errors.rule_not_understood(
                when.condition.span, "a rule compares with < <= > or >=", f"write for instance `{subject} >= ...`"
            )
        )
        return None
    if subject == "score":
        return WhenScore(outcome=outcome, relation=relation, threshold=threshold, span=when.condition.span)
    if not 0 < threshold < 1:
        condition = when.condition.span
        what = (
            f"a probability is never {threshold} itself: the logistic function only comes near it"
            if threshold in (0, 1)
            else "outside 0 % .. 100 %"
        )
        reporter.report(errors.threshold_out_of_range("probability", condition.text, condition, None, what=what))
        return None
    return WhenProbability(
        outcome=outcome, relation=relation, threshold=threshold, label=parts.of, span=when.condition.span
    )


def names_classes(whens: Sequence[tree.DecidesWhen]) -> bool:
    """Whether all rules are about the class that the model gives."""
    return all((parts := own_comparison(when.condition)) is not None and parts.subject == "class" for when in whens)


def class_rule(
    whens: Sequence[tree.DecidesWhen], named: Sequence[int | None], outcomes: Sequence[str], reporter: Reporter
) -> WhenClass | None:
    """``OUTCOME when class = LABEL``, once or more; which classes there are is known once the file is open.

    ``named`` are the positions of the outcomes, None of an unknown one.
    """
    found: list[ClassOf] = []
    for when, outcome in zip(whens, named, strict=True):
        parts = own_comparison(when.condition)
        label = parts.label if parts is not None else None
        problem = _problem(when, label, outcome, found)
        if problem is not None:
            reporter.report(errors.rule_not_understood(when.span, *problem))
        elif outcome is not None and label is not None:
            found.append(ClassOf(outcome=outcome, label=label, span=when.condition.span))
    if len(found) < len(whens) or len(outcomes) < 2:
        return None
    missing = [outcome for outcome in range(len(outcomes)) if outcome not in {each.outcome for each in found}]
    if len(missing) > 1:
        lacking = ", ".join(f"`{outcomes[outcome]}`" for outcome in missing)
        help_text = f"write a line for each outcome, as `{outcomes[missing[0]]} when class = ...` with its label"
        span = whens[0].span.to(whens[-1].span)
        reporter.report(errors.rule_not_understood(span, f"nothing says which class means {lacking}", help_text))
        return None
    return WhenClass(classes=tuple(found), span=whens[0].condition.span.to(whens[-1].condition.span))


def _problem(
    when: tree.DecidesWhen, label: Label | None, outcome: int | None, before: Sequence[ClassOf]
) -> tuple[str, str] | None:
    """What is wrong with one line about the class, and what to write."""
    if label is None:
        example = (
            f'write `{when.outcome.text} when class = ...` with a label of the file, as `1` or `"{when.outcome.text}"`'
        )
        return "a class is a label of the file: a whole number, or a text in quotation marks", example
    if any(each.label == label for each in before):
        return "this class is another outcome's already", "remove one of the two lines"
    if outcome is not None and any(each.outcome == outcome for each in before):
        return "this outcome has a class already", "keep the line that is meant"
    return None


def _no_comparison(when: tree.DecidesWhen) -> tuple[str, str]:
    """Why the rule of a model with a score is none, and what to write."""
    name = when.outcome.text
    example = f"write for instance `{name} when score > 0` if a high score means `{name}`"
    parts = when.condition.parts if isinstance(when.condition, tree.Conjunction | tree.Disjunction) else ()
    own = next((part for part in parts if own_comparison(part) is not None), None)
    if _bare_label(when.condition):
        quoted = f'`{when.outcome.text} when class = "..."`'
        return (
            "a label that is a text stands in quotation marks",
            f"write {quoted} with the label as the file returns it",
        )
    if own is None:
        return "compares neither `score`, `probability` nor `class` with a number", example
    return (
        "a rule on the model's own number is one comparison, and this is more than one",
        f"write `{when.outcome.text} when {own.span.text}`; what concerns attributes belongs in the score, or in "
        "the `among` of a property",
    )


def _bare_label(node: tree.Expression) -> bool:
    """Whether this is ``class = name``, without quotation marks."""
    if not isinstance(node, tree.Comparison):
        return False
    sides = (node.left, node.right)
    names = [side.name.text for side in sides if isinstance(side, tree.Reference) and side.owner is None]
    return len(names) == 2 and "class" in names
