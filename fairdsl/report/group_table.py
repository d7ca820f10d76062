"""The rates of a demand as a table, and the sentences beside it.

::

    groups     sex     age       rate    of all  rows   in rows  95% interval    favoured
               female  18 .. 24  41.03%  12.5%   1,204  41.11%   38.1% to 44.2%  least
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from fairdsl.diagnostics.style import display_width
from fairdsl.ir.numbers import shown
from fairdsl.report.model import DemandReport, GroupReport, GroupsReport, Interval
from fairdsl.report.words import between, cell, group_words, in_percent, number

__all__ = ["group_lines", "group_table", "left_out"]

#: Rows of a table at most; those of the most and the least favoured are always among them.
_ROWS = 20
#: Groups that were left out, and values of `given`, that are listed at most.
_LISTED = 10
#: What is left to the JSON report where a line has no room, the first first.
_SPARED = ("of all", "rows", "in rows")


def group_table(groups: GroupsReport, width: int) -> list[str]:
    """The table's lines, the heading first, in as many columns as have room."""
    listed = _listed(groups.groups)
    names = list(dict.fromkeys(name for group in listed for name in (*group.group, *group.given)))
    interval = "" if groups.confidence is None else f"{shown(groups.confidence, percent=True)} interval"
    mark = _marked(groups.groups)
    # Along paths everybody is taken as of each group in turn.
    everybody = all(group.mass.exact == 1 for group in listed)
    table = {name: [_value(group, name) for group in listed] for name in names}
    table |= {
        **_rates(listed),
        "of all": ["" if everybody else _percent(group.mass) for group in listed],
        "rows": ["" if group.rows is None else f"{group.rows:,}" for group in listed],
        "in rows": [_percent(group.empirical) for group in listed],
        interval: ["" if group.sampling is None else between(group.sampling) for group in listed],
        "favoured": [mark(group) for group in listed],
    }
    lines = _lines({heading: texts for heading, texts in table.items() if any(texts)}, width)
    more = len(groups.groups) - len(listed)
    return [*lines, f"and {more:,} more in the JSON report"] if more else lines


def _rates(groups: Sequence[GroupReport]) -> dict[str, list[str]]:
    """The rates; where those who decide the rows differ, each of theirs."""
    deciders = dict.fromkeys(by for group in groups for by in group.by_decider)
    if all(len(set(group.by_decider.values())) <= 1 for group in groups):
        return {"rate": [_percent(group.rate) for group in groups]}
    return {by.value: [_percent(group.by_decider.get(by)) for group in groups] for by in deciders}


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


def _listed(groups: Sequence[GroupReport]) -> list[GroupReport]:
    """The first groups, and all that are marked, in their order."""
    marked = [group for group in groups if group.most != group.least]
    chosen = {id(group) for group in [*marked, *groups][:_ROWS]}
    return [group for group in groups if id(group) in chosen]


def _value(group: GroupReport, name: str) -> str:
    values = {**group.group, **group.given}
    return cell(values[name]) if name in values else ""


def _percent(value: Interval | None) -> str:
    if value is None:
        return ""
    return number(value, True) if value.exact is not None else between(value)


def _marked(groups: Sequence[GroupReport]) -> Callable[[GroupReport], str]:
    """Where all are alike nobody is favoured; where it is open who is, it is said."""
    alike = all(group.most and group.least and group.rate.exact is not None for group in groups)

    def mark(group: GroupReport) -> str:
        others = [other.rate for other in groups if other is not group and other.given == group.given]
        certain = {
            "most": all(_at_most(other.high, group.rate.low) for other in others),
            "least": all(_at_most(group.rate.high, other.low) for other in others),
        }
        named = [word for word, true in (("most", group.most), ("least", group.least)) if true]
        words = [word for word in named if certain[word]]
        open_ = [word for word in named if not certain[word]]
        return "" if alike else ", ".join([*words, *([f"perhaps {' or '.join(open_)}"] if open_ else [])])

    return mark


def _at_most(one: Fraction | None, other: Fraction | None) -> bool:
    """Whether a rate is certainly no greater; None where no bound is known."""
    return one is not None and other is not None and one <= other


def group_lines(demand: DemandReport) -> Iterator[tuple[str, str]]:
    """Headings and sentences: the interval with sampling error, and the values of `given`."""
    groups = demand.groups
    if groups is None:
        return
    percent = in_percent(demand)
    if groups.sampling is not None and groups.confidence is not None:
        level = shown(groups.confidence, percent=True)
        yield "sampling", f"{number(groups.sampling, percent)} in the population, with {level} confidence"
    for count, part in enumerate(groups.parts[:_LISTED]):
        value = "no number" if part.value is None else number(part.value, percent)
        yield "" if count else "given", f"{group_words(part.at)}: {value}"
    if len(groups.parts) > _LISTED:
        yield "", f"and {len(groups.parts) - _LISTED:,} more in the JSON report"


def left_out(groups: GroupsReport) -> str:
    """The groups that were listed instead of counted; empty where there are none."""
    named = [group_words(group) for group in groups.excluded[:_LISTED]]
    more = len(groups.excluded) - _LISTED
    return "; ".join([*named, f"and {more:,} more in the JSON report"] if more > 0 else named)
