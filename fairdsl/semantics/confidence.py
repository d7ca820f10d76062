"""``when confidence(a) >= 0.9``: only pairs count in which the model is sure of its decision.

docs/semantics.md, section 2, says what a confidence is.

The level lies strictly between 0 and 1, since no logistic or softmax probability is 0 or 1; and it is above what
every decision of the model has: 1/k where the likeliest of k outcomes is chosen, the smaller of q and 1 - q under
the rule ``probability >= q``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import ByAnswer, Highest, ModelDeclaration, WhenClass, WhenProbability
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.question import Sure
from fairdsl.semantics import errors
from fairdsl.semantics.thresholds import check_share
from fairdsl.syntax import tree

__all__ = ["called", "read_sureness"]


def called(node: tree.Expression, function: str) -> str | None:
    """The individual in ``function(a)``; None for anything else."""
    if not (isinstance(node, tree.Call) and node.function.text == function and len(node.arguments) == 1):
        return None
    if node.owner is not None:
        return None
    argument = node.arguments[0]
    return argument.name.text if isinstance(argument, tree.Reference) and argument.owner is None else None


def read_sureness(
    clauses: Sequence[tree.Clause], compare: tree.CompareClause, model: ModelDeclaration, reporter: Reporter
) -> tuple[Sure, ...]:
    """What the ``when`` clauses ask, one entry each; whatever is wrong is reported and left out."""
    found: dict[Who, Sure] = {}
    for sure in _each(clauses, compare, model, reporter):
        earlier = found.setdefault(sure.who, sure)
        if earlier is not sure and sure.span is not None and earlier.span is not None:
            name = f"confidence({_names(compare)[sure.who]})"
            reporter.report(errors.declared_twice("condition", name, sure.span, earlier.span, word="written"))
    return tuple(found.values())


def _names(compare: tree.CompareClause) -> dict[Who, str]:
    return {Who.A: compare.first.text, Who.B: compare.second.text}


def _each(
    clauses: Sequence[tree.Clause], compare: tree.CompareClause, model: ModelDeclaration, reporter: Reporter
) -> Iterator[Sure]:
    for clause in clauses:
        if not isinstance(clause, tree.WhenClause):
            continue
        condition = clause.condition
        who = _about(condition, compare)
        if who is None or not isinstance(condition, tree.Comparison) or not isinstance(condition.right, tree.Number):
            remedy = f"write `when confidence({compare.first.text}) >= 0.9`; a second line asks it of the other"
            reporter.report(errors.demand_not_understood(condition.span, remedy))
        elif _says_something(condition.relation, condition.right, model, reporter):
            relation = Relation(condition.relation)
            yield Sure(who=who, relation=relation, level=Fraction(condition.right.value), span=clause.span)


def _about(condition: tree.Expression, compare: tree.CompareClause) -> Who | None:
    """Whom ``confidence(a) >= ...`` is about; None for any other condition."""
    if not isinstance(condition, tree.Comparison) or condition.relation not in (">", ">="):
        return None
    name = called(condition.left, "confidence")
    return next((who for who, known in _names(compare).items() if known == name), None)


def _says_something(relation: str, number: tree.Number, model: ModelDeclaration, reporter: Reporter) -> bool:
    """Whether the level is one that some decisions have and others have not; reported where it is not."""
    reported = len(reporter.diagnostics)
    check_share("confidence", relation, number, reporter)
    if len(reporter.diagnostics) > reported:
        return False
    what = _decides_nothing(relation, number.value, _least(model))
    if what is None:
        return True
    written = f"{relation} {number.text}"
    remedy = "write a higher level, or leave the line out" if number.value < 1 else "write a level below 1"
    reporter.report(errors.threshold_out_of_range("confidence", written, number.span, None, what=what, remedy=remedy))
    return False


def _decides_nothing(relation: str, level: Fraction, least: Fraction) -> str | None:
    if level >= 1:
        return "never met: a probability only comes near 1"
    if level < least or (level == least and relation == ">="):
        return "always met" if not least else f"always met: no decision of this model is less probable than {least}"
    return "always met: a probability only comes near 0" if level <= 0 else None


def _least(model: ModelDeclaration) -> Fraction:
    """The confidence that every decision of the model has at least."""
    match model.decision:
        case WhenClass() | Highest() | ByAnswer():
            return Fraction(1, len(model.outcomes))
        case WhenProbability(threshold=threshold):
            return min(threshold, 1 - threshold)
        case _:
            return Fraction(0)
