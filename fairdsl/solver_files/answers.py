"""Where answers to solver files are found: beside them, or in files and folders that are named.

An answer is what a solver printed. Beside ``NAME.smt2`` it is ``NAME.smt2.answer``, ``.out`` or ``.txt``, or
``NAME.answer``, ``.out`` or ``.txt``; so it is in a folder that is named, whose other files are left alone. A file that
is named is matched by its name in the same way, or is a table: JSON lines ``{"file": ..., "output": ...}``
(``.jsonl``), or CSV with the columns ``file`` and ``output`` (``.csv``).
"""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fairdsl.backends.encoding import Answer, Encoding
from fairdsl.diagnostics import DiagnosticError
from fairdsl.solver_files import errors
from fairdsl.solver_files.manifest import ANSWER_ENDINGS, answer_names

__all__ = ["answers_of"]

_DECISIVE = ("sat", "unsat")
_CONTRADICTED = Answer(status="malformed", detail="it has answers that contradict each other")


def answers_of(
    folder: Path, files: Mapping[str, Mapping[str, Any]], given: Sequence[Path], encoding: Encoding
) -> dict[str, Answer]:
    """The answer to each solver file that has one.

    ``files`` are the solver files, with what the manifest says of each; ``given`` are files with answers, or folders
    of them, and where there are none those in the folder count. Raises DiagnosticError for an answer to no file, or a
    table that cannot be read.
    """
    found: dict[str, list[Answer]] = {}
    names = list(files)
    for name, output in _given(given, names) if given else _beside(folder, names):
        found.setdefault(name, []).append(encoding.answer(output, files[name]))
    return {name: _one(answers) for name, answers in found.items()}


def _one(answers: Sequence[Answer]) -> Answer:
    """Of several answers to a file a decisive one; those that contradict each other are none.

    Their values are kept: a pair that replays is a violation, whoever else says `unsat`.
    """
    numbers = [answer for answer in answers if answer.bounds is not None]
    if numbers:
        return _overlap(numbers)
    decisive = [answer for answer in answers if answer.status in _DECISIVE]
    # Of several `sat` one with values can be replayed.
    fullest = max(decisive or answers[:1], key=lambda answer: len(answer.values))
    if len({answer.status for answer in decisive}) > 1:
        return replace(_CONTRADICTED, values=fullest.values)
    return fullest


def _overlap(answers: Sequence[Answer]) -> Answer:
    """Numbers lie within the bounds of all answers; whoever names a choice is taken for the rest."""
    low = max(answer.bounds[0] for answer in answers if answer.bounds is not None)
    high = min(answer.bounds[1] for answer in answers if answer.bounds is not None)
    if low > high:
        return _CONTRADICTED
    return replace(max(answers, key=lambda answer: len(answer.values)), bounds=(low, high))


def _beside(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        for candidate in answer_names(name):
            path = folder / candidate
            if path.is_file():
                yield name, _text(path)


def _given(paths: Sequence[Path], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    by_answer = {candidate: name for name in names for candidate in answer_names(name)}
    known = frozenset(names)
    for path in paths:
        if path.is_dir():
            yield from _beside(path, names)
        elif path.suffix in (".jsonl", ".csv"):
            for name, output in (_lines if path.suffix == ".jsonl" else _rows)(path):
                base = Path(name).name
                if base not in known:
                    raise DiagnosticError(errors.foreign_answer(str(path), name, names))
                yield base, output
        elif path.name in by_answer:
            yield by_answer[path.name], _text(path)
        else:
            raise DiagnosticError(errors.foreign_answer(str(path), _without_ending(path.name), names))


def _without_ending(name: str) -> str:
    return next((name.removesuffix(ending) for ending in ANSWER_ENDINGS if name.endswith(ending)), name)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """JSON lines; one that is none is an answer to nothing."""
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield _row(path, number, row if isinstance(row, dict) else {})


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    reader = csv.DictReader(_text(path).splitlines(keepends=True))
    try:
        for row in reader:
            yield _row(path, reader.line_num, row)
    except csv.Error as error:
        raise DiagnosticError(errors.no_answers(str(path), reader.line_num)) from error


def _row(path: Path, number: int, row: Mapping[str, object]) -> tuple[str, str]:
    name, output = row.get("file"), row.get("output")
    if not isinstance(name, str) or not isinstance(output, str):
        raise DiagnosticError(errors.no_answers(str(path), number))
    return name, output


def _text(path: Path) -> str:
    """The text, whatever its bytes are: what is no text is no answer. Some shells write UTF-16, with a mark of it."""
    content = path.read_bytes()
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")
