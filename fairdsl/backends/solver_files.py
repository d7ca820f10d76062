"""The contract of those who write solver files: what a file is about, what it asks, what answers to it mean.

An *encoding* writes a problem as files, for any solver that reads their format, and reads the answers back. It offers
and refuses as procedures do (:mod:`fairdsl.backends.contract`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Threshold
from fairdsl.verdict import Evidence, Verdict

__all__ = ["Answer", "Asked", "ByParts", "Encoding", "Format", "Grouping", "Lowered"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format: its ``--to`` name, extension and comment token."""

    name: str
    extension: str
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A demand in the spec's words, for files whose answers become a report without the spec.

    ``demand`` is the line as written, ``metric`` what it is about; ``model_path`` and ``model_sha256`` are
    None for a model written in the spec.
    """

    spec: str
    spec_sha256: str
    title: str | None
    model: str
    model_path: str | None
    model_sha256: str | None
    property: str
    sentence: str
    clauses: tuple[str, ...]
    formula: str
    demand: str
    metric: str
    threshold: Threshold | None
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A problem in a target language: the files' content by name, and what leads the answers home.

    ``settled_by``: alternatives; answers to every file of one of them, `unsat` where answers are words, settle the
    problem. ``described`` is what the manifest says about a file beside its hash, as JSON has it. Where answers are
    numbers, ``quantities`` says what each of them is, and ``combined`` what they make together.
    """

    files: Mapping[str, bytes]
    settled_by: tuple[tuple[str, ...], ...] = ()
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    quantities: tuple[Mapping[str, Any], ...] = ()
    combined: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A solver's answer to one file: status ``sat | unsat | value | unknown | malformed | crashed``, its model.

    Of a ``value``, ``bounds`` are two numbers that it lies between, as wide as the solver's arithmetic and its print
    leave it.
    """

    status: str
    values: Mapping[str, str] = field(default_factory=dict)
    detail: str = ""
    bounds: tuple[Fraction, Fraction] | None = None


class Encoding(Protocol):
    """Writes a problem as solver files; pure, deterministic, and able to read answers back."""

    name: str
    format: Format
    #: What the manifest says about answers: verdict -> what it takes.
    meaning: Mapping[str, str]

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whether it can express such problems."""

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """The files; ``asked`` is for those that say what they are about."""

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on, and what the files ask compared with the question."""

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """What a solver printed for a file, of which the manifest says ``about``; a total function."""

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """The verdict that the answers, one a file, come to; `sat` only after a replay."""


@runtime_checkable
class ByParts(Protocol):
    """An encoding that writes a question partition by partition, too."""

    def on_part(self, box: Mapping[str, str]) -> Encoding:
        """The same encoding, whose files say that they are about this partition: its values, by attribute."""


@runtime_checkable
class Grouping(Protocol):
    """An encoding that asks about groups, one by one (`enumerate`) or for the extreme ones (`learn`)."""

    def grouping(self, groups: str) -> Encoding:
        """The same encoding, which does so."""
