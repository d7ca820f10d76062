"""What is demanded: the same decision, a bounded gap of scores, any other formula, or a share of those who meet it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from fairdsl.diagnostics import Reporter
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Real
from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Pair, PairDemand, Quantity, SameDecision, ScoreGap, Threshold
from fairdsl.prelude import PAIR_METRICS, PairMetric, known_metrics, registered
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.semantics.populations import population_named
from fairdsl.semantics.questions.confidence import called
from fairdsl.semantics.questions.formulas import FormulaReader
from fairdsl.semantics.questions.metric_terms import metric_name
from fairdsl.semantics.questions.people import Whose, people_of
from fairdsl.semantics.questions.precision import precision_of, words_of_precision
from fairdsl.semantics.questions.thresholds import (
    asks_for_share,
    check_share,
    gap_of_scores,
    metric_comparison,
    metric_threshold,
    written_out,
)
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of


class _Share(NamedTuple):
    """``share(formula) >= 99%``."""

    formula: tree.Expression
    threshold: Threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDemands:
    """Reads ``require`` and ``measure``, reporting whatever is wrong.

    ``main`` is the model that ``score(a)`` alone is about, None where the property does not say; ``premises`` are the
    conditions of its targets that speak of what models give.
    """

    node: tree.Property
    compare: tree.CompareClause
    model: CheckedModel
    models: Mapping[str, CheckedModel | None]
    main: str | None
    scope: ConditionScope
    premises: tuple[tree.Expression, ...]
    distributions: Mapping[str, CheckedDistribution | None]
    reporter: Reporter

    def each(self, question: Pair) -> list[Demand | None]:
        """One demand for each ``require`` and each measured metric; None where one was reported."""
        # What a share counts as unfair is what the property demands.
        counted = self._counted(question)
        demands: list[Demand | None] = []
        for clause in self.node.clauses:
            match clause:
                case tree.RequireClause():
                    demands.append(self._required(clause, question, counted))
                case tree.MeasureClause(items=items):
                    demands += [self._measured(item, question, counted) for item in items]
        lacked = [a.name for a in self.model.domain.attributes if isinstance(a.present, Real)]
        if not lacked:
            return demands
        for demand in demands:
            if demand is not None and demand.under is None and not demand.beyond and _weighs(demand):
                self.reporter.report(errors.no_volume_of_missing(lacked, demand.span))
        return demands

    def _counted(self, question: Pair) -> Pair | Demanded | None:
        """What shares count: the property's own demand, or the same decision by default."""
        quiet = replace(self, reporter=Reporter())  # what is wrong is reported when each demand is read
        found = [
            quiet._asked(written, question)
            for clause in self.node.clauses
            if isinstance(clause, tree.RequireClause)
            and metric_comparison(written := written_out(clause.demand, self.compare)) is None
            and quiet._share_of(written) is None
        ]
        demands = list(dict.fromkeys(demand for demand in found if demand is not None))
        shares = [clause for clause in self.node.clauses if asks_for_share(clause)]
        if len(demands) > 1 and shares:
            self.reporter.report(
                errors.demand_not_understood(
                    shares[0].span,
                    "this property demands two things: write a property for each, with its own share",
                )
            )
        if demands:
            return demands[0]
        if self._alone and shares and not found:
            self.reporter.report(
                errors.demand_not_understood(
                    shares[0].span,
                    "a share of individuals is that of those who meet a demand: write for instance "
                    f"`require share({self._example}) >= 95%`",
                )
            )
        return None if self._alone or found else quiet._asked(tree.SameDecision(span=self.node.span), question)

    @property
    def _alone(self) -> bool:
        return len(self.compare.names) == 1

    @property
    def _example(self) -> str:
        """A decision about the first individual, as a formula."""
        declared = self.model.declaration
        best = declared.outcomes[-1 if declared.favourable is None else declared.favourable]
        return f"{declared.name}({self.compare.first.text}) = {best}"

    @property
    def _under_clause(self) -> tree.UnderClause | None:
        return next((clause for clause in self.node.clauses if isinstance(clause, tree.UnderClause)), None)

    @property
    def _about(self) -> Whose:
        return Whose(self.model.domain, self.distributions, self.reporter)

    def _under(self, precise: Span | None, *, holds: bool = False) -> tuple[str | None, tuple[Span, ...]]:
        """The distribution that is asked about, and the places of clauses that no backend treats.

        For those the demand will be refused, never answered without them: whether something ``holds`` where there are
        no rows, or a precision (at ``precise``) of what is counted in rows.
        """
        clause = self._under_clause
        if clause is None:
            return None, ()
        population_named(clause.distribution, self.distributions, self.model, self.reporter)
        found = self.distributions.get(clause.distribution.text)
        if found is None or (holds and found.kind != "empirical"):
            return None, (clause.span,)
        if found.kind != "empirical":
            return found.name, ()
        return (found.name, ()) if precise is None else (None, (precise,))

    def _required(self, clause: tree.RequireClause, question: Pair, counted: Pair | Demanded | None) -> Demand | None:
        written = written_out(clause.demand, self.compare)
        found, formula = metric_comparison(written), self._share_of(clause.demand)
        threshold: Threshold | None = None
        quantity = Quantity.HOLDS
        asked: Pair | Demanded | None
        if found is not None:
            side, relation, number = found
            share = self._share(side)
            if share is None:
                return None
            if not share.is_share:
                help_text = f"it is bounded from above, as in `require {share.name} <= {number.text}`"
                self.reporter.report(errors.demand_not_understood(clause.demand.span, help_text))
                return None
            metric, quantity, asked = share.name, share.quantity, counted
            threshold = metric_threshold(share, relation, number, self.reporter)
        elif formula is not None:
            threshold, quantity = formula.threshold, Quantity.FAIR_SHARE
            metric, asked = "share", self._asked(formula.formula, question)
        else:
            asked = self._asked(written, question)
            metric = "" if asked is None else _named(asked)
        if asked is None:
            return None
        holds = quantity is Quantity.HOLDS
        if holds and clause.within is not None:
            why = "it holds or does not, and no distance lies between the two"
            help_text = "require a share, as in `require fair_share >= 95% within 1%`"
            self.reporter.report(errors.clause_out_of_place("within", clause.within.span, why, help_text))
        under, beyond = self._under(words_of_precision(clause), holds=holds)
        precision = precision_of(None if holds else clause.within, clause.confidence, self.reporter)
        precise = None if holds else precision
        people = people_of(self._under_clause, asked, quantity, precise, clause.demand.span, self._about)
        return Demand(
            text=text_of(clause),
            metric=metric,
            question=asked,
            certain=precision.confidence if holds and precision is not None else None,
            beyond=(*beyond, *people.beyond),
            under=under,
            given=people.given,
            quantity=quantity,
            threshold=threshold,
            precision=precise,
            required=True,
            span=clause.demand.span,
        )

    def _measured(self, item: tree.MeasureItem, question: Pair, counted: Pair | Demanded | None) -> Demand | None:
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
        if not share.is_share:
            return self._worst(item, share, question)
        if item.confidence is not None and item.within is None:
            why, remedy = "it is the confidence of estimates, and none is asked for", "write how close it comes as well"
            example = f"`measure {share.name} within 1% with confidence {item.confidence.text}`"
            place = item.confidence.span
            self.reporter.report(errors.clause_out_of_place("with confidence", place, why, f"{remedy}: {example}"))
            return None
        under, beyond = self._under(words_of_precision(item))
        if counted is None:
            return None
        precision = precision_of(item.within, item.confidence, self.reporter)
        people = people_of(self._under_clause, counted, share.quantity, precision, item.span, self._about)
        return Demand(
            text=f"measure {text_of(item)}",
            metric=share.name,
            question=counted,
            beyond=(*beyond, *people.beyond),
            under=under,
            given=people.given,
            quantity=share.quantity,
            threshold=None,
            precision=precision,
            required=False,
            span=item.span,
        )

    def _worst(self, item: tree.MeasureItem, metric: PairMetric, question: Pair) -> Demand | None:
        """How far the worst two are apart: the question whether any two are, of which the distance is asked."""
        drawn = words_of_precision(item)
        if drawn is not None:
            why = "it is bounded from both sides, and nobody is drawn for it"
            help_text = f"write `measure {metric.name}`"
            self.reporter.report(errors.clause_out_of_place(drawn.text.split()[0], drawn, why, help_text))
            return None
        zero = tree.Number(value=Fraction(0), text="0", span=item.span)
        asked = self._asked(gap_of_scores(self.compare, "<=", zero, item.span), question)
        if asked is None:
            return None
        beyond = [] if self._under_clause is None else [self._under_clause.span]
        if isinstance(asked, Demanded):
            beyond += [premise.span for premise in self.premises] or [item.span]
            asked = asked.pair
        return Demand(
            text=f"measure {text_of(item)}",
            metric=metric.name,
            question=asked,
            beyond=tuple(beyond),
            quantity=metric.quantity,
            threshold=None,
            required=False,
            span=item.span,
        )

    def _share(self, node: tree.Expression | tree.Name) -> PairMetric | None:
        """The share that is written; None after reporting that it is none."""
        name = metric_name(node)
        if name is not None and name.text in PAIR_METRICS:
            return PAIR_METRICS[name.text]
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

    # ---- what is demanded ----------------------------------------------------------------------

    def _asked(self, node: tree.Expression | tree.SameDecision, question: Pair) -> Pair | Demanded | None:
        """The question with this demand: one of the two that have engines of their own, or any other formula."""
        if self._alone and isinstance(node, tree.SameDecision):
            self.reporter.report(
                errors.demand_not_understood(
                    node.span, f"there is nobody to compare with: write for instance `require {self._example}`"
                )
            )
            return None
        if isinstance(node, tree.SameDecision) and self.main is None:
            models = tuple(self.models)
            help_text = f"write `model {models[0]}` in the property"
            self.reporter.report(errors.say_which("model", node.span, models, help_text))
            return None
        if len(self.compare.names) != 2 or self.premises or any(sure.model for sure in question.sure):
            return self._formula(node, question)
        known = self._known_demand(node)
        if known is not None:
            return replace(question, demand=known)
        return self._formula(node, question)

    def _known_demand(self, node: tree.Expression | tree.SameDecision) -> PairDemand | None:
        if isinstance(node, tree.SameDecision) or self._is_same_decision(node):
            return SameDecision()
        return self._score_gap(node)

    def _formula(self, node: tree.Expression | tree.SameDecision, question: Pair) -> Demanded | None:
        reader = FormulaReader(
            node=self.node,
            compare=self.compare,
            model=self.model,
            models=self.models,
            main=self.main,
            scope=self.scope,
            premises=self.premises,
            example=self._example,
            reporter=self.reporter,
        )
        return reader.read(node, question)

    def _share_of(self, node: tree.Expression | tree.SameDecision) -> _Share | None:
        """``share(formula) RELATION number``, or mirrored."""
        if not isinstance(node, tree.Comparison):
            return None
        for side, other, relation in (
            (node.left, node.right, Relation(node.relation)),
            (node.right, node.left, Relation(node.relation).mirrored),
        ):
            if (
                isinstance(side, tree.Call)
                and side.owner is None
                and side.function.text == "share"
                and side.function.text not in self.models
                and len(side.arguments) == 1
                and isinstance(other, tree.Number)
            ):
                check_share("share", relation.value, other, self.reporter)
                return _Share(side.arguments[0], Threshold(relation=relation, limit=other.value, text=other.text))
        return None

    def _is_same_decision(self, node: tree.Expression) -> bool:
        """``approve(a) = approve(b)``."""
        if not (isinstance(node, tree.Comparison) and node.relation == "="):
            return False
        sides = (node.left, node.right)
        return {called(side, self.model.declaration.name) for side in sides} == self._both

    @property
    def _both(self) -> set[str | None]:
        return {self.compare.first.text, self.compare.second.text}

    def _scored(self, node: tree.Expression) -> str | None:
        """The individual of ``score(a)`` or ``approve.score(a)``, of the property's model."""
        if isinstance(node, tree.Call) and node.owner is not None and node.owner.text == self.model.declaration.name:
            node = replace(node, owner=None)
        return called(node, "score") if self.main == self.model.declaration.name else None

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
        if {self._scored(side) for side in (difference.left, difference.right)} != self._both:
            return None
        if relation not in ("<=", "<") or not isinstance(right, tree.Number):
            return None
        if right.value < 0:
            self.reporter.report(
                errors.number_out_of_place("a gap is never negative", right.span, "write a number of 0 or more")
            )
        return ScoreGap(relation=Relation(relation), limit=Fraction(right.value))


def _named(asked: Pair | Demanded) -> str:
    """What reports call the demand."""
    match asked:
        case Pair(demand=SameDecision()):
            return "same_decision"
        case Pair():
            return "score_gap"
        case Demanded():
            return "demand"


def _weighs(demand: Demand) -> bool:
    """Whether it needs to know how many people there are, and not only whether there is somebody."""
    return demand.quantity not in (Quantity.HOLDS, Quantity.MAX_SCORE_GAP) or demand.certain is not None
