"""Distributions and causal graphs: every name resolved, one kind each, everything that it is made from there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fairdsl.diagnostics import Diagnostic, Reporter
from fairdsl.ir.domain import Attribute, Derived, Domain
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, Edge, LabelDeclaration
from fairdsl.semantics.conditions.scope import attribute_index
from fairdsl.semantics.distributions import check_distributions
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.models.sources import file_source
from fairdsl.semantics.settings import check_settings
from fairdsl.source import Span
from fairdsl.syntax import tree

#: The word of the language for each clause that says which distribution it is.
_KINDS: dict[type[tree.DistributionClause], str] = {
    tree.Uniform: "uniform",
    tree.Independent: "independent",
    tree.Empirical: "empirical",
    tree.Learn: "learn",
    tree.ColumnDistribution: "explicit",
}


_ONE_DISTRIBUTION = "a population is one joint distribution of all its attributes"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionScope:
    """What a distribution may name; nothing is said to be missing from it where its text was not read in full."""

    domains: Mapping[str, Domain]
    labels: Mapping[str, LabelDeclaration]
    graphs: Mapping[str, tree.Graph]
    models: Sequence[str]
    protected: Sequence[str]
    complete: bool


def with_columns(domain: Domain, derived: Iterable[Derived]) -> Domain:
    """The domain with what is derived as further attributes: what groups are made of."""
    return replace(domain, attributes=(*domain.attributes, *(each.attribute for each in derived)))


def domain_with_label(domain: Domain, label: LabelDeclaration | None) -> Domain:
    """The domain with the label as one more attribute: what distributions and `given` may speak of."""
    if label is None:
        return domain
    extra = Attribute(name=label.name, type=label.type, column=label.column, span=label.span)
    return replace(domain, attributes=(*domain.attributes, extra))


def check_distribution(
    node: tree.Distribution, scope: DistributionScope, reporter: Reporter
) -> CheckedDistribution | None:
    """The population as declared, or None after reporting what is wrong with it."""
    domain, label = _ranges_over(node, scope, reporter)
    kind = _kind(node, scope, reporter)
    if domain is None or kind is None:
        return None
    full = domain_with_label(domain, label)
    lacked = [attribute.name for attribute in domain.attributes if attribute.gap]
    if lacked and kind != "empirical":
        reporter.report(errors.no_distribution_of_missing(lacked, node.name.span))
        return None
    distributions = [clause for clause in node.clauses if isinstance(clause, tree.ColumnDistribution)]
    declared = check_distributions(distributions, full, reporter)
    governed = {distribution.variable.text for distribution in distributions}
    without = [attribute.name for attribute in full.attributes if attribute.name not in governed]
    if kind == "explicit" and without and scope.complete:
        help_text = "write a distribution for each attribute: none is assumed"
        reporter.report(_lacks(node, f"has no distribution for {listing(without)}", help_text))
    learn = next((clause for clause in node.clauses if isinstance(clause, tree.Learn)), None)
    graph = scope.graphs[learn.structure.text] if learn is not None and kind == "fitted" else None
    source = _source(node)
    return CheckedDistribution(
        name=node.name.text,
        domain=domain,
        label=label,
        kind=kind,
        source=file_source(source) if source else None,
        settings=check_settings([c for c in node.clauses if isinstance(c, tree.Setting)], kind, reporter),
        distributions=declared,
        graph=graph.name.text if graph else None,
        edges=_edges(graph, full, scope.models, node, reporter) if graph else (),
        given=_given(node, full, reporter),
        protected=tuple(index for index, a in enumerate(domain.attributes) if a.name in scope.protected),
        span=node.name.span,
    )


def _ranges_over(
    node: tree.Distribution, scope: DistributionScope, reporter: Reporter
) -> tuple[Domain | None, LabelDeclaration | None]:
    domains: list[tree.Name] = []
    labels: list[tree.Name] = []
    for name in node.over:
        if name.text in scope.domains:
            domains.append(name)
        elif name.text in scope.labels:
            labels.append(name)
        else:
            known = (*scope.domains, *scope.labels)
            reporter.report(errors.unknown_declaration("domain or label", name.text, name.span, known))
            return None, None
    for kind, found in (("domain", domains), ("label", labels)):
        if len(found) > 1:
            help_text = "a distribution is about one domain and at most one label: declare a distribution for each"
            what = f"distribution `{node.name.text}` has two {kind}s"
            reporter.report(errors.not_a_distribution(what, found[1].span, help_text, why=_ONE_DISTRIBUTION))
            return None, None
    if not domains:
        reporter.report(
            errors.wrong_kind("a label", "a domain", node.over[0].span, "write `over DOMAIN` or `over DOMAIN, label`")
        )
        return None, None
    return scope.domains[domains[0].text], scope.labels[labels[0].text] if labels else None


# ---- which kind -----------------------------------------------------------------------------------


def _kind(node: tree.Distribution, scope: DistributionScope, reporter: Reporter) -> str | None:
    """One word for the distribution's kind; conflicts and missing parts are reported."""
    words = dict.fromkeys(word for clause in node.clauses if (word := _KINDS.get(type(clause))) is not None)
    files = [clause for clause in node.clauses if isinstance(clause, tree.From | tree.Empirical)]
    if len(words) > 1:
        one, other = (_written(word) for word in list(words)[:2])
        reporter.report(_lacks(node, f"is both {one} and {other}", "keep one of them"))
        return None
    repeated = _repeated(node)
    if repeated is not None:
        reporter.report(repeated)
        return None
    kind = next(iter(words), "file" if files else None)
    if kind is None:
        if scope.complete:
            help_text = "write `uniform`, `learn ...` or a distribution per attribute"
            reporter.report(_lacks(node, "says nothing about its distribution", help_text))
        return None
    if kind in ("uniform", "explicit") and files:
        help_text = "remove the file: this distribution is not made from data"
        reporter.report(_lacks(node, f"is {_written(kind)}, so its file would not be read", help_text))
        return None
    if kind in ("independent", "learn") and not files:
        if scope.complete:
            help_text = f'write `from "people.csv"` below `{kind}`'
            reporter.report(_lacks(node, "learns from no data" if kind == "learn" else "counts no data", help_text))
        return None
    return _structure(node, scope, reporter) if kind == "learn" else kind


def _written(word: str) -> str:
    return "written by hand" if word == "explicit" else f"`{word}`"


def _repeated(node: tree.Distribution) -> Diagnostic | None:
    """A second file, or a second structure to learn: only one could be in force."""
    first: dict[str, Span] = {}
    for clause in node.clauses:
        if isinstance(clause, tree.ColumnDistribution | tree.Setting):
            continue
        word = "from" if isinstance(clause, tree.From | tree.Empirical) else _KINDS[type(clause)]
        if word in first:
            return errors.declared_twice("clause", word, clause.span, first[word], word="written")
        first[word] = clause.span
    return None


def _structure(node: tree.Distribution, scope: DistributionScope, reporter: Reporter) -> str | None:
    """What ``learn`` learns: a network with its structure, or the parameters of a graph."""
    structure = next(clause.structure for clause in node.clauses if isinstance(clause, tree.Learn))
    if structure.text in scope.graphs:
        return "fitted"
    if structure.text == "bayesian_network":
        return "learned"
    known = ("bayesian_network", *scope.graphs)
    reporter.report(errors.unknown_word("structure to learn", structure.text, structure.span, known))
    return None


def _lacks(node: tree.Distribution, what: str, help_text: str) -> Diagnostic:
    return errors.not_a_distribution(
        f"distribution `{node.name.text}` {what}", node.name.span, help_text, why=_ONE_DISTRIBUTION
    )


def _source(node: tree.Distribution) -> tree.From | None:
    for clause in node.clauses:
        if isinstance(clause, tree.Empirical):
            return clause.source
        if isinstance(clause, tree.From):
            return clause
    return None


def _given(node: tree.Distribution, domain: Domain, reporter: Reporter) -> tuple[int, ...]:
    """``independent given race, sex``: the columns within whose groups the others are independent."""
    spans: dict[int, Span] = {}
    for clause in node.clauses:
        for name in clause.given if isinstance(clause, tree.Independent) else ():
            index = attribute_index(name, domain, reporter)
            if index is None:
                continue
            if index in spans:
                twice = errors.declared_twice("attribute", name.text, name.span, spans[index], word="named")
                reporter.report(twice)
            spans.setdefault(index, name.span)
    return tuple(spans)


# ---- graphs --------------------------------------------------------------------------------------


def _edges(
    graph: tree.Graph, domain: Domain, models: Sequence[str], node: tree.Distribution, reporter: Reporter
) -> tuple[Edge, ...]:
    """The graph's edges between columns; those that end at a model say what it reads, and are not distributions."""
    columns = {attribute.name: index for index, attribute in enumerate(domain.attributes)}
    edges: dict[tuple[int, int], Edge] = {}
    for path in graph.paths:
        for source, target in pairwise(path.names):
            if source.text in models:
                what = f"an edge leaves the model `{source.text}`"
                help_text = "end the path at the model: a population is there before any decision"
                reporter.report(
                    errors.not_a_distribution(what, source.span.to(target.span), help_text, why=_ONE_DISTRIBUTION)
                )
                return ()
            strange = next((n for n in (source, target) if n.text not in columns and n.text not in models), None)
            if strange is not None:
                what = f"`{node.name.text}` does not range over `{strange.text}`"
                help_text = f"write `over {domain.name}, {strange.text}`, or take it out of `{graph.name.text}`"
                reporter.report(errors.not_a_distribution(what, strange.span, help_text, why=_ONE_DISTRIBUTION))
                return ()
            if target.text in columns:
                edge = (columns[source.text], columns[target.text])
                edges.setdefault(edge, Edge(parent=edge[0], child=edge[1], span=source.span.to(target.span)))
    return tuple(edges.values())


def check_graph(node: tree.Graph, known: Sequence[str], reporter: Reporter) -> frozenset[tuple[str, str]]:
    """The edges; names that are neither attributes, labels nor models are reported."""
    edges: set[tuple[str, str]] = set()
    for path in node.paths:
        for name in path.names:
            if name.text not in known:
                reporter.report(errors.unknown_declaration("attribute or model", name.text, name.span, known))
        edges.update(pairwise(name.text for name in path.names))
    return frozenset(edges)


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
