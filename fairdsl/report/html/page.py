"""A report as one page of HTML that stands alone: no script, no other file, no request.

It is read by people who were not there, on a screen, a phone or paper: first what came out, then what it rests on, then
the numbers, and at the end what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdsl.report.headings import IN_FORCE
from fairdsl.report.html.blocks import MOST_ROWS, blocks_of, facts, finding, in_brief, listed
from fairdsl.report.html.drawing import PATTERNS
from fairdsl.report.html.markup import Content, Markup, element, named_table, prose, scrolled, written
from fairdsl.report.html.network import MOST, drawn_network
from fairdsl.report.people import EdgesFrom, ListedAttribute, ListedDomain, ListedPopulation
from fairdsl.report.sheet import (
    DemandSheet,
    FileSheet,
    PropertySheet,
    ShareBars,
    Sheet,
)
from fairdsl.report.standing import Standing
from fairdsl.report.tables import Table
from fairdsl.report.words import values_in_words
from fairdsl.resources import style_sheet
from fairdsl.verdict import Judgement


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


def page(sheet: Sheet) -> str:
    """The whole page."""
    title = sheet.title or f"Fairness of {sheet.files[0].place}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        element("title", f"{title}: fairness report"),
        element("style", Markup(style_sheet())),
    )
    body = element("body", PATTERNS, element("main", *_body(sheet, title)))
    return f'<!DOCTYPE html>\n<html lang="en">{head}{body}</html>\n'


def excerpt(sheet: Sheet) -> str:
    """The same for a place inside another page, as a notebook's: the styles hold within it alone."""
    styles = style_sheet().replace(":root", "&").replace("\nbody {", "\n& {").replace("body {", "& {")
    kept = "\n".join(line for line in styles.split("\n") if not line.lstrip().startswith(("html", "@page")))
    inside = element("main", *_body(sheet, sheet.title or f"Fairness of {sheet.files[0].place}"))
    style = element("style", Markup(f".fairdsl-report {{\n{kept}\n}}"))
    return element("div", style, PATTERNS, inside, class_="fairdsl-report")


def _body(sheet: Sheet, title: str) -> Iterator[Content]:
    yield element(
        "header",
        element("p", "Fairness report", class_="kicker"),
        element("h1", title),
        [element("p", element("strong", text)) for text in sheet.taken],
        element("p", _overall(sheet), class_="lead"),
    )
    if sheet.properties:
        yield _in_short(sheet.properties)
        yield from _legend(sheet.properties)
    for number, item in enumerate(sheet.properties, start=1):
        yield _property(number, item)
    if sheet.findings:
        yield _section("Findings about the spec and its files", map(finding, sheet.findings))
    if sheet.domains or sheet.populations:
        drawn = (population_drawn(one, sheet.domains) for one in sheet.populations)
        yield _section("Whom it is about", map(domain_table, sheet.domains), drawn)
    yield _section("Which files it is about", map(_file, sheet.files))
    yield _section("How to make it again", _made(sheet))
    yield element(
        "footer",
        "The report as JSON has every number exactly, and every pair. A verdict is about these files and no others.",
    )


def _overall(sheet: Sheet) -> Content:
    if not sheet.properties:
        return sheet.meaning
    counts = [f"{count} {_COUNTED[judgement][count != 1]}" for count, judgement in sheet.counts]
    listed = " and ".join([", ".join(counts[:-1]), counts[-1]]) if len(counts) > 1 else counts[0]
    return f"Of {sheet.total}, {listed}."


_COUNTED = {
    Judgement.HOLDS: ("holds", "hold"),
    Judgement.VIOLATED: ("is violated", "are violated"),
    Judgement.UNKNOWN: ("is unknown", "are unknown"),
    Judgement.VACUOUS: ("is about nobody", "are about nobody"),
    Judgement.MEASURED: ("is measured", "are measured"),
    Judgement.REFUSED: ("could not be answered", "could not be answered"),
}


def _section(heading: str, *content: Content, anchor: str | None = None) -> Markup:
    return element("section", element("h2", heading), *content, class_="block", id=anchor)


def _badge(judgement: Judgement) -> Markup:
    return element("span", judgement.value, class_=f"badge {judgement.value}")


def _worth(kinds: Sequence[Standing]) -> list[Content]:
    return [
        [element("span", element("b", kind.sign, aria_hidden="true"), kind.word, class_=f"worth {kind.word}"), " "]
        for kind in kinds
    ]


def _in_short(properties: Sequence[PropertySheet]) -> Markup:
    rows = []
    for number, item in enumerate(properties, start=1):
        leading = _leading(item)
        kinds = list(dict.fromkeys(kind for demand in item.demands for kind in demand.standings))
        rows.append(
            element(
                "tr",
                element("th", element("a", item.name, href=f"#p{number}"), scope="row", class_="code"),
                element("td", _badge(item.judgement)),
                element(
                    "td",
                    element("div", prose(item.sentence)),
                    element("div", prose(leading.plain), class_="soft"),
                    [in_brief(block) for block in item.blocks if isinstance(block, ShareBars)],
                ),
                element("td", _worth(kinds)),
            )
        )
    head = [
        element("th", text, scope="col")
        for text in ("property", "verdict", "what is asked, and what came out", "what it is worth")
    ]
    table = element("table", element("thead", element("tr", head)), element("tbody", rows), class_="wide stack")
    return _section("In short", table)


def _leading(item: PropertySheet) -> DemandSheet:
    """The demand that decides a property's verdict."""
    return next((demand for demand in item.demands if demand.judgement is item.judgement), item.demands[0])


def _legend(properties: Sequence[PropertySheet]) -> list[Content]:
    """What the words beside verdicts mean, and the headings of tables: said once, before they are met."""
    demands = [demand for item in properties for demand in item.demands]
    found = {kind for demand in demands for kind in demand.standings}
    kinds = [(written(_worth([kind])), kind.meaning) for kind in Standing if kind in found]
    tables = [block for demand in demands for block in demand.blocks if isinstance(block, Table)]
    columns = {each.name: each.meaning for table in tables for each in table.columns if each.meaning}
    return [facts(kinds), columns and [element("h3", "Columns of the tables below"), facts(list(columns.items()))]]


def _property(number: int, item: PropertySheet) -> Markup:
    inside: list[Content] = [
        element("p", element("code", item.name), class_="kicker"),
        element("h2", prose(item.sentence or item.name), " ", _badge(item.judgement)),
    ]
    ahead: list[DemandSheet | None] = [None, *item.demands]
    inside += [_demand(demand, before, single=item.single) for before, demand in zip(ahead, item.demands, strict=False)]
    inside.append(element("div", blocks_of(item.blocks), class_="beside") if item.blocks else None)
    for note in item.stated:
        inside += [element("h3", _HEADINGS.get(note.heading, note.heading.capitalize())), listed(note.lines, "clauses")]
    return element("section", inside, class_="block", id=f"p{number}")


#: What stands above notes for people who have no spec before them, where it is another heading.
_HEADINGS = {IN_FORCE: "What is compared, and under which conditions"}


def _demand(demand: DemandSheet, before: DemandSheet | None, *, single: bool) -> Markup:
    """What one line came to; what rests on the same as the line before says that much."""
    alike = before is not None and (before.standings, before.resting) == (demand.standings, demand.resting)
    badge = [] if single else [" ", _badge(demand.judgement)]
    meaning = f"{demand.words[:1].upper()}{demand.words[1:]}: {demand.meaning}."
    return element(
        "div",
        element("p", element("code", demand.text), badge, class_="soft"),
        element("p", prose(demand.plain), class_="plain"),
        element("p", _worth(demand.standings), "Rests on the same." if alike else prose(demand.resting)),
        element("p", prose(meaning), class_="small-print") if demand.meaning else None,
        blocks_of(demand.blocks),
        element("p", f"Arithmetic, engine, time: {demand.claim}", class_="small-print") if demand.claim else None,
        class_=f"demand is-{demand.judgement.value}",
    )


def _file(file: FileSheet) -> Content:
    told: list[tuple[str, Content]] = [
        ("file", file.place),
        ("sha256", element("span", file.sha256, class_="code digest") if file.sha256 else None),
        ("reading", file.confirmed),
        *((name, prose(text)) for name, text in file.connected if file.binding is None or name == "agrees"),
    ]
    return [element("h3", f"{file.kind} {file.name}".strip()), facts(told), _binding(file)]


def _binding(file: FileSheet) -> Content:
    """What fills each input of a model's file, and what each outcome stands for."""
    if file.binding is None:
        return None
    inputs = [
        element("tr", element("th", one.input, scope="row"), element("td", one.feature), element("td", one.values))
        for one in file.binding.inputs[:MOST_ROWS]
    ]
    outcomes = [
        element("tr", element("th", one.outcome, scope="row"), element("td", prose(one.when)))
        for one in file.binding.outcomes
    ]
    why = {"name": "by name", "reads": "as the spec lists them", "order": "by their order alone"}[file.binding.by.value]
    return [
        named_table(f"Inputs of the model, {why}", ("input", "filled with", "values"), inputs),
        named_table("Outcomes of the model", ("outcome", "when"), outcomes),
    ]


def _made(sheet: Sheet) -> Content:
    command = next((text for name, text in sheet.made if name == "command"), None)
    told = [(name, text) for name, text in sheet.made if name != "command"]
    return [
        element("code", command, class_="command") if command else None,
        facts([*told, ("exit code", sheet.meaning.removeprefix("exit code "))]),
    ]
