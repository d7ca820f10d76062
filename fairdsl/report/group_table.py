"""The rates of a demand as a table, and the sentences beside it.

::

    groups     sex     age       rate    of all  rows   in rows  95% interval    favoured
               female  18 .. 24  41.03%  12.5%   1,204  41.11%   38.1% to 44.2%  least
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import Comparison
from fairdsl.ir.numbers import shown, span
from fairdsl.report.model import DemandReport
from fairdsl.report.tables import Column, Entry, Table, texts
from fairdsl.report.words import between, cell, group_words, in_percent, number
from fairdsl.verdict import Draw, Interval, Named, Part, Rate, Value

#: Rows of a table at most; those of the most and the least favoured are always among them.
_ROWS = 20
#: Groups that were left out, and values of `given`, that are listed at most.
_LISTED = 10


def same_table(value: Value) -> tuple[object, ...]:
    """What a table and the sentences beside it show: demands that agree in it show it once."""
    beside = value.beside, value.sampling, value.confidence, value.drawn, value.draw
    return value.rates, value.most, value.least, value.excluded, *beside


def group_table(value: Value, *, favour: bool = True, required: Fraction | None = None) -> Table:
    """The rates of all groups, the most and least favoured marked; without ``favour`` they are the extremes alone.

    ``required`` is where a threshold lies among them.
    """
    rates, brief = value.rates, _listed(value)
    names = list(dict.fromkeys(name for rate in rates for name in (*rate.group, *rate.given)))
    interval = "" if value.confidence is None else f"{shown(value.confidence, percent=True)} interval"
    if value.draw is not None:
        interval = "both"
    # Where nothing is proved, what was drawn is all there is.
    alone = value.draw is not None and not value.defined
    mark = _marked(value)
    # Along paths everybody is taken as of each group in turn.
    everybody = all(rate.mass.low == 1 for rate in rates)
    columns = [
        *(Column(name=name, entries=texts(_value(rate, name) for rate in rates)) for name in names),
        *([] if alone else _rates(rates)),
        Column(
            name="drawn",
            entries=tuple(
                _entry(None if rate.drawn is None else Interval(*rate.drawn.interval), percent=not rate.mean)
                for rate in rates
            ),
            number=True,
        ),
        Column(
            name="of all",
            entries=texts("" if everybody or alone else _percent(Interval(*rate.mass)) for rate in rates),
            meaning="the part of the population that the rate is of",
            spared=3,
            number=True,
        ),
        Column(
            name="rows",
            entries=texts("" if rate.rows is None else f"{rate.rows:,}" for rate in rates),
            meaning="how many rows of the data are behind it",
            spared=2,
            number=True,
        ),
        Column(
            name="in rows",
            entries=tuple(_entry(None if rate.empirical is None else Interval(*rate.empirical)) for rate in rates),
            meaning="the rate among those rows",
            spared=1,
            number=True,
        ),
        Column(
            name=interval,
            entries=tuple(
                Entry("") if rate.sampling is None or alone else Entry(between(Interval(*rate.sampling)), rate.sampling)
                for rate in rates
            ),
            number=True,
        ),
        Column(
            name="impact ratio",
            entries=() if alone else tuple(_entry(ratio) for ratio in impact_ratios(rates)),
            meaning="the rate over the highest rate beside it",
            number=True,
            page=True,
        ),
        Column(name="favoured" if favour else "extreme", entries=texts(mark(place) for place in range(len(rates)))),
    ]
    filled = (column for column in columns if any(entry.text for entry in column.entries))
    return Table(heading="groups", columns=tuple(filled), brief=tuple(brief), required=required)


def required_rate(value: Value, comparison: Comparison | None, limit: Fraction | None) -> Fraction | None:
    """The rate that none may be below (or, of the greatest rate, above) for a threshold to be kept.

    None where there is no single one: of rates that are not known exactly, and where they are taken for several values
    one by one.
    """
    rates = value.rates
    if limit is None or not rates or any(not rate.number.exact or rate.given or rate.mean for rate in rates):
        return None
    most = max(rate.number.high for rate in rates)
    match comparison:
        case Comparison.RATIO:
            return limit * most
        case Comparison.GAP:
            return max(most - limit, Fraction(0))
        case Comparison.EVERY | Comparison.MOST | Comparison.LEAST:
            return limit
    return None


def _rates(rates: Sequence[Rate]) -> list[Column]:
    """The rates; where those who decide the rows differ, each of theirs."""
    if all(len({one.number for one in rate.by_decider}) <= 1 for rate in rates):
        return [
            Column(
                name="mean" if any(rate.mean for rate in rates) else "rate",
                entries=tuple(_entry(Interval(*rate.number), percent=not rate.mean) for rate in rates),
                number=True,
            )
        ]
    theirs = [{one.by: Interval(*one.number) for one in rate.by_decider} for rate in rates]
    deciders = dict.fromkeys(by for each in theirs for by in each)
    return [
        Column(name=by.value, entries=tuple(_entry(each.get(by)) for each in theirs), number=True) for by in deciders
    ]


def _entry(value: Interval | None, *, percent: bool = True) -> Entry:
    ends = None
    if value is not None and value.low is not None and value.high is not None:
        ends = Enclosure(low=value.low, high=value.high)
    return Entry(_percent(value) if percent or value is None else number(value, False), ends)


@dataclass(frozen=True, slots=True)
class _Others:
    """Bounds of the greatest of the other rates, and what all of them are at least."""

    greatest: Enclosure
    least: Fraction


def _others(rates: Sequence[Rate]) -> list[_Others | None]:
    """Of each rate those of other groups with the same values of `given`; None where there are none."""
    beside: dict[Named, list[int]] = {}
    for place, rate in enumerate(rates):
        beside.setdefault(rate.given, []).append(place)
    found: list[_Others | None] = [None] * len(rates)
    for places in (places for places in beside.values() if len(places) > 1):
        lows = sorted(places, key=lambda place: rates[place].number.low)
        highs = sorted(places, key=lambda place: rates[place].number.high)
        for place in places:
            # Of whoever comes first, who comes second is the first of the others.
            last, top, first = (
                order[at + step] if order[at] == place else order[at]
                for order, at, step in ((lows, -1, -1), (highs, -1, -1), (lows, 0, 1))
            )
            found[place] = _Others(
                Enclosure(low=rates[last].number.low, high=rates[top].number.high), rates[first].number.low
            )
    return found


def impact_ratios(rates: Sequence[Rate]) -> Iterator[Interval | None]:
    """Each rate over the greatest one beside it, itself included; None where that may be zero."""
    for rate, others in zip(rates, _others(rates), strict=True):
        if others is None or rate.mean or max(others.greatest.low, rate.number.low) == 0:
            yield None
            continue
        (own, own_most), (least, most) = rate.number, others.greatest
        # The ratio grows with the rate itself, up to 1, and falls with the greatest of the others.
        low = own / max(own, most) if own or most else Fraction(0)
        high = min(Fraction(1), own_most / least) if least else Fraction(1)
        yield Interval(low, high)


def _listed(value: Value) -> list[int]:
    """The places of the first groups, and of all that are marked, in their order."""
    marked = sorted({*value.most} ^ {*value.least})
    return sorted({*[*marked, *range(len(value.rates))][:_ROWS]})


def _value(rate: Rate, name: str) -> str:
    values = rate.group | rate.given
    return cell(values[name]) if name in values else ""


def _percent(value: Interval | None) -> str:
    if value is None:
        return ""
    return number(value, True) if value.exact is not None else between(value)


def _marked(value: Value) -> Callable[[int], str]:
    """Where all are alike nobody is favoured; where it is open who is, it is said."""
    marks = {"most": frozenset(value.most), "least": frozenset(value.least)}
    everywhere = range(len(value.rates))
    alike = all(place in marks["most"] & marks["least"] for place in everywhere) and all(
        rate.number.exact for rate in value.rates
    )

    beside = _others(value.rates)

    def mark(place: int) -> str:
        rate, others = value.rates[place], beside[place]
        certain = {
            "most": others is None or others.greatest.high <= rate.number.low,
            "least": others is None or rate.number.high <= others.least,
        }
        named = [word for word, places in marks.items() if place in places]
        words = [word for word in named if certain[word]]
        open_ = [word for word in named if not certain[word]]
        return "" if alike else ", ".join([*words, *([f"perhaps {' or '.join(open_)}"] if open_ else [])])

    return mark


def group_lines(demand: DemandReport) -> Iterator[tuple[str, str]]:
    """Headings and sentences: the interval with sampling error, and the values of `given`."""
    groups = demand.groups
    if groups is None:
        return
    percent = in_percent(demand)
    if groups.draw is not None:
        yield from _drawn(groups, groups.draw, percent)
    elif groups.sampling is not None and groups.confidence is not None:
        level = shown(groups.confidence, percent=True)
        yield "sampling", f"{number(Interval(*groups.sampling), percent)} in the population, with {level} confidence"
    parts, own = groups.beside, {rate.group | rate.given for rate in groups.rates}
    heading = "each" if any(part.at in own for part in parts) else "given"
    for count, part in enumerate(parts[:_LISTED]):
        value = number(Interval(*part.number), percent) if part.defined else "no number"
        if part.drawn is not None:
            value = f"{_proved(part, percent)}, drawn {number(Interval(*part.drawn.interval), percent)}"
        yield "" if count else heading, f"{group_words(part.at)}: {value}"
    if len(parts) > _LISTED:
        yield "", f"and {len(parts) - _LISTED:,} more in the JSON report"


def _drawn(value: Value, draw: Draw, percent: bool) -> Iterator[tuple[str, str]]:
    """What is proved and what was drawn, apart."""
    yield "enclosed", _proved(value, percent)
    asked = "" if draw.within is None else f"; within {shown(draw.within, percent=percent)} was asked for"
    of = f"{draw.people:,} people drawn{asked}; an estimate, no proof"
    if value.drawn is None:
        yield "drawn", f"no number ({of})"
        return
    level = "" if value.confidence is None else f"{shown(value.confidence, percent=True)} interval "
    own = number(Interval(*value.drawn.estimate), percent)
    ends = span(*value.drawn.interval, percent=percent)
    apart = value.defined and value.number.common(value.drawn.interval) is None
    stand = "; the two have nothing in common, and the enclosure stands" if apart else ""
    yield "drawn", f"{own} ({level}{ends}, from {of}{stand})"


def _proved(value: Value | Part, percent: bool) -> str:
    """The bounds that are proved."""
    return number(Interval(*value.number), percent) if value.defined else "by nothing that is proved"


def left_out(groups: Value) -> str:
    """The groups that were listed instead of counted; empty where there are none."""
    named = [group_words(group) for group in groups.excluded[:_LISTED]]
    more = len(groups.excluded) - _LISTED
    return "; ".join([*named, f"and {more:,} more in the JSON report"] if more > 0 else named)
