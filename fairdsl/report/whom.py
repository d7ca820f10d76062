"""From a spec and what was built of it to whom a report is about."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real
from fairdsl.ir.population import Population, Rows
from fairdsl.report.people import AttributeKind, EdgesFrom, ListedAttribute, ListedDomain, ListedPopulation
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.verdict import Interval, Restriction, cell_of

__all__ = ["domains", "populations"]


def domains(spec: CheckedSpec) -> tuple[ListedDomain, ...]:
    """Those of the properties, each once."""
    found = {checked.domain.name: checked.domain for checked in spec.properties}
    return tuple(
        ListedDomain(
            name=name, attributes=tuple(_listed(each, each.name in spec.protected) for each in domain.attributes)
        )
        for name, domain in found.items()
    )


def _listed(attribute: Attribute, protected: bool) -> ListedAttribute:
    known = attribute.known
    values: Restriction
    match known.type:
        case Integer(low=low, high=high):
            kind, values = AttributeKind.INTEGER, Interval(Fraction(low), Fraction(high))
        case Real(low=low, high=high):
            kind, values = AttributeKind.REAL, Interval(low, high)
        case Category() | Boolean() as listed:
            kind = AttributeKind.CATEGORY if isinstance(listed, Category) else AttributeKind.BOOLEAN
            values = tuple(cell_of(known, Fraction(value)) for value in known.values or ())
    missing = attribute.present is not None
    return ListedAttribute(name=attribute.name, kind=kind, values=values, missing=missing, protected=protected)


def populations(spec: CheckedSpec, built: Iterable[Population]) -> tuple[ListedPopulation, ...]:
    """What is in force, each once: where bins are a model's thresholds there may be several of a name."""
    return tuple(dict.fromkeys(_in_force(spec, population) for population in built))


def _in_force(spec: CheckedSpec, population: Population) -> ListedPopulation:
    names = tuple(column.name for column in population.columns)
    sample, edges, how = population.sample, frozenset[tuple[int, int]](), None
    if isinstance(population, Rows):
        origin = EdgesFrom.ROWS
    else:
        edges, how = population.edges, population.how
        origin = EdgesFrom.WRITTEN if population.causal else EdgesFrom.FOUND if population.searched else EdgesFrom.GIVEN
        origin = origin if edges else EdgesFrom.NONE
    return ListedPopulation(
        name=population.name,
        domain=spec.distributions[population.name].domain.name,
        how=how,
        rows=None if sample is None else sample.rows,
        columns=names,
        label=names[-1] if population.has_label else None,
        edges_from=origin,
        edges=tuple((names[parent], names[child]) for parent, child in sorted(edges)),
    )
