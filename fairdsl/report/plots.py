"""Pictures of a report for papers and slides, by Matplotlib, which is imported when a picture is asked for.

What is certain is thick and filled, what sampling may make of it a thin line; colours are told apart in grey and by
people who see few of them (Okabe and Ito's).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import Metric
from fairdsl.ir.question import influence_of
from fairdsl.prelude import registered
from fairdsl.report.frames import rate_name
from fairdsl.report.words import cell, region

if TYPE_CHECKING:
    from fairdsl.report.model import PropertyReport, Report
    from fairdsl.verdict import Cell, Region

_GOOD, _OPEN, _BAD, _INK, _FAINT = "#009E73", "#CCCCCC", "#D55E00", "#0072B2", "#555555"
#: Inches: of a picture across, of a line in it, and of what stands above and below the lines.
_WIDTH, _LINE, _AROUND = 6.4, 0.28, 0.9
#: Letters of a label; longer ones are cut.
_LETTERS = 48
#: The endings of files that are written.
ENDINGS = (".svg", ".png", ".pdf")
#: From where to where something is certain to lie, and where sampling leaves it.
_Range = tuple[float, float, tuple[float, float] | None]


def plotted(report: Report, kind: str, about: str | None, path: str | None) -> Any:
    """The picture as a Matplotlib figure, written to ``path`` as well where there is one.

    ``about`` is the name of a property, or that in front of its brackets; None: all of them. ValueError for another
    kind, a property that there is not, a report that has nothing of the kind, and a file of another ending. ImportError
    without Matplotlib.
    """
    if kind not in DRAWN:
        raise ValueError(f"there is no plot {kind!r}; a report has {', '.join(map(repr, DRAWN))}")
    if path is not None and Path(path).suffix.lower() not in ENDINGS:
        raise ValueError(f"a plot is written as {', '.join(ENDINGS)}, not as {path!r}")
    known = [item.name for item in report.properties]
    if about is not None and not any(about in (name, name.partition("[")[0]) for name in known):
        raise ValueError(f"the report has no property {about!r}; it has {', '.join(known)}")
    try:
        from matplotlib.figure import Figure
    except ImportError as problem:
        raise ImportError("matplotlib is not installed: `pip install 'fairdsl[plots]'`") from problem
    items = [each for each in report.properties if about is None or about in (each.name, each.name.partition("[")[0])]
    panels = list(DRAWN[kind](report, items))
    if not panels:
        has = [other for other in DRAWN if any(True for _ in DRAWN[other](report, report.properties))]
        raise ValueError(f"there are not {kind} to plot; there are {', '.join(has) or 'no numbers at all'}")
    heights = [_AROUND + _LINE * panel.lines for panel in panels]
    figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
    axes = figure.subplots(len(panels), squeeze=False, gridspec_kw={"height_ratios": heights})
    for panel, (ax,) in zip(panels, axes, strict=True):
        ax.set_title(panel.title, fontsize="medium", loc="left")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        panel.draw(ax)
    if path is not None:
        _write(figure, path)
    return figure


def _write(figure: Any, path: str) -> None:
    """The same report gives the same file: no date is in it, and the names in an SVG are not drawn by lot."""
    from matplotlib import rc_context

    from fairdsl.source.writing import write_file

    ending, content = Path(path).suffix.lower().removeprefix("."), BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
    with rc_context({"svg.hashsalt": "fairdsl", "svg.fonttype": "none"}):
        figure.savefig(content, format=ending, dpi=200, metadata=undated)
    write_file(path, content.getvalue())


@dataclass(frozen=True, slots=True)
class _Panel:
    """A picture of a title and so many lines, and what draws it into axes of Matplotlib."""

    title: str
    lines: int
    draw: Callable[[Any], None]


def _groups(_: Report, items: Sequence[PropertyReport]) -> Iterator[_Panel]:
    """The rates of groups: between which bounds each is certain to be, and its interval of sampling."""
    for item in items:
        panels: dict[tuple[str, bool], dict[str, _Range]] = {}
        for demand in item.demands:
            metric, groups = registered(demand.metric), demand.groups
            for rate in () if groups is None or influence_of(demand.metric) is not None else groups.rates:
                title = rate_name(metric, rate) if isinstance(metric, Metric) else demand.metric
                given = [f"{name} = {_listed(value)}" for name, value in rate.given.items()]
                label = ", ".join([*map(_listed, rate.group.values()), *given])
                lines = panels.setdefault((title, rate.mean), {})
                # Demands about the same rates list them once more, and one of them may have asked for sampling.
                if label not in lines or rate.sampling is not None:
                    lines[label] = float(rate.number.low), float(rate.number.high), _floats(rate.sampling)
        for (title, mean), lines in panels.items():
            yield _Panel(f"{item.name}: {title}", len(lines), partial(_ranges, lines=lines, scores=mean, rates=True))


def _listed(value: Cell) -> str:
    """A value among others, of which two lists never read alike."""
    text = cell(value)
    return f'"{text}"' if "," in text else text


def _influences(_: Report, items: Sequence[PropertyReport]) -> Iterator[_Panel]:
    """By how much each number is greater for what some columns say."""
    for item in items:
        found: dict[str, _Range] = {}
        for demand in item.demands:
            value, influence = demand.value, influence_of(demand.metric)
            if influence is not None and value is not None and value.low is not None and value.high is not None:
                sampling = None if demand.groups is None else demand.groups.sampling
                found[" on ".join(influence)] = float(value.low), float(value.high), _floats(sampling)
        if found:
            yield _Panel(f"{item.name}: influence of", len(found), partial(_ranges, lines=found))


def _floats(number: Enclosure | None) -> tuple[float, float] | None:
    return None if number is None else (float(number.low), float(number.high))


def _ranges(ax: Any, *, lines: dict[str, _Range], rates: bool = False, scores: bool = False) -> None:
    """A range a line, from the top; in percent, but for means of ``scores``."""
    for place, (low, high, whisker) in enumerate(lines.values()):
        if whisker is not None:
            ax.plot(whisker, [place, place], color=_FAINT, linewidth=1, marker="|", markersize=6, zorder=1)
        ax.plot([low, high], [place, place], color=_INK, linewidth=5, solid_capstyle="butt", zorder=2)
        ax.plot([(low + high) / 2], [place], color=_INK, marker="o" if low == high else "|", zorder=3)
    if rates and not scores and all(low >= 0 and high <= 1 for low, high, _ in lines.values()):
        ax.set_xlim(0, 1)
    else:
        ax.axvline(0, color=_FAINT, linewidth=0.8)
    _named(ax, list(lines))
    if not scores:
        _in_percent(ax.xaxis)
    ax.grid(axis="x", linewidth=0.4)


def _named(ax: Any, names: Sequence[str]) -> None:
    """The lines' names on the left, the first one on top."""
    cut = [name if len(name) <= _LETTERS else name[: _LETTERS - 3] + "..." for name in names]
    ax.set_yticks(range(len(names)), cut)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _in_percent(axis: Any) -> None:
    axis.set_major_formatter(lambda value, _: f"{100 * value:g}%")


def _legend(ax: Any) -> None:
    """Below the picture, where it covers nothing."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=4, frameon=False, fontsize="small")


def _shares(_: Report, items: Sequence[PropertyReport]) -> Iterator[_Panel]:
    """What is treated alike for certain, unfairly for certain, and the rest, of each property."""
    found = {item.name: item.shares for item in items if item.shares is not None}
    if not found:
        return

    def draw(ax: Any) -> None:
        for name, color in (("certified", _GOOD), ("undecided", _OPEN), ("falsified", _BAD)):
            order = ("certified", "undecided", "falsified")
            before = order[: order.index(name)]
            widths = [float(getattr(shares, name)) for shares in found.values()]
            lefts = [sum(float(getattr(shares, one)) for one in before) for shares in found.values()]
            hatch = "////" if name == "undecided" else None
            ax.barh(range(len(found)), widths, left=lefts, color=color, label=name, height=0.6, hatch=hatch)
        for place, shares in enumerate(found.values()):
            if shares.estimate is not None:
                ends = [float(end) for end in shares.estimate.interval]
                ax.plot(
                    ends, [place, place], color="black", linewidth=1.5, marker="|", label=None if place else "estimate"
                )
        ax.set_xlim(0, 1)
        _named(ax, list(found))
        _in_percent(ax.xaxis)
        _legend(ax)

    yield _Panel("shares", len(found) + 1, draw)


def _course(_: Report, items: Sequence[PropertyReport]) -> Iterator[_Panel]:
    """How much was undecided, by the seconds that refining had."""
    found = {item.name: item.shares.course for item in items if item.shares is not None and item.shares.course}
    if not found:
        return

    def draw(ax: Any) -> None:
        for name, course in found.items():
            seconds, undecided = [0.0, *(at.seconds for at in course)], [1.0, *(at.undecided for at in course)]
            ax.plot(seconds, undecided, label=name, drawstyle="steps-post")
        ax.set_xlabel("seconds")
        ax.set_ylim(bottom=0)
        _in_percent(ax.yaxis)
        ax.legend(frameon=False, fontsize="small")
        ax.grid(linewidth=0.4)

    yield _Panel("undecided, over time", 6, draw)


def _regions(_: Report, items: Sequence[PropertyReport]) -> Iterator[_Panel]:
    """Where it fails: of each part of the domain how much of the whole is unfair in it, and how much is open."""
    for item in items:
        regions = () if item.shares is None else item.shares.regions
        if regions:
            yield _Panel(f"{item.name}: where it fails, of all", len(regions) + 1, partial(_parts, regions=regions))


def _parts(ax: Any, *, regions: Sequence[Region]) -> None:
    unfair, places = [float(part.falsified) for part in regions], range(len(regions))
    ax.barh(places, unfair, color=_BAD, label="falsified", height=0.6)
    undecided = [float(part.undecided) for part in regions]
    ax.barh(places, undecided, left=unfair, color=_OPEN, label="undecided", height=0.6, hatch="////")
    _named(ax, [region(part) for part in regions])
    _in_percent(ax.xaxis)
    _legend(ax)


_Draws = Callable[["Report", Sequence["PropertyReport"]], Iterator[_Panel]]
#: What can be drawn, by what it is about.
DRAWN = cast(
    "MappingProxyType[str, _Draws]",
    MappingProxyType(
        {"groups": _groups, "shares": _shares, "course": _course, "influences": _influences, "regions": _regions}
    ),
)
