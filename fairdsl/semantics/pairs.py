"""Pairs: ``compare a, b`` with its clauses becomes an :class:`~fairdsl.ir.question.Pair`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Boolean, Category
from fairdsl.ir.expr import Predicate, Relation, Who, conjoin, rename, variables
from fairdsl.ir.question import (
    Differ,
    Pair,
    PairDemand,
    Quantity,
    Relaxation,
    SameDecision,
    ScoreGap,
)
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedModel, Demand
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.metrics import ALIASES, METRICS, known_metrics
from fairdsl.semantics.scope import ConditionScope
from fairdsl.semantics.thresholds import metric_comparison
from fairdsl.semantics.wellformed import check_pair
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["PairBuilder"]

_PAIR_QUANTITIES = {"fair_share": Quantity.FAIR_SHARE, "discrimination_rate": Quantity.DISCRIMINATION_RATE}


@dataclass(slots=True)
class PairBuilder:
    """Builds the question of one property and its demands, reporting whatever is wrong."""

    node: tree.Property
    compare: tree.CompareClause
    model: CheckedModel
    protected: Sequence[str]
    targets: Mapping[str, tree.NamedTarget]
    distributions: Collection[str]
    domains: Collection[str]
    reporter: Reporter

    def demands(self) -> tuple[Demand, ...]:
        """One demand for each ``require`` and each measured metric."""
        if self.compare.domain.text not in self.domains:
            name = self.compare.domain
            self.reporter.report(errors.unknown_declaration("domain", name.text, name.span, tuple(self.domains)))
            return ()
        if self.compare.domain.text != self.model.domain.name:
            self.reporter.report(
                errors.not_comparable(
                    f"`{self.model.declaration.name}` does not decide about `{self.compare.domain.text}`",
                    self.compare.domain.span,
                    f"it reads individuals of `{self.model.domain.name}`",
                    f"write `compare a, b : {self.model.domain.name}`, or name another model",
                )
            )
            return ()
        if self.compare.first.text == self.compare.second.text:
            self.reporter.report(
                errors.declared_twice(
                    "individual", self.compare.first.text, self.compare.second.span, self.compare.first.span
                )
            )
            return ()
        question = self._question()
        if question is None:
            return ()
        return tuple(demand for demand in self._each_demand(question) if demand is not None)

    # ---- who and where ---------------------------------------------------------------------------

    def _question(self) -> Pair | None:
        differ, mode, spans = self._differ()
        relax = self._relaxations(spans)
        target, pair_target = self._targets()
        if self.reporter.has_errors:
            return None
        question = Pair(
            differ=differ,
            mode=mode,
            relax=relax,
            target=target,
            pair_target=pair_target,
            span=self.node.name.span,
        )
        check_pair(question, self.model.domain, spans, self.reporter)
        return question

    def _differ(self) -> tuple[tuple[int, ...], Differ, dict[int, Span]]:
        clauses = [clause for clause in self.node.clauses if isinstance(clause, tree.DifferClause)]
        if not clauses:
            example = self.protected[0] if self.protected else "sex"
            self.reporter.report(
                errors.clause_missing(
                    self.node.name.text,
                    self.compare.span,
                    "does not say in what the two differ",
                    f"write for instance `differ in {example}`",
                )
            )
            return (), Differ.ANY, {}
        clause = clauses[0]
        if clause.mode is None and len(clause.names) > 1:
            self.reporter.report(errors.any_or_all(clause.span, [name.text for name in clause.names]))
        spans: dict[int, Span] = {}
        for name in clause.names:
            index = self._attribute(name)
            if index is None:
                continue
            if index in spans:
                self.reporter.report(errors.declared_twice("attribute", name.text, name.span, spans[index]))
            elif name.text not in self.protected:
                self.reporter.report(errors.not_protected(name.text, name.span, "differ in", self.protected))
            spans.setdefault(index, name.span)
        mode = Differ.ALL if clause.mode is tree.DifferMode.ALL else Differ.ANY
        return tuple(spans), mode, spans

    def _attribute(self, name: tree.Name) -> int | None:
        domain = self.model.domain
        try:
            return domain.index(name.text)
        except KeyError:
            known = [attribute.name for attribute in domain.attributes]
            self.reporter.report(errors.unknown_attribute(name.text, name.span, domain.name, domain.span, known))
            return None

    def _relaxations(self, differing: Mapping[int, Span]) -> tuple[Relaxation, ...]:
        relaxations: dict[int, Relaxation] = {}
        for clause in self.node.clauses:
            if not isinstance(clause, tree.RelaxClause):
                continue
            index = self._attribute(clause.name)
            if index is None:
                continue
            name, span = clause.name.text, clause.name.span
            attribute = self.model.domain.attributes[index]
            earlier = relaxations[index].span if index in relaxations else None
            if index in differing:
                self.reporter.report(
                    errors.relaxed_wrongly(name, span, differing[index], "both relaxed and made to differ")
                )
            elif earlier is not None:
                self.reporter.report(errors.relaxed_wrongly(name, span, earlier, "relaxed twice"))
            elif clause.by is not None and isinstance(attribute.type, Category | Boolean):
                kind = "category" if isinstance(attribute.type, Category) else "boolean"
                self.reporter.report(errors.relaxed_label(name, kind, clause.span))
            elif clause.by is not None and clause.by.value < 0:
                self.reporter.report(
                    errors.number_out_of_place(
                        f"`{name}` cannot be relaxed by a negative number", clause.by.span, "write a distance"
                    )
                )
            else:
                by = clause.by.value if clause.by else None
                relaxations[index] = Relaxation(attribute=index, by=by, span=span)
        return tuple(relaxations.values())

    def _targets(self) -> tuple[Predicate, Predicate]:
        """Conditions on each individual, and conditions on the ordered pair.

        A condition that names ``a`` or ``b`` and also has unqualified names is read once for each
        individual in their place, so that unqualified names bind both.
        """
        individuals = {self.compare.first.text: Who.A, self.compare.second.text: Who.B}
        scope = ConditionScope(domain=self.model.domain, individuals=individuals, named=self.targets)
        each: list[Predicate] = []
        ordered: list[Predicate] = []
        for clause in self.node.clauses:
            if not isinstance(clause, tree.TargetClause):
                continue
            for part in _conjuncts(clause.condition):
                predicate = lower_condition(part, scope, self.reporter)
                if predicate is None:
                    continue
                who = {variable.who for variable in variables(predicate)}
                if who <= {Who.EACH}:
                    each.append(predicate)
                elif Who.EACH in who:
                    ordered += [rename(predicate, {Who.EACH: one}) for one in (Who.A, Who.B)]
                else:
                    ordered.append(predicate)
        return conjoin(*each), conjoin(*ordered)

    # ---- what is demanded ------------------------------------------------------------------------

    def _each_demand(self, question: Pair) -> list[Demand | None]:
        demands: list[Demand | None] = []
        for clause in self.node.clauses:
            match clause:
                case tree.RequireClause():
                    demands.append(self._required(clause, question))
                case tree.MeasureClause(items=items):
                    demands += [self._measured(item, question) for item in items]
        return demands

    def _beyond(self, *extra: tree.Node | None) -> tuple[Span, ...]:
        """Clauses in force that no backend treats yet: the demand will be refused, never answered without them."""
        spans = [node.span for node in extra if node is not None]
        for clause in self.node.clauses:
            if isinstance(clause, tree.UnderClause):
                name = clause.distribution
                if name.text not in self.distributions:
                    known = tuple(self.distributions)
                    self.reporter.report(errors.unknown_declaration("distribution", name.text, name.span, known))
                spans.append(clause.span)
            if isinstance(clause, tree.WhenClause):
                self._check_confidence(clause)
                spans.append(clause.span)
        return tuple(spans)

    def _check_confidence(self, clause: tree.WhenClause) -> None:
        """``confidence(a) >= 0.9``: the model is sure of one of the two."""
        condition = clause.condition
        if isinstance(condition, tree.Comparison) and isinstance(condition.right, tree.Number):
            called = self._called(condition.left, "confidence")
            if called in self._both and condition.relation in (">", ">="):
                return
        first = self.compare.first.text
        self.reporter.report(errors.demand_not_understood(condition.span, f"write `when confidence({first}) >= 0.9`"))

    def _required(self, clause: tree.RequireClause, question: Pair) -> Demand | None:
        beyond = self._beyond(clause.confidence)
        found = metric_comparison(clause.demand, self.reporter)
        if found is not None:
            name, threshold, span = found
            if not self._is_pair_metric(name, span):
                return None
            quantity = _PAIR_QUANTITIES[name.text]
            return Demand(
                text=_line(clause.span),
                metric=name.text,
                question=question,
                beyond=beyond,
                quantity=quantity,
                threshold=threshold,
                required=True,
                span=clause.demand.span,
            )
        demand = self._pair_demand(clause.demand)
        if demand is None:
            return None
        metric = "same_decision" if isinstance(demand, SameDecision) else "score_gap"
        return Demand(
            text=_line(clause.span),
            metric=metric,
            question=replace(question, demand=demand),
            beyond=beyond,
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
        if not self._is_pair_metric(item.metric, item.metric.span):
            return None
        beyond = self._beyond(item.within)
        return Demand(
            text=f"measure {' '.join(item.span.text.split())}",
            metric=item.metric.text,
            question=question,
            beyond=beyond,
            quantity=_PAIR_QUANTITIES[item.metric.text],
            threshold=None,
            required=False,
            span=item.span,
        )

    def _is_pair_metric(self, name: tree.Name, span: Span) -> bool:
        if name.text in _PAIR_QUANTITIES:
            return True
        if name.text in METRICS or name.text in ALIASES:
            self.reporter.report(
                errors.clause_out_of_place(
                    name.text,
                    span,
                    "it is a metric of groups, and this property compares pairs",
                    "write a property with `across` and `under`",
                )
            )
        else:
            self.reporter.report(errors.unknown_metric(name.text, span, known_metrics()))
        return False

    def _pair_demand(self, node: tree.Expression | tree.SameDecision) -> PairDemand | None:
        if isinstance(node, tree.SameDecision) or self._is_same_decision(node):
            return SameDecision()
        gap = self._score_gap(node)
        if gap is None and not self.reporter.has_errors:
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
        return {self._called(side, self.model.declaration.name) for side in sides} == self._both

    @property
    def _both(self) -> set[str | None]:
        return {self.compare.first.text, self.compare.second.text}

    def _called(self, node: tree.Expression, function: str) -> str | None:
        """The individual in ``function(a)``; None for anything else."""
        if not (isinstance(node, tree.Call) and node.function.text == function and len(node.arguments) == 1):
            return None
        argument = node.arguments[0]
        return argument.name.text if isinstance(argument, tree.Reference) and argument.owner is None else None

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
        if {self._called(side, "score") for side in (difference.left, difference.right)} != self._both:
            return None
        if relation not in ("<=", "<") or not isinstance(right, tree.Number):
            return None
        if right.value < 0:
            self.reporter.report(
                errors.number_out_of_place("a gap is never negative", right.span, "write a number of 0 or more")
            )
            return None
        return ScoreGap(relation=Relation(relation), limit=Fraction(right.value))


def _conjuncts(node: tree.Expression) -> tuple[tree.Expression, ...]:
    """The parts of a conjunction, so that each restricts whom it names."""
    if isinstance(node, tree.Conjunction):
        return tuple(conjunct for part in node.parts for conjunct in _conjuncts(part))
    return (node,)


def _line(span: Span) -> str:
    """The clause as written, on one line."""
    return " ".join(span.text.split())
