"""The rates of a demand as a table, and the sentences beside it.

::

    groups     sex     age       rate    of all  rows   in rows  95% interval    favoured
               female  18 .. 24  41.03%  12.5%   1,204  41.11%   38.1% to 44.2%  least
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fairdsl.diagnostics.style import display_width
from fairdsl.ir.numbers import shown
from fairdsl.report.model import DemandReport
from fairdsl.report.words import between, cell, group_words, in_percent, number
from fairdsl.verdict import Interval, Rate, Value

__all__ = ["group_lines", "group_table", "left_out", "same_table"]

#: Rows of a table at most; those of the most and the least favoured are always among them.
_ROWS = 20
#: Groups that were left out, and values of `given`, that are listed at most.
_LISTED = 10
#: What is left to the JSON report where a line has no room, the first first.
_SPARED = ("of all", "rows", "in rows")


def same_table(value: Value) -> tuple[object, ...]:
    """What a table and the sentences beside it show: demands that agree in it show it once."""
    return value.rates, value.most, value.least, value.excluded, value.beside, value.sampling, value.confidence


def group_table(value: Value, width: int) -> list[str]:
    """The table's lines, the heading first, in as many columns as have room."""
    places = _listed(value)
    listed = [value.rates[place] for place in places]
    names = list(dict.fromkeys(name for rate in listed for name in (*rate.group, *rate.given)))
    interval = "" if value.confidence is None else f"{shown(value.confidence, percent=True)} interval"
    mark = _marked(value)
    # Along paths everybody is taken as of each group in turn.
    everybody = all(min(rate.mass) == max(rate.mass) == 1 for rate in listed)
    table = {name: [_value(rate, name) for rate in listed] for name in names}
    table |= {
        **_rates(listed),
        "of all": ["" if everybody else _percent(Interval(*rate.mass)) for rate in listed],
        "rows": ["" if rate.rows is None else f"{rate.rows:,}" for rate in listed],
        "in rows": [_percent(None if rate.empirical is None else Interval(*rate.empirical)) for rate in listed],
        interval: ["" if rate.sampling is None else between(Interval(*rate.sampling)) for rate in listed],
        "favoured": [mark(place) for place in places],
    }
    lines = _lines({heading: texts for heading, texts in table.items() if any(texts)}, width)
    more = len(value.rates) - len(listed)
    return [*lines, f"and {more:,} more in the JSON report"] if more else lines


def _rates(rates: Sequence[Rate]) -> dict[str, list[str]]:
    """The rates; where those who decide the rows differ, each of theirs."""
    if all(len({(one.low, one.high) for one in rate.by_decider}) <= 1 for rate in rates):
        return {"rate": [_percent(Interval(rate.low, rate.high)) for rate in rates]}
    theirs = [{one.by: Interval(one.low, one.high) for one in rate.by_decider} for rate in rates]
    deciders = dict.fromkeys(by for each in theirs for by in each)
    return {by.value: [_percent(each.get(by)) for each in theirs] for by in deciders}


def _lines(table: dict[str, list[str]], width: int) -> list[str]:
    """Columns of equal width, without those that there is no room for."""
    for spared in range(len(_SPARED) + 1):
        kept = {heading: texts for heading, texts in table.items() if heading not in _SPARED[:spared]}
        widths = [max(map(display_width, (heading, *texts))) for heading, texts in kept.items()]
        if sum(widths) + 2 * (len(widths) - 1) <= width:
            break
    rows = [list(kept), *(list(row) for row in zip(*kept.values(), strict=True))]
    return ["  ".join(map(_padded, row, widths)).rstrip() for row in rows]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


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
        rate.low == rate.high for rate in value.rates
    )

    def mark(place: int) -> str:
        rate = value.rates[place]
        others = [other for at, other in enumerate(value.rates) if at != place and other.given == rate.given]
        certain = {
            "most": all(other.high <= rate.low for other in others),
            "least": all(rate.high <= other.low for other in others),
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
    if groups.sampling is not None and groups.confidence is not None:
        level = shown(groups.confidence, percent=True)
        yield "sampling", f"{number(Interval(*groups.sampling), percent)} in the population, with {level} confidence"
    parts, own = groups.beside, {rate.group | rate.given for rate in groups.rates}
    heading = "each" if any(part.at in own for part in parts) else "given"
    for count, part in enumerate(parts[:_LISTED]):
        value = number(Interval(part.low, part.high), percent) if part.defined else "no number"
        yield "" if count else heading, f"{group_words(part.at)}: {value}"
    if len(parts) > _LISTED:
        yield "", f"and {len(parts) - _LISTED:,} more in the JSON report"


def left_out(groups: Value) -> str:
    """The groups that were listed instead of counted; empty where there are none."""
    named = [group_words(group) for group in groups.excluded[:_LISTED]]
    more = len(groups.excluded) - _LISTED
    return "; ".join([*named, f"and {more:,} more in the JSON report"] if more > 0 else named)
