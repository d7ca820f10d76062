"""``METRIC relation NUMBER``: which metric, and a threshold that can decide something."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import Relation
from fairdsl.ir.metric_registry import registered
from fairdsl.ir.question import Threshold
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["check_share", "metric_comparison", "metric_threshold"]

_ALWAYS_MET = {(">=", Fraction(0)), ("<=", Fraction(1))}
_NEVER_MET = {("<", Fraction(0)), (">", Fraction(1))}


def metric_comparison(
    node: tree.Expression | tree.SameDecision, reporter: Reporter, *, signed: bool = False
) -> tuple[tree.Name, Threshold, Span] | None:
    """The metric, threshold and place of ``fair_share >= 95%`` (or mirrored); None for other demands.

    ``signed``: the property has a privileged group, against which some metrics leave 0 .. 1.
    """
    if not isinstance(node, tree.Comparison):
        return None
    for side, other, relation in (
        (node.left, node.right, node.relation),
        (node.right, node.left, Relation(node.relation).mirrored.value),
    ):
        if isinstance(side, tree.Reference) and side.owner is None and isinstance(other, tree.Number):
            return side.name, metric_threshold(side.name.text, relation, other, reporter, signed=signed), side.span
    return None


def metric_threshold(
    metric: str, relation: str, number: tree.Number, reporter: Reporter, *, signed: bool = False
) -> Threshold:
    """The threshold; one that a metric between 0 and 1 always or never meets is reported."""
    known = registered(metric, privileged=signed)
    if known is not None and known.is_share:
        check_share(metric, relation, number, reporter)
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
