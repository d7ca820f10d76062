"""A report as one page of HTML that stands alone: no script, no other file, no request.

It is read by people who were not there, on a screen, a phone or paper: first what came out, then what it rests on, then
the numbers, and at the end what it was made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic
from fairdsl.diagnostics.text import render as render_diagnostics
from fairdsl.report.drawing import PATTERNS, divided, rate
from fairdsl.report.markup import Content, Markup, element, lines, prose
from fairdsl.report.sheet import (
    Block,
    DemandSheet,
    FileSheet,
    Findings,
    Note,
    Pair,
    PropertySheet,
    Regions,
    ShareBars,
    Sheet,
)
from fairdsl.report.standing import Standing
from fairdsl.report.tables import Entry, Table
from fairdsl.resources import style_sheet
from fairdsl.verdict import Judgement

__all__ = ["excerpt", "page"]

#: Rows of a table, and regions, at most.
_ROWS = 300
_REGIONS = 20


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
        yield _legend(sheet.properties)
    for number, item in enumerate(sheet.properties, start=1):
        yield _property(number, item)
    if sheet.findings:
        yield _section("Findings about the spec and its files", map(_finding, sheet.findings))
    yield _section("What it is about", map(_file, sheet.files))
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
                    "td", element("div", prose(item.sentence)), element("div", prose(leading.plain), class_="soft")
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


def _legend(properties: Sequence[PropertySheet]) -> Markup:
    found = {kind for item in properties for demand in item.demands for kind in demand.standings}
    kinds = [kind for kind in Standing if kind in found]
    entries = [[element("dt", _worth([kind])), element("dd", kind.meaning)] for kind in kinds]
    return element("dl", entries) if kinds else Markup("")


def _property(number: int, item: PropertySheet) -> Markup:
    inside: list[Content] = [
        element("p", element("code", item.name), class_="kicker"),
        element("h2", prose(item.sentence or item.name), " ", _badge(item.judgement)),
    ]
    inside += [_demand(demand, single=item.single) for demand in item.demands]
    inside.append(element("div", _blocks(item.blocks), class_="beside") if item.blocks else None)
    if item.clauses:
        inside += [element("h3", "What is compared, and under which conditions"), _list(item.clauses, "clauses")]
    return element("section", inside, class_="block", id=f"p{number}")


def _demand(demand: DemandSheet, *, single: bool) -> Markup:
    badge = [] if single else [" ", _badge(demand.judgement)]
    meaning = f"{demand.words[:1].upper()}{demand.words[1:]}: {demand.meaning}."
    return element(
        "div",
        element("p", element("code", demand.text), badge, class_="soft"),
        element("p", prose(demand.plain), class_="plain"),
        element("p", _worth(demand.standings), prose(demand.resting)),
        element("p", prose(meaning), class_="small-print") if demand.meaning else None,
        _blocks(demand.blocks),
        element("p", f"Arithmetic, engine, time: {demand.claim}", class_="small-print") if demand.claim else None,
        class_=f"demand is-{demand.judgement.value}",
    )


def _blocks(blocks: Sequence[Block]) -> list[Content]:
    return [_block(block) for block in blocks]


def _block(block: Block) -> Content:
    match block:
        case Note(heading, lines):
            return _facts([(heading, _list(lines))])
        case Findings(diagnostics):
            return [_finding(one) for one in diagnostics]
        case Table():
            return _table(block)
        case ShareBars():
            return _shares(block)
        case Regions(rows):
            return _regions(rows)
        case Pair():
            return _pair(block)


def _list(lines: Sequence[str], name: str = "plainly") -> Content:
    if len(lines) == 1 and name == "plainly":
        return prose(lines[0])
    return element("ul", [element("li", prose(line)) for line in lines], class_=name)


def _facts(facts: Sequence[tuple[str, Content]]) -> Content:
    named = [(name, said) for name, said in facts if said]
    if not named:
        return None
    if all(not name for name, _ in named):
        return [element("p", said, class_="small-print") for _, said in named]
    return element("dl", [[element("dt", name), element("dd", said)] for name, said in named])


def _scrolled(name: str, *wide: Content) -> Markup:
    """What may be wider than a phone, under its name, which has the whole width whatever the table's is."""
    held = element("div", *wide, class_="scroll", tabindex=0, role="group", aria_label=name)
    return element("figure", element("figcaption", name), held)


def _table(table: Table) -> Content:
    places = list(range(table.rows)) if table.rows <= _ROWS else list(table.brief)
    head = [element("th", column.name, scope="col", class_="n" if column.number else None) for column in table.columns]
    sampled = next((column for column in table.columns if column.name.endswith("interval")), None)
    rows = []
    for place in places:
        cells = []
        for column in table.columns:
            entry = column.entries[place]
            cells.append(element("td", entry.text, class_="n" if column.number else None))
            if column.name == "rate":
                sampling = None if sampled is None else sampled.entries[place].ends
                cells.append(element("td", _drawn(entry, sampling)))
        rows.append(element("tr", cells))
    at = next((number for number, column in enumerate(table.columns) if column.name == "rate"), None)
    if at is not None:
        head.insert(at + 1, element("th", "0% to 100%", scope="col"))
    more = table.rows - len(places)
    means = "; ".join(f"{column.name}: {column.meaning}" for column in table.columns if column.meaning)
    said = "Rates by group" + (f". {means[:1].upper()}{means[1:]}" if means else "")
    said += f". {more:,} more groups are in the JSON report" if more else ""
    return _scrolled(said, element("table", element("thead", element("tr", head)), element("tbody", rows)))


def _drawn(entry: Entry, sampling: tuple[Fraction, Fraction] | None) -> Content:
    return None if entry.ends is None else rate(entry.ends, entry.text, sampling)


def _shares(bars: ShareBars) -> Content:
    words = ", ".join(f"{part.name} {part.amount}" for part in bars.shares)
    drawn = divided(
        [(part.name, part.part) for part in bars.shares], words, estimate=bars.estimate, required=bars.required
    )
    legend = [element("li", _key(part.name), f"{part.name} {part.amount}") for part in bars.shares]
    if bars.required is not None:
        legend.append(element("li", element("b", "\N{BOX DRAWINGS HEAVY VERTICAL} "), "what is required"))
    if bars.estimate is not None:
        legend.append(element("li", element("b", "\N{BOX DRAWINGS HEAVY HORIZONTAL} "), "what a sample says, no proof"))
    float32 = None if bars.float32 is None else f"Of the deployed file, rounding included: {bars.float32.amount}."
    return element(
        "div",
        element("h3", "Shares"),
        element("div", drawn, class_="shares"),
        element("ul", legend, class_="legend"),
        element("p", prose(f"{bars.measured[:1].upper()}{bars.measured[1:]}. "), float32, class_="small-print"),
        class_="keep",
    )


def _key(name: str) -> Content:
    kinds = {"certified": "part-good", "falsified": "part-bad", "undecided": "part-open"}
    if name not in kinds:
        return None
    box = element("rect", width=24, height=13, class_=kinds[name])
    return element("svg", box, viewBox="0 0 24 13", class_="key", aria_hidden="true")


def _regions(regions: Sequence[tuple[object, str, str, str, str]]) -> Content:
    head = [
        element("th", text, scope="col", class_=None if text == "where" else "n")
        for text in ("of all", "falsified", "undecided", "where")
    ]
    rows = [
        element("tr", [element("td", text, class_="n") for text in numbers], element("td", where))
        for _, *numbers, where in regions[:_REGIONS]
    ]
    more = len(regions) - len(rows)
    said = "Where it fails: parts of all units" + (f"; {more:,} more are in the JSON report" if more > 0 else "")
    return _scrolled(said, element("table", element("thead", element("tr", head)), element("tbody", rows)))


def _pair(pair: Pair) -> Content:
    alone = len(pair.names) == 1
    if pair.heading != "witness":
        what = f"{'One' if alone else 'Two'} on whom the arithmetics disagree"
    elif pair.formula:
        what = "An individual who breaks it" if alone else "Two individuals who break it"
    else:
        what = "Two individuals who are treated differently"
    rows = [
        element(
            "tr",
            element("th", row.name, scope="row"),
            [element("td", text) for text in (row.a, row.b)[: len(pair.names)]],
            class_="differs" if row.marked else "decided" if row.name == "decision" else None,
        )
        for row in pair.rows
    ]
    same = [text.partition(" = ") for text in pair.both]
    rows += [
        element("tr", element("th", name, scope="row"), element("td", value, colspan=2), class_="same")
        for name, _, value in same
    ]
    head = [element("th", text, scope="col") for text in ("attribute", *pair.names)]
    said = what + (f", found for {'; '.join(pair.found_for)}" if pair.found_for else "")
    table = element("table", element("thead", element("tr", head)), element("tbody", rows), class_="pair")
    return _scrolled(f"{said}." if alone else f"{said}. What differs is marked; the rest is the same.", table)


def _finding(finding: Diagnostic) -> Markup:
    text = render_diagnostics([finding], colour=False, unicode=True, width=96, closing=False)
    lead, _, rest = text.rstrip("\n").partition("\n")
    return element(
        "div",
        element("p", element("strong", lead)),
        lines(rest) if rest else None,
        class_="finding",
    )


def _file(file: FileSheet) -> Content:
    facts: list[tuple[str, Content]] = [
        ("file", file.place),
        ("sha256", element("span", file.sha256, class_="code digest") if file.sha256 else None),
        ("reading", file.confirmed),
        *((name, prose(text)) for name, text in file.connected if file.binding is None or name == "agrees"),
    ]
    return [element("h3", f"{file.kind} {file.name}".strip()), _facts(facts), _binding(file)]


def _binding(file: FileSheet) -> Content:
    """What fills each input of a model's file, and what each outcome stands for."""
    if file.binding is None:
        return None
    inputs = [
        element("tr", element("th", one.input, scope="row"), element("td", one.feature), element("td", one.values))
        for one in file.binding.inputs[:_ROWS]
    ]
    outcomes = [
        element("tr", element("th", one.outcome, scope="row"), element("td", prose(one.when)))
        for one in file.binding.outcomes
    ]
    why = {"name": "by name", "reads": "as the spec lists them", "order": "by their order alone"}[file.binding.by.value]
    return [
        _named_table(f"Inputs of the model, {why}", ("input", "filled with", "values"), inputs),
        _named_table("Outcomes of the model", ("outcome", "when"), outcomes),
    ]


def _named_table(name: str, headings: Sequence[str], rows: Sequence[Markup]) -> Markup:
    head = element("thead", element("tr", [element("th", text, scope="col") for text in headings]))
    return _scrolled(name, element("table", head, element("tbody", rows)))


def _made(sheet: Sheet) -> Content:
    command = next((text for name, text in sheet.made if name == "command"), None)
    facts = [(name, text) for name, text in sheet.made if name != "command"]
    return [
        element("code", command, class_="command") if command else None,
        _facts([*facts, ("exit code", sheet.meaning.removeprefix("exit code "))]),
    ]
