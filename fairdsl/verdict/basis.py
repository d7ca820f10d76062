"""What a verdict rests on: whose model, read how; whose rows; which arithmetic; which distribution; whose word.

An exact answer about another model or other rows is a wrong answer. So every verdict carries one :class:`Basis`, which
reports print, and which comparisons and later runs can hold against their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from fairdsl.codec import Lower
from fairdsl.ir.population import Population, Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.reading import Reading
from fairdsl.verdict.claims import Claim


class Arithmetic(Enum):
    """Which arithmetic a claim is about; see docs/semantics.md, section 1."""

    #: Real arithmetic on the numbers that the file stores; its rounding is not covered.
    EXACT = "exact"
    #: Real arithmetic and the deployed file's own, rounding included: true of both.
    DEPLOYED = "deployed"
    #: Decisions are exact; the number is that of a random sample.
    ESTIMATE = "estimate"
    #: Numbers are those of a distribution that is simpler than the rows it comes from: bins are means of their rows.
    APPROXIMATE = "approximate"
    #: A black box's own answers, whatever arithmetic it computes them in.
    ANSWERS = "answers"
    #: Whatever arithmetic those computed in whose answers are taken from files.
    CLAIMED = "claimed"


class Word(Enum):
    """Whose word has to be taken."""

    #: Computed or checked here.
    OWN = "own"
    #: A solver's that was run here; its proof was not checked.
    SOLVER = "solver"
    #: Answers in files that somebody else made.
    FILES = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A table whose rows a number is taken over, or a distribution was estimated from."""

    #: The file.
    path: str
    #: Its digest.
    sha256: str
    #: How many rows it has that count.
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherModel:
    """A further model that a formula names."""

    #: Its name in the spec.
    name: str
    #: Digest of its file; None for a model that is written in the spec, or a Python function.
    model: str | None = None
    #: How far the reading of that file was held against it; None where no file is read.
    reading: Reading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a verdict rests on. Engines say ``arithmetic``, ``margin``, ``word``, ``claims``; :meth:`about` the rest."""

    #: Which arithmetic the answer is about.
    arithmetic: Arithmetic = Arithmetic.EXACT
    #: By how much the scores may move at least without changing what was proved; None: not known, or nothing proved.
    margin: Lower | None = None
    #: Whose word it is.
    word: Word = Word.OWN
    #: What is believed because files say it.
    claims: tuple[Claim, ...] = ()
    #: Digest of the model's file; None for a model that is written in the spec, or a Python function.
    model: str | None = None
    #: How far the reading of that file was held against it; None where no file is read.
    reading: Reading | None = None
    #: The further models that a formula names.
    others: tuple[OtherModel, ...] = ()
    #: The table that the distribution was estimated from, or whose rows are counted.
    rows: Source | None = None
    #: The distribution's name in the spec; None: the domain, each individual alike.
    distribution: str | None = None
    #: Whether the number is taken over the rows themselves, and nothing is assumed about anybody else.
    counted: bool = False

    def about(self, problem: Problem, *, answers: bool = False) -> Basis:
        """The same of this problem: its models and its distribution. ``answers``: some model is a black box."""
        model = problem.model
        return replace(
            self.under(problem.population),
            arithmetic=Arithmetic.ANSWERS
            if answers and self.arithmetic is not Arithmetic.ESTIMATE
            else self.arithmetic,
            model=model.sha256,
            reading=model.reading,
            others=tuple(OtherModel(name=one.name, model=one.sha256, reading=one.reading) for one in problem.others),
        )

    def under(self, population: Population | None) -> Basis:
        """The same under a distribution; None: over the domain, each individual alike."""
        sample = None if population is None else population.sample
        return replace(
            self,
            rows=None if sample is None else Source(path=sample.path, sha256=sample.sha256, rows=sample.rows),
            distribution=None if population is None else population.name,
            counted=isinstance(population, Rows),
        )
