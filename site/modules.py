"""The page of modules: what imports what, drawn from the imports themselves.

A folder of the package stands above all that it imports. An arrow is left out where a longer way says the same, so the
picture is the transitive reduction of the imports between folders.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path

import grimp

__all__ = ["modules_page"]

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "fairdsl"
#: Sizes in the picture: boxes, what is between two of them, and how much of a name's width a letter takes.
_HIGH, _ACROSS, _DOWN, _LETTER, _LEAST = 34, 18, 46, 7.6, 56

Imports = Mapping[str, set[str]]


def modules_page() -> str:
    """The page as Markdown."""
    imports = imported()
    drawn = Picture.of(imports)
    rows = (
        f"| `{name}` | {lines_of(name):,} | {purpose_of(name)} | {', '.join(f'`{each}`' for each in sorted(others))} |"
        for name, others in ((name, imports[name]) for row in drawn.floors for name in row)
    )
    parts = (
        "# Modules",
        "Each folder of the package above all that it imports; an arrow that a longer way implies is not drawn. "
        "[Architecture](../architecture.md) says why they are what they are, and which order is enforced.",
        f"<div>{drawn.svg()}</div>",
        "\n".join(("| folder | lines | what it is | imports |", "| --- | ---: | --- | --- |", *rows)),
    )
    return "\n\n".join(parts) + "\n"


def imported() -> Imports:
    """What each folder, and each module beside them, imports of the others."""
    graph = grimp.build_graph(PACKAGE)
    found: dict[str, set[str]] = {_place(module): set() for module in graph.modules if module != PACKAGE}
    for module in graph.modules:
        if module != PACKAGE:
            others = graph.find_modules_directly_imported_by(module) - {PACKAGE}
            found[_place(module)] |= {_place(other) for other in others} - {_place(module)}
    return found


def _place(module: str) -> str:
    return module.split(".")[1]


def lines_of(name: str) -> int:
    """The lines of its files."""
    return sum(len(path.read_text("utf-8").splitlines()) for path in _files(name))


def purpose_of(name: str) -> str:
    """The first sentence that it says of itself."""
    path = ROOT / PACKAGE / name / "__init__.py"
    path = path if path.is_file() else path.parent.with_suffix(".py")
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return " ".join(said.partition("\n\n")[0].replace("``", "`").split())


def _files(name: str) -> list[Path]:
    folder = ROOT / PACKAGE / name
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


@dataclass(frozen=True)
class Picture:
    """Folders by floors, the highest first, and the arrows that are drawn."""

    floors: list[list[str]]
    arrows: Imports

    @classmethod
    def of(cls, imports: Imports) -> Picture:
        """Everything one floor above the highest that it imports; raises graphlib.CycleError where that is a circle."""
        floor: dict[str, int] = {}
        below: dict[str, set[str]] = {}
        for name in TopologicalSorter(imports).static_order():
            floor[name] = 1 + max((floor[other] for other in imports[name]), default=-1)
            below[name] = imports[name].union(*(below[other] for other in imports[name]))
        arrows = {
            name: {other for other in others if not any(other in below[between] for between in others)}
            for name, others in imports.items()
        }
        floors: list[list[str]] = [[] for _ in range(max(floor.values()) + 1)]
        for name in sorted(floor):
            floors[-1 - floor[name]].append(name)
        return cls(_ordered(floors, arrows), arrows)

    def svg(self) -> str:
        """The picture, in the colours of the text around it."""
        places = dict(self._places())
        width = max(x + wide for x, _, wide in places.values())
        high = len(self.floors) * (_HIGH + _DOWN) - _DOWN
        curves = (
            self._curve(places[name], places[other]) for name, others in self.arrows.items() for other in sorted(others)
        )
        boxes = (self._box(name, *place) for name, place in places.items())
        return (
            f'<svg viewBox="-2 -2 {width + 4:.0f} {high + 4}" role="img" aria-label="Folders and their imports" '
            f'style="width:100%;max-width:{width * 1.2:.0f}px" '
            'font-family="monospace" font-size="12" fill="none" stroke="currentColor">'
            f"{''.join(curves)}{''.join(boxes)}</svg>"
        )

    def _places(self) -> Iterator[tuple[str, tuple[float, float, float]]]:
        """Where each box begins, and how wide it is."""
        wide = {name: max(_LEAST, len(name) * _LETTER + 14) for row in self.floors for name in row}
        whole = [sum(wide[name] for name in row) + _ACROSS * (len(row) - 1) for row in self.floors]
        for number, row in enumerate(self.floors):
            x = (max(whole) - whole[number]) / 2
            for name in row:
                yield name, (x, number * (_HIGH + _DOWN), wide[name])
                x += wide[name] + _ACROSS

    @staticmethod
    def _curve(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
        x, y = start[0] + start[2] / 2, start[1] + _HIGH
        to_x, to_y = end[0] + end[2] / 2, end[1]
        bend = _DOWN * 0.8
        path = f"M{x:.0f} {y:.0f}C{x:.0f} {y + bend:.0f} {to_x:.0f} {to_y - bend:.0f} {to_x:.0f} {to_y:.0f}"
        return f'<path d="{path}" opacity=".45"/>'

    @staticmethod
    def _box(name: str, x: float, y: float, wide: float) -> str:
        size = f'x="{x:.0f}" y="{y:.0f}" width="{wide:.0f}" height="{_HIGH}"'
        box = f'<rect {size} rx="4" style="fill:var(--md-code-bg-color,Canvas)"/>'
        middle = x + wide / 2
        lines = f'<text x="{middle:.0f}" y="{y + 28:.0f}" font-size="9" opacity=".8">{lines_of(name):,}</text>'
        text = f'<text x="{middle:.0f}" y="{y + 16:.0f}">{escape(name)}</text>'
        said = f"<title>{escape(purpose_of(name).replace(chr(96), ''))}</title>"
        return f'<g>{said}{box}<g fill="currentColor" stroke="none" text-anchor="middle">{text}{lines}</g></g>'


def _ordered(floors: list[list[str]], arrows: Imports) -> list[list[str]]:
    """Boxes of a floor in the order of what they are tied to: down and up again, so that few arrows cross."""
    tied: dict[str, set[str]] = {name: set(others) for name, others in arrows.items()}
    for name, others in arrows.items():
        for other in others:
            tied[other].add(name)
    at = {name: (place + 0.5) / len(row) for row in floors for place, name in enumerate(row)}
    for sweep in range(8):
        for row in floors if sweep % 2 else reversed(floors):
            row.sort(
                key=lambda name: sum(at[other] for other in tied[name]) / len(tied[name]) if tied[name] else at[name]
            )
            at |= {name: (place + 0.5) / len(row) for place, name in enumerate(row)}
    return floors
