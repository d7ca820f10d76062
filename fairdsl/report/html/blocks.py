"""The blocks of a report's page: tables, bars, maps, pairs and findings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.diagnostics import Diagnostic
from fairdsl.diagnostics.text import render as render_diagnostics
from fairdsl.ir.enclosure import Enclosure
from fairdsl.report.html.drawing import change, divided, rate, region_map, strip
from fairdsl.report.html.markup import Content, Markup, element, lines, prose, scrolled
from fairdsl.report.people import ListedAttribute
from fairdsl.report.sheet import Block, Findings, Influence, Influences, Note, Pair, Regions, ShareBars
from fairdsl.report.tables import Entry, Table
from fairdsl.report.words import values_in_words
from fairdsl.verdict import Region

#: Rows of a table, and regions, at most.
MOST_ROWS = 300


_REGIONS = 20


def blocks_of(blocks: Sequence[Block]) -> list[Content]:
    """Each block in its turn."""
    return [_block(block) for block in blocks]


def _block(block: Block) -> Content:
    match block:
        case Note(heading, lines):
            return facts([(heading, listed(lines))])
        case Findings(diagnostics):
            return [finding(one) for one in diagnostics]
        case Table():
            return _table(block)
        case ShareBars():
            return _shares(block)
        case Regions():
            return _regions(block)
        case Influences(rows):
            return _influences(rows)
        case Pair():
            return _pair(block)


def listed(lines: Sequence[str], name: str = "plainly") -> Content:
    """Sentences below each other; a single one as it stands."""
    if len(lines) == 1 and name == "plainly":
        return prose(lines[0])
    return element("ul", [element("li", prose(line)) for line in lines], class_=name)


def facts(told: Sequence[tuple[str, Content]]) -> Content:
    """What is told under its headings; nothing of what is empty."""
    named = [(name, said) for name, said in told if said]
    if not named:
        return None
    if all(not name for name, _ in named):
        return [element("p", said, class_="small-print") for _, said in named]
    return element("dl", [[element("dt", name), element("dd", said)] for name, said in named])


def _table(table: Table) -> Content:
    places = list(range(table.rows)) if table.rows <= MOST_ROWS else list(table.brief)
    head = [element("th", column.name, scope="col", class_="n" if column.number else None) for column in table.columns]
    # Attributes may be called like these, and are no numbers.
    sampled = next((column for column in table.columns if column.number and column.name.endswith("interval")), None)
    at = next((place for place, column in enumerate(table.columns) if column.number and column.name == "rate"), None)
    rows = []
    for place in places:
        cells = []
        for number, column in enumerate(table.columns):
            entry = column.entries[place]
            cells.append(element("td", entry.text, class_="n" if column.number else None))
            if number == at:
                sampling = None if sampled is None else sampled.entries[place].ends
                cells.append(element("td", _drawn(entry, sampling, table.required)))
        rows.append(element("tr", cells))
    if at is not None:
        head.insert(at + 1, element("th", "0% to 100%", scope="col"))
    more = table.rows - len(places)
    said = "Rates by group"
    said += "" if table.required is None else ". The line in the bars is what is required of every rate"
    said += f". {more:,} more groups are in the JSON report" if more else ""
    return scrolled(said, element("table", element("thead", element("tr", head)), element("tbody", rows)))


def _drawn(entry: Entry, sampling: Enclosure | None, required: Fraction | None) -> Content:
    return None if entry.ends is None else rate(entry.ends, entry.text, sampling, required)


def in_brief(bars: ShareBars) -> Markup:
    """Shares as a bar, and their percentages."""
    said = [[_key(part.name), f"{part.name} {part.amount.partition('  ')[0]} "] for part in bars.shares]
    return element("div", _bar(bars), element("p", said, class_="small-print"))


def _bar(bars: ShareBars) -> Markup:
    words = ", ".join(f"{part.name} {part.amount}" for part in bars.shares)
    parts = [(part.name, part.part) for part in bars.shares]
    return element("div", divided(parts, words, estimate=bars.estimate, required=bars.required), class_="shares")


def _shares(bars: ShareBars) -> Content:
    legend = [element("li", _key(part.name), f"{part.name} {part.amount}") for part in bars.shares]
    if bars.required is not None:
        legend.append(element("li", element("b", "\N{BOX DRAWINGS HEAVY VERTICAL} "), "what is required"))
    if bars.estimate is not None:
        legend.append(element("li", element("b", "\N{BOX DRAWINGS HEAVY HORIZONTAL} "), "what a sample says, no proof"))
    float32 = None if bars.float32 is None else f"Of the deployed file, rounding included: {bars.float32.amount}."
    return element(
        "div",
        element("h3", "Shares"),
        _bar(bars),
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


def _regions(regions: Regions) -> Content:
    shown = regions.rows[:_REGIONS]
    axes = regions.axes if len(regions.axes) > len(_AXES) else ()
    numbers = [element("th", text, scope="col", class_="n") for text in ("no.", "of all", "falsified", "undecided")]
    head = [*numbers, *(element("th", text, scope="col") for text in ("where", *(axis.name for axis in axes)))]
    rows = [
        element(
            "tr",
            element("td", str(number), class_="n"),
            [element("td", text, class_="n") for text in amounts],
            element("td", where, class_="where"),
            [element("td", strip(axis.parts(found.restricted.get(axis.name)), where)) for axis in axes],
        )
        for number, (found, *amounts, where) in enumerate(shown, start=1)
    ]
    more = len(regions.rows) - len(rows)
    said = "Where it fails or is open: how much of all units lies there, and how much of all is falsified and undecided"
    said += f" there; {more:,} more are in the JSON report." if more > 0 else " there."
    table = scrolled(said, element("table", element("thead", element("tr", head)), element("tbody", rows)))
    return [table, _map(regions.axes, [found for found, *_ in shown])]


#: How the axes of a map are called.
_AXES = ("from left to right", "from below upwards")


def _map(axes: Sequence[ListedAttribute], regions: Sequence[Region]) -> Content:
    """Where the regions lie, of which no more than two attributes are restricted."""
    if not 0 < len(axes) <= len(_AXES):
        return None
    named = "; ".join(f"{way} {axis.name}, {values_in_words(axis)}" for way, axis in zip(_AXES, axes, strict=False))
    said = f"The same as a map, {named}. The stronger the colour, the more of a region fails; hatched: undecided."
    drawn = []
    for each in regions:
        across, upwards = ([axis.parts(each.restricted.get(axis.name)) for axis in axes] + [[_WHOLE]])[:2]
        failing = each.falsified / each.share if each.share else Fraction(0)
        drawn.append((across, upwards, failing, bool(each.undecided)))
    return element("figure", element("figcaption", said), region_map(drawn, said))


#: All of an axis.
_WHOLE = (Fraction(0), Fraction(1))


def _influences(rows: Sequence[Influence]) -> Content:
    least = min(Fraction(0), *(row.ends.low for row in rows))
    most = max(Fraction(0), *(row.ends.high for row in rows))
    scale = (least, most) if least < most else _WHOLE
    said = "Influences: by how much less each number is where what has the influence is drawn evenly, and independently"
    head = [
        element("th", text, scope="col", class_="n" if text == "how much" else None)
        for text in ("influence of", "on", "how much", "from 0")
    ]
    cells = [
        element(
            "tr",
            element("th", row.of, scope="row"),
            element("td", row.on),
            element("td", row.amount, class_="n"),
            element("td", change(row.ends, scale, row.amount)),
        )
        for row in rows
    ]
    return scrolled(f"{said}.", element("table", element("thead", element("tr", head)), element("tbody", cells)))


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
    return scrolled(f"{said}." if alone else f"{said}. What differs is marked; the rest is the same.", table)


def finding(found: Diagnostic) -> Markup:
    """A finding, whole."""
    text = render_diagnostics([found], colour=False, unicode=True, width=96, closing=False)
    lead, _, rest = text.rstrip("\n").partition("\n")
    return element(
        "div",
        element("p", element("strong", lead)),
        lines(rest) if rest else None,
        class_="finding",
    )
