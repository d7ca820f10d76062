"""What can be held of a page's accessibility without a browser: contrast, structure and names.

The rest is looked at with ``look.mjs``, in a browser (docs/reports.md).
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from samples import REPORT
from test_example_pages import PAGES

from fairdsl.resources import style_sheet

#: What is read, and what is only seen: the contrasts that WCAG 2.1 asks for at level AA.
TEXT, SEEN = 4.5, 3.0
#: A rule of the style sheet: what it is of, and what it says.
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


def palettes() -> dict[str, dict[str, str]]:
    """The colours of the page by name, on a light screen, a dark one and paper."""
    found = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", body))
        for body in re.findall(r":root \{([^}]*)\}", style_sheet())
    ]
    return dict(zip(("light", "dark", "print"), found, strict=True))


def luminance(colour: str) -> float:
    """As WCAG 2.1 defines it."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def written() -> set[tuple[str, str]]:
    """Every colour of a text with the ground that it is on."""
    pairs = set()
    for _, body in _RULE.findall(style_sheet()):
        [*_, colour] = [None, *re.findall(r"(?<![\w-])color: var\(--([\w-]+)\)", body)]
        [*_, ground] = [None, *re.findall(r"background: var\(--([\w-]+)\)", body)]
        if colour is not None:
            pairs |= {(colour, ground)} if ground else {(colour, "paper"), (colour, "ground")}
        elif ground is not None:
            pairs.add(("ink", ground))
    return pairs


def test_the_page_has_colours_for_a_light_screen_a_dark_one_and_paper() -> None:
    names = [set(palette) for palette in palettes().values()]
    assert names[0] == names[1] == names[2]
    assert len(written()) > 10


@pytest.mark.parametrize("where", ["light", "dark", "print"])
def test_whatever_is_read_stands_out_from_its_ground(where: str) -> None:
    colours = palettes()[where]
    for colour, ground in written():
        assert contrast(colours[colour], colours[ground]) >= TEXT, (colour, ground)


@pytest.mark.parametrize("where", ["light", "dark", "print"])
def test_what_is_drawn_stands_out_from_the_page(where: str) -> None:
    colours = palettes()[where]
    for name in re.findall(r"(?:fill|stroke): var\(--([\w-]+)\)", style_sheet()):
        if name not in ("fill-open", "ground", "paper"):  # grounds, on which a hatching or dots are drawn
            assert contrast(colours[name], colours["paper"]) >= SEEN, name
    assert contrast(colours["stroke-open"], colours["fill-open"]) >= SEEN


class Outline(HTMLParser):
    """Headings, names, figures, tables and pictures of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.levels = list[int]()
        self.ids, self.targets = list[str](), list[str]()
        self.unnamed = list[str]()
        self.counts: dict[str, int] = {}
        self.outside = list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        self.counts[tag] = self.counts.get(tag, 0) + 1
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if "id" in said:
            self.ids.append(said["id"])
        if tag == "a":
            self.targets.append(said["href"].removeprefix("#"))
        if (said.get("role") in ("img", "group") and not said.get("aria-label")) or (
            tag == "th" and "scope" not in said
        ):
            self.unnamed.append(self.get_starttag_text() or tag)
        self.outside += [text for text in said.values() if re.match(r"(?:\w+:)?//|javascript:", text)]


@pytest.mark.parametrize("text", [REPORT.rendered("html"), *(page.read_text(encoding="utf-8") for page in PAGES)])
def test_a_page_can_be_walked_by_its_headings_and_names(text: str) -> None:
    page = Outline(text)
    assert page.levels[0] == 1
    assert page.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(page.levels, page.levels[1:], strict=False))
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.targets) <= set(page.ids)
    assert not page.unnamed
    assert not page.outside
    assert page.counts["figure"] == page.counts["figcaption"]
    assert page.counts["main"] == 1
    assert '<html lang="en">' in text
