"""What a metric of groups is defined by has to be there: a favourable outcome, a label, a privileged group, causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.expr import variables
from fairdsl.ir.metric import Metric
from fairdsl.prelude import nearest
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, LabelDeclaration
from fairdsl.semantics.questions.group_clauses import Groups
from fairdsl.semantics.questions.paths import Edges, check_causal
from fairdsl.source import Span
from fairdsl.syntax import tree


def has_clause(node: tree.Property, kind: type[tree.Clause]) -> bool:
    """Whether the property has a clause of a kind."""
    return any(isinstance(clause, kind) for clause in node.clauses)


@dataclass(frozen=True, slots=True)
class Needs:
    """What metrics of one property find there, reporting what they miss."""

    node: tree.Property
    model: CheckedModel
    groups: Groups
    graphs: Mapping[str, tuple[tree.Graph, Edges]]
    reporter: Reporter

    def check(self, metric: Metric, span: Span) -> None:
        """Report whatever the metric, named at ``span``, lacks."""
        if metric.rate.about_favourable:
            self._favourable()
        population = self.groups.population
        if metric.rate.reads_label and population is not None:
            self._label(metric, span, population)
        if metric.signed and not has_clause(self.node, tree.PrivilegedClause):
            self._lacks(
                metric,
                span,
                "a privileged group: it is signed",
                f"write `privileged GROUP`, or use `{nearest(metric).name}`, which needs none",
            )
        if metric.rate.along_paths:
            self._paths(metric, span, population)

    def _lacks(self, metric: Metric, span: Span, what: str, help_text: str) -> None:
        self.reporter.report(errors.metric_needs(metric.name, span, what, help_text))

    def _favourable(self) -> None:
        declaration = self.model.declaration
        if declaration.favourable is None:
            self.reporter.report(
                errors.model_incomplete(
                    declaration.name,
                    declaration.span,
                    "does not say which outcome is favourable",
                    f"a metric of groups counts it: write for instance `favourable {declaration.outcomes[-1]}`",
                )
            )

    def _label(self, metric: Metric, span: Span, population: CheckedDistribution) -> None:
        label = population.label
        if label is None:
            help_text = "declare `label NAME : boolean` and write `distribution ... over DOMAIN, NAME`"
            self._lacks(metric, span, "the true outcome", help_text)
            return
        attribute = self.groups.columns.attributes[-1]
        if attribute.size is None:
            help_text = f"declare `{label.name}` as a boolean, a category or whole numbers"
            self._lacks(metric, span, "a label with values that can be counted", help_text)
        elif metric.needs_two_labels and attribute.size != 2:
            help_text = (
                f"`{label.name}` has {attribute.size} values; `{nearest(metric).name}` takes the worst of any number"
            )
            self._lacks(metric, span, "a label with two values", help_text)
        elif metric.rate.about_deserving and label.deserving is None:
            help_text = f"write the value behind the label, as in `label {label.name} : boolean deserving yes`"
            self._lacks(metric, span, "to know who deserves the favourable outcome", help_text)
        self._not_given(metric, label)

    def _not_given(self, metric: Metric, label: LabelDeclaration) -> None:
        """The metric takes the label's values one by one itself."""
        column = len(self.groups.columns.attributes) - 1
        mentioned = {variable.attribute for variable in variables(self.groups.given)}
        if column not in (*mentioned, *self.groups.given_each):
            return
        clauses = [clause for clause in self.node.clauses if isinstance(clause, tree.AmongClause | tree.StrataClause)]
        clause = next((clause for clause in clauses if label.name in clause.span.text), clauses[0])
        why = f"`{metric.name}` looks at the values of `{label.name}` itself"
        help_text = "remove the line, or measure `parity_gap` with it"
        word = "among" if isinstance(clause, tree.AmongClause) else "for each"
        self.reporter.report(errors.clause_out_of_place(word, clause.span, why, help_text))

    def _paths(self, metric: Metric, span: Span, population: CheckedDistribution | None) -> None:
        if not (has_clause(self.node, tree.AllowClause) and has_clause(self.node, tree.BaselineClause)):
            help_text = "write `allow a -> b -> model` and `baseline GROUP`"
            self._lacks(metric, span, "allowed paths and a baseline", help_text)
        if population is not None:
            check_causal(population, self.groups.columns, self.graphs, span, self.reporter)
