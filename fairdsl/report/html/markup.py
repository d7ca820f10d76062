"""Elements of HTML and SVG. Whatever is not an element is text, and is escaped: nothing of a spec can become markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from fairdsl.diagnostics.style import shown

#: Elements that have no end.
_VOID = frozenset({"br", "hr", "meta", "link", "col"})


class Markup(str):
    """Text that is markup already. Only this module, and constants of ours, make it."""

    __slots__ = ()


#: What an element may hold: markup, text, nothing, or several of them.
Content = str | None | Iterable["Content"]


def written(content: Content) -> Markup:
    """Content as markup."""
    match content:
        case None:
            return Markup("")
        case Markup():
            return content
        case str():
            # Marks that reverse the direction of writing could make a name look like another.
            return Markup(escape(shown(content.replace("\n", " "))))
        case _:
            return Markup("".join(map(written, content)))


def prose(text: str) -> Markup:
    """A sentence, of which what stands in backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return written(text)
    return fragment(*(element("code", part) if number % 2 else part for number, part in enumerate(parts)))


def fragment(*content: Content) -> Markup:
    """Several contents one after the other."""
    return written(content)


def element(name: str, /, *content: Content, **attributes: str | int | float | bool | None) -> Markup:
    """``element("td", "1 < 2", class_="n")``: None and False leave an attribute out, an underscore stands for ``-``."""
    said = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    return Markup(f"<{name}{said}>" if name in _VOID else f"<{name}{said}>{written(content)}</{name}>")


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = "viewBox" if key == "viewBox" else key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return f' {name}="{escape(shown(text.replace(chr(10), " ")))}"'


def lines(text: str) -> Markup:
    """Lines as they stand, one below the other."""
    return element("pre", Markup("\n".join(map(written, text.rstrip("\n").split("\n")))))


def scrolled(name: str, *wide: Content) -> Markup:
    """What may be wider than a phone, under its name, which has the whole width whatever the table's is."""
    held = element("div", *wide, class_="scroll", tabindex=0, role="group", aria_label=name)
    return element("figure", element("figcaption", name), held)


def named_table(name: str, headings: Sequence[str], rows: Sequence[Markup]) -> Markup:
    """A table under its name."""
    head = element("thead", element("tr", [element("th", text, scope="col") for text in headings]))
    return scrolled(name, element("table", head, element("tbody", rows)))
