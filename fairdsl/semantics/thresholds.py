"""``METRIC relation NUMBER``: which metric, and a threshold that can decide something."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Threshold
from fairdsl.prelude import TERMS, Named
from fairdsl.semantics import errors
from fairdsl.semantics.metric_terms import metric_name
from fairdsl.syntax import tree

__all__ = ["check_share", "metric_comparison", "metric_threshold"]

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
        name = side.function.text if isinstance(side, tree.Call) else None
        if isinstance(other, tree.Number) and (name in TERMS or metric_name(side) is not None):
            return side, relation, other
    return None


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
