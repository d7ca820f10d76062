"""The report for people: one line a property, and under it what the verdict rests on.

::

    four_fifths   VIOLATED   disparate impact 0.6132 < 0.80   exact, ssat, 1.9 s
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fairdsl.diagnostics.style import Paint, Style, display_width, wrap
from fairdsl.diagnostics.text import render as render_diagnostics
from fairdsl.report.layout import outline_of, property_sheet
from fairdsl.report.model import PropertyReport, Report
from fairdsl.report.sheet import (
    Block,
    DemandSheet,
    FileSheet,
    Findings,
    Influences,
    Note,
    Pair,
    PropertySheet,
    Regions,
    ShareBars,
    Sheet,
)
from fairdsl.report.tables import Table
from fairdsl.verdict import Judgement, Region

_PAINTS = {
    Judgement.HOLDS: Paint.GOOD,
    Judgement.VIOLATED: Paint.ERROR,
    Judgement.UNKNOWN: Paint.WARNING,
    Judgement.VACUOUS: Paint.WARNING,
    Judgement.MEASURED: Paint.NUMBER,
    Judgement.REFUSED: Paint.REFUSED,
}
_VERDICT_WIDTH = max(len(judgement.value) for judgement in Judgement)
#: What stands before the details of a property, and the width of their headings.
_INDENT = "    "
_HEADING = 11
#: Regions that are listed at most, and the headings of their table.
_REGIONS = 10
_AMOUNTS = ("of all", "falsified", "undecided")


def render(report: Report, *, colour: bool = False, unicode: bool = True, width: int = 100) -> str:
    """The whole report; the spec's own diagnostics are not in it (they go to standard error)."""
    page = Page([item.name for item in report.properties], Style(colour=colour, unicode=unicode, width=width))
    return "\n".join([page.header(report), *map(page.property, report.properties), page.summary(report)])


class Page:
    """The report block by block, as its verdicts come; each block ends in a line break, and a blank line parts them."""

    def __init__(self, names: Iterable[str], style: Style) -> None:
        """``names`` are those of all properties that will come: their verdicts stand below each other."""
        self._names = max(map(display_width, names), default=0)
        self._style = replace(style, width=max(style.width, 60))

    def header(self, report: Report) -> str:
        """What was audited."""
        return _lines(_header(outline_of(report), self._style))

    def property(self, item: PropertyReport) -> str:
        """A property's verdict, and what it rests on."""
        return _lines(_property(property_sheet(item), self._names, self._style))

    def summary(self, report: Report) -> str:
        """What all of it comes to."""
        return _lines([_summary(outline_of(report), self._style)])


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _header(sheet: Sheet, style: Style) -> Iterator[str]:
    """What was audited: title, spec, models, data; with the hashes that pin them."""
    for text in sheet.taken:
        yield style.paint(style.shown(text), Paint.BOLD)
    if sheet.title:
        yield style.paint(style.shown(sheet.title), Paint.BOLD)
    for file in sheet.files:
        parts = [style.shown(file.name), style.shown(file.place), _hash(file)]
        yield f"{file.kind:<6} " + style.paint("  ".join(part for part in parts if part), Paint.FAINT)
        if file.confirmed is not None:
            yield f"{'':<6} " + style.paint(file.confirmed, Paint.FAINT)
        yield from _bound(file, style)
    if sheet.numbers:
        yield f"{'let':<6} " + style.paint(style.shown(sheet.numbers), Paint.FAINT)
    yield f"{'seed':<6} " + style.paint(str(sheet.seed), Paint.FAINT)


def _bound(file: FileSheet, style: Style) -> Iterator[str]:
    """How the file is connected with the spec, of which `explain` lists each input, and what vouches for it."""
    for heading, text in file.connected:
        lead = " " * 7 + f"{heading:<9} "
        for number, line in enumerate(wrap(style.shown(text), style.width - len(lead), indent="  ")):
            yield style.paint((" " * len(lead) if number else lead) + line, Paint.FAINT)


def _hash(file: FileSheet) -> str:
    return f"sha256 {file.sha256[:12]}" if file.sha256 else ""


def _property(item: PropertySheet, names: int, style: Style) -> Iterator[str]:
    """The property's line and everything under it."""
    name = style.paint(item.name, Paint.BOLD) + " " * (names - display_width(item.name))
    verdict = _verdict(item.judgement, style)
    single = item.demands[0] if item.single else None
    ahead = names + _VERDICT_WIDTH + 6
    yield f"{name}   {verdict}   {_result(single, ahead, style) if single else ''}".rstrip()
    if item.sentence:
        for line in wrap(style.shown(item.sentence), style.width - len(_INDENT)):
            yield _INDENT + line
    for note in item.stated:
        yield from block_lines(note, style)
    for demand in item.demands:
        if single is None:
            yield f"{_INDENT}{_verdict(demand.judgement, style)}   " + _result(
                demand, len(_INDENT) + _VERDICT_WIDTH + 3, style
            )
        for block in demand.blocks:
            yield from block_lines(block, style)
    for block in item.blocks:
        yield from block_lines(block, style)


def _verdict(judgement: Judgement, style: Style) -> str:
    word = judgement.value.upper()
    return style.paint(word, _PAINTS[judgement]) + " " * (_VERDICT_WIDTH - len(word))


def _result(demand: DemandSheet, ahead: int, style: Style) -> str:
    """The number or demand, and whose claim it is; on a line of its own where there is no room."""
    lines = list(wrap(style.shown(demand.outcome), max(20, style.width - ahead)))
    claim = demand.claim
    if ahead + display_width(lines[-1]) + 3 + len(claim) <= style.width:
        lines[-1] += "   " + style.paint(claim, Paint.FAINT)
    else:
        lines.append(style.paint(claim, Paint.FAINT))
    return ("\n" + " " * ahead).join(lines).rstrip()


def block_lines(block: Block, style: Style) -> Iterator[str]:
    """One block of a sheet, in lines."""
    match block:
        case Note(heading, lines):
            for number, line in enumerate(lines):
                yield from detail("" if number else heading, line, style)
        case Findings(diagnostics):
            width = style.width - len(_INDENT)
            text = render_diagnostics(
                diagnostics, colour=style.colour, unicode=style.unicode, width=width, closing=False
            )
            yield from ((_INDENT + line).rstrip() for line in text.rstrip("\n").split("\n"))
        case Table():
            yield from _table(block, style)
        case ShareBars():
            yield from _shares(block, style)
        case Regions(rows):
            yield from _regions(rows, style)
        case Influences():
            pass  # their demands say them, and only a page draws them beside each other
        case Pair():
            yield from _pair(block, style)


def _table(table: Table, style: Style) -> Iterator[str]:
    lead = " " * (len(_INDENT) + _HEADING)
    for number, line in enumerate(table_lines(table, style.width - len(lead))):
        start = lead if number else _INDENT + style.paint(f"{table.heading:<{_HEADING}}", Paint.SECONDARY)
        yield start + style.paint(style.shown(line), Paint.PLAIN if number else Paint.FAINT)


def table_lines(table: Table, width: int) -> list[str]:
    """The lines of a table, the heading first: columns of equal width, without those that there is no room for."""
    brief = {
        column: [column.entries[place].text for place in table.brief] for column in table.columns if not column.page
    }
    filled = {column: texts for column, texts in brief.items() if any(texts)}
    for spared in sorted({column.spared for column in filled} | {0}, reverse=True):
        kept = {column: texts for column, texts in filled.items() if column.spared <= spared}
        widths = [max(map(display_width, (column.name, *texts))) for column, texts in kept.items()]
        if sum(widths) + 2 * (len(widths) - 1) <= width:
            break
    rows = [[column.name for column in kept], *(list(row) for row in zip(*kept.values(), strict=True))]
    lines = ["  ".join(map(_padded, row, widths)).rstrip() for row in rows]
    more = table.rows - len(table.brief)
    return [*lines, f"and {more:,} more in the JSON report"] if more else lines


def _padded(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def detail(heading: str, text: str, style: Style) -> Iterator[str]:
    """A heading and a text that wraps beside it."""
    indent = len(_INDENT) + _HEADING
    lines = list(wrap(style.shown(text), style.width - indent, indent="  "))
    yield _INDENT + style.paint(f"{heading:<{_HEADING}}", Paint.SECONDARY) + lines[0]
    yield from (" " * indent + line for line in lines[1:])


def _shares(bars: ShareBars, style: Style) -> Iterator[str]:
    for number, part in enumerate(bars.shares):
        yield from detail("" if number else "shares", f"{part.name:<10} {part.amount}", style)
    yield from detail("", bars.measured, style)
    if bars.float32 is not None:
        yield from detail("float32", bars.float32.amount, style)


def _regions(regions: Sequence[tuple[Region, str, str, str, str]], style: Style) -> Iterator[str]:
    """The heaviest regions as a table: the amounts in front, so that long conditions wrap beside them."""
    yield _INDENT + style.paint("Where it fails", Paint.SECONDARY)
    widths = [max(len(heading), 8) for heading in _AMOUNTS]
    for number, (*numbers, condition) in enumerate([(*_AMOUNTS, "where"), *(row[1:] for row in regions[:_REGIONS])]):
        lead = _INDENT + "".join(f"{text:>{width}}  " for text, width in zip(numbers, widths, strict=True))
        first, *others = wrap(style.shown(condition), max(20, style.width - len(lead)), indent="  ")
        yield style.paint(lead + first, Paint.PLAIN if number else Paint.FAINT)
        yield from (" " * len(lead) + line for line in others)


def _pair(pair: Pair, style: Style) -> Iterator[str]:
    """Where the two individuals differ and what is decided about them; then what they have in common."""
    width = 1 + len(pair.names)
    rows = [("", *pair.names), *((row.name, row.a, row.b)[:width] for row in pair.rows)]
    shown = [tuple(style.shown(text) for text in row) for row in rows]
    widths = [max(display_width(row[column]) for row in shown) for column in range(width)]
    marked = [False, *(row.marked for row in pair.rows)]
    for number, row in enumerate(shown):
        text = "  ".join(map(_padded, row, widths)).rstrip()
        lead = _INDENT + style.paint(f"{'' if number else pair.heading:<{_HEADING}}", Paint.SECONDARY)
        yield lead + style.paint(text, Paint.BOLD if marked[number] else Paint.PLAIN)
    if pair.both:
        yield from detail("both", ", ".join(pair.both), style)
    if pair.found_for:
        yield from detail("found for", "; ".join(pair.found_for), style)


def _summary(sheet: Sheet, style: Style) -> str:
    """How many properties came to what, and what the exit code means."""
    words = ", ".join(
        style.paint(f"{count} {judgement.value}", _PAINTS[judgement]) for count, judgement in sheet.counts
    )
    line = sheet.total + (f": {words}" if words else "")
    effort = "" if sheet.effort is None else style.paint(f"effort: {sheet.effort}", Paint.FAINT) + "\n"
    onward = "" if sheet.onward is None else style.paint(style.shown(sheet.onward), Paint.FAINT) + "\n"
    return f"{effort}{line}\n{onward}" + style.paint(sheet.meaning, Paint.FAINT)
