"""Properties that are well formed and read as something else than they are: W0816, one function a way of misreading."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import prod

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Attribute, Category, Domain, says_unknown
from fairdsl.ir.expr import variables
from fairdsl.ir.metric import Metric
from fairdsl.ir.question import Differ, GroupMetric, Pair, Quantity, ScoreGap, metric_words
from fairdsl.ir.rate import Each, Fact, facts_of
from fairdsl.prelude import registered
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedProperty, Demand
from fairdsl.semantics.walk import walk
from fairdsl.source import Span
from fairdsl.syntax import tree

#: A required ratio below it, and a gap above it, were most likely meant on another scale.
_LEAST_RATIO, _LARGEST_GAP = Fraction(1, 10), Fraction(1, 2)


def misread(
    node: tree.Property,
    demands: Sequence[Demand],
    domain: Domain,
    protected: Sequence[str],
    population: CheckedDistribution | None,
    outcomes: Sequence[str],
) -> Iterator[Diagnostic]:
    """What is to be pointed out in one property; the domain has the columns that it groups people by."""
    yield from _title(node, domain, protected)
    groups = [each.question for each in demands if isinstance(each.question, GroupMetric) and each.required]
    if groups:
        yield from _values_not_known(groups[0], domain, node)
        if population is not None and population.kind == "uniform":
            yield from _nobodys_population(node, population.name)
    for demand in demands:
        yield from _threshold(demand, demands)
        if isinstance(demand.question, GroupMetric):
            yield from _pooled(node, demand, demand.question, domain)
            if population is not None and population.label is not None and len(outcomes) > 2:
                yield from _two_of_several(demand, demand.question, population.columns[-1])
    for clause in node.clauses:
        match clause:
            case tree.AmongClause(condition=condition):
                yield from _mixed(condition, domain)
            case tree.RequireClause(demand=tree.Comparison() as comparison):
                yield from _percent_of_a_score(comparison, demands)


def attributes_not_asked_alone(properties: Sequence[CheckedProperty]) -> Iterator[Diagnostic]:
    """Properties whose pairs differ in all of several attributes, while no property asks about each by itself."""
    pairs = [(each, demand.question) for each in properties for demand in each.demands]
    alone = {
        (each.model, index)
        for each, pair in pairs
        if isinstance(pair, Pair) and (pair.mode is Differ.ANY or len(pair.differ) == 1)
        for index in pair.differ
    }
    for each in properties:
        pair = each.demands[0].question
        if not isinstance(pair, Pair) or pair.mode is Differ.ANY or len(pair.differ) == 1:
            continue
        left = [f"`{each.domain.attributes[index].name}`" for index in pair.differ if (each.model, index) not in alone]
        if left:
            yield errors.reads_otherwise(
                "only pairs that differ in all of these attributes at once are compared",
                each.span,
                "two people who differ in one of them alone are not compared",
                f"no property asks whether {' or '.join(left)} alone decides",
                "write `differ in any ...`, or a property for each attribute",
            )


def _title(node: tree.Property, domain: Domain, protected: Sequence[str]) -> Iterator[Diagnostic]:
    """The sentence names a protected attribute that no clause is about, and none that one is about."""
    if node.sentence is None:
        return
    clauses = {each.text for each in walk(node.clauses) if isinstance(each, tree.Name)}
    for derived in domain.derived:
        if derived.name in clauses:
            clauses |= {domain.attributes[index].name for index in derived.read}
    said = re.sub(r"[^a-z0-9]+", " ", f" {node.sentence.value} ".lower())
    named = [each.name for each in domain.attributes if f" {each.name.lower().replace('_', ' ')} " in said]
    if not clauses.isdisjoint(named):
        return
    for name in named:
        if name in protected:
            yield errors.reads_otherwise(
                f"the sentence is about `{name}`, and no clause is",
                node.sentence.span,
                "reports say this beside the verdict",
                f"`{name}` is neither compared here nor does it make the groups",
                f"name `{name}` in `differ in` or `across`, or say what is compared",
            )


def _values_not_known(question: GroupMetric, domain: Domain, node: tree.Property) -> Iterator[Diagnostic]:
    """A group of those whose value is not known is held against the others as if it were one."""
    asked = {each.attribute for each in variables(question.given)}
    clause = next(clause for clause in node.clauses if isinstance(clause, tree.AcrossClause))
    for index in question.across:
        attribute = domain.attributes[index]
        values = attribute.type.values if isinstance(attribute.type, Category) and index not in asked else ()
        for value in values:
            if says_unknown(value.name):
                yield errors.reads_otherwise(
                    f"`{value.name}` of `{attribute.name}` is a group like any other",
                    clause.span,
                    "also those whose value is not known are compared",
                    "they belong to the other groups, so the verdict may rest on who did not answer",
                    f"write `among {attribute.name} != {value.name}` to leave them out",
                )


def _nobodys_population(node: tree.Property, name: str) -> Iterator[Diagnostic]:
    """Rates of groups under the uniform distribution are nobody's."""
    clause = next(clause for clause in node.clauses if isinstance(clause, tree.UnderClause))
    yield errors.reads_otherwise(
        f"under `{name}` all whom the domain allows are equally frequent",
        clause.span,
        "rates of no population",
        "a threshold for rates is about people who are there, and no population is uniform",
        "take a distribution `empirical from` a table, or one that is learned from it",
    )


def _threshold(demand: Demand, demands: Sequence[Demand]) -> Iterator[Diagnostic]:
    """A bound on the wrong side or scale, and one bound only of what may be negative."""
    limit = demand.threshold
    about = demand.question.metric if isinstance(demand.question, GroupMetric) else registered(demand.metric)
    influence = isinstance(demand.question, GroupMetric) and bool(demand.question.influence)
    if limit is None or about is None or about.ideal is None or influence or demand.less is not None:
        return  # a metric less another one has neither the ideal nor the scale of the metric
    name = metric_words(demand.metric)
    upper = limit.relation.downwards
    others = [other.threshold.relation for other in demands if other.metric == demand.metric and other.threshold]
    if any(other.downwards != upper for other in others):
        return  # between two bounds
    if isinstance(about, Metric) and about.signed and about.ideal == 0:
        if upper or limit.relation.upwards:
            negative = "negative" if upper else "positive"
            yield errors.reads_otherwise(
                f"{name} is bounded on one side only",
                demand.span,
                f"met by any {negative} difference",
                "it is a signed difference: against one of the two groups it may be as large as it likes",
                f"add the other bound, `require {demand.metric} {'>= -' if upper else '<= '}"
                f"{limit.text.lstrip('-')}`, or require the gap of all groups, as `parity_gap` is one",
            )
        return
    if upper if about.ideal == 1 else limit.relation.upwards:
        yield errors.reads_otherwise(
            f"{name} is best at {about.ideal}, and this bounds it from {'above' if upper else 'below'}",
            demand.span,
            "requires that groups or individuals are treated differently",
            "the more alike everybody is treated, the less it is met",
            f"write `{demand.metric} {limit.relation.mirrored.value} {limit.text}`",
        )
    elif isinstance(about, Metric) and about.ideal == 1 and 0 < limit.limit < _LEAST_RATIO:
        yield from _scale(name, demand, limit.text, "four fifths are `80%` or `0.8`")
    elif isinstance(about, Metric) and about.is_share and about.ideal == 0 and limit.limit > _LARGEST_GAP:
        yield from _scale(name, demand, limit.text, "five points are `5%` or `0.05`")


def _scale(name: str, demand: Demand, text: str, example: str) -> Iterator[Diagnostic]:
    yield errors.reads_otherwise(
        f"`{text}` is hardly a bound of {name}",
        demand.span,
        "met by nearly every model",
        "numbers are taken as they are written: 1 is the same as 100%",
        f"check the scale: {example}",
    )


def _pooled(node: tree.Property, demand: Demand, question: GroupMetric, domain: Domain) -> Iterator[Diagnostic]:
    """More than one group is compared with the privileged one, all of them together."""
    if question.privileged is None or question.influence:
        return
    sizes = [_cells(domain.attributes[index]) for index in question.across]
    clause = next(clause for clause in node.clauses if isinstance(clause, tree.PrivilegedClause))
    if None in sizes or prod(size or 1 for size in sizes) > 2:
        group = " ".join(clause.group.span.text.split())
        yield errors.reads_otherwise(
            f"everybody but {group} is one group here",
            demand.span,
            f"{metric_words(demand.metric)} of all others together",
            "groups that are treated well make up for those that are not",
            "leave out `privileged` to compare each group, or write a property for each pair of groups",
        )


def _two_of_several(demand: Demand, question: GroupMetric, label: Attribute) -> Iterator[Diagnostic]:
    """`correct` of several outcomes and several values of the label: it knows favourable and deserving alone."""
    rate, values = question.metric.rate, label.values
    formulas = [each for each in (rate.event, rate.given) if each is not None and not isinstance(each, Each)]
    asked = any(Fact.CORRECT in facts_of(each) for each in formulas)
    if asked and (values is None or len(values) > 2):
        yield errors.reads_otherwise(
            f"`correct` asks of `{label.name[:20]}` only whether it is the deserving value",
            demand.span,
            "taken for the share of decisions that are the recorded value",
            "a decision for another outcome than the favourable one is correct about everybody who does not deserve it",
            f"ask for each outcome by itself, as in `gap(rate(OUTCOME given {label.name} = VALUE))`",
        )


def _cells(attribute: Attribute) -> int | None:
    """How many groups an attribute makes; None where that is not known here."""
    if attribute.bins:
        return len(attribute.bins) + 1
    return None if attribute.values is None else len(attribute.values)


def _mixed(condition: tree.Expression, domain: Domain) -> Iterator[Diagnostic]:
    """``x <= b.x``: the name without an owner is read for both, so ``b.x <= b.x`` is asked as well."""
    names = {attribute.name for attribute in domain.attributes}
    for node in walk(condition):
        if not isinstance(node, tree.Comparison):
            continue
        found = [each for each in walk(node) if isinstance(each, tree.Reference) and each.name.text in names]
        owned = [each for each in found if each.owner is not None and each.owner.text != domain.name]
        bare = [each for each in found if each.owner is None and each.name.text in {one.name.text for one in owned}]
        if bare:
            name = bare[0].name.text
            yield errors.reads_otherwise(
                f"`{name}` without an owner is that of both individuals",
                node.span,
                "asked twice, once of each of the two",
                "one of the two comparisons is of an individual with itself",
                f"say whose it is: `a.{name}` or `b.{name}`",
            )


def _percent_of_a_score(node: tree.Comparison, demands: Sequence[Demand]) -> Iterator[Diagnostic]:
    """A gap of scores in percent: a score has no scale."""
    number = next((side for side in (node.left, node.right) if isinstance(side, tree.Number)), None)
    if number is None or not number.percent:
        return
    if any(demand.quantity is Quantity.HOLDS and _is_gap(demand, node.span) for demand in demands):
        yield errors.reads_otherwise(
            f"`{number.text}` of a score is {float(number.value):g}",
            number.span,
            "percent of what is not said",
            "a score has no scale of its own, so this is neither a tenth of it nor ten points of probability",
            f"write `{float(number.value):g}` if that is meant",
        )


def _is_gap(demand: Demand, span: Span) -> bool:
    question = demand.question
    return isinstance(question, Pair) and isinstance(question.demand, ScoreGap) and demand.span == span
