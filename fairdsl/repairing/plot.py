"""A repair as a picture (SVG): rates and accuracy of every model that was measured, in the order of training.

Above, the share of unfair units of the domain with its interval, and that of unfair rows; below, how many of the rows
are decided rightly, with the least that is allowed. Filled marks are models that became the best one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

from fairdsl.repairing.measure import Measured
from fairdsl.repairing.result import Candidate, Repaired

_DOMAIN, _ROWS, _RIGHT, _GREY = "#0072b2", "#d55e00", "#00805f", "#666666"
_LEFT, _SLOT, _NARROWEST, _WIDEST = 64, 92, 640, 1400
_ABOVE, _BELOW, _FOOT = (58, 220), (316, 130), 100
_TICKS = 4


@dataclass(frozen=True, slots=True)
class _Panel:
    """A part of the picture: its top and height in pixels, and the numbers at its bottom and top."""

    top: float
    height: float
    low: float
    high: float
    step: float

    def y(self, value: float) -> float:
        """Where a number stands."""
        return self.top + self.height * (self.high - value) / (self.high - self.low)


def picture(repaired: Repaired) -> str:
    """The SVG document; the same repair gives the same text."""
    shown = [(candidate, candidate.measured) for candidate in repaired.candidates if candidate.measured is not None]
    width = min(_WIDEST, max(_NARROWEST, _LEFT + _SLOT * len(shown) + 24))
    slot = min(2 * _SLOT, (width - _LEFT - 24) / len(shown))
    height = _BELOW[0] + _BELOW[1] + _FOOT
    columns = [_LEFT + slot * (place + 0.5) for place in range(len(shown))]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif"'
        ' font-size="12" fill="#222222">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(repaired),
        *_rates(shown, columns, width - 24),
        *_accuracy(shown, columns, width - 24, float(repaired.settings.loss)),
        *(_name(candidate, x) for (candidate, _), x in zip(shown, columns, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(repaired: Repaired) -> Iterator[str]:
    title = f"{repaired.property_name}: {repaired.model}, seed {repaired.settings.seed}"
    yield f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">{escape(title)}</text>'
    words = (
        (_DOMAIN, "unfair units of the domain"),
        (_ROWS, "unfair rows"),
        (_RIGHT, "accuracy"),
        (_GREY, "filled: became the best"),
    )
    x = float(_LEFT)
    for colour, text in words:
        yield f'<circle cx="{x + 4:.1f}" cy="36" r="4" fill="{colour}"/><text x="{x + 12:.1f}" y="40">{text}</text>'
        x += 24 + 6.2 * len(text)


def _rates(shown: Sequence[tuple[Candidate, Measured]], columns: Sequence[float], right: float) -> Iterator[str]:
    numbers = [0.0]
    for _, found in shown:
        numbers += [] if found.rate is None else [float(found.rate.number.high)]
        numbers += [_share(found.rows.unfair, found.rows.in_target)]
    panel = _panel(_ABOVE, 0.0, max(numbers) or 0.01)
    yield from _grid(panel, right)
    taken = [
        (x, panel.y(float(found.rate.number.low + found.rate.number.high) / 2))
        for (candidate, found), x in zip(shown, columns, strict=True)
        if candidate.kept and found.rate is not None
    ]
    path = " ".join(f"{x - 6:.1f},{y:.1f}" for x, y in taken)
    yield f'<polyline points="{path}" fill="none" stroke="{_DOMAIN}" stroke-width="1.5" stroke-opacity="0.45"/>'
    for (candidate, found), x in zip(shown, columns, strict=True):
        if found.rate is not None:
            low, high = panel.y(float(found.rate.number.low)), panel.y(float(found.rate.number.high))
            ends = f'x1="{x - 6:.1f}" x2="{x - 6:.1f}" y1="{low:.1f}" y2="{high:.1f}"'
            yield f'<line {ends} stroke="{_DOMAIN}" stroke-width="2"/>'
            yield _mark(x - 6, (low + high) / 2, _DOMAIN, candidate)
        yield _mark(x + 6, panel.y(_share(found.rows.unfair, found.rows.in_target)), _ROWS, candidate)


def _accuracy(
    shown: Sequence[tuple[Candidate, Measured]], columns: Sequence[float], right: float, loss: float
) -> Iterator[str]:
    numbers = [_share(found.rows.correct, found.rows.rows) for _, found in shown]
    allowed = numbers[0] - loss
    low, high = min(*numbers, allowed), max(numbers)
    margin = max(0.1 * (high - low), 0.002)
    panel = _panel(_BELOW, max(0.0, low - margin), min(1.0, high + margin))
    yield from _grid(panel, right)
    y = panel.y(allowed)
    ends = f'x1="{_LEFT}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
    yield f'<line {ends} stroke="{_RIGHT}" stroke-dasharray="5 4"/>'
    # Below the line in the first column, whose mark is above it.
    yield f'<text x="{_LEFT + 2}" y="{y + 13:.1f}" fill="{_RIGHT}" font-size="11">least allowed</text>'
    for (candidate, _), number, x in zip(shown, numbers, columns, strict=True):
        yield _mark(x, panel.y(number), _RIGHT, candidate)


def _panel(place: tuple[int, int], low: float, high: float) -> _Panel:
    """A panel that holds both numbers, between multiples of a round step."""
    rough = (high - low) / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    return _Panel(place[0], place[1], floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step, step)


def _grid(panel: _Panel, right: float) -> Iterator[str]:
    digits = max(0, -floor(log10(panel.step * 100)))
    for number in range(round((panel.high - panel.low) / panel.step) + 1):
        value = panel.low + number * panel.step
        y = panel.y(value)
        yield f'<line x1="{_LEFT}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
        text = f"{100 * value:.{digits}f} %"
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{_GREY}">{text}</text>'


def _mark(x: float, y: float, colour: str, candidate: Candidate) -> str:
    fill = colour if candidate.kept else "#ffffff"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" stroke-width="1.5"/>'


def _name(candidate: Candidate, x: float) -> str:
    text = f"{candidate.round}: {candidate.recipe or 'rows alone'}"
    y = _BELOW[0] + _BELOW[1] + 18
    weight = ' font-weight="bold"' if candidate.kept else ""
    return (
        f'<text x="{x + 4:.1f}" y="{y}" text-anchor="end"{weight} transform="rotate(-32 {x + 4:.1f} {y})">{text}</text>'
    )


def _share(count: int, whole: int) -> float:
    return count / whole if whole else 0.0
