"""Distributions and causal graphs: every name resolved, every law a law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic, Reporter
from fairdsl.ir.domain import Attribute, Boolean, Domain
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, LabelDeclaration
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.models import file_source
from fairdsl.semantics.scope import ConditionScope
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["check_distribution", "check_graph", "domain_with_label", "population_named"]

#: How many parameters each family of laws takes.
_FAMILIES = {"bernoulli": 1, "normal": 2, "uniform": 2}
_SAME_TRUTH = {"yes": "true", "no": "false"}
_SETTINGS = ("score", "max_parents", "seed", "search", "equivalent_sample_size", "protected_roots")


def domain_with_label(domain: Domain, label: LabelDeclaration | None) -> Domain:
    """The domain with the label as one more attribute: what laws and `given` may speak of."""
    if label is None:
        return domain
    extra = Attribute(name=label.name, type=label.type, column=label.column, span=label.span)
    return Domain(name=domain.name, attributes=(*domain.attributes, extra), where=domain.where, span=domain.span)


def check_distribution(
    node: tree.Distribution,
    domains: Mapping[str, Domain],
    labels: Mapping[str, LabelDeclaration],
    graphs: Mapping[str, tree.Graph],
    reporter: Reporter,
) -> CheckedDistribution | None:
    """The population as declared, or None after reporting what is wrong with it."""
    domain, label = _ranges_over(node, domains, labels, reporter)
    kinds = [clause for clause in node.clauses if not isinstance(clause, tree.Setting | tree.Law)]
    laws = [clause for clause in node.clauses if isinstance(clause, tree.Law)]
    kind = _kind(node, kinds, laws, graphs, reporter)
    if domain is None or kind is None:
        return None
    full = domain_with_label(domain, label)
    for law in laws:
        _check_law(law, full, reporter)
    _check_laws_together(laws, reporter)
    governed = {law.variable.text for law in laws}
    lawless = [attribute.name for attribute in full.attributes if attribute.name not in governed]
    if kind == "explicit" and lawless:
        help_text = "write a law for each attribute: none is assumed"
        reporter.report(_lacks(node, f"has no law for {listing(lawless)}", help_text))
    sources = [c for c in kinds if isinstance(c, tree.From)] + [
        c.source for c in kinds if isinstance(c, tree.Empirical)
    ]
    return CheckedDistribution(
        name=node.name.text,
        domain=domain,
        label=label,
        kind=kind,
        source=file_source(sources[0]) if sources else None,
        settings=_settings(node, reporter),
        span=node.name.span,
    )


def _ranges_over(
    node: tree.Distribution,
    domains: Mapping[str, Domain],
    labels: Mapping[str, LabelDeclaration],
    reporter: Reporter,
) -> tuple[Domain | None, LabelDeclaration | None]:
    domain: Domain | None = None
    label: LabelDeclaration | None = None
    for name in node.over:
        if name.text in domains:
            domain = domains[name.text]
        elif name.text in labels:
            label = labels[name.text]
        else:
            known = (*domains, *labels)
            reporter.report(errors.unknown_declaration("domain or label", name.text, name.span, known))
            return None, None
    if domain is None:
        reporter.report(
            errors.wrong_kind("a label", "a domain", node.over[0].span, "write `over DOMAIN` or `over DOMAIN, label`")
        )
    return domain, label


def _kind(
    node: tree.Distribution,
    kinds: Sequence[tree.DistributionClause],
    laws: Sequence[tree.Law],
    graphs: Mapping[str, tree.Graph],
    reporter: Reporter,
) -> str | None:
    """One word for the law's kind; conflicts and missing parts are reported."""
    learn = next((c for c in kinds if isinstance(c, tree.Learn)), None)
    has_file = any(isinstance(c, tree.From) for c in kinds)
    if learn is not None:
        structures = ("bayesian_network", *graphs)
        if learn.structure.text not in structures:
            span = learn.structure.span
            reporter.report(errors.unknown_word("structure to learn", learn.structure.text, span, structures))
            return None
        if not has_file:
            reporter.report(_lacks(node, "learns from no data", 'write `from "people.csv"` below `learn`'))
            return None
        return "learned" if learn.structure.text == "bayesian_network" else "fitted"
    words = [
        word
        for word, kind in (("uniform", tree.Uniform), ("independent", tree.Independent), ("empirical", tree.Empirical))
        if any(isinstance(c, kind) for c in kinds)
    ]
    if len(words) > 1:
        reporter.report(_lacks(node, f"is both `{words[0]}` and `{words[1]}`", "keep one of them"))
        return None
    if words:
        return words[0]
    if laws:
        return "explicit"
    if has_file:
        return "file"
    reporter.report(_lacks(node, "says nothing about its law", "write `uniform`, `learn ...` or a law per attribute"))
    return None


def _lacks(node: tree.Distribution, what: str, help_text: str) -> Diagnostic:
    return errors.not_a_law(f"distribution `{node.name.text}` {what}", node.name.span, help_text)


def _settings(node: tree.Distribution, reporter: Reporter) -> tuple[tuple[str, Fraction | str], ...]:
    settings: list[tuple[str, Fraction | str]] = []
    for clause in node.clauses:
        if not isinstance(clause, tree.Setting):
            continue
        if clause.name.text not in _SETTINGS:
            reporter.report(errors.unknown_word("setting", clause.name.text, clause.name.span, _SETTINGS))
        match clause.value:
            case tree.Name(text=text):
                settings.append((clause.name.text, text))
            case tree.Number(value=number):
                settings.append((clause.name.text, number))
            case tree.Text(value=text):
                settings.append((clause.name.text, text))
    return tuple(settings)


def _check_laws_together(laws: Sequence[tree.Law], reporter: Reporter) -> None:
    """An attribute has one law, or several that each say of whom (`given`)."""
    first: dict[str, tree.Law] = {}
    for law in laws:
        name = law.variable
        earlier = first.setdefault(name.text, law)
        if earlier is not law and (earlier.given is None or law.given is None):
            reporter.report(errors.declared_twice("law of", name.text, name.span, earlier.variable.span))


def _check_law(law: tree.Law, domain: Domain, reporter: Reporter) -> None:
    names = tuple(attribute.name for attribute in domain.attributes)
    if law.variable.text not in names:
        reporter.report(errors.unknown_attribute(law.variable.text, law.variable.span, domain.name, domain.span, names))
        return
    attribute = domain.attributes[names.index(law.variable.text)]
    if law.given is not None:
        lower_condition(law.given, ConditionScope(domain=domain), reporter)
    match law.law:
        case tree.Table():
            _check_table(law.law, attribute, reporter)
        case tree.Family():
            _check_family(law.law, attribute, reporter)


def _check_table(table: tree.Table, attribute: Attribute, reporter: Reporter) -> None:
    known = [attribute.show(Fraction(value)) for value in attribute.values or ()]
    if isinstance(attribute.type, Boolean):
        known = ["true", "false", "yes", "no"]
    seen: dict[str, Span] = {}
    for entry in table.entries:
        word = entry.value.text
        value = _SAME_TRUTH.get(word, word) if isinstance(attribute.type, Boolean) else word
        if word not in known:
            reporter.report(errors.unknown_value(word, entry.value.span, attribute.name, known, attribute.span))
        elif value in seen:
            reporter.report(errors.declared_twice("value", word, entry.value.span, seen[value]))
        seen.setdefault(value, entry.value.span)
        if not 0 <= entry.probability.value <= 1:
            probability = entry.probability
            reporter.report(
                errors.not_a_law(
                    f"{probability.text} is no probability", probability.span, "write a number from 0 to 1"
                )
            )
    total = sum((entry.probability.value for entry in table.entries), Fraction(0))
    if total != 1:
        reporter.report(
            errors.not_a_law(
                f"the probabilities of `{attribute.name}` sum to {float(total):.6g}, not to 1",
                table.span,
                "write all values with probabilities that sum to 1; fractions of 1 are never filled in silently",
            )
        )


def _check_family(family: tree.Family, attribute: Attribute, reporter: Reporter) -> None:
    name = family.name.text
    if name not in _FAMILIES:
        reporter.report(errors.unknown_word("law", name, family.name.span, (*_FAMILIES, "table")))
        return
    if len(family.parameters) != _FAMILIES[name]:
        wanted = {"bernoulli": "bernoulli(p)", "normal": "normal(mean, sd)", "uniform": "uniform(low, high)"}[name]
        reporter.report(errors.not_a_law(f"`{name}` takes {_FAMILIES[name]} numbers", family.span, f"write `{wanted}`"))
        return
    values = [parameter.value for parameter in family.parameters]
    if name == "bernoulli" and not 0 <= values[0] <= 1:
        text = family.parameters[0].text
        reporter.report(errors.not_a_law(f"{text} is no probability", family.span, "write a number from 0 to 1"))
    if name == "normal" and values[1] <= 0:
        reporter.report(errors.not_a_law("a standard deviation is positive", family.span, "write `normal(mean, sd)`"))
    if name == "uniform" and values[0] >= values[1]:
        low, high = (parameter.text for parameter in family.parameters)
        reporter.report(errors.reversed_range(low, high, family.span))
    if name == "normal" and attribute.bounds != (None, None) and not family.truncated:
        reporter.report(
            errors.not_a_law(
                f"`{attribute.name}` is bounded, a normal law is not",
                family.span,
                f"declare `{attribute.name} : real` without a range, or write `truncated` behind the law",
            )
        )


def population_named(
    name: tree.Name,
    distributions: Mapping[str, CheckedDistribution | None],
    model: CheckedModel,
    reporter: Reporter,
) -> CheckedDistribution | None:
    """The population of that name, which has to be about the individuals that the model decides about."""
    if name.text not in distributions:
        reporter.report(errors.unknown_declaration("distribution", name.text, name.span, tuple(distributions)))
        return None
    population = distributions[name.text]
    if population is not None and population.domain.name != model.domain.name:
        reporter.report(
            errors.not_comparable(
                f"`{name.text}` is about `{population.domain.name}`, not about `{model.domain.name}`",
                name.span,
                f"`{model.declaration.name}` decides about `{model.domain.name}`",
                f"name a distribution over `{model.domain.name}`",
            )
        )
        return None
    return population


def check_graph(node: tree.Graph, known: Sequence[str], reporter: Reporter) -> frozenset[tuple[str, str]]:
    """The edges; names that are neither attributes, labels nor models are reported."""
    edges: set[tuple[str, str]] = set()
    for path in node.paths:
        for name in path.names:
            if name.text not in known:
                reporter.report(errors.unknown_declaration("attribute or model", name.text, name.span, known))
        edges.update(zip((n.text for n in path.names), (n.text for n in path.names[1:]), strict=False))
    return frozenset(edges)
