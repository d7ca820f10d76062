"""The report for people: one line a property, and under it what the verdict rests on.

::

    four_fifths   VIOLATED   disparate impact 0.6132 < 0.80   exact, ssat, 1.9 s
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from fairdsl.diagnostics.style import Paint, Style, display_width, wrap
from fairdsl.diagnostics.text import render as render_diagnostics
from fairdsl.report.coverage import partition_lines
from fairdsl.report.group_table import group_lines, group_table, left_out, same_table
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report
from fairdsl.report.row_lines import row_lines
from fairdsl.report.words import (
    EXIT,
    amounts,
    basis,
    because,
    cell,
    cells,
    confirmed,
    estimated,
    float32_share,
    outcome,
    region,
    rests_on,
    scores,
    share,
)
from fairdsl.verdict import Judgement, Region, Shares, Witness

__all__ = ["Page", "detail", "render"]

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
        return _block(_header(report, self._style))

    def property(self, item: PropertyReport) -> str:
        """A property's verdict, and what it rests on."""
        return _block(_property(item, self._names, self._style))

    def summary(self, report: Report) -> str:
        """What all of it comes to."""
        return _block([_summary(report, self._style)])


def _block(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _header(report: Report, style: Style) -> Iterator[str]:
    """What was audited: title, spec, models, data; with the hashes that pin them."""
    yield from _recovered(report, style)
    if report.audit:
        yield style.paint(style.shown(report.audit), Paint.BOLD)
    spec = HashedFile(name="", path=report.spec.path, sha256=report.spec.sha256)
    rows = [("spec", spec)]
    rows += [("model", file) for file in report.models] + [("data", file) for file in report.data]
    for heading, file in rows:
        place = file.path or ("a Python function" if file.function else "written in the spec")
        parts = [style.shown(file.name), style.shown(place), _hash(file)]
        yield f"{heading:<6} " + style.paint("  ".join(part for part in parts if part), Paint.FAINT)
        if file.reading is not None:
            yield f"{'':<6} " + style.paint(confirmed(file.reading), Paint.FAINT)
        yield from _bound(file, style)
    yield f"{'seed':<6} " + style.paint(str(report.seed), Paint.FAINT)


def _recovered(report: Report, style: Style) -> Iterator[str]:
    """Where answers come from; what a folder says that it is about comes first, for it may be another spec."""
    found = report.recovered
    if found is None:
        return
    if not found.spec_named:
        spec = f"spec {report.spec.path}, sha256 {report.spec.sha256}"
        what = f"computed from {found.folder}" if found.computed else f"answers in {found.folder}"
        yield style.paint(style.shown(f"{what}, which claims to be about the {spec}"), Paint.BOLD)
        if found.computed:
            yield "the spec, the model, the data and all names below are what the file says"
    if found.properties:
        alone = ", ".join(found.properties)
        yield style.paint(
            style.shown(f"the files in {found.folder} were written for a part of it: {alone}"), Paint.BOLD
        )


def _bound(file: HashedFile, style: Style) -> Iterator[str]:
    """How the file is connected with the spec, of which `explain` lists each input, and what vouches for it."""
    lines = [] if file.binding is None else file.binding.summary()
    if file.agreement is not None:
        lines.append(("agrees", f"on {file.agreement.in_words()}"))
    for heading, text in lines:
        lead = " " * 7 + f"{heading:<9} "
        for number, line in enumerate(wrap(style.shown(text), style.width - len(lead), indent="  ")):
            yield style.paint((" " * len(lead) if number else lead) + line, Paint.FAINT)


def _hash(file: HashedFile) -> str:
    return f"sha256 {file.sha256[:12]}" if file.sha256 else ""


def _property(item: PropertyReport, names: int, style: Style) -> Iterator[str]:
    """The property's line and everything under it."""
    name = style.paint(item.name, Paint.BOLD) + " " * (names - display_width(item.name))
    verdict = _verdict(item.judgement, style)
    single = item.demands[0] if len(item.demands) == 1 else None
    ahead = names + _VERDICT_WIDTH + 6
    yield f"{name}   {verdict}   {_result(single, ahead, style) if single else ''}".rstrip()
    if item.sentence:
        for line in wrap(style.shown(item.sentence), style.width - len(_INDENT)):
            yield _INDENT + line
    for number, clause in enumerate(item.clauses):
        yield from detail("" if number else "in force", clause, style)
    for demand, alike in _once(item.demands):
        if single is None:
            yield f"{_INDENT}{_verdict(demand.judgement, style)}   " + _result(
                demand, len(_INDENT) + _VERDICT_WIDTH + 3, style, alike
            )
        yield from _because(demand, style)
        for heading, text in row_lines(demand, item):
            yield from detail(heading, text, style)
        yield from _groups(demand, item, style)
    if item.shares is not None:
        yield from _shares(item.shares, style)
    yield from _pairs("witness", item, lambda found: found.witnesses, style)
    yield from _pairs("disagree", item, lambda found: found.disagreements, style)


def _once(demands: Sequence[DemandReport]) -> Iterator[tuple[DemandReport, tuple[DemandReport, ...]]]:
    """Each demand, and those that are refused for the same reason together with the first of them."""
    said: list[tuple[tuple[str | None, ...], ...]] = []
    for demand in demands:
        why = _refused_for(demand)
        if why not in said:
            yield (
                demand,
                tuple(other for other in demands if why and _refused_for(other) == why and other is not demand),
            )
        if why:
            said.append(why)


def _refused_for(demand: DemandReport) -> tuple[tuple[str | None, ...], ...]:
    return tuple((finding.code, finding.title, finding.why, finding.help) for finding in demand.refusals)


def _verdict(judgement: Judgement, style: Style) -> str:
    word = judgement.value.upper()
    return style.paint(word, _PAINTS[judgement]) + " " * (_VERDICT_WIDTH - len(word))


def _result(demand: DemandReport, ahead: int, style: Style, alike: Sequence[DemandReport] = ()) -> str:
    """The number or demand, and whose claim it is; on a line of its own where there is no room."""
    said = ", ".join(outcome(each) for each in (demand, *alike))
    lines = list(wrap(style.shown(said), max(20, style.width - ahead)))
    claim = basis(demand)
    if ahead + display_width(lines[-1]) + 3 + len(claim) <= style.width:
        lines[-1] += "   " + style.paint(claim, Paint.FAINT)
    else:
        lines.append(style.paint(claim, Paint.FAINT))
    return ("\n" + " " * ahead).join(lines).rstrip()


def _because(demand: DemandReport, style: Style) -> Iterator[str]:
    """Why a demand is unknown or refused, and what any other verdict rests on."""
    if demand.reason is not None:
        yield from detail("because", because(demand.reason, external=demand.external), style)
        if demand.detail:
            yield from detail("", demand.detail, style)
    resting = rests_on(demand)
    if resting:
        yield from detail("rests on", resting, style)
    if demand.coverage is not None:
        for number, line in enumerate(partition_lines(demand.coverage, external=demand.external)):
            yield from detail("" if number else "partitions", line, style)
    if demand.estimate is not None:
        of_rows = demand.shares is not None and demand.shares.measure == "rows"
        yield from detail("estimate", estimated(demand.estimate, demand, of_rows=of_rows), style)
    if demand.refusals:
        width = style.width - len(_INDENT)
        text = render_diagnostics(
            demand.refusals, colour=style.colour, unicode=style.unicode, width=width, closing=False
        )
        yield from ((_INDENT + line).rstrip() for line in text.rstrip("\n").split("\n"))


def _groups(demand: DemandReport, item: PropertyReport, style: Style) -> Iterator[str]:
    """The rates that a number was computed from; each table once, under the first demand that it belongs to."""
    for heading, text in group_lines(demand):
        yield from detail(heading, text, style)
    if demand.groups is None:
        return
    table = same_table(demand.groups)
    first = next(other for other in item.demands if other.groups is not None and same_table(other.groups) == table)
    if first is not demand:
        return
    lead = " " * (len(_INDENT) + _HEADING)
    for number, line in enumerate(group_table(demand.groups, style.width - len(lead))):
        start = lead if number else _INDENT + style.paint(f"{'groups':<{_HEADING}}", Paint.SECONDARY)
        yield start + style.paint(style.shown(line), Paint.PLAIN if number else Paint.FAINT)
    if demand.groups.excluded:
        yield from detail("left out", left_out(demand.groups), style)


def detail(heading: str, text: str, style: Style) -> Iterator[str]:
    """A heading and a text that wraps beside it."""
    indent = len(_INDENT) + _HEADING
    lines = list(wrap(style.shown(text), style.width - indent, indent="  "))
    yield _INDENT + style.paint(f"{heading:<{_HEADING}}", Paint.SECONDARY) + lines[0]
    yield from (" " * indent + line for line in lines[1:])


def _shares(shares: Shares, style: Style) -> Iterator[str]:
    for number, (name, amount) in enumerate(share(shares)):
        yield from detail("" if number else "shares", f"{name:<10} {amount}", style)
    yield from detail("", f"measured by {shares.measure}; one unit is {shares.unit}", style)
    if shares.float32_certified is not None:
        yield from detail("float32", float32_share(shares.float32_certified, shares.total), style)
    if shares.regions:
        yield from _regions(shares.regions, style)


def _regions(regions: tuple[Region, ...], style: Style) -> Iterator[str]:
    """The heaviest regions as a table: the amounts in front, so that long conditions wrap beside them."""
    yield _INDENT + style.paint("Where it fails", Paint.SECONDARY)
    widths = [max(len(heading), 8) for heading in _AMOUNTS]
    rows = [(*_AMOUNTS, "where"), *((*amounts(entry), region(entry)) for entry in regions[:_REGIONS])]
    for number, (*numbers, condition) in enumerate(rows):
        lead = _INDENT + "".join(f"{text:>{width}}  " for text, width in zip(numbers, widths, strict=True))
        first, *others = wrap(style.shown(condition), max(20, style.width - len(lead)), indent="  ")
        yield style.paint(lead + first, Paint.PLAIN if number else Paint.FAINT)
        yield from (" " * len(lead) + line for line in others)


def _pairs(
    heading: str,
    item: PropertyReport,
    pairs_of: Callable[[PropertyReport | DemandReport], tuple[Witness, ...]],
    style: Style,
) -> Iterator[str]:
    """A pair for every demand that has one, as a table, each once; the others only counted."""
    shown: list[Witness] = []
    for demand in item.demands:
        pairs = pairs_of(demand)
        if pairs and not any(pair in shown for pair in pairs):
            shown.append(pairs[0])
    for pair in shown:
        yield from _table(heading, pair, style)
        if len(item.demands) > 1:
            yield from detail("found for", "; ".join(item.demands[n].text for n in item.found_for(pair)), style)
    more = len(pairs_of(item)) - len(shown)
    if more:
        yield from detail("", f"and {more} more in the JSON report", style)


def _table(heading: str, pair: Witness, style: Style) -> Iterator[str]:
    """Where the two individuals differ and what is decided about them; then what they have in common."""
    differing = pair.differing
    rows = [("", "a", "b")]
    rows += [(name, *cells(pair.a[name], pair.b[name])) for name in differing]
    rows.append(("decision", pair.replay.decision_a, pair.replay.decision_b))
    if pair.replay.float32_decisions is not None and not pair.replay.agrees:
        rows.append(("in float32", *pair.replay.float32_decisions))
    if pair.replay.scores_a or pair.replay.scores_b:  # rules and black boxes that answer with outcomes have none
        rows.append(("score", *scores(pair.replay.scores_a, pair.replay.scores_b, pair.replay.score_error)))
    shown = [tuple(style.shown(text) for text in row) for row in rows]
    widths = [max(display_width(row[column]) for row in shown) for column in range(3)]
    for number, row in enumerate(shown):
        padded = [text + " " * (width - display_width(text)) for text, width in zip(row, widths, strict=True)]
        text = "  ".join(padded).rstrip()
        paint = Paint.BOLD if 0 < number <= len(differing) else Paint.PLAIN
        lead = _INDENT + style.paint(f"{'' if number else heading:<{_HEADING}}", Paint.SECONDARY)
        yield lead + style.paint(text, paint)
    same = [f"{name} = {cell(value)}" for name, value in pair.a.items() if name not in differing]
    if same:
        yield from detail("both", ", ".join(same), style)


def _summary(report: Report, style: Style) -> str:
    """How many properties came to what, and what the exit code means."""
    judgements = [item.judgement for item in report.properties]
    counts = [(judgements.count(judgement), judgement) for judgement in Judgement]
    words = ", ".join(
        style.paint(f"{count} {judgement.value}", _PAINTS[judgement]) for count, judgement in counts if count
    )
    total = len(judgements)
    code = report.exit_code
    line = f"{total} propert{'y' if total == 1 else 'ies'}" + (f": {words}" if words else "")
    return f"{line}\n" + style.paint(f"exit code {code.value}: {EXIT[code]}", Paint.FAINT)
