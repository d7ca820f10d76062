"""Names and types of a whole spec: declarations first, then what refers to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fairdsl.diagnostics import Diagnostic, Reporter
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.semantics import errors
from fairdsl.semantics.checked import (
    CheckedDistribution,
    CheckedModel,
    CheckedProperty,
    CheckedSpec,
    LabelDeclaration,
)
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.semantics.domains import check_domain, check_label
from fairdsl.semantics.expand import Expanded, Instance, expand
from fairdsl.semantics.load import LoadedSpec
from fairdsl.semantics.models.declared import check_model
from fairdsl.semantics.populations import DistributionScope, check_distribution, check_graph
from fairdsl.semantics.questions.metric_terms import check_metric_declarations
from fairdsl.semantics.questions.misread import attributes_not_asked_alone
from fairdsl.semantics.questions.paths import Edges
from fairdsl.semantics.questions.properties import PropertyScope, check_property
from fairdsl.semantics.questions.wellformed import check_domain_is_inhabited
from fairdsl.semantics.remembered import Remembered, World
from fairdsl.semantics.usage import report_unused
from fairdsl.source import Span
from fairdsl.syntax import tree

N = TypeVar(
    "N",
    tree.Domain,
    tree.Label,
    tree.Model,
    tree.Distribution,
    tree.Graph,
    tree.NamedCondition,
    tree.Metric,
)
V = TypeVar("V")

#: Findings that something is missing: said only where the whole text was read, for the missing thing may
#: stand in the part that was not.
_OF_ABSENCE = frozenset({"E0202", "E0203", "E0205", "E0207", "E0208", "E0212", "E0213", "E0406", "E0412", "E0416"})


def check_spec(
    loaded: LoadedSpec,
    reporter: Reporter,
    parameters: Mapping[str, str] | None = None,
    known: Remembered | None = None,
) -> CheckedSpec:
    """The checked spec, with the numbers given for its ``parameters`` in place of its own.

    Properties with errors are left out of it and reported. ``known`` is what was found of earlier versions of it.
    """
    before, known = Reporter(), known or Remembered()
    expanded = expand(loaded, parameters or {}, before, known)
    reporter.extend(before)
    complete = loaded.complete and expanded.complete
    own = Reporter()
    _check_calls(expanded, known, own)
    checker, world = _with_declarations(expanded, complete, own)
    properties = checker.properties(world)
    if not (own.has_errors or before.has_errors) and complete:
        assert len(properties) == len(expanded.instances), (
            "a property is asked with all its demands, or it is said why not"
        )
        own.extend(report_unused(loaded.main, properties, [each.node for each in expanded.instances], known.below))
    expanded.world.sweep()
    world.sweep()
    known.sweep()
    reporter.extend(expanded.explained(finding) for finding in own if complete or finding.code not in _OF_ABSENCE)
    audit = loaded.main.audit
    return CheckedSpec(
        source=loaded.source,
        used=tuple(each.span.file for each in loaded.used),
        title=audit.title.value if audit else None,
        domains={name: domain for name, domain in checker.domains.items() if domain is not None},
        labels={name: label for name, label in checker.labels.items() if label is not None},
        models={
            model.declaration.name: model
            for model in (*checker.models.values(), *checker.variants.values())
            if model is not None
        },
        distributions={
            name: distribution for name, distribution in checker.distributions.items() if distribution is not None
        },
        properties=properties,
        parameters=expanded.parameters,
        protected=frozenset(checker.protected),
    )


def _with_declarations(expanded: Expanded, complete: bool, reporter: Reporter) -> tuple[_SpecChecker, World]:
    """All but the properties, checked unless that was done, and the world that the properties are checked in."""
    compared = frozenset(
        clause.name.text
        for instance in expanded.instances
        for clause in instance.node.clauses
        if isinstance(clause, tree.ApartClause)
    )
    world = expanded.world.under((compared, complete))
    if world.declared is None:
        own = Reporter()
        first = _SpecChecker(expanded, complete, compared, own)
        first.declarations()
        world.declared = first, tuple(own)
    first, findings = world.declared
    reporter.extend(findings)
    return replace(first, expanded=expanded, reporter=reporter, variants={}), world


def _check_calls(expanded: Expanded, known: Remembered, reporter: Reporter) -> None:
    """Conditions in parentheses are those of rates: behind anything else they would look as if in force."""
    everything = known.below((*expanded.items, *(instance.node for instance in expanded.instances)))
    for call in (node for node in everything if isinstance(node, tree.Call)):
        if (call.given is not None or call.along_paths) and call.function.text not in ("rate", "mean"):
            why = f"only a `rate` and a `mean` have a condition, and `{call.function.text}` is none"
            help_text = "write the condition into the rate, as in `gap(rate(refuse given sick = yes))`"
            reporter.report(errors.no_metric(call.span, why, help_text))


@dataclass(slots=True)
class _SpecChecker:
    """Collects declarations by kind; a name whose declaration has errors stays known as None."""

    expanded: Expanded
    complete: bool
    compared: frozenset[str]
    reporter: Reporter
    domains: dict[str, Domain | None] = field(default_factory=dict)
    labels: dict[str, LabelDeclaration | None] = field(default_factory=dict)
    models: dict[str, CheckedModel | None] = field(default_factory=dict)
    distributions: dict[str, CheckedDistribution | None] = field(default_factory=dict)
    graphs: dict[str, tuple[tree.Graph, Edges] | None] = field(default_factory=dict)
    conditions: dict[str, tree.NamedCondition | None] = field(default_factory=dict)
    metrics: dict[str, tree.Metric | None] = field(default_factory=dict)
    protected: dict[str, tree.Name] = field(default_factory=dict)
    variants: dict[str, CheckedModel | None] = field(default_factory=dict)

    def _items(self) -> Iterator[tree.Item]:
        yield from self.expanded.items

    def _collect(self, kind: type[N], word: str, build: Callable[[N], V | None], into: dict[str, V | None]) -> None:
        seen: dict[str, tree.Name] = {}
        for item in self._items():
            if not isinstance(item, kind):
                continue
            name = item.name
            if name.text in seen:
                self.reporter.report(errors.declared_twice(word, name.text, name.span, seen[name.text].span))
                continue
            seen[name.text] = name
            into[name.text] = build(item)

    def declarations(self) -> None:
        """Everything but properties, in the order in which things refer to each other."""
        self._collect(tree.Domain, "domain", self._domain, self.domains)
        self._collect(tree.Label, "label", self._label, self.labels)
        self._collect(tree.NamedCondition, "condition", lambda node: node, self.conditions)
        self._check_conditions()
        self._collect(tree.Metric, "metric", lambda node: node, self.metrics)
        check_metric_declarations(self.metrics, self.reporter)
        self._collect_protected()
        self._collect(tree.Model, "model", self._model, self.models)
        self._collect(tree.Graph, "graph", self._graph, self.graphs)
        self._collect(tree.Distribution, "distribution", self._distribution, self.distributions)

    def _domain(self, node: tree.Domain) -> Domain:
        own = Reporter()
        domain = check_domain(node, self.compared, own)
        if not own.has_errors:
            check_domain_is_inhabited(domain, own)
        self.reporter.extend(own)
        return domain

    def _label(self, node: tree.Label) -> LabelDeclaration:
        self._check_own_name("label", node.name, _present(self.domains).values())
        return check_label(node, self.reporter)

    def _check_own_name(self, kind: str, name: tree.Name, domains: Iterable[Domain]) -> None:
        """What a condition may name beside attributes has a name of its own."""
        attributes = (attribute for domain in domains for attribute in _named_in(domain))
        clash = next((attribute for attribute in attributes if attribute.name == name.text), None)
        if clash is not None and clash.span is not None:
            self.reporter.report(
                errors.declared_twice(kind, name.text, name.span, clash.span, clashes_with="an attribute")
            )

    def _collect_protected(self) -> None:
        known = {a.name for domain in _present(self.domains).values() for a in _named_in(domain)}
        for item in self._items():
            for name in item.names if isinstance(item, tree.Protected) else ():
                if name.text in self.protected:
                    first = self.protected[name.text].span
                    self.reporter.report(errors.declared_twice("protected attribute", name.text, name.span, first))
                elif name.text not in known:
                    self._unknown_protected(name)
                    continue
                self.protected.setdefault(name.text, name)

    def _unknown_protected(self, name: tree.Name) -> None:
        domains = _present(self.domains)
        if not domains:
            return  # without a domain every name would be unknown; the missing domain is reported elsewhere
        domain = next(iter(domains.values()))
        alone = len(domains) == 1
        self.reporter.report(
            errors.unknown_attribute(
                name.text,
                name.span,
                domain.name if alone else "any domain",
                domain.span if alone else None,
                [attribute.name for domain in domains.values() for attribute in domain.attributes],
                why="an attribute nobody declared would be skipped, and the audit would pass on the others alone",
            )
        )

    def _check_conditions(self) -> None:
        """Named conditions are checked where they stand, so that an unused one with a mistake is found too."""
        for named in _present(self.conditions).values():
            domain = self._domain_of(named.domain, named.name)
            if domain is not None:
                self._check_own_name("condition", named.name, (domain,))
                lower_condition(named.condition, ConditionScope(domain=domain), self.reporter)

    def _domain_of(self, written: tree.Name | None, at: tree.Name) -> Domain | None:
        if written is not None:
            if written.text not in self.domains:
                known = tuple(self.domains)
                self.reporter.report(errors.unknown_declaration("domain", written.text, written.span, known))
                return None
            return self.domains[written.text]
        if len(self.domains) > 1:
            known = tuple(self.domains)
            self.reporter.report(
                errors.say_which("domain", at.span, known, f"write `condition {at.text} over {known[0]} = ...`")
            )
            return None
        return next(iter(self.domains.values()), None)

    def _model(self, node: tree.Model) -> CheckedModel | None:
        domain = self._domain_of(node.domain, node.name)
        if domain is None:
            return None
        labels = {name: label.span for name, label in _present(self.labels).items()}
        declaration = check_model(node, domain, self.reporter, labels)
        if declaration is None:
            return None
        return CheckedModel(declaration=declaration, domain=domain, declared_as=node.name.text)

    def _graph(self, node: tree.Graph) -> tuple[tree.Graph, Edges]:
        attributes = {a.name for domain in _present(self.domains).values() for a in domain.attributes}
        known = (*sorted(attributes), *self.labels, *self.models)
        return node, check_graph(node, known, self.reporter)

    def _distribution(self, node: tree.Distribution) -> CheckedDistribution | None:
        scope = DistributionScope(
            domains=_present(self.domains),
            labels=_present(self.labels),
            graphs={name: graph for name, (graph, _) in _present(self.graphs).items()},
            models=tuple(self.models),
            protected=tuple(self.protected),
            complete=self.complete,
        )
        return check_distribution(node, scope, self.reporter)

    def properties(self, world: World) -> tuple[CheckedProperty, ...]:
        """The main file's own properties; a used file's are part of its own audit."""
        scope = PropertyScope(
            models=self.models,
            protected=tuple(self.protected),
            distributions=self.distributions,
            labels=_present(self.labels),
            graphs=_present(self.graphs),
            conditions=_present(self.conditions),
            metrics=self.metrics,
            domains=tuple(self.domains),
        )
        checked: list[CheckedProperty] = []
        seen: dict[str, tree.Name] = {}
        said: set[tuple[str, Span | None]] = set()
        for instance in self.expanded.instances:
            name = instance.node.name
            if name.text in seen:
                self.reporter.report(errors.declared_twice("property", name.text, name.span, seen[name.text].span))
                continue
            seen[name.text] = name
            result, own = self._checked(instance, scope, world)
            # What is wrong with one of the properties of a `for each` is most often wrong with all of them.
            new = [finding for finding in own if not (instance.again and _place(finding) in said)]
            self.reporter.extend(new)
            said = {*(said if instance.again else ()), *map(_place, new)}
            if result is not None:
                stated = tuple(f"{each.name} = {each.text}" for each in instance.parameters)
                checked.append(replace(result, clauses=(*result.clauses, *stated), preset=instance.preset))
        self.reporter.extend(attributes_not_asked_alone(checked))
        return tuple(checked)

    def _checked(
        self, instance: Instance, scope: PropertyScope, world: World
    ) -> tuple[CheckedProperty | None, tuple[Diagnostic, ...]]:
        """A property and what was found of it, now or before: among the same declarations it is the same."""

        def found() -> tuple[CheckedProperty | None, tuple[Diagnostic, ...]]:
            own = Reporter()
            return check_property(instance.node, self._scope_of(instance, scope, own), own), tuple(own)

        # Variants of declarations are made for the property.
        varied = instance.models or instance.conditions
        result: tuple[CheckedProperty | None, tuple[Diagnostic, ...]]
        result = found() if varied else world.checked.of(instance.node, found)
        return result

    def _scope_of(self, instance: Instance, scope: PropertyScope, reporter: Reporter) -> PropertyScope:
        """What the property may name, with models and targets as they are for its own parameters."""
        for name, node in instance.models.items():
            if node.name.text not in self.variants:
                before, self.reporter = self.reporter, reporter
                made = self._model(node)
                self.reporter = before
                self.variants[node.name.text] = made and replace(made, declared_as=name)
        models = {name: model for name, model in scope.models.items() if name not in instance.models}
        models |= {node.name.text: self.variants[node.name.text] for node in instance.models.values()}
        return replace(scope, models=models, conditions={**scope.conditions, **instance.conditions})


def _named_in(domain: Domain) -> Iterator[Attribute]:
    """Everything that is known of an individual, derived or not."""
    yield from domain.attributes
    yield from (derived.attribute for derived in domain.derived)


def _place(finding: Diagnostic) -> tuple[str, Span | None]:
    """What a finding is about, and where."""
    return finding.code, finding.primary.span if finding.primary else None


def _present(declared: Mapping[str, V | None]) -> dict[str, V]:
    """Those whose declaration had no errors."""
    return {name: value for name, value in declared.items() if value is not None}
