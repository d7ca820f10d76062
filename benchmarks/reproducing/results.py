"""Rows of a reproduction, kept part by part as CSV and shown as Markdown.

A run goes on where it stopped: after the last part that is whole and, in parts that say what they have done with
(:class:`Done`), after the last network.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from reproducing.plots import Axes, Drawn, plot

__all__ = ["Done", "Part", "Row", "Setting", "run"]

NOTHING, YES, NO = "", "yes", "no"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What all parts of a run go by; ``data`` is the folder of public tables and measured peers, if there is one."""

    quick: bool
    seed: int = 0
    data: Path | None = None
    #: Rows of an invented table, or drawn from a public one.
    rows: int = 0
    bins: int = 4
    #: Networks that are reproduced; none: all of them.
    only: tuple[str, ...] = ()
    #: What a part had done with when its last run stopped.
    done: frozenset[str] = frozenset()

    @property
    def drawn(self) -> int:
        return self.rows or (1000 if self.quick else 5000)


@dataclass(frozen=True)
class Done:
    """The rows before it are all that there are of this: another run need not make them again."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Row:
    """One cell of a table, or one statement of a figure.

    ``other`` is what stands against ``ours`` and ``whose`` it is: a number of the paper, of the tool as measured, exact
    arithmetic, or the statement that the paper draws. ``agrees`` is empty where nothing stands against it.
    """

    what: str
    ours: str
    other: str = ""
    whose: str = ""
    agrees: str = NOTHING
    reason: str = ""
    #: What the row has in the part's figure, as JSON.
    figure: str = ""

    @classmethod
    def held(cls, what: str, ours: str, other: str, whose: str, agrees: bool, reason: str = "") -> Row:
        """A row that was compared; the reason is shown where it does not agree."""
        why = NOTHING if agrees else reason
        return cls(what=what, ours=ours, other=other, whose=whose, agrees=YES if agrees else NO, reason=why)

    def drawn(self, *points: Drawn) -> Row:
        """The same with numbers of the part's figure."""
        return replace(self, figure=json.dumps(points))


@dataclass(frozen=True, kw_only=True)
class Part:
    """One table or figure: its rows, what is said above them, and the axes where it is drawn."""

    name: str
    title: str
    note: str
    rows: Callable[[Setting], Iterator[Row | Done]]
    axes: Axes | None = None


def run(paper: str, title: str, parts: Sequence[Part], setting: Setting, output: Path) -> Path:
    """Runs the parts that ``output`` does not have yet, and writes the page about all of them.

    Raises ValueError where the folder holds a run with other settings.
    """
    folder = output / paper
    folder.mkdir(parents=True, exist_ok=True)
    kept, said = folder / "setting.json", json.dumps(_said(setting), indent=2) + "\n"
    if kept.exists() and kept.read_text(encoding="utf-8") != said:
        raise ValueError(f"{folder} holds a run with other settings: choose another --output, or remove the folder")
    kept.write_text(said, encoding="utf-8")
    for number, part in enumerate(parts, 1):
        path = folder / f"{part.name}.csv"
        if path.exists():
            print(f"[{number}/{len(parts)}] {part.title}: kept", file=sys.stderr, flush=True)
            continue
        start = time.process_time()
        half = path.with_suffix(".half")
        done, found = _begun(half)
        for row in part.rows(replace(setting, done=frozenset(done))):
            if isinstance(row, Done):
                done.append(row.name)
                _put(half, json.dumps({"done": done, "rows": [asdict(each) for each in found]}))
                continue
            found.append(row)
            print(f"[{number}/{len(parts)}] {part.title}: {row.what}", file=sys.stderr, flush=True)
        _write(path, found)
        half.unlink(missing_ok=True)
        taken = time.process_time() - start
        print(f"[{number}/{len(parts)}] {part.title}: {taken:.1f} CPU s", file=sys.stderr, flush=True)
    for part in parts:
        if part.axes is not None:
            _plot(part.axes, folder / f"{part.name}.csv")
    page = folder / "README.md"
    page.write_text(_page(paper, title, parts, folder, setting), encoding="utf-8")
    return page


def _said(setting: Setting) -> dict[str, object]:
    """Where a folder lies says nothing about what is in it."""
    said = {**asdict(setting), "data": setting.data is not None}
    del said["done"]
    return said if setting.only else {name: value for name, value in said.items() if name != "only"}


def _begun(half: Path) -> tuple[list[str], list[Row]]:
    """What a run that was stopped in the middle of a part had done with, and its rows about that."""
    if not half.exists():
        return [], []
    kept = json.loads(half.read_text(encoding="utf-8"))
    return kept["done"], [Row(**row) for row in kept["rows"]]


def _write(path: Path, rows: Sequence[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    _put(path, text.getvalue())


def _put(path: Path, text: str) -> None:
    """The whole file or none of it."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _read(path: Path) -> list[Row]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Row(**row) for row in csv.DictReader(file)]


def _plot(axes: Axes, path: Path) -> None:
    """The figure beside the table of its numbers."""
    points = [point for row in _read(path) if row.figure for point in json.loads(row.figure)]
    if points and not plot(points, axes, path.with_suffix(".svg")):
        print(f"{path.stem}: no plot (pip install 'fairdsl[plots]')", file=sys.stderr, flush=True)


def _page(paper: str, title: str, parts: Sequence[Part], folder: Path, setting: Setting) -> str:
    tables = "tables and networks of the folder, invented where it has none" if setting.data else "all is invented"
    lines = [f"# {title}, reproduced", ""]
    asked = f"reproduce.py {paper}{' --data FOLDER' if setting.data else ''}{' --quick' if setting.quick else ''}"
    asked += f" --only {' '.join(setting.only)}" if setting.only else ""
    lines += [f"`python benchmarks/{asked}`: {tables}; {setting.drawn:,} rows a table, seed {setting.seed}."]
    lines += ["", "| part | agree | differ | nothing to compare with |", "| --- | ---: | ---: | ---: |"]
    read = [(part, _read(folder / f"{part.name}.csv")) for part in parts]
    for part, rows in read:
        counts = [sum(row.agrees == each for row in rows) for each in (YES, NO, NOTHING)]
        lines.append(f"| {part.title} | {' | '.join(map(str, counts))} |")
    for part, rows in read:
        lines += ["", f"## {part.title}", "", part.note, ""]
        lines += ["| | fairdsl | beside it | whose | agrees | why not |", "| --- | ---: | ---: | --- | --- | --- |"]
        for row in rows:
            shown = (row.what, row.ours, row.other, row.whose, row.agrees, row.reason)
            cells = [cell.replace("|", "\\|") for cell in shown]
            lines.append(f"| {' | '.join(cells)} |")
        if (folder / f"{part.name}.svg").is_file():
            lines += ["", f"![{part.title}]({part.name}.svg)"]
    return "\n".join(lines) + "\n"
