"""The clauses of a property about groups: across whom, under which population, and what narrows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Boolean, Derived, Domain, Integer, Real
from fairdsl.ir.expr import TRUE, Predicate, conjoin
from fairdsl.ir.question import MOST_FAVOURED, Baseline, Excluding
from fairdsl.numerics.narrow import narrow
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel
from fairdsl.semantics.conditions.constant import report_constant
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope, attribute_index
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.populations import domain_with_label, population_named, with_columns
from fairdsl.semantics.questions.metric_terms import word_of
from fairdsl.semantics.questions.one_group import NoGroup, one_group
from fairdsl.semantics.questions.paths import AllowedPaths, Edges
from fairdsl.semantics.walk import walk
from fairdsl.semantics.wording.pairs import predicate_text
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of

C = TypeVar("C", bound=tree.Node)

#: Whole numbers with more values than this make no groups by themselves: nearly every one would be empty.
_MOST_VALUES = 256
_IN_WORDS = (
    tree.AmongClause,
    tree.StrataClause,
    tree.ExcludingClause,
    tree.AllowClause,
    tree.BaselineClause,
    tree.PrivilegedClause,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """What all demands of one property share.

    ``columns`` are the domain's attributes, behind them what of the ``derived`` ones makes groups, and the label's.
    """

    across: tuple[int, ...]
    derived: tuple[Derived, ...]
    population: CheckedDistribution | None
    columns: Domain
    given: Predicate
    given_each: tuple[int, ...]
    excluding: Excluding | None
    excluding_below: Fraction | None
    privileged: tuple[Fraction, ...] | None
    baseline: Baseline | None
    allowed: frozenset[tuple[int, int | None]]
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class GroupClauses:
    """Reads the clauses, reporting whatever is wrong."""

    node: tree.Property
    model: CheckedModel
    protected: Sequence[str]
    distributions: Mapping[str, CheckedDistribution | None]
    graphs: Mapping[str, tuple[tree.Graph, Edges]]
    conditions: Mapping[str, tree.NamedCondition]
    reporter: Reporter

    def groups(self) -> Groups:
        """Groups, population and the further clauses."""
        derived = self._grouping()
        people = with_columns(self._domain, derived)
        across = self._across(people)
        population = self._population()
        columns = domain_with_label(people, population.label if population else None)
        among, given_each = self._given(across, columns)
        return Groups(
            across=across,
            derived=derived,
            population=population,
            columns=columns,
            given=conjoin(*among),
            given_each=given_each,
            excluding=self._excluding(population),
            excluding_below=self._excluding_below(),
            privileged=self._group(tree.PrivilegedClause, "privileged", across, columns),
            baseline=self._baseline(across, columns),
            allowed=AllowedPaths(
                node=self.node,
                model=self.model,
                protected=self.protected,
                across=across,
                columns=columns,
                population=population,
                graphs=self.graphs,
                reporter=self.reporter,
            ).edges(),
            details=self._details(among, columns),
        )

    @property
    def _domain(self) -> Domain:
        return self.model.domain

    def _first(self, kind: type[C]) -> C | None:
        return next((clause for clause in self.node.clauses if isinstance(clause, kind)), None)

    # ---- who is compared, and among whom ---------------------------------------------------------

    def _grouping(self) -> tuple[Derived, ...]:
        """The derived attributes whose values make groups or strata here."""
        named = {
            name.text
            for clause in self.node.clauses
            if isinstance(clause, tree.AcrossClause | tree.StrataClause)
            for name in clause.names
        }
        return tuple(derived for derived in self._domain.derived if derived.name in named)

    def _across(self, people: Domain) -> tuple[int, ...]:
        spans: dict[int, Span] = {}
        for clause in self.node.clauses:
            for name in clause.names if isinstance(clause, tree.AcrossClause) else ():
                index = attribute_index(name, people, self.reporter)
                if index is None:
                    continue
                if index in spans:
                    self.reporter.report(
                        errors.declared_twice("attribute", name.text, name.span, spans[index], word="named")
                    )
                elif not self._is_protected(name.text):
                    self.reporter.report(errors.not_protected(name.text, name.span, "across", self.protected))
                else:
                    attribute = people.attributes[index]
                    if attribute.size == 1:
                        self.reporter.report(errors.too_few_values(name.text, name.span, attribute.span, mode="across"))
                    self._check_groups(attribute, name.span)
                spans.setdefault(index, name.span)
        return tuple(spans)

    def _is_protected(self, name: str) -> bool:
        """Whether the audit is about it: it is named, or derived from nothing but attributes that are."""
        derived = self._domain.derivation(name)
        if name in self.protected or derived is None:
            return name in self.protected
        made_of = [self._domain.attributes[place].name for place in derived.read]
        return bool(made_of) and all(each in self.protected for each in made_of)

    def _check_groups(self, attribute: Attribute, span: Span) -> None:
        """There are finitely many groups, with more than a person in each."""
        if attribute.bins or attribute.bins_by is not None:
            return
        if isinstance(attribute.type, Real):
            title, why = f"`{attribute.name}` is real, so its values make no groups", "nobody shares an exact value"
        elif isinstance(attribute.type, Integer) and (attribute.size or 0) > _MOST_VALUES:
            title, why = f"`{attribute.name}` has {attribute.size} values, too many to be groups", "few share a value"
        else:
            return
        why = f"{why}, so each group would be one person"
        help_text = f"write `bins at ...` behind `{attribute.name}` in the domain"
        self.reporter.report(errors.not_comparable(title, span, why, help_text))

    def _population(self) -> CheckedDistribution | None:
        clause = self._first(tree.UnderClause)
        if clause is None:
            declared = listing((f"under {name}" for name in self.distributions), "or")
            help_text = f"write {declared or '`under NAME`, and declare that `distribution`'}"
            self.reporter.report(
                errors.clause_missing(
                    self.node.name.text,
                    self.node.name.span,
                    "does not say under which population",
                    f"{help_text}: a rate is a rate among somebody",
                )
            )
            return None
        if clause.given is not None:
            why = "it says who is drawn of those who are compared in pairs"
            help_text = f"write `among {clause.given.span.text}` for whom rates are of"
            self.reporter.report(errors.clause_out_of_place("given", clause.given.span, why, help_text))
        return population_named(clause.distribution, self.distributions, self.model, self.reporter)

    # ---- what narrows it -------------------------------------------------------------------------

    def _given(self, across: tuple[int, ...], columns: Domain) -> tuple[list[Predicate], tuple[int, ...]]:
        """The conditions; and the attributes for each of whose values the metric is taken."""
        conditions: list[Predicate] = []
        each: dict[int, Span] = {}
        for clause in self.node.clauses:
            match clause:
                case tree.StrataClause(names=names):
                    for name in names:
                        index = attribute_index(name, columns, self.reporter)
                        if index is not None:
                            self._check_each(index, name.span, across, columns, each)
                            each.setdefault(index, name.span)
                case tree.AmongClause(condition=condition):
                    lowered = self._among(condition, columns)
                    conditions += [lowered] if lowered is not None else []
        given = conjoin(*conditions)
        if given != TRUE:
            report_constant(given, columns, narrow(columns), "condition", self.reporter)
        return conditions, tuple(each)

    def _among(self, condition: tree.Expression, columns: Domain) -> Predicate | None:
        """The condition on the people who are counted."""
        word = word_of(condition)
        attribute = next((each for each in columns.attributes if each.name == word), None)
        if attribute is not None and not isinstance(attribute.type, Boolean):
            self.reporter.report(
                errors.wrong_kind(
                    f"`{attribute.name}`, which is not boolean",
                    "a condition",
                    condition.span,
                    f"compare it, as in `among {attribute.name} = ...`, or write `for each {attribute.name}` to ask "
                    "at each of its values",
                )
            )
            return None
        return lower_condition(condition, ConditionScope(domain=columns, named=self.conditions), self.reporter)

    def _check_each(
        self, index: int, span: Span, across: tuple[int, ...], columns: Domain, seen: Mapping[int, Span]
    ) -> None:
        name = columns.attributes[index].name
        if index in seen:
            self.reporter.report(errors.declared_twice("attribute", name, span, seen[index], word="named"))
        elif index in across:
            why = f"for each value of `{name}` there is one group only, and no other to compare it with"
            self.reporter.report(errors.clause_out_of_place("for each", span, why, f"take `{name}` out of `across`"))
        else:
            self._check_groups(columns.attributes[index], span)

    def _excluding(self, population: CheckedDistribution | None) -> Excluding | None:
        clause = self._first(tree.ExcludingClause)
        if clause is None:
            return None
        if clause.rows is None:
            return Excluding(rows=None)
        written, share = clause.rows, clause.of_all
        if written.percent != share:
            meant = f"`below {written.text} of rows`" if written.percent else f"`below {written.text} rows`"
            title = "a part of the rows is written in percent" if share else "a percentage is a part of the rows"
            self.reporter.report(errors.number_out_of_place(title, written.span, f"write {meant}"))
        elif share and not 0 < written.value < 1:
            title = "such a part of the rows leaves out all groups, or none"
            self.reporter.report(
                errors.number_out_of_place(title, written.span, "write for instance `below 2% of rows`")
            )
        elif not share and (written.value < 1 or written.value.denominator != 1):
            title = "a number of rows is whole and positive"
            self.reporter.report(errors.number_out_of_place(title, written.span, "write 1 or more"))
        elif population is not None and not population.sampled:
            why = f"`{population.name}` is not counted in rows"
            help_text = "write `excluding groups of probability 0`, or remove the line"
            self.reporter.report(errors.clause_out_of_place("excluding", clause.span, why, help_text))
        return Excluding(rows=1 if share else int(written.value))

    def _excluding_below(self) -> Fraction | None:
        clause = self._first(tree.ExcludingClause)
        return clause.rows.value if clause is not None and clause.of_all and clause.rows is not None else None

    # ---- groups that others are compared with ----------------------------------------------------

    def _baseline(self, across: tuple[int, ...], columns: Domain) -> Baseline | None:
        clause = self._first(tree.BaselineClause)
        if clause is not None and word_of(clause.group) == MOST_FAVOURED:
            return MOST_FAVOURED
        return self._group(tree.BaselineClause, "baseline", across, columns)

    def _group(
        self,
        kind: type[tree.BaselineClause] | type[tree.PrivilegedClause],
        word: str,
        across: tuple[int, ...],
        columns: Domain,
    ) -> tuple[Fraction, ...] | None:
        """``sex = male and race = white``: every attribute of ``across`` fixed, nothing else."""
        clause = self._first(kind)
        if clause is None:
            return None
        predicate = lower_condition(clause.group, ConditionScope(domain=columns), self.reporter)
        if predicate is None:
            return None
        found = one_group(predicate, across, columns)
        if isinstance(found, NoGroup):
            self.reporter.report(errors.not_one_group(word, clause.group.span, found.what, found.bins))
            return None
        return found

    def _details(self, among: Sequence[Predicate], columns: Domain) -> tuple[tuple[str, str], ...]:
        """The clauses in force beyond groups and population, in the spec's words, and conditions without names."""
        details: list[tuple[str, str]] = []
        meant = iter(among)
        for clause in self.node.clauses:
            if isinstance(clause, _IN_WORDS):
                word, _, rest = text_of(clause).partition(" ")
                condition = next(meant, TRUE) if isinstance(clause, tree.AmongClause) else TRUE
                named = any(isinstance(node, tree.Reference) and self._is_named(node) for node in walk(clause))
                details.append((word, predicate_text(condition, columns) if named and condition != TRUE else rest))
        return tuple(details)

    def _is_named(self, node: tree.Reference) -> bool:
        """Whether it names a condition, or what is derived, in place of a column."""
        return node.name.text in self.conditions or self._domain.derivation(node.name.text) is not None
