"""``when confidence(a) >= 0.9``: only pairs count in which the model is sure of its decision.

docs/semantics.md, section 2, says what a confidence is.

The level lies strictly between 0 and 1, since no logistic or softmax probability is 0 or 1; and it is above what
every decision of the model has: 1/k where the likeliest of k outcomes is chosen, the smaller of q and 1 - q under
the rule ``probability >= q``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import ByAnswer, Highest, ModelDeclaration, WhenClass, WhenProbability
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.question import Sure
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedModel
from fairdsl.semantics.questions.thresholds import check_share
from fairdsl.syntax import tree


def called(node: tree.Expression, function: str) -> str | None:
    """The individual in ``function(a)``; None for anything else."""
    if not (isinstance(node, tree.Call) and node.function.text == function and len(node.arguments) == 1):
        return None
    if node.owner is not None:
        return None
    argument = node.arguments[0]
    return argument.name.text if isinstance(argument, tree.Reference) and argument.owner is None else None


def read_sureness(
    clauses: Sequence[tree.Clause],
    individuals: Mapping[str, Who],
    models: Mapping[str, CheckedModel | None],
    main: str | None,
    reporter: Reporter,
) -> tuple[Sure, ...]:
    """What the ``when`` clauses ask, one entry each; whatever is wrong is reported and left out.

    ``main`` is the model that ``confidence(a)`` alone is about, None where the property does not say.
    """
    found: dict[tuple[Who, str], Sure] = {}
    for sure in _each(clauses, individuals, models, main, reporter):
        earlier = found.setdefault((sure.who, sure.model), sure)
        if earlier is not sure and sure.span is not None and earlier.span is not None:
            name = sure.span.text.removeprefix("when").split(">")[0].strip()
            reporter.report(errors.declared_twice("condition", name, sure.span, earlier.span, word="written"))
    return tuple(found.values())


def _each(
    clauses: Sequence[tree.Clause],
    individuals: Mapping[str, Who],
    models: Mapping[str, CheckedModel | None],
    main: str | None,
    reporter: Reporter,
) -> Iterator[Sure]:
    for clause in clauses:
        if not isinstance(clause, tree.WhenClause):
            continue
        condition = clause.condition
        call, who = _about(condition, individuals)
        if (
            call is None
            or who is None
            or not isinstance(condition, tree.Comparison)
            or not isinstance(condition.right, tree.Number)
        ):
            other = "; a second line asks it of the other" if len(individuals) > 1 else ""
            remedy = f"write `when confidence({next(iter(individuals))}) >= 0.9`{other}"
            reporter.report(errors.demand_not_understood(condition.span, remedy))
            continue
        owner = main if call.owner is None else call.owner.text
        if owner is None:
            help_text = f"write `{next(iter(models))}.{call.span.text}`"
            reporter.report(errors.say_which("model", call.span, tuple(models), help_text))
        elif owner not in models:
            reporter.report(errors.unknown_declaration("model", owner, call.span, tuple(models)))
        elif (model := models[owner]) is not None and _says_something(
            condition.relation, condition.right, model.declaration, reporter
        ):
            level, relation = Fraction(condition.right.value), Relation(condition.relation)
            yield Sure(who=who, relation=relation, level=level, model="" if owner == main else owner, span=clause.span)


def _about(condition: tree.Expression, individuals: Mapping[str, Who]) -> tuple[tree.Call | None, Who | None]:
    """The call in ``confidence(a) >= ...``, and whom it is about; nothing for any other condition."""
    if not isinstance(condition, tree.Comparison) or condition.relation not in (">", ">="):
        return None, None
    call = condition.left
    if not isinstance(call, tree.Call):
        return None, None
    return call, individuals.get(called(replace(call, owner=None), "confidence") or "")


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
