"""The contract of those who write solver files: what a file asks, how it is solved, what answers to it mean.

An *encoding* writes a problem as files (``lower``), answers such a file with a solver of ours (``solve``), reads what
any solver printed for it (``answer``), and turns answers into a verdict (``recover``). It offers and refuses as
procedures do (:mod:`fairdsl.backends.contract`). A format is registered by one line in :mod:`fairdsl.backends.formats`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from fairdsl.backends.brought import Brought
from fairdsl.backends.contract import Budget, Observer, Offer, Refusal
from fairdsl.backends.formats import formats
from fairdsl.backends.solved import AnsweredDemand, Asked, Solved
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.options import Options
from fairdsl.replay import on_their_word
from fairdsl.source.reading import content_of
from fairdsl.verdict import Evidence, Verdict


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
    bounds: Enclosure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Solving:
    """How a solver file is to be solved. An encoding reads the budget and what it names in ``options``."""

    #: Time, memory, processes, seed.
    budget: Budget
    #: Where the answer is written; None for the usual place, which for some formats is none.
    output: Path | None = None
    #: Whether to go on from an earlier answer.
    resume: bool = False
    #: Which of ``shards`` parts to solve, from 1.
    shard: int = 1
    #: Into how many parts the file is shared out.
    shards: int = 1
    #: Seconds between two versions of the answer's file.
    checkpoint: float = 5.0


class Encoding(ABC):
    """Writes a problem as solver files, solves them, and reads answers back. Writing is pure and deterministic."""

    #: The format's name, as ``--to`` takes it.
    name: ClassVar[str]
    #: What the manifest says about answers: verdict -> what it takes.
    meaning: ClassVar[Mapping[str, str]]
    #: The fields of :class:`Solving`, and of its budget, that ``solve`` reads beside the time.
    options: ClassVar[frozenset[str]]

    #: The paths of the options of backends (docs/options.md) that the files depend on.
    reads: ClassVar[frozenset[str]] = frozenset()

    @property
    def extension(self) -> str:
        """What the format's files are called behind the dot."""
        return formats()[self.name].extension

    def under(self, options: Options) -> Encoding:
        """The same encoding, with what is set of the options that it ``reads``."""
        return self

    @abstractmethod
    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whether it can express such problems."""

    @abstractmethod
    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """The files; ``asked`` is for those that say what they are about."""

    def beside(self, files: Mapping[str, Mapping[str, Any]], seconds: int) -> Mapping[str, bytes]:
        """What else lies in a folder of these files, for programs that run solvers on all of them; by itself nothing.

        ``files`` are the files by name, and what the manifest says of each; a solver has so many ``seconds`` for one.
        """
        return {}

    @abstractmethod
    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """Answer one file with a solver of ours. DiagnosticError for a file that is none of this format, or damaged."""

    @abstractmethod
    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """What a solver printed for a file, of which the manifest says ``about``; a total function."""

    @abstractmethod
    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """The verdict that the answers, one a file, come to; `sat` only after a replay."""

    @abstractmethod
    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on, and what the files ask compared with the question."""


def encoding_of(name: str) -> Encoding:
    """The encoding of a format, by its name; its backend is imported now. KeyError for a name that there is not.

    DiagnosticError (E0628) for one of another package that cannot be loaded.
    """
    form = formats()[name]
    if form.brought is not None:
        return OutsideEncoding(form.brought)
    module, _, kind = form.encoding.partition(":")
    encoding: Encoding = getattr(import_module(module), kind)()
    return encoding


class OutsideEncoding(Encoding):
    """An encoding of another package: what it makes of answers is its word, pairs are replayed, mistakes are named."""

    def __init__(self, brought: Brought, encoding: Encoding | None = None) -> None:
        self._brought = brought
        with brought.named_when_it_fails():
            self._theirs = encoding or brought.point.load()()
            if not isinstance(self._theirs, Encoding):
                raise TypeError(f"`{brought.point.value}` is not a `fairdsl.backends.encoding.Encoding`")
        # Of a class these are facts of all its objects; here they are another object's.
        for name in ("meaning", "options", "reads"):
            setattr(self, name, getattr(self._theirs, name))
        self.name = brought.name  # type: ignore[misc]

    def under(self, options: Options) -> Encoding:
        """The same, with what is set."""
        with self._brought.named_when_it_fails():
            return OutsideEncoding(self._brought, self._theirs.under(options))

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Their offer."""
        with self._brought.named_when_it_fails():
            return self._theirs.offer(problem)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """Their files."""
        with self._brought.named_when_it_fails():
            return self._theirs.lower(problem, asked)

    def beside(self, files: Mapping[str, Mapping[str, Any]], seconds: int) -> Mapping[str, bytes]:
        """What they write."""
        with self._brought.named_when_it_fails():
            return self._theirs.beside(files, seconds)

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By their solver."""
        with self._brought.named_when_it_fails():
            return self._theirs.solve(path, how, observer)

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """What they read; malformed where they cannot."""
        try:
            return self._theirs.answer(output, about)
        except Exception as error:
            return Answer(status="malformed", detail=self._brought.failed(error))

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """Their verdict, held to what verdicts of fairdsl promise."""
        with self._brought.named_when_it_fails():
            verdict = self._theirs.recover(problem, lowered, answers)
            return on_their_word(problem, verdict, self.name, self._brought.package)

    def evidence(self, problem: Problem) -> Evidence:
        """Theirs."""
        with self._brought.named_when_it_fails():
            return self._theirs.evidence(problem)


class Parts(Protocol):
    """The partitions of a problem, by number from 0."""

    @property
    def count(self) -> int:
        """How many there are."""

    def order(self, seed: int) -> Iterator[int]:
        """All of them, in an order that the seed alone determines."""

    def volume(self, index: int) -> Fraction:
        """A partition's share of all units."""

    def problem(self, index: int) -> Problem:
        """The problem on that partition."""

    def words(self, index: int) -> dict[str, str]:
        """Its values of the attributes that are cut, as the spec writes them."""


@runtime_checkable
class ByParts(Protocol):
    """An encoding that writes a question partition by partition, too."""

    def parts(self, problem: Problem, size: int) -> Parts:
        """The problem with each attribute cut into chunks of at most ``size`` values."""

    def on_part(self, box: Mapping[str, str]) -> Encoding:
        """The same encoding, whose files say that they are about this partition: its values, by attribute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Believing:
    """How far files are believed that state their demands, and hold results of a long computation."""

    #: Bytes that reading them may use.
    memory: int
    #: The digests of the files that the spec comes to; None where no spec is there to derive them from.
    derived: frozenset[str] | None = None
    #: Whether all that they claim is computed again.
    recheck: bool = False
    #: Of the sample that is computed again otherwise; None: nobody can know it before.
    seed: int | None = None

    def derives(self, file: Path) -> bool:
        """Whether the spec comes to this file."""
        return self.derived is not None and sha256(content_of(file)).hexdigest() in self.derived


@runtime_checkable
class Standalone(Protocol):
    """An encoding whose files state their demands, so that answers become a report without spec and manifest."""

    def results(self, paths: Sequence[Path], how: Believing) -> Sequence[AnsweredDemand]:
        """What the files and answers in these places come to, all of one spec.

        DiagnosticError where they do not fit together.
        """
