"""Small pictures as SVG: a whole that is divided, and rates with their intervals on one scale.

Every picture has its numbers in words beside it and in its title; patterns tell parts apart where colours do not.
Colours come from the page (``page.css``), so that light, dark and print have their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.report.html.markup import Markup, element, fragment

#: A part of an axis from 0 to 1: where it begins and ends.
Segment = tuple[Fraction, Fraction]

_WIDTH, _HEIGHT = 600, 40
#: The hatching of what is open, once a page; pictures refer to it by its name.
PATTERNS = element(
    "svg",
    element(
        "defs",
        element(
            "pattern",
            element("rect", width=8, height=8, class_="open-ground"),
            element("path", d="M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4", class_="open-line"),
            id="open",
            width=8,
            height=8,
            patternUnits="userSpaceOnUse",
        ),
        element(
            "pattern",
            element("rect", width=6, height=6, class_="bad-ground"),
            element("circle", cx=3, cy=3, r=1.2, class_="bad-dot"),
            id="bad",
            width=6,
            height=6,
            patternUnits="userSpaceOnUse",
        ),
        element(
            "marker",
            element("path", d="M0,0 L8,4 L0,8 z", class_="arrow-head"),
            id="arrow",
            viewBox="0 0 8 8",
            refX=8,
            refY=4,
            markerWidth=8,
            markerHeight=8,
            orient="auto",
        ),
    ),
    width=0,
    height=0,
    aria_hidden="true",
    class_="hidden",
)
_FILLS = {"certified": "part-good", "undecided": "part-open", "falsified": "part-bad"}


def divided(
    parts: Sequence[tuple[str, Fraction]],
    words: str,
    *,
    estimate: Enclosure | None = None,
    required: Fraction | None = None,
) -> Markup:
    """A bar of 100 % in its parts, from the left: what is certified, what is open, what fails.

    Below it where a sample has the end of the first part, above it where the end has to be.
    """
    drawn, at = [], Fraction(0)
    order = [part for name in _FILLS for part in parts if part[0] == name]
    for name, part in order:
        if part:
            drawn.append(
                element("rect", x=_x(at), y=8, width=max(_x(part), 1.5), height=_HEIGHT - 18, class_=_FILLS[name])
            )
        at += part
    if required is not None:
        x = _x(required)
        drawn.append(element("path", d=f"M{x:.1f},0 V{_HEIGHT - 6} M{x - 4:.1f},0 h8", class_="mark-required"))
    if estimate is not None:
        low, high = map(_x, estimate)
        middle = (low + high) / 2
        ends = f"M{min(low, middle - 5):.1f},{_HEIGHT - 3} H{max(high, middle + 5):.1f}"
        drawn.append(element("path", d=f"{ends} M{middle:.1f},{_HEIGHT} v-10", class_="mark-estimate"))
    return _picture(words, _WIDTH, _HEIGHT, *drawn)


def rate(
    bounds: Enclosure,
    words: str,
    sampling: Enclosure | None = None,
    required: Fraction | None = None,
) -> Markup:
    """A rate on the scale from 0 to 100 %: a bar to what is certain, hatched to what is possible, the sample's
    interval as a whisker, what is required as a line."""
    low, high = (_x(end, 120) for end in bounds)
    drawn = [
        element("rect", x=0, y=4, width=120, height=10, class_="ground"),
        element("rect", x=0, y=4, width=low, height=10, class_="part-rate"),
    ]
    if high > low:
        drawn.append(element("rect", x=low, y=4, width=high - low, height=10, class_="part-open"))
    if sampling is not None:
        start, end = (_x(one, 120) for one in sampling)
        drawn.append(
            element("path", d=f"M{start:.1f},9 H{end:.1f} M{start:.1f},5 v8 M{end:.1f},5 v8", class_="whisker")
        )
    if required is not None:
        drawn.append(element("path", d=f"M{_x(required, 120):.1f},0 V18", class_="mark-required"))
    return _picture(words, 120, 18, *drawn, small=True)


def change(bounds: Enclosure, scale: tuple[Fraction, Fraction], words: str) -> Markup:
    """A number below or above zero on a scale that contains zero: a bar to what is certain, hatched to what is
    possible."""
    least, most = scale
    low, high, zero = (_x((end - least) / (most - least), 120) for end in (*bounds, Fraction(0)))
    sure = low if bounds.low > 0 else high if bounds.high < 0 else zero
    drawn = [element("rect", x=0, y=4, width=120, height=10, class_="ground"), _span(zero, sure, "part-rate")]
    drawn.append(_span(low, high, "part-open"))
    drawn.append(element("path", d=f"M{zero:.1f},1 V17", class_="whisker"))
    return _picture(words, 120, 18, *drawn, small=True)


def _span(one: float, other: float, name: str) -> Markup:
    return element("rect", x=min(one, other), y=4, width=abs(one - other), height=10, class_=name)


def strip(parts: Sequence[Segment], words: str) -> Markup:
    """Where some values lie among all values of an attribute, from left to right."""
    drawn = [element("rect", x=0, y=4, width=120, height=10, class_="ground")]
    drawn += [_span(_x(low, 120), max(_x(high, 120), _x(low, 120) + 2), "part-rate") for low, high in parts]
    return _picture(words, 120, 18, *drawn, small=True)


def region_map(regions: Sequence[tuple[Sequence[Segment], Sequence[Segment], Fraction, bool]], words: str) -> Markup:
    """Regions on two axes, the second upwards, each with its number: the stronger the
    colour, the more of it fails; hatched where some of it is open."""
    width, height = _WIDTH, 260
    drawn, numbers = [element("rect", x=0, y=0, width=width, height=height, class_="map-ground")], list[Markup]()
    for number, (across, upwards, failing, open_) in enumerate(regions, start=1):
        boxes = [(a, b) for a in across for b in upwards]
        for (left, right), (bottom, top) in boxes:
            place = {
                "x": float(left * width),
                "y": float((1 - top) * height),
                "width": float((right - left) * width),
                "height": float((top - bottom) * height),
            }
            if open_:
                drawn.append(element("rect", class_="part-open", **place))
            if failing:
                drawn.append(element("rect", class_="map-bad", fill_opacity=0.2 + 0.8 * float(failing), **place))
            drawn.append(element("rect", class_="map-edge", **place))
        (left, right), (bottom, top) = boxes[0]
        at = {"x": float((left + right) / 2 * width), "y": float((1 - (bottom + top) / 2) * height)}
        numbers.append(element("text", str(number), class_="map-number", **at))
    # Regions may overlap, and no number is to lie under another one's ground.
    return _picture(words, width, height, *drawn, *numbers, name="map")


def _picture(words: str, width: int, height: int, *drawn: Markup, small: bool = False, name: str = "bar") -> Markup:
    return element(
        "svg",
        element("title", words),
        fragment(*drawn),
        viewBox=f"0 0 {width} {height}",
        role="img",
        aria_label=words,
        preserveAspectRatio="none" if name == "bar" else None,
        class_="small" if small else name,
    )


def _x(part: Fraction, width: int = _WIDTH) -> float:
    return float(min(max(part, Fraction(0)), Fraction(1)) * width)
