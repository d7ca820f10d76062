"""What is demanded of a pair: the same decision, a bounded score gap, or a share of those treated alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Pair, PairDemand, Quantity, SameDecision, ScoreGap
from fairdsl.prelude import SHARES, ShareMetric, known_metrics, registered
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand
from fairdsl.semantics.confidence import called
from fairdsl.semantics.metric_terms import metric_name
from fairdsl.semantics.populations import population_named
from fairdsl.semantics.precision import precision_of
from fairdsl.semantics.thresholds import metric_comparison, metric_threshold
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_property import clause_text

__all__ = ["PairDemands"]


@dataclass(frozen=True, slots=True)
class PairDemands:
    """Reads ``require`` and ``measure``, reporting whatever is wrong."""

    node: tree.Property
    compare: tree.CompareClause
    model: CheckedModel
    distributions: Mapping[str, CheckedDistribution | None]
    reporter: Reporter

    def each(self, question: Pair) -> list[Demand | None]:
        """One demand for each ``require`` and each measured metric; None where one was reported."""
        # What a share counts as unfair is what the property demands of a pair.
        question = replace(question, demand=self._counted())
        demands: list[Demand | None] = []
        for clause in self.node.clauses:
            match clause:
                case tree.RequireClause():
                    demands.append(self._required(clause, question))
                case tree.MeasureClause(items=items):
                    demands += [self._measured(item, question) for item in items]
        return demands

    def _counted(self) -> PairDemand:
        """The demand whose violations shares count: the property's own, or the same decision by default."""
        quiet = replace(self, reporter=Reporter())  # what is wrong is reported when each demand is read
        found = [
            quiet._pair_demand(clause.demand)
            for clause in self.node.clauses
            if isinstance(clause, tree.RequireClause) and metric_comparison(clause.demand) is None
        ]
        demands = list(dict.fromkeys(demand for demand in found if demand is not None))
        shares = [clause for clause in self.node.clauses if _asks_for_share(clause)]
        if len(demands) > 1 and shares:
            self.reporter.report(
                errors.demand_not_understood(
                    shares[0].span,
                    "this property demands two things of a pair: write a property for each, with its own share",
                )
            )
        return demands[0] if demands else SameDecision()

    def _under_rows(self, precise: tree.Node | None) -> str | None:
        """The distribution whose rows are asked about; None without one, or where that is refused."""
        for clause in self.node.clauses:
            if isinstance(clause, tree.UnderClause) and precise is None:
                found = self.distributions.get(clause.distribution.text)
                return found.name if found is not None and found.kind == "empirical" else None
        return None

    def _beyond(self) -> tuple[Span, ...]:
        """Clauses in force that no backend treats yet: the demand will be refused, never answered without them."""
        spans = []
        for clause in self.node.clauses:
            if isinstance(clause, tree.UnderClause):
                population_named(clause.distribution, self.distributions, self.model, self.reporter)
                spans.append(clause.span)
        return tuple(spans)

    def _required(self, clause: tree.RequireClause, question: Pair) -> Demand | None:
        found = metric_comparison(clause.demand)
        if found is not None:
            side, relation, number = found
            share = self._share(side)
            if share is None:
                return None
            confidence = clause.confidence
            under, beyond = self._under_rows(confidence), self._beyond()
            return Demand(
                text=clause_text(clause),
                metric=share.name,
                question=question,
                beyond=() if under else beyond,
                under=under,
                quantity=share.quantity,
                threshold=metric_threshold(share, relation, number, self.reporter),
                precision=None if confidence is None else precision_of(None, confidence, self.reporter),
                required=True,
                span=clause.demand.span,
            )
        demand = self._pair_demand(clause.demand)
        if demand is None:
            return None
        alike = isinstance(demand, SameDecision)
        under = self._under_rows(clause.confidence) if alike else None
        confidence = clause.confidence
        sure = None if confidence is None else precision_of(None, confidence, self.reporter)
        return Demand(
            text=clause_text(clause),
            metric="same_decision" if alike else "score_gap",
            question=replace(question, demand=demand),
            certain=None if sure is None else sure.confidence,
            beyond=() if under else self._beyond(),
            under=under,
            quantity=Quantity.HOLDS,
            threshold=None,
            required=True,
            span=clause.demand.span,
        )

    def _measured(self, item: tree.MeasureItem, question: Pair) -> Demand | None:
        if isinstance(item.metric, tree.Influence):
            span = item.metric.span
            self.reporter.report(
                errors.clause_out_of_place(
                    "influence", span, "influence is about a metric of groups", "measure it in a property with `across`"
                )
            )
            return None
        share = self._share(item.metric)
        if share is None:
            return None
        if item.confidence is not None and item.within is None:
            why, remedy = "it says how sure an estimate is, and none is asked for", "write how close it comes as well"
            example = f"`measure {share.name} within 1% with confidence {item.confidence.text}`"
            place = item.confidence.span
            self.reporter.report(errors.clause_out_of_place("with confidence", place, why, f"{remedy}: {example}"))
            return None
        under = self._under_rows(item.within)
        beyond = self._beyond()
        return Demand(
            text=f"measure {clause_text(item)}",
            metric=share.name,
            question=question,
            beyond=() if under else beyond,
            under=under,
            quantity=share.quantity,
            threshold=None,
            precision=None if item.within is None else precision_of(item.within, item.confidence, self.reporter),
            required=False,
            span=item.span,
        )

    def _share(self, node: tree.Expression | tree.Name) -> ShareMetric | None:
        """The share that is written; None after reporting that it is none."""
        name = metric_name(node)
        if name is not None and name.text in SHARES:
            return SHARES[name.text]
        if name is None or registered(name.text) is not None:
            self.reporter.report(
                errors.clause_out_of_place(
                    node.span.text,
                    node.span,
                    "it is a metric of groups, and this property compares pairs",
                    "write a property with `across` and `under`",
                )
            )
        else:
            self.reporter.report(errors.unknown_metric(name.text, node.span, known_metrics()))
        return None

    def _pair_demand(self, node: tree.Expression | tree.SameDecision) -> PairDemand | None:
        if isinstance(node, tree.SameDecision) or self._is_same_decision(node):
            return SameDecision()
        reported = len(self.reporter.diagnostics)
        gap = self._score_gap(node)
        if gap is None and len(self.reporter.diagnostics) == reported:
            first, second = self.compare.first.text, self.compare.second.text
            self.reporter.report(
                errors.demand_not_understood(
                    node.span,
                    f"write `require same decision`, `require abs(score({first}) - score({second})) <= 0.1` or "
                    "`require fair_share >= 95%`",
                )
            )
        return gap

    def _is_same_decision(self, node: tree.Expression) -> bool:
        """``approve(a) = approve(b)``."""
        if not (isinstance(node, tree.Comparison) and node.relation == "="):
            return False
        sides = (node.left, node.right)
        return {called(side, self.model.declaration.name) for side in sides} == self._both

    @property
    def _both(self) -> set[str | None]:
        return {self.compare.first.text, self.compare.second.text}

    def _score_gap(self, node: tree.Expression) -> ScoreGap | None:
        """``abs(score(a) - score(b)) <= number`` (or ``<``, or mirrored)."""
        if not isinstance(node, tree.Comparison):
            return None
        left, right, relation = node.left, node.right, node.relation
        if isinstance(left, tree.Number):
            left, right, relation = right, left, {">=": "<=", ">": "<"}.get(relation, "")
        if not (isinstance(left, tree.Call) and left.function.text == "abs" and len(left.arguments) == 1):
            return None
        difference = left.arguments[0]
        if not (isinstance(difference, tree.Arithmetic) and difference.operator == "-"):
            return None
        if {called(side, "score") for side in (difference.left, difference.right)} != self._both:
            return None
        if relation not in ("<=", "<") or not isinstance(right, tree.Number):
            return None
        if right.value < 0:
            self.reporter.report(
                errors.number_out_of_place("a gap is never negative", right.span, "write a number of 0 or more")
            )
            return None
        return ScoreGap(relation=Relation(relation), limit=Fraction(right.value))


def _asks_for_share(clause: tree.Clause) -> bool:
    match clause:
        case tree.RequireClause(demand=demand):
            found = metric_comparison(demand)
            name = None if found is None else metric_name(found[0])
            return name is not None and name.text in SHARES
        case tree.MeasureClause(items=items):
            return any(isinstance(item.metric, tree.Name) and item.metric.text in SHARES for item in items)
        case _:
            return False
