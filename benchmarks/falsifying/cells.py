"""How numbers stand in the tables."""

from __future__ import annotations

from fractions import Fraction

from falsifying.counts import Counted
from falsifying.spread import Mean

__all__ = ["count_cells", "ends", "header", "number", "percent", "points", "span", "word"]


def header(*titles: str) -> str:
    return f"| {' | '.join(titles)} |\n| --- {'| ---: ' * (len(titles) - 1)}|"


def span(low: float, high: float, form: str) -> str:
    first, second = format(low, form), format(high, form)
    return first if first == second else f"{first} to {second}"


def percent(mean: Mean) -> str:
    return f"{mean.value:.2%} [{max(0.0, mean.low):.2%}, {mean.high:.2%}]"


def points(mean: Mean) -> str:
    return f"{100 * mean.value:+.2f} [{100 * mean.low:+.2f}, {100 * mean.high:+.2f}]"


def number(value: float | None, most: int) -> str:
    return f"over {most:,}" if value is None else f"{value:,.0f}"


def word(answer: bool | None) -> str:
    return "" if answer is None else "yes" if answer else "no"


def count_cells(count: Counted) -> str:
    if count.low is None or count.high is None:
        return f"{count.why} |  | "
    if count.unfair is None:
        return f" |  | {float(count.low):.4%} .. {float(count.high):.4%}"
    return f"{count.unfair:,} | {count.total:,} | {float(count.low):.6%}"


def ends(low: Fraction, high: Fraction) -> str:
    return f"[{float(low):.3%}, {float(high):.3%}]"
