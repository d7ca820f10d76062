"""Plots of figures, by Matplotlib where it is installed: lines over numbers, bars over names, a panel a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Axes", "Drawn", "plot"]

#: One number of a figure: what it belongs to (`panel: series`, or a series alone), where, and the number.
Drawn = tuple[str, float | str, float]
#: Okabe and Ito's colours, which are told apart in grey, too.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555", "#000000")
#: Text stays text, and the same figure has the same bytes.
_STYLE = {"svg.fonttype": "none", "svg.hashsalt": "fairdsl", "font.size": 8, "axes.grid": True, "grid.alpha": 0.3}
#: Inches of a panel, and panels beside each other.
_SIZE, _BESIDE = (3.4, 2.6), 2


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What the axes of a part's figure show."""

    x: str
    y: str
    log: bool = False


def plot(drawn: Sequence[Drawn], axes: Axes, path: Path) -> bool:
    """Write the figure as SVG; whether that could be done: nothing is drawn without Matplotlib."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        return False
    panels: dict[str, dict[str, list[tuple[float | str, float]]]] = {}
    for name, x, y in drawn:
        panel, colon, series = name.partition(": ")
        panels.setdefault(panel if colon else "", {}).setdefault(series if colon else panel, []).append((x, y))
    rows = -(-len(panels) // _BESIDE)
    across = min(_BESIDE, len(panels))
    with rc_context(_STYLE):
        figure = Figure(figsize=(_SIZE[0] * across, _SIZE[1] * rows), layout="constrained")
        for place, (title, lines) in enumerate(panels.items(), 1):
            one = figure.add_subplot(rows, across, place)
            _draw(one, lines)
            one.set(title=title, xlabel=axes.x, ylabel=axes.y, yscale="log" if axes.log else "linear")
            if len(lines) > 1:
                one.legend(fontsize="small")
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    # Matplotlib leaves blanks at the ends of lines.
    text = path.read_text(encoding="utf-8")
    path.write_text("\n".join(line.rstrip() for line in text.splitlines()) + "\n", encoding="utf-8")
    return True


def _draw(one: Any, lines: dict[str, list[tuple[float | str, float]]]) -> None:
    names = list(dict.fromkeys(x for points in lines.values() for x, _ in points if isinstance(x, str)))
    width = 0.8 / len(lines)
    for place, (series, points) in enumerate(lines.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        if not names:
            one.plot(*zip(*points, strict=True), marker="o", markersize=3, color=colour, label=series)
            continue
        at = [names.index(str(x)) + (place - (len(lines) - 1) / 2) * width for x, _ in points]
        one.bar(at, [y for _, y in points], width, color=colour, label=series)
    if names:
        one.set_xticks(range(len(names)), names, rotation=30, ha="right")
