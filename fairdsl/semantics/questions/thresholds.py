"""``METRIC relation NUMBER``: which metric, and a threshold that can decide something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import show_number
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.prelude import SHARES, TERMS, Named
from fairdsl.semantics import errors
from fairdsl.semantics.questions.metric_terms import metric_name
from fairdsl.source import Span
from fairdsl.syntax import tree

_ALWAYS_MET = {(">=", Fraction(0)), ("<=", Fraction(1))}
_NEVER_MET = {("<", Fraction(0)), (">", Fraction(1))}


def metric_comparison(
    node: tree.Expression | tree.SameDecision,
) -> tuple[tree.Expression, str, tree.Number] | None:
    """The metric, relation and number of ``fair_share >= 95%`` (or mirrored); None for other demands."""
    if not isinstance(node, tree.Comparison):
        return None
    for side, other, relation in (
        (node.left, node.right, node.relation),
        (node.right, node.left, Relation(node.relation).mirrored.value),
    ):
        if isinstance(other, tree.Number) and _is_metric(side):
            return side, relation, other
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoMetrics:
    """``left - right RELATION limit`` of two metrics."""

    left: tree.Expression
    right: tree.Expression
    threshold: Threshold


def two_metrics(node: tree.Expression | tree.SameDecision) -> TwoMetrics | None:
    """``impact_ratio of new >= impact_ratio of old - 1%``, however it is turned; None for other demands."""
    if not isinstance(node, tree.Comparison):
        return None
    terms = [*_summands(node.left, 1), *_summands(node.right, -1)]
    metrics = [(sign, term) for sign, term in terms if _is_metric(term)]
    numbers = [(sign, term) for sign, term in terms if isinstance(term, tree.Number)]
    if len(metrics) != 2 or len(metrics) + len(numbers) < len(terms) or metrics[0][0] == metrics[1][0]:
        return None
    limit = -sum((sign * term.value for sign, term in numbers), Fraction(0))
    percent = not numbers or any(term.percent for _, term in numbers)
    text = f"{show_number(100 * limit)}%" if percent else show_number(limit)
    left, right = sorted(metrics, key=lambda each: -each[0])
    threshold = Threshold(relation=Relation(node.relation), limit=limit, text=text)
    return TwoMetrics(left=left[1], right=right[1], threshold=threshold)


def _summands(node: tree.Expression, sign: int) -> Iterator[tuple[int, tree.Expression]]:
    if isinstance(node, tree.Arithmetic) and node.operator in "+-":
        yield from _summands(node.left, sign)
        yield from _summands(node.right, sign if node.operator == "+" else -sign)
    elif isinstance(node, tree.Negative):
        yield from _summands(node.operand, -sign)
    else:
        yield sign, node


def _is_metric(node: tree.Expression) -> bool:
    if isinstance(node, tree.Call):
        return node.function.text in TERMS
    return isinstance(node, tree.OfModel) or metric_name(node) is not None


def metric_threshold(metric: Named | None, relation: str, number: tree.Number, reporter: Reporter) -> Threshold:
    """The threshold; one that a metric between 0 and 1 always or never meets is reported. None: no such metric."""
    if metric is not None and metric.is_share:
        check_share(metric.name, relation, number, reporter)
    return Threshold(relation=Relation(relation), limit=number.value, text=number.text)


def check_share(what: str, relation: str, number: tree.Number, reporter: Reporter) -> None:
    """``what RELATION number``, where ``what`` lies between 0 and 1, has to decide something."""
    written = f"{relation} {number.text}"
    if not 0 <= number.value <= 1:
        # `>= 95` was almost surely meant as `>= 95%`.
        suggestion = f"{number.text}%" if not number.percent and 0 <= number.value <= 100 else None
        reporter.report(errors.threshold_out_of_range(what, number.text, number.span, suggestion))
    elif (relation, number.value) in _ALWAYS_MET:
        reporter.report(errors.threshold_out_of_range(what, written, number.span, None, what="always met"))
    elif (relation, number.value) in _NEVER_MET:
        reporter.report(errors.threshold_out_of_range(what, written, number.span, None, what="never met"))


def written_out(
    node: tree.Expression | tree.SameDecision, compare: tree.CompareClause
) -> tree.Expression | tree.SameDecision:
    """A demand about pairs; ``max_score_gap <= 3`` is that the scores of any two are at most 3 apart."""
    found = metric_comparison(node)
    if found is None or len(compare.names) != 2 or found[1] not in ("<=", "<"):
        return node
    name = metric_name(found[0])
    if name is None or name.text != Quantity.MAX_SCORE_GAP.value:
        return node
    return gap_of_scores(compare, found[1], found[2], node.span)


def gap_of_scores(compare: tree.CompareClause, relation: str, limit: tree.Number, span: Span) -> tree.Comparison:
    """``abs(score(a) - score(b)) RELATION limit``, all of it at one place of the spec."""

    def call(function: str, argument: tree.Expression) -> tree.Call:
        return tree.Call(function=tree.Name(text=function, span=span), arguments=(argument,), span=span)

    one, other = (
        call("score", tree.Reference(owner=None, name=name, span=span)) for name in (compare.first, compare.second)
    )
    apart = tree.Arithmetic(operator="-", left=one, right=other, span=span)
    return tree.Comparison(relation=relation, left=call("abs", apart), right=limit, span=span)


def asks_for_share(clause: tree.Clause) -> bool:
    """Whether it requires or measures a share of pairs."""
    match clause:
        case tree.RequireClause(demand=demand):
            found = metric_comparison(demand)
            name = None if found is None else metric_name(found[0])
            return name is not None and name.text in SHARES
        case tree.MeasureClause(items=items):
            return any(isinstance(item.metric, tree.Name) and item.metric.text in SHARES for item in items)
        case _:
            return False
