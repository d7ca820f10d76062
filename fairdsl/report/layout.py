"""From a report to its sheet: which facts are told, under which headings, and each of them once."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import Metric
from fairdsl.ir.question import influence_of, metric_words
from fairdsl.prelude import registered
from fairdsl.report.breaches import breach_blocks
from fairdsl.report.coverage import partition_lines
from fairdsl.report.group_table import group_lines, group_table, left_out, required_rate, same_table
from fairdsl.report.headings import headed
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report
from fairdsl.report.opinion import Stand
from fairdsl.report.people import EdgesFrom, ListedAttribute, ListedDomain
from fairdsl.report.row_lines import row_lines
from fairdsl.report.sentences import plain
from fairdsl.report.share_words import float32_share, people_lines, share
from fairdsl.report.sheet import (
    Block,
    DemandSheet,
    FileSheet,
    Findings,
    Influence,
    Influences,
    Note,
    Pair,
    PairRow,
    PropertySheet,
    Regions,
    Share,
    ShareBars,
    Sheet,
)
from fairdsl.report.standing import resting, standings
from fairdsl.report.words import (
    amounts,
    basis,
    because,
    beyond_rows,
    cell,
    cells,
    confirmed,
    estimated,
    known,
    number,
    outcome,
    region,
    rests_on,
    scores,
)
from fairdsl.verdict import Interval, Judgement, Region, Shares, Violated, Witness


def sheet_of(report: Report) -> Sheet:
    """All of a report."""
    return replace(
        outline_of(report), properties=tuple(property_sheet(item, report.domains) for item in report.properties)
    )


def outline_of(report: Report) -> Sheet:
    """All but the properties, of which it has how many came to what."""
    judgements = [item.judgement for item in report.properties]
    counts = ((judgements.count(judgement), judgement) for judgement in Judgement)
    return Sheet(
        title=report.audit,
        taken=tuple(_taken(report)),
        files=tuple(_files(report)),
        numbers=", ".join(f"{each.name} = {each.text}" for each in report.parameters),
        seed=report.seed,
        properties=(),
        domains=report.domains,
        populations=report.populations,
        findings=report.diagnostics,
        counts=tuple((count, judgement) for count, judgement in counts if count),
        exit_code=report.exit_code,
        made=tuple(_made(report)),
        effort=None if report.run is None or report.run.effort is None else report.run.in_words,
        onward=_onward(report),
    )


def _onward(report: Report) -> str | None:
    """The command that looks for such pairs among the people of a table, which pairs of a domain need not be."""
    found = [
        (item.name, demand.witnesses[0])
        for item in report.properties
        for demand in item.demands
        if isinstance(demand.verdict, Violated) and demand.witnesses
    ]
    for name, pair in found if report.recovered is None and not report.spec.path.startswith("<") else ():
        for population in report.populations:
            if population.edges_from is EdgesFrom.ROWS and population.columns[: len(pair.a)] == tuple(pair.a):
                options = f"--property {name} --near {population.name}"
                return f"among people of the table: fairdsl search {shlex.quote(report.spec.path)} {options}"
    return None


def _taken(report: Report) -> Iterator[str]:
    """Where answers come from; what a folder says that it is about comes first, for it may be another spec."""
    found = report.recovered
    if found is None:
        return
    if not found.spec_named:
        spec = f"spec {report.spec.path}, sha256 {report.spec.sha256}"
        what = f"computed from {found.folder}" if found.computed else f"answers in {found.folder}"
        yield f"{what}, which claims to be about the {spec}"
        if found.computed:
            yield "the spec, the model, the data and all names below are what the file says"
    if found.properties:
        yield f"the files in {found.folder} were written for a part of it: {', '.join(found.properties)}"


def _files(report: Report) -> Iterator[FileSheet]:
    """Spec, what it uses, models and data, with the digests that pin them."""
    spec = HashedFile(name="", path=report.spec.path, sha256=report.spec.sha256)
    uses = (("used", file) for file in report.spec.uses or ())
    kinds = [
        ("spec", spec),
        *uses,
        *(("model", file) for file in report.models),
        *(("data", file) for file in report.data),
    ]
    for kind, file in kinds:
        connected = [] if file.binding is None else file.binding.summary()
        if file.agreement is not None:
            connected.append(("agrees", f"on {file.agreement.in_words()}"))
        yield FileSheet(
            kind=kind,
            name=file.name,
            place=file.path or ("a Python function" if file.function else "written in the spec"),
            sha256=file.sha256,
            confirmed=None if file.reading is None else confirmed(file.reading),
            connected=tuple(connected),
            binding=file.binding,
        )


def _made(report: Report) -> Iterator[tuple[str, str]]:
    """How to make the report again."""
    yield "fairdsl", report.fairdsl
    if report.parameters:
        yield "let", ", ".join(f"{each.name} = {each.text}" for each in report.parameters)
    yield "seed", str(report.seed)
    if report.asked is not None:
        yield "command", report.asked.command(report.spec.path, report.seed)
        yield "versions", ", ".join(f"{name} {number}" for name, number in report.asked.versions)
    if report.run is not None:
        yield "run", report.run.in_words
        yield "machine", f"{report.run.platform}, {report.run.jobs} process{'es' * (report.run.jobs > 1)}"
    if report.ended is not None:
        yield "ended", report.ended.value


def property_sheet(item: PropertyReport, domains: Sequence[ListedDomain] = ()) -> PropertySheet:
    """A property and everything under it; ``domains`` are those that it may be about."""
    blocks = list[Block]()
    if item.shares is not None:
        blocks += _shares(item, item.shares, domains)
    if influences := tuple(_influences(item)):
        blocks.append(Influences(influences))
    blocks += _pairs("witness", item, lambda found: found.witnesses)
    blocks += _pairs("disagree", item, lambda found: found.disagreements)
    for demand in item.demands:
        heading = "disagree" if demand.judgement is Judgement.UNKNOWN else "witness"
        blocks += breach_blocks(heading, demand.breaches, (demand.text,) if len(item.demands) > 1 else ())
    return PropertySheet(
        name=item.name,
        judgement=item.judgement,
        sentence=item.sentence,
        stated=tuple(Note(heading, tuple(lines)) for heading, lines in headed(item)),
        demands=tuple(_demand(demand, alike, item) for demand, alike in _once(item.demands)),
        blocks=tuple(blocks),
        single=len(item.demands) == 1,
        span=item.span,
    )


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


def _demand(demand: DemandReport, alike: Sequence[DemandReport], item: PropertyReport) -> DemandSheet:
    return DemandSheet(
        text=demand.text,
        metric=demand.metric,
        words=metric_words(demand.metric),
        meaning=_meaning(demand.metric),
        judgement=demand.judgement,
        outcome=", ".join(outcome(each) for each in (demand, *alike)),
        claim=basis(demand),
        plain=plain(demand),
        resting=resting(demand),
        against=_against(demand),
        seconds=demand.seconds,
        standings=standings(demand),
        blocks=(*_because(demand), *_notes(row_lines(demand, item)), *_groups(demand, item)),
        span=demand.span,
    )


def _favours(demand: DemandReport) -> bool:
    """Whether the groups of the greatest and the least rate, where they are told, are those that are favoured."""
    if demand.definition is not None:  # marked are extremes that are asked for, whatever they are rates of
        return demand.comparison is None or not demand.comparison.value.names_groups
    known = registered(demand.metric)
    return not isinstance(known, Metric) or known.rate.is_favour


def _meaning(metric: str) -> str | None:
    if influence_of(metric) is not None:
        return "the number, less what it is where that is drawn evenly and independently of all else"
    about = registered(metric)
    return about.in_words() if isinstance(about, Metric) else None if about is None else about.meaning


def _notes(lines: Iterator[tuple[str, str]]) -> Iterator[Note]:
    """Lines without a heading belong to the note before."""
    heading, texts = "", list[str]()
    for name, text in lines:
        if name and texts:
            yield Note(heading, tuple(texts))
            texts = []
        heading = name or heading
        texts.append(text)
    if texts:
        yield Note(heading, tuple(texts))


def _because(demand: DemandReport) -> Iterator[Block]:
    """Why a demand is unknown or refused, and what any other verdict rests on."""
    if demand.reason is not None:
        why = because(demand.reason, external=demand.external)
        yield Note("because", (why, demand.detail) if demand.detail else (why,))
    if demand.median is not None:
        middle = number(Interval(demand.median, demand.median), False)
        yield Note("median", (f"{middle} is the median of the scores of all rows",))
    if said := rests_on(demand):
        yield Note("rests on", (said,))
    yield from _opinions(demand)
    if demand.proof is not None:
        yield Note("proof", (demand.proof.in_words(),))
    if demand.believed is not None:
        yield Note("believed", (demand.believed.in_words(),))
    if demand.coverage is not None:
        yield Note("partitions", tuple(partition_lines(demand.coverage, external=demand.external)))
    if demand.estimate is not None:
        if demand.shares is not None and demand.shares.measure == "rows":
            yield Note("beyond", (beyond_rows(demand.estimate, counted=demand.shares.total is not None),))
        else:
            yield Note("estimate", (estimated(demand.estimate, demand),))
    if demand.shares is not None:
        yield from _notes(people_lines(demand.shares, demand.of_fair_share))
    if demand.refusals:
        yield Findings(demand.refusals)


def _opinions(demand: DemandReport) -> Iterator[Note]:
    """Those that contradict, then the others; who agrees stands in the evidence."""
    if against := _against(demand):
        yield Note("against", against)
    opinions = demand.opinions or ()
    others = tuple(one.in_words() for one in opinions if one.stand not in (Stand.CONTRADICTS, Stand.AGREES))
    if others:
        yield Note("also", others)


def _against(demand: DemandReport) -> tuple[str, ...]:
    return tuple(one.in_words() for one in demand.opinions or () if one.stand is Stand.CONTRADICTS)


def _groups(demand: DemandReport, item: PropertyReport) -> Iterator[Block]:
    """The rates that a number was computed from; each table once, under the first demand that it belongs to."""
    yield from _notes(group_lines(demand))
    if demand.groups is None:
        return
    table = same_table(demand.groups)
    first = next(other for other in item.demands if other.groups is not None and same_table(other.groups) == table)
    if first is not demand:
        return
    if demand.groups.rates:
        limit = None if demand.threshold is None else demand.threshold.limit
        required = required_rate(demand.groups, demand.comparison, limit)
        yield group_table(demand.groups, favour=_favours(demand), required=required)
    if demand.groups.excluded:
        yield Note("left out", (left_out(demand.groups),))


def _influences(item: PropertyReport) -> Iterator[Influence]:
    for demand in item.demands:
        found, value = influence_of(demand.metric), demand.value
        if found is not None and value is not None and value.low is not None and value.high is not None:
            of, on = found
            yield Influence(
                of=of, on=metric_words(on), amount=known(demand, value), ends=Enclosure(low=value.low, high=value.high)
            )


def _axes(regions: Sequence[Region], domains: Sequence[ListedDomain]) -> tuple[ListedAttribute, ...]:
    """The attributes that regions restrict; none where two domains have some that are called like them."""
    names = {name for each in regions for name in each.restricted}
    found = [each.attributes for each in domains if names <= {one.name for one in each.attributes}]
    return tuple(one for one in found[0] if one.name in names) if len(found) == 1 else ()


def _shares(item: PropertyReport, shares: Shares, domains: Sequence[ListedDomain]) -> Iterator[Block]:
    parts = {"certified": shares.certified, "falsified": shares.falsified, "undecided": shares.undecided}
    demand = next(demand for demand in item.demands if demand.shares is shares)
    fair, limit = shares.estimate, demand.threshold
    required = None if limit is None else limit.limit
    float32 = shares.float32_certified
    yield ShareBars(
        shares=tuple(
            Share(name=name, amount=amount, part=parts.get(name, shares.vacuous)) for name, amount in share(shares)
        ),
        measured=f"measured by {shares.measure}; one unit is {shares.unit}",
        float32=None if float32 is None else Share("certified", float32_share(float32, shares.total), float32),
        estimate=None if fair is None else fair.interval,
        required=required if required is None or demand.of_fair_share else 1 - required,
    )
    if shares.regions:
        rows = tuple((entry, *amounts(entry), region(entry)) for entry in shares.regions)
        yield Regions(rows, _axes(shares.regions, domains))


def _pairs(
    heading: str,
    item: PropertyReport,
    pairs_of: Callable[[PropertyReport | DemandReport], tuple[Witness, ...]],
) -> Iterator[Block]:
    """A pair for every demand that has one, each once; the others only counted."""
    shown: list[Witness] = []
    for demand in item.demands:
        pairs = pairs_of(demand)
        if pairs and not any(pair in shown for pair in pairs):
            shown.append(pairs[0])
    for pair in shown:
        several = len(item.demands) > 1
        yield pair_block(heading, pair, tuple(item.demands[n].text for n in item.found_for(pair)) if several else ())
    more = len(pairs_of(item)) - len(shown)
    if more:
        yield Note("", (f"and {more} more in the JSON report",))


def pair_block(heading: str, pair: Witness, found_for: tuple[str, ...]) -> Pair:
    """Where the two individuals differ and what is decided about them; then what they have in common."""
    differing = pair.differing
    rows = [PairRow(name, *cells(pair.a[name], pair.b[name]), marked=True) for name in differing]
    rows.append(PairRow("decision", pair.replay.decision_a, pair.replay.decision_b))
    if pair.replay.float32_decisions is not None and not pair.replay.agrees:
        rows.append(PairRow("in float32", *pair.replay.float32_decisions))
    if pair.replay.scores_a or pair.replay.scores_b:  # rules and black boxes that answer with outcomes have none
        rows.append(PairRow("score", *scores(pair.replay.scores_a, pair.replay.scores_b, pair.replay.score_error)))
    both = tuple(f"{name} = {cell(value)}" for name, value in pair.a.items() if name not in differing)
    return Pair(heading=heading, rows=tuple(rows), both=both, found_for=found_for)
