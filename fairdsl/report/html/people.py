"""Whom a report is about, on its page: domains as tables, populations as networks."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.report.html.blocks import MOST_ROWS
from fairdsl.report.html.markup import Content, element, named_table, prose, scrolled
from fairdsl.report.html.network import MOST, drawn_network
from fairdsl.report.people import EdgesFrom, ListedAttribute, ListedDomain, ListedPopulation
from fairdsl.report.words import values_in_words

__all__ = ["domain_table", "population_drawn"]


def domain_table(domain: ListedDomain) -> Content:
    """The attributes of a domain with their values."""
    rows = [
        element(
            "tr",
            element("th", one.name, scope="row"),
            element("td", "yes" if one.protected else ""),
            element("td", _kind(one), values_in_words(one), " or missing" if one.missing else None),
        )
        for one in domain.attributes[:MOST_ROWS]
    ]
    headings = ("attribute", "protected", "values")
    return named_table(f"{domain.name}: who is possible, by their attributes", headings, rows)


def _kind(attribute: ListedAttribute) -> str:
    """``integer `` ahead of the ends of numbers; values that are listed say what they are."""
    return "" if isinstance(attribute.values, tuple) else f"{attribute.kind.value} "


def population_drawn(population: ListedPopulation, domains: Sequence[ListedDomain]) -> Content:
    """Where a distribution comes from, and its network."""
    protected = {one.name for domain in domains for one in domain.attributes if one.protected}
    kinds = dict.fromkeys(protected, "is-protected") | ({population.label: "is-label"} if population.label else {})
    rows = "" if population.rows is None else f"{population.rows:,} rows"
    how = f"{population.how[:1].upper()}{population.how[1:]}" if population.how else f"The {rows} of the data"
    inside: list[Content] = [
        element("h3", "population ", element("code", population.name)),
        element("p", prose(f"{how}. {_EDGES[population.edges_from]}")),
    ]
    if population.edges:
        linked = {name for edge in population.edges for name in edge}
        alone = [name for name in population.columns if name not in linked]
        said = "An arrow: the distribution of the column at its head depends on the column at its tail"
        said += "".join(f"; {name}: {what}" for name, what in _marks(linked, protected, population.label))
        said += f". Independent of all others: {', '.join(alone)}." if alone else "."
        words = ", ".join(f"{parent} -> {child}" for parent, child in population.edges)
        few = max(len(linked), len(population.edges)) <= MOST
        inside.append(scrolled(said, drawn_network(population.edges, kinds, words) if few else prose(words)))
    return inside


def _marks(linked: set[str], protected: set[str], label: str | None) -> list[tuple[str, str]]:
    """What boxes are drawn otherwise for."""
    marks = [("thick border", "protected")] if linked & protected else []
    return [*marks, ("dashed border", "the label")] if label in linked else marks


_EDGES = {
    EdgesFrom.ROWS: "Each has the same probability, and nothing is assumed about them.",
    EdgesFrom.NONE: "Every column is independent of all others.",
    EdgesFrom.WRITTEN: "The arrows were written in the spec, as causes.",
    EdgesFrom.FOUND: "The arrows were found by a search in the rows: they are not causes.",
    EdgesFrom.GIVEN: "The arrows say which distributions depend on which columns, and nothing of causes.",
}
