"""A network of columns as SVG: parents above their children, every arrow from the one to the other.

Layers are those of the longest way from a column without parents; within a layer columns stand as their neighbours do.
An arrow over several layers bends around what stands between (the layout of Sugiyama, Tagawa and Toda, 1981, in short).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fairdsl.report.html.markup import Markup, element

#: Columns and edges that are drawn at most: more of them nobody can follow.
MOST = 40
#: Sizes in pixels; the text is set in 13 pixels.
_LETTER, _PADDING, _HEIGHT, _GAP, _BETWEEN = 8.0, 22.0, 30.0, 26.0, 46.0
#: How often layers are ordered anew, down and up by turns.
_SWEEPS = 8


@dataclass(eq=False)
class _Box:
    """A column, or where an arrow passes a layer (no name)."""

    name: str
    layer: int
    above: list[_Box] = field(default_factory=list)
    below: list[_Box] = field(default_factory=list)
    x: float = 0.0

    @property
    def width(self) -> float:
        return _LETTER * len(self.name) + _PADDING if self.name else 0.0


def drawn_network(edges: Sequence[tuple[str, str]], kinds: Mapping[str, str], words: str) -> Markup:
    """The network of these (parent, child) pairs, without a cycle; ``kinds`` are classes of columns by their names."""
    boxes, arrows = _boxes(edges)
    layers = _ordered([[box for box in boxes if box.layer == n] for n in range(max(box.layer for box in boxes) + 1)])
    width = max(sum(box.width for box in layer) + _GAP * (len(layer) + 1) for layer in layers)
    for layer in layers:
        at = (width - sum(box.width for box in layer) - _GAP * (len(layer) - 1)) / 2
        for box in layer:
            box.x, at = at + box.width / 2, at + box.width + _GAP
    height = len(layers) * _HEIGHT + (len(layers) - 1) * _BETWEEN + 4
    return element(
        "svg",
        element("title", words),
        [element("path", d=_way(arrow), class_="edge", marker_end="url(#arrow)") for arrow in arrows],
        [_node(box, kinds.get(box.name, "")) for box in boxes if box.name],
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
        aria_label=words,
        class_="network",
    )


def _boxes(edges: Sequence[tuple[str, str]]) -> tuple[list[_Box], list[list[_Box]]]:
    """Every column in its layer, and every arrow as the boxes that it goes through."""
    layers = {name: 0 for edge in edges for name in edge}
    for _ in layers:  # the longest way has fewer edges than there are columns
        for parent, child in edges:
            layers[child] = max(layers[child], layers[parent] + 1)
    columns = {name: _Box(name, layer) for name, layer in layers.items()}
    boxes, arrows = list(columns.values()), []
    for parent, child in edges:
        first, last = columns[parent], columns[child]
        passed = [_Box("", layer) for layer in range(first.layer + 1, last.layer)]
        boxes += passed
        arrows.append([first, *passed, last])
        for upper, lower in pairwise(arrows[-1]):
            upper.below.append(lower)
            lower.above.append(upper)
    return boxes, arrows


def _ordered(layers: list[list[_Box]]) -> list[list[_Box]]:
    """Each layer in the order of the middles of its neighbours in the layer before, then in the one behind."""
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            for place, box in enumerate(layer):
                box.x = place / max(1, len(layer) - 1)
            middles = {box: _middle(box.above if sweep % 2 == 0 else box.below, box.x) for box in layer}
            layer.sort(key=middles.__getitem__)
            for place, box in enumerate(layer):
                box.x = place / max(1, len(layer) - 1)
    return layers


def _middle(neighbours: Sequence[_Box], without: float) -> float:
    return sum(box.x for box in neighbours) / len(neighbours) if neighbours else without


def _top(box: _Box) -> float:
    return box.layer * (_HEIGHT + _BETWEEN) + 2


def _way(arrow: Sequence[_Box]) -> str:
    """From the lower edge of the first box to the upper one of the last, straight through the layers between."""
    first, last = arrow[0], arrow[-1]
    said = f"M{first.x:.1f},{_top(first) + _HEIGHT:.1f}"
    for before, box in pairwise(arrow):
        left, enters, half = _top(before) + _HEIGHT, _top(box), _BETWEEN / 2
        said += f" C{before.x:.1f},{left + half:.1f} {box.x:.1f},{enters - half:.1f} {box.x:.1f},{enters:.1f}"
        if box is not last:
            said += f" V{enters + _HEIGHT:.1f}"
    return said


def _node(box: _Box, kind: str) -> Markup:
    shape = element("rect", x=box.x - box.width / 2, y=_top(box), width=box.width, height=_HEIGHT, rx=6)
    return element(
        "g", shape, element("text", box.name, x=box.x, y=_top(box) + _HEIGHT / 2), class_=f"node {kind}".rstrip()
    )
