"""The formats of a report: one line each, by which files, commands and functions find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import cast

from fairdsl.report.model import Report


@dataclass(frozen=True, slots=True)
class Format:
    """One format."""

    #: Its name.
    name: str
    #: How files of it end, the usual ending first; empty where it is for a log, and no file.
    suffixes: tuple[str, ...]
    #: What it is for.
    about: str
    #: What it has a place for that no report has, and somebody states.
    facts: tuple[str, ...] = ()
    #: The module of this package that writes it, by a function of the same name; where none is said, the format's name.
    module: str = ""

    def render(self, report: Report, facts: Mapping[str, str] | None = None) -> str:
        """The report in it; ``facts`` are those that it has a place for. ValueError for any other."""
        for name in facts or ():
            if name not in self.facts:
                known = ", ".join(f"`{each}`" for each in self.facts)
                raise ValueError(f"the format {self.name} has no place for `{name}`" + (f"; {known}" if known else ""))
        if self.name == "json":
            return report.to_json()
        if self.name == "text":
            from fairdsl.report.text import render

            return render(report)
        from fairdsl.report.layout import sheet_of

        room, _, function = (self.module or self.name).rpartition(".")
        module = import_module(".".join(filter(None, ("fairdsl.report", room, function))))
        made = cast("Callable[..., str]", getattr(module, function))
        # Tables that somebody has published are made of the report itself, with facts that somebody states.
        return made(report, facts or {}) if room == "published" else made(sheet_of(report))


FORMATS = {
    one.name: one
    for one in (
        Format("json", (".json",), "all of it, for programs"),
        Format("html", (".html", ".htm"), "a page that stands alone, for people", module="html.page"),
        Format("markdown", (".md",), "for pull requests and model cards"),
        Format("sarif", (".sarif",), "for code scanning"),
        Format("junit", (".xml",), "for build servers"),
        Format("text", (".txt",), "as on a terminal"),
        Format("github", (), "annotations in the log of a workflow"),
        Format(
            "ll144",
            (),
            "what New York City's Local Law 144 has published, as Markdown",
            ("tool", "audited", "distributed", "data", "left_out"),
            "published.ll144",
        ),
        Format(
            "eeoc",
            (),
            "adverse impact with Fisher's exact test and standard deviations, as Markdown",
            module="published.eeoc",
        ),
    )
}


def format_of(path: str) -> Format | None:
    """The format that a file's name ends in; None where none does."""
    suffix = PurePath(path).suffix.lower()
    return next((one for one in FORMATS.values() if suffix in one.suffixes), None)


def written_as(report: Report, path: str) -> str:
    """The report as a file of that name holds it. ValueError where no format has that ending."""
    found = format_of(path)
    if found is None:
        raise ValueError(f"`{path}` ends like no format of reports; {endings()}")
    return found.render(report)


def endings() -> str:
    """What a file may end in, in words."""
    listed = ", ".join(one.suffixes[0] for one in FORMATS.values() if one.suffixes)
    return f"let it end in one of {listed}"
