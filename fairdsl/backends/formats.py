"""The formats of solver files: one line each. Commands, `fairdsl capabilities` and the tests read this table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fairdsl.backends.brought import Brought, brought
from fairdsl.source.reading import opened

#: How much of a file is read to tell formats with one extension apart.
_BEGINNING = 4096
#: The group of entry points by which other packages bring encodings.
_GROUP = "fairdsl.encodings"


@dataclass(frozen=True, slots=True)
class Format:
    """A format of solver files, known without importing what writes it."""

    #: What its files are called behind the dot.
    extension: str
    #: The module of its encoding, and the class in it.
    encoding: str
    #: The backend that computes what its files ask, and answers the same questions without files.
    backend: str
    #: The pattern of a line near the beginning of its files, by which they are known where their names do not tell.
    line: str | None = None
    #: The package that brings it; None for ours.
    brought: Brought | None = None


#: By the name that ``--to`` takes.
FORMATS: dict[str, Format] = {
    "smtlib": Format("smt2", "fairdsl.backends.smt:SmtLib", "smt"),
    "vnnlib": Format("vnnlib", "fairdsl.backends.smt:VnnLib", "smt"),
    "interval-job": Format(
        "job", "fairdsl.backends.intervals:IntervalJob", "intervals", r'\s*"schema": "fairdsl\.interval-job/'
    ),
    "forest-job": Format(
        "job", "fairdsl.backends.leaf_boxes:ForestJob", "leaf_boxes", r'\s*"schema": "fairdsl\.forest-job/'
    ),
    "population-job": Format(
        "job", "fairdsl.backends.rates:PopulationJob", "rates", r'\s*"schema": "fairdsl\.population-job/'
    ),
    "gap-job": Format("job", "fairdsl.backends.worst_pairs:GapJob", "smt", r'\s*"schema": "fairdsl\.gap-job/'),
    "subset-sum": Format("json", "fairdsl.backends.subset_sum.encoding:SubsetSumInstance", "rates"),
    "sdimacs": Format("sdimacs", "fairdsl.backends.ssat.files:Sdimacs", "ssat"),
    "mcc": Format("cnf", "fairdsl.backends.ssat.files:Mcc", "ssat", r"c t p?wmc\b"),
    "dimacs": Format("cnf", "fairdsl.backends.ssat.files:Dimacs", "ssat"),
}


def formats() -> Mapping[str, Format]:
    """Ours, and behind them those that other packages bring; what cannot be loaded has no extension."""
    found = dict(FORMATS)
    for one in brought(_GROUP, FORMATS):
        ending, backend, line = "", "", None
        with suppress(Exception):  # whoever asks for it is told
            kind = one.point.load()
            ending, backend, line = str(kind.ending), getattr(kind, "backend", ""), getattr(kind, "line", None)
        found[one.name] = Format(ending, one.point.value, backend, line, one)
    return found


def format_of(path: Path) -> str | None:
    """The format that a file's name, and where needed its beginning, say that it has; None where they say none."""
    known = formats()
    named = [name for name, form in known.items() if path.suffix == f".{form.extension}"]
    if len(named) != 1:
        with opened(path) as file:
            beginning = file.read(_BEGINNING).decode("utf-8", errors="replace")
        marked = [name for name in named or known if _has_line(beginning, known[name].line)]
        named = marked or [name for name in named if known[name].line is None] or named
    return next(iter(named), None)


def _has_line(text: str, pattern: str | None) -> bool:
    return pattern is not None and re.search(f"^{pattern}", text, re.MULTILINE) is not None


def formats_of(backend: str) -> tuple[str, ...]:
    """The formats of files that a backend computes."""
    return tuple(name for name, form in formats().items() if form.backend == backend)
