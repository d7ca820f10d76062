"""Who is compared: ``compare a, b`` with its clauses becomes a :class:`~fairdsl.ir.question.Pair`.

Of one individual, ``compare a``, it is a pair of which only `among` counts (:class:`fairdsl.ir.demand.Demanded`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.demand import MOST, people_of
from fairdsl.ir.domain import Boolean, Category
from fairdsl.ir.expr import Predicate, Who, conjoin, rename, variables
from fairdsl.ir.question import Differ, Pair, Relaxation, Sure
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Demand
from fairdsl.semantics.conditions.outputs import names_outputs
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope, attribute_index
from fairdsl.semantics.questions.confidence import read_sureness
from fairdsl.semantics.questions.pair_demands import PairDemands
from fairdsl.semantics.questions.wellformed import check_among, check_pair
from fairdsl.source import Span
from fairdsl.syntax import tree

#: Clauses that say what else may differ between two individuals.
_EXCEPTIONS = (tree.ApartClause, tree.RegardlessClause)


@dataclass(slots=True)
class PairBuilder:
    """Builds the question of one property and its demands, reporting whatever is wrong."""

    node: tree.Property
    compare: tree.CompareClause
    model: CheckedModel
    models: Mapping[str, CheckedModel | None]
    main: str | None
    protected: Sequence[str]
    conditions: Mapping[str, tree.NamedCondition]
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
                    f"write `compare {', '.join(self._names)} : {self.model.domain.name}`, or name another model",
                )
            )
            return ()
        if not self._named_apart():
            return ()
        question = self._question()
        reader = PairDemands(
            node=self.node,
            compare=self.compare,
            model=self.model,
            models=self.models,
            main=self.main,
            scope=self._scope,
            premises=tuple(part for part in self._conditions() if names_outputs(part, self.models)),
            distributions=self.distributions,
            reporter=self.reporter,
        )
        return tuple(demand for demand in reader.each(question) if demand is not None)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(name.text for name in self.compare.names)

    def _named_apart(self) -> bool:
        """Whether there are as many individuals as a formula may be about, with names of their own."""
        seen: dict[str, Span] = {}
        for name in self.compare.names:
            if name.text in seen:
                self.reporter.report(errors.declared_twice("individual", name.text, name.span, seen[name.text]))
                return False
            seen[name.text] = name.span
        if len(seen) > MOST:
            more = self.compare.names[MOST]
            self.reporter.report(
                errors.clause_out_of_place(
                    more.text,
                    more.span,
                    f"a demand is about {MOST} individuals at most",
                    "compare fewer, and write a property for each of the others",
                )
            )
        return len(seen) <= MOST

    @property
    def _scope(self) -> ConditionScope:
        """What conditions may name: of one individual its own name says nothing that a bare attribute does not."""
        names = self._names
        return ConditionScope(
            domain=self.model.domain,
            individuals=dict(zip(names, people_of(len(names)), strict=True)),
            named=self.conditions,
            labels=self.labels,
        )

    # ---- who and where ---------------------------------------------------------------------------

    def _question(self) -> Pair:
        if len(self._names) == 1:
            return self._one()
        differ, mode, spans = self._differ()
        relax = self._relaxations(spans)
        target, pair_target = self._conditions_on()
        question = Pair(
            differ=differ,
            mode=mode,
            relax=relax,
            target=target,
            pair_target=pair_target,
            sure=self._sure(),
            span=self.node.name.span,
        )
        if not self.reporter.has_errors:
            self._check_otherwise_equal(question)
            check_pair(question, people_of(len(self._names)), self.model.domain, spans, self.reporter)
        return question

    def _one(self) -> Pair:
        """Who is asked about where nobody is compared with anybody: all, or those of `among`."""
        for clause in self.node.clauses:
            if clause.FORM.about is tree.About.PAIRS:
                word = clause.span.text.split()[0]
                name = self._names[0]
                self.reporter.report(
                    errors.clause_out_of_place(
                        word,
                        clause.span,
                        f"this property is about one individual, `{name}`",
                        f"remove `{word}`, or write `compare {name}, {'b' if name != 'b' else 'c'} : "
                        f"{self.compare.domain.text}` for a property about two",
                    )
                )
        question = Pair(
            differ=(),
            mode=Differ.ANY,
            target=self._conditions_on()[0],
            sure=self._sure(),
            span=self.node.name.span,
        )
        if not self.reporter.has_errors:
            check_among(question.target, self.model.domain, self.reporter)
        return question

    def _sure(self) -> tuple[Sure, ...]:
        return read_sureness(self.node.clauses, self._scope.individuals, self.models, self.main, self.reporter)

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
            spans.setdefault(index, name.span)
        mode = Differ.EACH if clause.mode is tree.DifferMode.EACH and len(spans) > 1 else Differ.ANY
        return tuple(spans), mode, spans

    def _relaxations(self, differing: Mapping[int, Span]) -> tuple[Relaxation, ...]:
        relaxations: dict[int, Relaxation] = {}
        for clause in self.node.clauses:
            match clause:
                case tree.ApartClause(by=by, name=name):
                    self._relax(name, by, clause.span, differing, relaxations)
                case tree.RegardlessClause(names=names):
                    for name in names:
                        self._relax(name, None, clause.span, differing, relaxations)
        return tuple(relaxations.values())

    def _relax(
        self,
        written: tree.Name,
        by: tree.Number | None,
        whole: Span,
        differing: Mapping[int, Span],
        relaxations: dict[int, Relaxation],
    ) -> None:
        """One attribute more in which the two may be unequal, by so much at most (None: by any difference)."""
        index = attribute_index(written, self.model.domain, self.reporter, self.labels)
        if index is None:
            return
        name, span = written.text, written.span
        attribute = self.model.domain.attributes[index]
        if index in differing:
            self.reporter.report(
                errors.relaxed_wrongly(name, span, differing[index], "both named in `differ` and excepted from it")
            )
        elif index in relaxations and (earlier := relaxations[index].span) is not None:
            self.reporter.report(errors.relaxed_wrongly(name, span, earlier, "excepted twice"))
        elif by is not None and isinstance(attribute.type, Category | Boolean):
            kind = "category" if isinstance(attribute.type, Category) else "boolean"
            self.reporter.report(errors.relaxed_label(name, kind, whole))
        elif by is not None and (by.value < 0 or by.percent):
            what = "percentage" if by.percent else "negative number"
            self.reporter.report(
                errors.number_out_of_place(
                    f"a {what} is not a distance in `{name}`",
                    by.span,
                    f"write the distance itself, as in `within 5 in {name}`",
                )
            )
        else:
            reach = by.value if by else None
            low, high = attribute.known.bounds
            if reach is not None and attribute.gap and low is not None and high is not None:
                reach = min(reach, high - low)  # beyond it lies nobody with a value, but those who have none
            relaxations[index] = Relaxation(attribute=index, by=reach, span=span)

    def _check_otherwise_equal(self, question: Pair) -> None:
        """``otherwise equal`` stands behind what may be unequal, and something is left to be equal."""
        place, clause = next(
            ((i, each) for i, each in enumerate(self.node.clauses) if isinstance(each, tree.OtherwiseEqualClause)),
            (None, None),
        )
        if place is None or clause is None:
            return
        later = [each for each in self.node.clauses[place:] if isinstance(each, (tree.DifferClause, *_EXCEPTIONS))]
        if later:
            written = " ".join(later[0].span.text.split())
            self.reporter.report(
                errors.clause_out_of_place(
                    "otherwise equal",
                    clause.span,
                    f"`{written}` behind it says that something else need not be equal",
                    "write `otherwise equal` behind all that need not be equal",
                )
            )
        elif len(question.differ) + len(question.relax) == len(self.model.domain.attributes):
            self.reporter.report(
                errors.clause_out_of_place(
                    "otherwise equal",
                    clause.span,
                    "every attribute of the domain is named by another clause, so nothing is left to be equal",
                    "remove the line, or one of the others",
                )
            )

    def _conditions_on(self) -> tuple[Predicate, Predicate]:
        """Conditions on each individual, and conditions on the ordered pair.

        A condition that names ``a`` or ``b`` and also has unqualified names is read once for each
        individual in their place, so that unqualified names bind both.
        """
        each: list[Predicate] = []
        ordered: list[Predicate] = []
        for part in self._conditions():
            predicate = None if names_outputs(part, self.models) else lower_condition(part, self._scope, self.reporter)
            if predicate is None:
                continue
            who = {variable.who for variable in variables(predicate)}
            if who <= {Who.EACH}:
                each.append(predicate)
            elif Who.EACH in who:
                ordered += [rename(predicate, {Who.EACH: one}) for one in people_of(len(self._names))]
            else:
                ordered.append(predicate)
        return conjoin(*each), conjoin(*ordered)

    def _conditions(self) -> Iterator[tree.Expression]:
        """The parts of `among`; those that name a model's outputs are premises of the demands."""
        for clause in self.node.clauses:
            if isinstance(clause, tree.AmongClause):
                yield from _conjuncts(clause.condition)


def _conjuncts(node: tree.Expression) -> tuple[tree.Expression, ...]:
    """The parts of a conjunction, so that each restricts whom it names."""
    if isinstance(node, tree.Conjunction):
        return tuple(conjunct for part in node.parts for conjunct in _conjuncts(part))
    return (node,)
