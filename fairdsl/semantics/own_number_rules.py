"""``grant when score > 0``, ``... probability >= 50%``, ``... class = 1``: the rule on a model's own number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import WhenClass, WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.semantics import errors
from fairdsl.semantics.own_numbers import own_comparison
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["one_of_two", "own_number_rule"]


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
) -> WhenScore | WhenProbability | WhenClass | None:
    """The rule; None, and reported, where it is none. ``outcome`` is the position of the one it names, if there is."""
    parts = own_comparison(when.condition)
    if parts is None:
        reporter.report(errors.rule_not_understood(when.condition.span, *_no_comparison(when)))
        return None
    if outcome is None or not one_of_two(outcomes, when.span, reporter):
        return None
    subject, relation, threshold = parts
    if subject == "class":
        return _class_rule(when, outcome, relation, threshold, reporter)
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
    return WhenProbability(outcome=outcome, relation=relation, threshold=threshold, span=when.condition.span)


def _no_comparison(when: tree.DecidesWhen) -> tuple[str, str]:
    """Why the rule of a model with a score is none, and what to write."""
    example = f"write for instance `{when.outcome.text} when score > 0`"
    parts = when.condition.parts if isinstance(when.condition, tree.Conjunction | tree.Disjunction) else ()
    own = next((part for part in parts if own_comparison(part) is not None), None)
    if own is None:
        return "compares neither `score`, `probability` nor `class` with a number", example
    return (
        "a rule on the model's own number is one comparison, and this is more than one",
        f"write `{when.outcome.text} when {own.span.text}`; what concerns attributes belongs in the score, or in "
        "the `target` of a property",
    )


def _class_rule(
    when: tree.DecidesWhen, outcome: int, relation: Relation, index: Fraction, reporter: Reporter
) -> WhenClass | None:
    # Which classes there are is known once the file is open: some files call their two classes 1 and 2.
    if relation is Relation.EQ and index.denominator == 1:
        return WhenClass(outcome=outcome, index=int(index), span=when.condition.span)
    reporter.report(
        errors.rule_not_understood(
            when.condition.span,
            "a class is one whole number",
            f"write for instance `{when.outcome.text} when class = 1`",
        )
    )
    return None
