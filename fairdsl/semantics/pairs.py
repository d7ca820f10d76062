"""Pairs: ``compare a, b`` with its clauses becomes an :class:`~fairdsl.ir.question.Pair`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Boolean, Category
from fairdsl.ir.expr import Predicate, Who, conjoin, rename, variables
from fairdsl.ir.question import Differ, Pair, Relaxation
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.confidence import read_sureness
from fairdsl.semantics.pair_demands import PairDemands
from fairdsl.semantics.scope import ConditionScope, attribute_index
from fairdsl.semantics.wellformed import check_pair
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["PairBuilder"]


@dataclass(slots=True)
class PairBuilder:
    """Builds the question of one property and its demands, reporting whatever is wrong."""

    node: tree.Property
    compare: tree.CompareClause
    model: CheckedModel
    protected: Sequence[str]
    targets: Mapping[str, tree.NamedTarget]
    distributions: Mapping[str, CheckedDistribution | None]
    domains: Collection[str]
    labels: Mapping[str, Span]
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
        reader = PairDemands(self.node, self.compare, self.model, self.distributions, self.reporter)
        return tuple(demand for demand in reader.each(question) if demand is not None)

    # ---- who and where ---------------------------------------------------------------------------

    def _question(self) -> Pair:
        differ, mode, spans = self._differ()
        relax = self._relaxations(spans)
        target, pair_target = self._targets()
        question = Pair(
            differ=differ,
            mode=mode,
            relax=relax,
            target=target,
            pair_target=pair_target,
            sure=read_sureness(self.node.clauses, self.compare, self.model.declaration, self.reporter),
            span=self.node.name.span,
        )
        if not self.reporter.has_errors:
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
            index = attribute_index(name, self.model.domain, self.reporter, self.labels)
            if index is None:
                continue
            if index in spans:
                self.reporter.report(
                    errors.declared_twice("attribute", name.text, name.span, spans[index], word="named")
                )
            elif name.text not in self.protected:
                self.reporter.report(errors.not_protected(name.text, name.span, "differ in", self.protected))
            spans.setdefault(index, name.span)
        mode = Differ.ALL if clause.mode is tree.DifferMode.ALL else Differ.ANY
        return tuple(spans), mode, spans

    def _relaxations(self, differing: Mapping[int, Span]) -> tuple[Relaxation, ...]:
        relaxations: dict[int, Relaxation] = {}
        for clause in self.node.clauses:
            if not isinstance(clause, tree.RelaxClause):
                continue
            index = attribute_index(clause.name, self.model.domain, self.reporter, self.labels)
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
            elif clause.by is not None and (clause.by.value < 0 or clause.by.percent):
                what = "percentage" if clause.by.percent else "negative number"
                self.reporter.report(
                    errors.number_out_of_place(
                        f"`{name}` cannot be relaxed by a {what}",
                        clause.by.span,
                        f"write the distance itself, as in `relax {name} by 5`",
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
        scope = ConditionScope(
            domain=self.model.domain, individuals=individuals, named=self.targets, labels=self.labels
        )
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


def _conjuncts(node: tree.Expression) -> tuple[tree.Expression, ...]:
    """The parts of a conjunction, so that each restricts whom it names."""
    if isinstance(node, tree.Conjunction):
        return tuple(conjunct for part in node.parts for conjunct in _conjuncts(part))
    return (node,)
