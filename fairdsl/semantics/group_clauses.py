"""The clauses of a property about groups: across whom, under which population, and what narrows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Domain, Real
from fairdsl.ir.expr import And, Compare, Member, Predicate, Relation
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.paths import Edges, check_allowed_paths
from fairdsl.semantics.populations import domain_with_label, population_named
from fairdsl.semantics.scope import ConditionScope, attribute_index
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["GroupClauses", "Groups"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """What all demands of one property share."""

    across: tuple[int, ...]
    population: CheckedDistribution | None
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GroupClauses:
    """Reads the clauses, reporting whatever is wrong."""

    node: tree.Property
    model: CheckedModel
    protected: Sequence[str]
    distributions: Mapping[str, CheckedDistribution | None]
    graphs: Mapping[str, tuple[tree.Graph, Edges]]
    reporter: Reporter

    def groups(self) -> Groups:
        """Groups, population and the further clauses."""
        across = self._across()
        population = self._population()
        return Groups(across=across, population=population, details=self._details(across, population))

    @property
    def _domain(self) -> Domain:
        return self.model.domain

    def _across(self) -> tuple[int, ...]:
        spans: dict[int, Span] = {}
        for clause in self.node.clauses:
            for name in clause.names if isinstance(clause, tree.AcrossClause) else ():
                index = attribute_index(name, self._domain, self.reporter)
                if index is None:
                    continue
                if index in spans:
                    self.reporter.report(
                        errors.declared_twice("attribute", name.text, name.span, spans[index], word="named")
                    )
                elif name.text not in self.protected:
                    self.reporter.report(errors.not_protected(name.text, name.span, "across", self.protected))
                else:
                    self._check_groups(index, name)
                spans.setdefault(index, name.span)
        return tuple(spans)

    def _check_groups(self, index: int, name: tree.Name) -> None:
        """There are several groups, and finitely many."""
        attribute = self._domain.attributes[index]
        if attribute.size == 1:
            self.reporter.report(errors.one_valued(name.text, name.span, attribute.span, mode="across"))
        if isinstance(attribute.type, Real) and not attribute.bins:
            self.reporter.report(
                errors.not_comparable(
                    f"`{name.text}` is real, so its values make no groups",
                    name.span,
                    "nobody shares an exact value, so each group would be one person",
                    f"write `bins at ...` behind `{name.text}` in the domain",
                )
            )

    def _population(self) -> CheckedDistribution | None:
        clause = next((clause for clause in self.node.clauses if isinstance(clause, tree.UnderClause)), None)
        if clause is None:
            self.reporter.report(
                errors.clause_missing(
                    self.node.name.text,
                    self.node.name.span,
                    "does not say under which population",
                    "declare a `distribution` and write `under NAME`: a rate is a rate among somebody",
                )
            )
            return None
        return population_named(clause.distribution, self.distributions, self.model, self.reporter)

    def _details(self, across: tuple[int, ...], population: CheckedDistribution | None) -> tuple[tuple[str, str], ...]:
        """The clauses in force beyond groups and population, checked and in the spec's words."""
        label = population.label if population else None
        scope = ConditionScope(domain=domain_with_label(self._domain, label))
        details: list[tuple[str, str]] = []
        for clause in self.node.clauses:
            match clause:
                case tree.GivenClause(condition=condition):
                    self._given(condition, scope)
                case tree.BaselineClause(group=group):
                    if not _is_most_favoured(group):
                        self._group("baseline", group, across, scope)
                case tree.PrivilegedClause(group=group):
                    self._group("privileged", group, across, scope)
                case tree.ExcludingClause(rows=tree.Number() as rows) if rows.value < 1 or rows.value.denominator != 1:
                    self.reporter.report(
                        errors.number_out_of_place(
                            "a number of rows is whole and positive", rows.span, "write 1 or more"
                        )
                    )
                case tree.AllowClause(path=path):
                    check_allowed_paths(self.node, path, self.model, self.protected, self.graphs, self.reporter)
                case tree.ExcludingClause():
                    pass
                case _:
                    continue
            word, _, rest = " ".join(clause.span.text.split()).partition(" ")
            details.append((word, rest))
        return tuple(details)

    def _given(self, condition: tree.Expression, scope: ConditionScope) -> None:
        """A condition, or an attribute: then the metric is taken for each of its values."""
        names = [attribute.name for attribute in scope.domain.attributes]
        if isinstance(condition, tree.Reference) and condition.owner is None and condition.name.text in names:
            return
        lower_condition(condition, scope, self.reporter)

    def _group(self, clause: str, group: tree.Expression, across: tuple[int, ...], scope: ConditionScope) -> None:
        """``sex = male and race = white``: every attribute of ``across`` fixed, nothing else."""
        predicate = lower_condition(group, scope, self.reporter)
        if predicate is None:
            return
        fixed = _fixed(predicate)
        missing = [self._domain.attributes[index].name for index in across if index not in fixed]
        further = [scope.domain.attributes[index].name for index in fixed if index is not None and index not in across]
        if None in fixed or len(fixed) != len(set(fixed)):
            what = "is not of the form `x = value and ...`"
        elif missing:
            what = f"does not fix {listing(missing)}"
        elif further:
            what = f"fixes {listing(further)}, which `across` does not name"
        else:
            return
        self.reporter.report(errors.not_one_group(clause, group.span, what))


def _is_most_favoured(group: tree.Expression) -> bool:
    return isinstance(group, tree.Reference) and group.owner is None and group.name.text == "most_favoured"


def _fixed(predicate: Predicate) -> list[int | None]:
    """Attributes that a conjunction of equalities fixes; None stands for any other condition."""
    match predicate:
        case Member(variable=variable, values=values) if len(values) == 1:
            return [variable.attribute]
        case Compare(left=left, relation=Relation.EQ) if len(left.terms) == 1:
            return [left.terms[0][0].attribute]
        case And(parts):
            return [index for part in parts for index in _fixed(part)]
        case _:
            return [None]
