"""The ledger: every partition's verdict as a line of JSON, written as it falls, and read to go on from.

The first line says what the verdicts are about: the question (by a hash of domain, question and model), how
it was cut, in which order. A run that is killed leaves at most its last line torn; it is dropped, and its
partition is asked again. So are partitions that were left unknown.
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
from typing import Any, TextIO

from fairdsl.backends.contract import Partition
from fairdsl.backends.smt.partition import errors
from fairdsl.backends.smt.partition.record import Record, record_line
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Category, Domain, Point
from fairdsl.ir.problem import Problem

__all__ = ["SCHEMA", "Earlier", "Ledger", "fingerprint"]

SCHEMA = "fairdsl.partitions/1"

_NUMBER = re.compile(r"-?[0-9]+(/[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A decided partition of an earlier run. ``pair`` is its violation, to be replayed again."""

    status: Status
    by: str
    undecided: int
    pair: tuple[Point, Point] | None


@dataclass(slots=True)
class Ledger:
    """A file of verdicts; without a path everything is kept out of files."""

    path: str | None
    domain: Domain
    cut: tuple[int, ...]
    earlier: dict[str, Earlier] = field(default_factory=dict)
    splits: dict[str, int] = field(default_factory=dict)
    _file: TextIO | None = None

    @classmethod
    def open(cls, request: Partition, problem: Problem, seed: int, cut: tuple[int, ...], total: int | None) -> Ledger:
        """Begin the ledger or go on from it. DiagnosticError where it exists, is missing, or does not fit."""
        ledger = cls(request.ledger, problem.domain, cut)
        if request.ledger is None:
            return ledger
        header = _header(request, problem, seed, cut, total)
        path = Path(request.ledger)
        if path.exists() and not request.resume:
            raise DiagnosticError(errors.ledger_exists(request.ledger))
        try:
            if request.resume:
                if not path.exists():
                    raise DiagnosticError(errors.nothing_to_resume(request.ledger))
                ledger._file = path.open("a", encoding="utf-8")
                _lock(ledger._file)
                ledger._read(path, header)
            else:
                ledger._file = path.open("x", encoding="utf-8")
                _lock(ledger._file)
                ledger._write(header)
        except OSError as error:
            ledger.close()
            raise DiagnosticError(errors.cannot_write(request.ledger, error.strerror or str(error))) from error
        except DiagnosticError:
            ledger.close()
            raise
        return ledger

    def add(self, record: Record) -> None:
        """Write a verdict."""
        self._write(record_line(record, self.domain, self.cut))

    def split(self, key: str, attribute: int) -> None:
        """Note that a partition was halved on an attribute."""
        self._write({"partition": key, "split": self.domain.attributes[attribute].name})

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
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise DiagnosticError(errors.cannot_write(self.path, error.strerror or str(error))) from error

    def _read(self, path: Path, header: Mapping[str, Any]) -> None:
        """Take in what stands there, and cut off a torn last line."""
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        lines = []
        for number, text in enumerate(whole.splitlines(), start=1):
            try:
                lines.append(json.loads(text))
            except (ValueError, RecursionError):
                raise DiagnosticError(errors.unfitting(str(path), f"line {number} is no JSON")) from None
        if not lines or lines[0] != header:
            raise DiagnosticError(errors.unfitting(str(path), _difference(lines[0] if lines else None, header)))
        for number, line in enumerate(lines[1:], start=2):
            try:
                self._take(line)
            except (KeyError, ValueError, TypeError, AttributeError, ArithmeticError):
                raise DiagnosticError(errors.unfitting(str(path), f"line {number} is no verdict")) from None
        if whole != content:
            with path.open("rb+") as file:
                file.truncate(len(whole))

    def _take(self, line: Mapping[str, Any]) -> None:
        key = str(line["partition"])
        if "split" in line:
            attribute = self.domain.index(line["split"])
            if attribute not in self.cut:
                raise ValueError("what is compared is never cut")
            self.splits[key] = attribute
            return
        status = Status(line["verdict"])
        if status is Status.UNKNOWN:
            return
        undecided, witness = int(line["undecided_units"]), line.get("witness")
        if not 0 <= undecided <= int(line["units"]):
            raise ValueError("more units are undecided than there are")
        self.earlier[key] = Earlier(
            status=status,
            by=str(line["by"]),
            undecided=undecided,
            pair=None if witness is None else (_point(self.domain, witness["a"]), _point(self.domain, witness["b"])),
        )


def fingerprint(problem: Problem) -> str:
    """A hash of everything that the answer depends on: domain, question and model."""
    layers = [(layer.weight.digest, layer.bias.digest, layer.slope.digest) for layer in problem.model.layers]
    model = problem.model
    parts = (problem.domain, problem.question, model.inputs, model.rule, model.logits, layers)
    return sha256(repr(parts).encode()).hexdigest()


def _header(
    request: Partition, problem: Problem, seed: int, cut: tuple[int, ...], total: int | None
) -> Mapping[str, Any]:
    return {
        "schema": SCHEMA,
        "property": problem.name,
        "question": fingerprint(problem),
        "model": problem.model.sha256,
        "size": "adaptive" if request.size is None else request.size,
        "order": request.order.value,
        "seed": seed,
        "partitions": total,
        "attributes": [problem.domain.attributes[index].name for index in cut],
    }


def _difference(found: object, header: Mapping[str, Any]) -> str:
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        return "it does not begin as a ledger of partitions does"
    for name, wanted in header.items():
        if found.get(name) != wanted:
            return f"its `{name}` is {json.dumps(found.get(name))}, and this run's is {json.dumps(wanted)}"
    return "its first line has more in it than this version writes"


def _point(domain: Domain, values: Mapping[str, Any]) -> Point:
    return tuple(_value(attribute, values[attribute.name]) for attribute in domain.attributes)


def _value(attribute: Attribute, value: object) -> Fraction:
    """The number that a line writes as a whole number, as ``p/q`` or by the name of a category."""
    if isinstance(attribute.type, Category):
        return {entry.name: Fraction(entry.code) for entry in attribute.type.values}[str(value)]
    if not _NUMBER.fullmatch(str(value)):
        raise ValueError(f"{attribute.name} has no number")
    return Fraction(str(value))


def _lock(file: TextIO) -> None:
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
