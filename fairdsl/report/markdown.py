"""A report as Markdown: for the comment of a pull request, the summary of a build, or a model card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fairdsl.diagnostics.style import shown
from fairdsl.diagnostics.text import render as render_diagnostics
from fairdsl.report.sheet import (
    Block,
    DemandSheet,
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
from fairdsl.verdict import Judgement

#: Regions that are listed at most.
_REGIONS = 10
_SIGNS = {
    Judgement.HOLDS: "\N{WHITE HEAVY CHECK MARK}",
    Judgement.VIOLATED: "\N{CROSS MARK}",
    Judgement.UNKNOWN: "\N{WHITE QUESTION MARK ORNAMENT}",
    Judgement.VACUOUS: "\N{WHITE QUESTION MARK ORNAMENT}",
    Judgement.MEASURED: "\N{STRAIGHT RULER}",
    Judgement.REFUSED: "\N{NO ENTRY SIGN}",
}
#: What Markdown, and the HTML in it, would read as more than a character: anywhere, or at the beginning of a line.
_MARKS = re.compile(r"([\\`*_\[\]#|<>~&@$]|^[-+=]|(?<=^\d)[.)])")


def markdown(sheet: Sheet) -> str:
    """The whole report; each property below a heading of its own."""
    return "\n".join([*_head(sheet), *(line for item in sheet.properties for line in _property(item)), *_foot(sheet)])


def _head(sheet: Sheet) -> Iterator[str]:
    yield f"## {safe(sheet.title or f'Fairness of {sheet.files[0].place}')}\n"
    for text in sheet.taken:
        yield f"**{safe(text)}**\n"
    if not sheet.properties:
        yield f"{safe(sheet.meaning)}\n"
        return
    rows = []
    for item in sheet.properties:
        leading = next((demand for demand in item.demands if demand.judgement is item.judgement), item.demands[0])
        worth = ", ".join(dict.fromkeys(kind.word for demand in item.demands for kind in demand.standings))
        rows.append((_code(item.name), _badge(item.judgement), _said(leading.plain), worth))
    yield from table(("property", "verdict", "what came out", "worth"), rows)


def _badge(judgement: Judgement) -> str:
    return f"{_SIGNS[judgement]} {judgement.value}"


def _property(item: PropertySheet) -> Iterator[str]:
    yield f"### {_code(item.name)} {_badge(item.judgement)}\n"
    if item.sentence:
        yield f"{safe(item.sentence)}\n"
    for demand in item.demands:
        yield from _demand(demand)
    for block in item.blocks:
        yield from _block(block)
    for note in item.stated:
        yield f"{note.heading.capitalize()}:\n"
        yield from (f"- {_code(line)}" for line in note.lines)
        yield ""


def _demand(demand: DemandSheet) -> Iterator[str]:
    yield f"**{_badge(demand.judgement)}** {_code(demand.text)}: {_said(demand.plain)}\n"
    worth = ", ".join(kind.word for kind in demand.standings)
    if worth or demand.resting:
        yield f"*{worth}*: {_said(demand.resting)}\n" if worth else f"{_said(demand.resting)}\n"
    for block in demand.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case Note(heading, lines):
            lead = f"{heading}: " if heading else ""
            yield from (f"- {lead}{_said(line)}" for line in lines)
            yield ""
        case Findings(diagnostics):
            yield _fenced(render_diagnostics(diagnostics, colour=False, unicode=True, width=96, closing=False))
        case Table(columns=columns, brief=brief):
            rows = [[safe(column.entries[place].text) for column in columns] for place in brief]
            yield from table([safe(column.name) for column in columns], rows)
            if block.rows > len(brief):
                yield f"and {block.rows - len(brief):,} more in the JSON report\n"
        case ShareBars():
            yield from (f"- {part.name} {safe(part.amount)}" for part in block.shares)
            if block.float32 is not None:
                yield f"- of the deployed file, rounding included: {safe(block.float32.amount)}"
            yield f"\n{safe(block.measured)}\n"
        case Influences():
            pass  # their demands say them, and only a page draws them beside each other
        case Regions(rows=regions):
            listed = [(*numbers, _code(where)) for _, *numbers, where in regions[:_REGIONS]]
            yield from table(("of all", "falsified", "undecided", "where"), listed)
        case Pair():
            yield from _pair(block)


def _pair(pair: Pair) -> Iterator[str]:
    rows = [
        tuple(f"**{safe(text)}**" if row.marked else safe(text) for text in (row.name, row.a, row.b))
        for row in pair.rows
    ]
    width = 1 + len(pair.names)
    yield from table((pair.heading, *pair.names), [row[:width] for row in rows])
    if pair.both:
        yield f"Both: {safe(', '.join(pair.both))}\n"
    if pair.found_for:
        yield f"Found for {safe('; '.join(pair.found_for))}\n"


def _foot(sheet: Sheet) -> Iterator[str]:
    if sheet.findings:
        yield "### Findings\n"
        yield _fenced(render_diagnostics(sheet.findings, colour=False, unicode=True, width=96, closing=False))
    yield "### What it is about\n"
    rows = [(file.kind, safe(f"{file.name} {file.place}".strip()), _code(file.sha256 or "")) for file in sheet.files]
    yield from table(("", "file", "sha256"), rows)
    for name, text in sheet.made:
        yield f"- {name}: {_code(text)}" if name == "command" else f"- {name}: {safe(text)}"
    yield f"- {safe(sheet.meaning)}\n"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table, and an empty one behind it."""
    yield f"| {' | '.join(headings)} |"
    yield f"| {' | '.join('---' for _ in headings)} |"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def safe(text: str) -> str:
    """Text that no Markdown reads as anything else."""
    return _MARKS.sub(r"\\\1", shown(text.replace("\n", " ")))


def _code(text: str) -> str:
    """Text as code: nothing in it means anything, and a bar does not end a table's cell."""
    clean = shown(text.replace("\n", " ")).replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", clean)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if clean[:1] == "`" or clean[-1:] == "`" else ""
    return f"{fence}{edge}{clean}{edge}{fence}" if clean else ""


def _said(text: str) -> str:
    """A sentence, of which what stands in backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return safe(text)
    return "".join(_code(part) if number % 2 else safe(part) for number, part in enumerate(parts))


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"
