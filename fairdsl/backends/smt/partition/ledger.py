"""The ledger: every partition's verdict as a line of JSON, written as it falls, and read to go on from.

The first line says what the verdicts are about: the question (by a hash of domain, question and model), how
it was cut, in which order. A run that is killed leaves at most its last line torn; it is dropped, and its
partition is asked again. So are partitions that were left unknown.

What is believed of a file: nothing that no run writes; violations are replayed, and come before whatever else it says
of their partition; what bounds proved is bounded again; what solvers proved is taken as it stands, which the verdict's
basis says, unless the file lies in a private folder of the user's cache.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from sys import intern
from typing import Any

from fairdsl.backends.smt.bound_filters.boxes import Box
from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition import errors
from fairdsl.backends.smt.partition.lines import (
    LedgerHead,
    PairLine,
    Record,
    SplitLine,
    place_of,
    record_line,
    said_place,
    verdict_line,
)
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.codec import MisfitError, from_plain, plain
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Category, Domain, Point
from fairdsl.ir.problem import Problem
from fairdsl.private_folder import is_private
from fairdsl.source.json_text import read_json
from fairdsl.source.numbers import read_number
from fairdsl.source.reading import opened
from fairdsl.source.writing import Appended, append, appended

_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Earlier:
    """What decided a partition in an earlier run, and its ``undecided`` of ``units`` (0 of 0: it was not bounded)."""

    by: str
    units: int
    undecided: int
    #: A digest of the partition as the line describes it (:func:`~.lines.place_of`).
    place: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """A pair that broke the demand in an earlier run, and what else that found of the partition."""

    a: Point
    b: Point
    earlier: Earlier


@dataclass(slots=True)
class Ledger:
    """A file of verdicts; without a path everything is kept out of files.

    ``held`` and ``splits`` are what an earlier run wrote, by partition. Of violations, whose pairs are long, it is
    kept only where they stand in the file.
    """

    path: str | None
    domain: Domain
    cut: tuple[int, ...]
    held: dict[str, Earlier] = field(default_factory=dict)
    splits: dict[str, int] = field(default_factory=dict)
    #: The digest of what stood in the file.
    sha256: str = ""
    _violated: dict[str, int] = field(default_factory=dict)
    _file: Appended | None = None

    @classmethod
    def open(cls, request: Partition, problem: Problem, seed: int, cut: tuple[int, ...], total: int | None) -> Ledger:
        """Begin the ledger or go on from it. DiagnosticError where it exists, is missing, or does not fit."""
        ledger = cls(request.ledger, problem.domain, cut)
        if request.ledger is None:
            return ledger
        head = _head(request, problem, seed, cut, total)
        path = Path(request.ledger)
        if path.exists() and not request.resume:
            raise DiagnosticError(errors.ledger_exists(request.ledger))
        try:
            if request.resume:
                if not path.exists():
                    raise DiagnosticError(errors.nothing_to_resume(request.ledger))
                ledger._file = appended(path, new=False)
                _lock(ledger._file)
                ledger._read(path, head)
            else:
                ledger._file = appended(path, new=True)
                _lock(ledger._file)
                ledger._write(plain(head))
        except OSError as error:
            ledger.close()
            raise DiagnosticError(errors.cannot_write(request.ledger, error)) from error
        except DiagnosticError:
            ledger.close()
            raise
        return ledger

    def add(self, record: Record) -> None:
        """Write a verdict, unless it stands there already."""
        if self._file is None:
            return
        held = self.held.get(record.key)
        stands = {
            Status.HOLDS: held is not None and held.by == record.by,
            Status.VIOLATED: record.key in self._violated,
            Status.UNKNOWN: False,
        }
        if not stands[record.status]:
            self._write(record_line(record, self.domain, self.cut))

    def held_on(self, key: str, box: Box, volume: Fraction, units: int) -> Earlier | None:
        """What the file says holds of this partition; DiagnosticError where its line describes another one.

        ``units``: those of the network.
        """
        held = self.held.get(key)
        if held is None:
            return None
        other = held.place != place_of(box, volume, self.domain, self.cut)
        if other or held.units not in (0, units):
            what = "another box than that partition is" if other else f"{held.units} units, and the network has {units}"
            raise DiagnosticError(errors.unfitting(str(self.path), f"its line on partition `{key}` has {what}"))
        return held

    @property
    def private(self) -> bool:
        """Whether the file lies where nobody else can have written it."""
        return self.path is not None and is_private(Path(self.path))

    def forget(self, key: str) -> None:
        """The violation that stands there is none: whatever the partition is found to be is written."""
        self._violated.pop(key, None)

    def violation(self, key: str) -> Broken | None:
        """The pair that an earlier run found in the partition, to be replayed; None where it found none."""
        start = self._violated.get(key)
        if start is None or self.path is None:
            return None
        with opened(self.path) as file:
            file.seek(start)
            line = verdict_line(read_json(file.readline()))
        assert line.witness is not None, "it was read before"
        return Broken(*_points(self.domain, line.witness), Earlier(line.by, line.units, line.undecided_units))

    def split(self, key: str, attribute: int) -> None:
        """Note that a partition was halved on an attribute."""
        self._write(plain(SplitLine(partition=key, split=self.domain.attributes[attribute].name)))

    def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # of a line that could not be written, which was told
                file.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is None or self.path is None:
            return
        try:
            append(self._file, _written(line))
        except OSError as error:
            raise DiagnosticError(errors.cannot_write(self.path, error)) from error

    def _read(self, path: Path, head: LedgerHead) -> None:
        """Take in what stands there, line by line, and cut off a torn last one."""
        whole, text, digest = 0, b"", sha256()
        with opened(path) as file:
            for number, text in enumerate(file, start=1):
                if not text.endswith(b"\n"):
                    break
                line = _parsed(text, path, number)
                if number == 1:
                    _same(head, line, path)
                if number > 1:
                    try:
                        self._take(line, whole)
                    except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
                        said = type(error) in (ValueError, TypeError, MisfitError)
                        why = f": {error}" if said else ""
                        reason = f"line {number} is not a verdict that a run writes{why}"
                        raise DiagnosticError(errors.unfitting(str(path), reason)) from None
                whole += len(text)
                digest.update(text)
        self.sha256 = digest.hexdigest()
        assert self._file is not None, "it is open for what will be found"
        if not whole and not _written(plain(head)).startswith(text):  # else its first line was cut off as a run ended
            _same(head, None, path)
        self._file.truncate(whole)
        self._file.seek(whole)
        if not whole:
            self._write(plain(head))

    def _take(self, line: Mapping[str, Any], start: int) -> None:
        """Remember what a line, which begins at byte ``start``, says of its partition; later lines replace earlier."""
        if "split" in line:
            halved = from_plain(SplitLine, line)
            attribute = self.domain.index(halved.split)
            if attribute not in self.cut:
                raise ValueError("what is compared is never cut")
            self.splits[halved.partition] = attribute
            return
        found = verdict_line(line)
        key = found.partition
        for pair in (found.witness, found.disagreement):
            if pair is not None:
                _points(self.domain, pair)
        match found.verdict:
            case Status.HOLDS:
                self.held[key] = Earlier(intern(found.by), found.units, found.undecided_units, said_place(line))
            case Status.VIOLATED:
                self._violated[key] = start
            case Status.UNKNOWN:
                pass  # asked again


def _written(line: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(line, ensure_ascii=False)}\n".encode()


def _parsed(text: bytes, path: Path, number: int) -> Any:
    try:
        return read_json(text)
    except ValueError:
        raise DiagnosticError(errors.unfitting(str(path), f"line {number} is not JSON")) from None


def fingerprint(problem: Problem) -> str:
    """A hash of everything that the answer depends on: domain, question and model."""
    layers = [(layer.weight.digest, layer.bias.digest, layer.slope.digest) for layer in problem.model.layers]
    model = problem.model
    parts = (problem.domain, problem.question, model.inputs, model.rule, model.logits, layers)
    return sha256(repr(parts).encode()).hexdigest()


def _head(request: Partition, problem: Problem, seed: int, cut: tuple[int, ...], total: int | None) -> LedgerHead:
    return LedgerHead(
        property=problem.name,
        question=fingerprint(problem),
        model=problem.model.sha256,
        size=request.size,
        order=request.order,
        seed=seed,
        partitions=total,
        attributes=tuple(problem.domain.attributes[index].name for index in cut),
    )


def _same(head: LedgerHead, line: object, path: Path) -> None:
    """DiagnosticError where the first line is not that of this run."""
    try:
        found = from_plain(LedgerHead, line)
    except MisfitError as misfit:
        reason = f"it does not begin as a ledger of partitions does: {misfit.said}"
        raise DiagnosticError(errors.unfitting(str(path), reason)) from None
    if found != head:
        raise DiagnosticError(errors.unfitting(str(path), _difference(plain(found), plain(head))))


def _difference(found: Mapping[str, Any], head: Mapping[str, Any]) -> str:
    for name in ("property", "size", "order", "seed", "attributes", "partitions"):
        if found.get(name) != head.get(name):
            return f"its `{name}` is {json.dumps(found.get(name))}, and this run's is {json.dumps(head.get(name))}"
    another = "model file" if found.get("model") != head.get("model") else "domain, question or decision rule"
    return f"it is about another {another}"


def _points(domain: Domain, pair: PairLine) -> tuple[Point, Point]:
    return _point(domain, pair.a), _point(domain, pair.b)


def _point(domain: Domain, values: Mapping[str, Any]) -> Point:
    return tuple(_value(attribute, values[attribute.name]) for attribute in domain.attributes)


def _value(attribute: Attribute, value: object) -> Fraction:
    """The number that a line writes as a whole number, as ``p/q`` or by the name of a category."""
    if isinstance(attribute.type, Category):
        return {entry.name: Fraction(entry.code) for entry in attribute.type.values}[str(value)]
    if not _NUMBER.fullmatch(str(value)):
        raise ValueError(f"{attribute.name} has no number")
    return read_number(str(value))


def _lock(file: Appended) -> None:
    """Keep other runs from writing into the file, where the system can; OSError if one does already."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(error.errno, "another run is writing into it") from error
    except OSError:
        return  # a file system without locks
