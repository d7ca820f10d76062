"""Where answers to solver files are found: beside them, or in files and folders that are named.

An answer is what a solver printed. Beside ``NAME.smt2`` it is ``NAME.smt2.answer``, ``.out`` or ``.txt``, or
``NAME.answer``, ``.out`` or ``.txt``; so it is in a folder that is named, whose other files are left alone. A file that
is named is matched by its name in the same way, or is a table: JSON lines ``{"file": ..., "output": ...}``
(``.jsonl``), or CSV with the columns ``file`` and ``output`` (``.csv``); both may also have ``solver`` and ``seconds``.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, ClassVar

from fairdsl.backends.answer_files import signer
from fairdsl.backends.encoding import Answer, Encoding
from fairdsl.codec import Document, MisfitError, Place, decode, from_plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.enclosure import Enclosure
from fairdsl.solver_files import errors
from fairdsl.solver_files.manifest import ANSWER_ENDINGS, answer_names
from fairdsl.source.reading import content_of
from fairdsl.verdict import Claim

_DECISIVE = ("sat", "unsat")
_CONTRADICTED = Answer(status="malformed", detail="it has answers that contradict each other")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a file says that a solver printed for a solver file."""

    text: str
    #: The name and the digest of the file that it stands in.
    file: str
    sha256: str
    #: Who printed it and the seconds that took, as far as the file tells.
    by: str | None = None
    seconds: float | None = None

    def claim(self, said: str) -> Claim:
        """What is believed where this counts as an answer."""
        return Claim(said=said, file=self.file, sha256=self.sha256, by=self.by, seconds=self.seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLine(Document):
    """A line of a table of answers."""

    SCHEMA: ClassVar[str] = "fairdsl.answer/1"
    HEADED: ClassVar[bool] = False

    #: The solver file's name.
    file: str
    #: What the solver printed.
    output: str
    #: Who printed it.
    solver: str | None = None
    #: How many seconds that took.
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 <= self.seconds < inf:
            raise ValueError("it took no time that there is")


def outputs_of(folder: Path, names: Sequence[str], given: Sequence[Path]) -> dict[str, list[Output]]:
    """What is said to be printed for each of the solver files that are called so.

    ``given`` are files with answers, or folders of them, and where there are none those in the folder count. Raises
    DiagnosticError for an answer to no file, or a table that cannot be read.
    """
    found: dict[str, list[Output]] = {}
    for name, output in _given(given, names) if given else _beside(folder, names):
        found.setdefault(name, []).append(output)
    return found


def answer_to(
    outputs: Sequence[Output], about: Mapping[str, Any], encoding: Encoding
) -> tuple[Answer, tuple[Claim, ...]]:
    """The answer that the outputs come to, and what is believed where it decides.

    ``about`` is what is known of the solver file.
    """
    answers = [encoding.answer(output.text, about) for output in outputs]
    answer = _one(answers)
    said = "value" if answer.bounds is not None else answer.status
    claims = tuple(
        output.claim(said)
        for output, one in zip(outputs, answers, strict=True)
        if one.status == answer.status and (one.bounds is not None or one.status == "unsat")
    )
    return answer, claims


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
    common: Enclosure | None = None
    for bounds in (answer.bounds for answer in answers if answer.bounds is not None):
        common = bounds if common is None else common.common(bounds)
        if common is None:
            return _CONTRADICTED
    return replace(max(answers, key=lambda answer: len(answer.values)), bounds=common)


def _beside(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, Output]]:
    for name in names:
        for candidate in answer_names(name):
            path = folder / candidate
            if path.is_file():
                yield name, _output(path)


def _given(paths: Sequence[Path], names: Sequence[str]) -> Iterator[tuple[str, Output]]:
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
            yield by_answer[path.name], _output(path)
        else:
            raise DiagnosticError(errors.foreign_answer(str(path), _without_ending(path.name), names))


def _without_ending(name: str) -> str:
    return next((name.removesuffix(ending) for ending in ANSWER_ENDINGS if name.endswith(ending)), name)


def _output(path: Path) -> Output:
    """A file that is an answer as a whole."""
    content = content_of(path)
    text = _text(content)
    by, seconds = signer(text)
    return Output(text=text, file=path.name, sha256=sha256(content).hexdigest(), by=by, seconds=seconds)


def _lines(path: Path) -> Iterator[tuple[str, Output]]:
    """JSON lines; one that is none is an answer to nothing."""
    content = content_of(path)
    digest = sha256(content).hexdigest()
    for number, line in enumerate(_text(content).splitlines(), start=1):
        if line.strip():
            try:
                yield _row(path, digest, decode(AnswerLine, line))
            except MisfitError as misfit:
                raise DiagnosticError(errors.no_answers(str(path), number, misfit.said)) from misfit


def _rows(path: Path) -> Iterator[tuple[str, Output]]:
    content = content_of(path)
    digest = sha256(content).hexdigest()
    reader = csv.DictReader(_text(content).splitlines(keepends=True))
    try:
        for row in reader:
            yield _row(path, digest, from_plain(AnswerLine, _typed(row)))
    except MisfitError as misfit:
        raise DiagnosticError(errors.no_answers(str(path), reader.line_num, misfit.said)) from misfit
    except csv.Error as error:
        raise DiagnosticError(errors.no_answers(str(path), reader.line_num, str(error))) from error


def _typed(row: Mapping[str | None, Any]) -> dict[str, Any]:
    """A row of cells, which are all texts, as what they mean; empty ones are left out."""
    if None in row or None in row.values():
        raise Place().misfit("has another number of cells than the first line")
    filled = {str(name): text for name, text in row.items() if text or name == "output"}
    with suppress(ValueError, KeyError):
        filled["seconds"] = float(filled["seconds"])
    return filled


def _row(path: Path, digest: str, line: AnswerLine) -> tuple[str, Output]:
    by, seconds = signer(line.output)
    return line.file, Output(
        text=line.output,
        file=path.name,
        sha256=digest,
        by=line.solver or by,
        seconds=seconds if line.seconds is None else line.seconds,
    )


def _text(content: bytes) -> str:
    """The text, whatever its bytes are: what is not a text is no answer. Some shells write marked UTF-16."""
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")
