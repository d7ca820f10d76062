"""Verdicts: one closed union, pure data. A verdict is not a truth value.

docs/semantics.md says what each number means; docs/architecture.md what each verdict rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Annotated, ClassVar, NoReturn

from fairdsl.codec import KEYED, Ends, Lower, Upper
from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Domain
from fairdsl.verdict.basis import Basis
from fairdsl.verdict.deciders import ByDecider, DifferingRow
from fairdsl.verdict.estimate import Estimate
from fairdsl.verdict.named import Individual, Interval, Named, Restriction, cell_of
from fairdsl.verdict.rates import Part, Rate

__all__ = [
    "Among",
    "Coverage",
    "Ended",
    "Estimated",
    "Evidence",
    "Fidelity",
    "Holds",
    "Reason",
    "Refused",
    "Region",
    "Replay",
    "Shares",
    "Tally",
    "Unknown",
    "Value",
    "Verdict",
    "Violated",
    "Within",
    "Witness",
    "is_vacuous",
]


_EXACT = Basis()


class Fidelity(Enum):
    """What a chain of passes did to the question (or an engine to its answer)."""

    EXACT = "exact"  # the very question
    WIDENS = "widens"  # more behaviours than the question has: `holds` is safe, `violated` needs a replay
    NARROWS = "narrows"  # fewer behaviours: `violated` is safe, `holds` is not


class Reason(Enum):
    """Why a verdict is unknown."""

    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"  # by the user; what was found until then stands
    MEMORY_OUT = "memory_out"
    INCOMPLETE = "incomplete"  # the engine finished without deciding, as search does
    NUMERIC_GAP = "numeric_gap"  # exact arithmetic and the deployed float32 disagree
    REPLAY_FAILED = "replay_failed"
    MALFORMED = "malformed"  # a solver's output was not understood
    ENGINE_CRASHED = "engine_crashed"
    CONTRADICTION = "contradiction"  # two engines came to verdicts that cannot both be true
    UNDEFINED = "undefined"  # the number is, or may be, a quotient of zeros


class _NoTruthValue:
    """A mixin: verdicts are told apart with ``match``, never with ``if verdict``."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is not a truth value; match on its class")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many partitions, and which share of all units lies in them."""

    count: int = 0
    volume: Fraction = Fraction(0)

    def __add__(self, other: Tally) -> Tally:
        return Tally(count=self.count + other.count, volume=self.volume + other.volume)


_NONE = Tally()


class Ended(Enum):
    """Why some partitions were not asked."""

    VIOLATION = "violation"  # one was found, and that was enough
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    FIRST = "first"  # only so many were to be asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of the partitions of a question. Number and volume say different things: partitions are unequal.

    There are ``total`` partitions (None: they are made on the way), cut by attributes of more than ``size``
    values (None: as needed); ``ended`` says why not all of them were asked, ``reasons`` why some are unknown.
    ``pruned_only`` is part of ``unknown``: what holds of a network with units removed, and so of no part of
    the model; ``networks`` pruned ones were written into ``network_folder``, where ``networks_kept`` of earlier runs
    stay. ``by`` counts the decided ones by
    what decided them. ``compression`` is the mean share of units that bounds decide, so that no solver has to
    consider them. Volumes are of the product of value sets, before ``where`` and further conditions.
    """

    size: int | None
    total: int | None
    holds: Tally
    violated: Tally
    unknown: Tally
    pruned_only: Tally = _NONE
    by: Annotated[tuple[tuple[str, int], ...], KEYED] = ()
    compression: Fraction | None = None
    ledger: str | None = None
    ended: Ended | None = None
    reasons: Annotated[tuple[tuple[Reason, int], ...], KEYED] = ()
    networks: int = 0
    network_folder: str | None = None
    networks_kept: int = 0

    @property
    def decided(self) -> Tally:
        """Those with an answer."""
        return self.holds + self.violated

    @property
    def asked(self) -> Tally:
        """Those that had their turn."""
        return self.decided + self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Who answered and what the answer rests on, in a sentence. Without a ``backend`` nobody was asked yet.

    ``vacuous`` says that the engine found no admissible pair at all: whatever holds, holds of nobody.
    ``coverage`` is there where the question was asked partition by partition. ``basis`` says what it is about and whose
    word it is.
    """

    backend: str
    method: str
    fidelity: Fidelity = Fidelity.EXACT
    notes: tuple[str, ...] = ()
    vacuous: bool = False
    coverage: Coverage | None = None
    basis: Basis = _EXACT


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A pair evaluated on the original model.

    ``exact`` says whether the pair violates the demand in exact arithmetic; ``float32`` whether it does
    in the deployed file's own arithmetic (None where the model is written in the spec and no file is
    deployed). Scores are within ``score_error`` of the exact ones; it is 0 for models whose scores are
    rational. Decisions are outcomes by name, ``undecided`` where they stay open. ``asked``: the model is a black box,
    and in place of exact arithmetic stands what it answers about each of the two alone.
    """

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("agrees",)

    exact: bool
    float32: bool | None
    scores_a: tuple[Fraction, ...]
    scores_b: tuple[Fraction, ...]
    decision_a: str
    decision_b: str
    float32_decisions: tuple[str, str] | None = None
    score_error: Upper = Fraction(0)
    asked: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both arithmetics call the pair a violation."""
        return self.exact and self.float32 is not False


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Two individuals, checked against domain, target and similarity, with their replay."""

    a: Individual
    b: Individual
    replay: Replay

    @property
    def differing(self) -> tuple[str, ...]:
        """The attributes in which the two are not the same."""
        return tuple(name for name, value in self.a.items() if value != self.b[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds(_NoTruthValue):
    """No admissible pair violates the demand (or: the value meets the threshold)."""

    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated(_NoTruthValue):
    """Witnesses whose replays succeeded, at least one for pairs; none where a number was judged."""

    witnesses: tuple[Witness, ...]
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(_NoTruthValue):
    """Not decided, and why; ``witnesses`` are the pairs on which the arithmetics disagree, ``differing`` such rows."""

    reason: Reason
    detail: str
    evidence: Evidence
    witnesses: tuple[Witness, ...] = ()
    low: Lower | None = None
    high: Upper | None = None
    differing: tuple[DifferingRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """A region's values of a numeric attribute, by its position in the domain: low to high, both included."""

    attribute: int
    low: Fraction
    high: Fraction

    def named(self, domain: Domain) -> tuple[str, Restriction]:
        """The attribute's name and its values."""
        return domain.attributes[self.attribute].name, Interval(self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """A region's values of an attribute without an order."""

    attribute: int
    values: tuple[Fraction, ...]

    def named(self, domain: Domain) -> tuple[str, Restriction]:
        """The attribute's name and its values."""
        attribute = domain.attributes[self.attribute]
        return attribute.name, tuple(cell_of(attribute, value) for value in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A sub-domain in which units are unfair or undecided, by what it restricts; without that the whole domain.

    ``share`` of all units lie in it; ``falsified`` and ``undecided`` are fractions of all units too. It is a
    guide for readers: regions may overlap, and what is proved stands in the shares.
    """

    restricted: Mapping[str, Restriction]
    share: Fraction
    falsified: Fraction
    undecided: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(_NoTruthValue):
    """Fractions of the target's measure that sum to exactly 1.

    ``certified <= fair share <= 1 - falsified``. ``vacuous`` (part of certified) has no admissible pair.
    ``measure`` says what is counted and ``unit`` what one unit is; ``reason`` why some are undecided.
    ``float32_certified`` is what is certified for the deployed float32 file as well (None: not known),
    ``regions`` say where it fails, the heaviest first. Of rows of a table, ``by_decider`` is the fair share by
    everybody who decides them, and ``differing`` are the rows on which they differ.
    """

    certified: Lower
    falsified: Lower
    undecided: Upper
    vacuous: Lower
    measure: str
    unit: str
    evidence: Evidence
    witnesses: tuple[Witness, ...] = ()
    total: int | None = None
    reason: Reason | None = None
    float32_certified: Lower | None = None
    estimate: Estimate | None = None
    regions: tuple[Region, ...] = ()
    by_decider: tuple[ByDecider, ...] = ()
    differing: tuple[DifferingRow, ...] = ()

    def __post_init__(self) -> None:
        if self.certified + self.falsified + self.undecided != 1:
            raise ValueError("shares do not sum to 1")
        if min(self.certified, self.falsified, self.undecided, self.vacuous) < 0:
            raise ValueError("a share is negative")
        if self.float32_certified is not None and not 0 <= self.float32_certified <= self.certified:
            raise ValueError("more is certified for the deployed file than at all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated(_NoTruthValue):
    """A share that is estimated because the spec asks for an estimate: nothing of it is proved.

    ``within`` is the distance that was asked for (None: what the threshold needs), ``reason`` why it was not
    reached. ``measure`` and ``unit`` are those of :class:`Shares`. ``witnesses`` are replayed like all others.
    """

    estimate: Estimate
    measure: str
    unit: str
    evidence: Evidence
    within: Fraction | None = None
    witnesses: tuple[Witness, ...] = ()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Value(_NoTruthValue):
    """A number known to lie in [low, high]; exact when the two are equal.

    For metrics of groups, ``rates`` are those that it was computed from, ``most`` and ``least`` the groups
    that may be the most and the least favoured (by their places in ``rates``; several where intervals overlap),
    ``excluded`` groups that were left out as asked. ``sampling`` also covers sampling error, with the
    probability ``confidence`` that was asked for; then it is what is judged. Where ``parts`` are given, each of
    them is judged, and the value is the worst one's. Where some part is, or may be, no number the value is not
    ``defined``, and its bounds mean nothing; ``reason`` is UNDEFINED then unless more work may tell. ``warnings``
    are findings about the groups. Of rows of a table, ``by_decider`` is the number by everybody who decides them,
    which [low, high] contains, and ``differing`` are the rows on which they differ; ``alternatives`` are the values
    that each of them has, and a threshold is met or missed where it is by all.
    """

    low: Lower
    high: Upper
    evidence: Evidence
    rates: tuple[Rate, ...] = ()
    most: tuple[int, ...] = ()
    least: tuple[int, ...] = ()
    excluded: tuple[Named, ...] = ()
    sampling: Ends | None = None
    confidence: Fraction | None = None
    parts: tuple[Part, ...] = ()
    defined: bool = True
    reason: Reason | None = None
    warnings: tuple[Diagnostic, ...] = ()
    by_decider: tuple[ByDecider, ...] = ()
    differing: tuple[DifferingRow, ...] = ()
    alternatives: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        if self.defined and self.reason is Reason.UNDEFINED:
            raise ValueError("a number that is defined is not unknown for being none")

    @property
    def exact(self) -> bool:
        """Whether the value is a single number."""
        return self.low == self.high

    @property
    def beside(self) -> tuple[Part, ...]:
        """The parts that are no group's rate: the numbers for the values of ``given``."""
        own = {rate.group | rate.given for rate in self.rates}
        return tuple(part for part in self.parts if part.at not in own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(_NoTruthValue):
    """No backend answers this question; the diagnostics say why, one note a backend."""

    diagnostics: tuple[Diagnostic, ...] = field(default=())


Verdict = Holds | Violated | Unknown | Shares | Estimated | Value | Refused


def is_vacuous(verdict: Verdict) -> bool:
    """Whether the engine found no pair at all to compare."""
    return not isinstance(verdict, Refused) and verdict.evidence.vacuous
