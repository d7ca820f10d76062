"""A contradiction as a folder that shows it again: what was read, what was asked, what was said, by which versions."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairdsl.private_folder import is_private
from fairdsl.report.model import Report
from fairdsl.report.opinion import Opinion
from fairdsl.resources import prelude_files, preset_files
from fairdsl.source.reading import content_of
from fairdsl.source.writing import new_folder, write_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a solver was asked about a demand, and what it printed, by the files' names."""

    files: Mapping[str, bytes]
    outputs: Mapping[str, str]
    #: How the solver was called for each file; none of solvers that fairdsl's own adapters ask.
    commands: Mapping[str, Sequence[str]]


def free_folder(directory: str, name: str) -> str:
    """A folder in ``directory`` that is not there yet."""
    found, number = os.path.join(directory, name), 1
    while os.path.lexists(found):
        number += 1
        found = os.path.join(directory, f"{name}-{number}")
    return found


def write_bundle(
    folder: str, report: Report, property_: str, demand: str, opinion: Opinion, shown: Shown, opened: Sequence[str]
) -> None:
    """Write it: what the check read (``opened``), what was asked, what was said, the report, how to have it again.

    OSError where the folder cannot be written.
    """
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    with new_folder(folder) as root:
        places = _copied(root / "inputs", opened)
        for kind, content in (("files", shown.files), ("outputs", shown.outputs)):
            (root / kind).mkdir()
            for name, each in content.items():
                write_file(root / kind / (name if kind == "files" else f"{name}.out"), each)
        write_file(root / "report.json", report.to_json())
        write_file(root / "versions.txt", _versions(report, opinion))
        write_file(root / "reproduce.sh", _script(report, property_, demand, opinion, shown, places))


def _copied(root: Path, opened: Sequence[str]) -> dict[str, str]:
    """Copy what was read, laid out as it was, and say where each file is within ``root``."""
    own = {str(path) for path in (*prelude_files(), *preset_files())}
    paths = {path: os.path.abspath(path) for path in opened if path not in own and not is_private(Path(path))}
    common = os.path.commonpath([os.path.dirname(path) for path in paths.values()])
    places = {given: os.path.relpath(path, common) for given, path in paths.items()}
    for given, place in places.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        write_file(root / place, content_of(given))
    return places


def _versions(report: Report, opinion: Opinion) -> str:
    known = () if report.asked is None else report.asked.versions
    lines = [("fairdsl", report.fairdsl), (opinion.solver, opinion.version or "not known"), *known]
    return "".join(f"{name} {number}\n" for name, number in lines) + f"{platform.platform()}\n"


def _script(
    report: Report, property_: str, demand: str, opinion: Opinion, shown: Shown, places: Mapping[str, str]
) -> str:
    """The commands: what the solver was asked, then the check."""
    lines = [
        "#!/bin/sh",
        f"# `{demand}` of `{property_}`",
        f"# {opinion.who}: {opinion.said}",
        "# What it printed lies in outputs, what is asked in files, what was checked in inputs.",
        'cd "$(dirname "$0")"',
    ]
    for name, command in shown.commands.items():
        words = [word if os.path.basename(word) not in shown.files else os.path.basename(word) for word in command]
        lines.append(f"(cd files && {shlex.join(words)})  # {name}")
    if report.asked is not None:

        def here(given: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
            return tuple((name, places.get(path, path)) for name, path in given)

        asked = replace(
            report.asked,
            properties=(property_,),
            models=here(report.asked.models),
            data=here(report.asked.data),
        )
        spec = places.get(report.spec.path, report.spec.path)
        lines.append(f"cd inputs && {asked.command(spec, report.seed)}")
    return "\n".join(lines) + "\n"
