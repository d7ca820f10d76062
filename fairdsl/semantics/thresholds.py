"""``METRIC relation NUMBER``: which metric, and a threshold that can decide something."""

from __future__ import annotations

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Threshold
from fairdsl.semantics import errors
from fairdsl.semantics.metrics import ALIASES, METRICS
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["metric_comparison", "metric_threshold"]

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def metric_comparison(
    node: tree.Expression | tree.SameDecision, reporter: Reporter
) -> tuple[tree.Name, Threshold, Span] | None:
    """The metric, threshold and place of ``fair_share >= 95%`` (or mirrored); None for other demands."""
    if not isinstance(node, tree.Comparison):
        return None
    for side, other, relation in (
        (node.left, node.right, node.relation),
        (node.right, node.left, _MIRRORED[node.relation]),
    ):
        if isinstance(side, tree.Reference) and side.owner is None and isinstance(other, tree.Number):
            return side.name, metric_threshold(side.name.text, relation, other, reporter), side.span
    return None


def metric_threshold(metric: str, relation: str, number: tree.Number, reporter: Reporter) -> Threshold:
    """The threshold; on metrics between 0 and 1 one outside that range is reported."""
    known = METRICS.get(ALIASES.get(metric, metric))
    if known is not None and known.is_share and not 0 <= number.value <= 1:
        # `>= 95` was almost surely meant as `>= 95%`.
        suggestion = f"{number.text}%" if not number.percent and 0 <= number.value <= 100 else None
        reporter.report(errors.threshold_out_of_range(metric, number.text, number.span, suggestion))
    return Threshold(relation=Relation(relation), limit=number.value, text=number.text)
