"""Verdicts: one closed union, pure data. A verdict is not a truth value.

docs/semantics.md says what each number means; docs/architecture.md what each verdict rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, ClassVar, NoReturn

from fairdsl.codec import INLINE, Lower, Upper
from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import Domain
from fairdsl.ir.enclosure import Enclosed, Enclosure
from fairdsl.verdict.breach import Breach
from fairdsl.verdict.deciders import ByDecider, DifferingRow
from fairdsl.verdict.estimate import Estimate
from fairdsl.verdict.evidence import Evidence, Reason
from fairdsl.verdict.named import Individual, Interval, Named, Restriction, cell_of
from fairdsl.verdict.rates import Draw, Drawn, Part, Rate


class _NoTruthValue:
    """A mixin: verdicts are told apart with ``match``, never with ``if verdict``."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is not a truth value; match on its class")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A pair evaluated on the original model."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("agrees",)

    #: Whether the pair violates the demand in exact arithmetic.
    exact: bool
    #: Whether it does in the deployed file's own arithmetic; None where no file is deployed.
    float32: bool | None
    #: The scores of the one.
    scores_a: tuple[Fraction, ...]
    #: The scores of the other.
    scores_b: tuple[Fraction, ...]
    #: The outcome of the one, `undecided` where it stays open.
    decision_a: str
    #: The outcome of the other.
    decision_b: str
    #: What the deployed file decides about the two.
    float32_decisions: tuple[str, str] | None = None
    #: How far the scores may be from the exact ones; 0 where they are rational.
    score_error: Upper = Fraction(0)
    #: Whether the model is a black box, whose answers about each of the two alone stand in place of exact arithmetic.
    asked: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both arithmetics call the pair a violation."""
        return self.exact and self.float32 is not False


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """Two individuals, checked against domain, target and similarity, with their replay."""

    #: One of them.
    a: Individual
    #: The other.
    b: Individual
    #: What the model makes of them.
    replay: Replay

    @property
    def differing(self) -> tuple[str, ...]:
        """The attributes in which the two are not the same."""
        return tuple(name for name, value in self.a.items() if value != self.b[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Holds(_NoTruthValue):
    """No admissible pair violates the demand (or: the value meets the threshold)."""

    #: What it rests on.
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Vacuous(_NoTruthValue):
    """There is nobody whom the question is about: no admissible pair, so whatever it says would hold of any model."""

    #: What it rests on.
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated(_NoTruthValue):
    """Witnesses whose replays succeeded, at least one for pairs; none where a number was judged."""

    #: The pairs.
    witnesses: tuple[Witness, ...]
    #: What it rests on.
    evidence: Evidence
    #: Those who break a demand that is not a plain comparison of two.
    breaches: tuple[Breach, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(_NoTruthValue):
    """Not decided, and why; ``witnesses`` are the pairs on which the arithmetics disagree, ``differing`` such rows."""

    #: Why.
    reason: Reason
    #: The same in a sentence.
    detail: str
    #: Who was asked.
    evidence: Evidence
    #: The pairs on which the arithmetics disagree.
    witnesses: tuple[Witness, ...] = ()
    #: Those on whom the arithmetics disagree, of a demand that is not a plain comparison of two.
    breaches: tuple[Breach, ...] = ()
    #: What is known of a number: it is at least this.
    low: Lower | None = None
    #: And at most this.
    high: Upper | None = None
    #: The rows on which the arithmetics disagree.
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
    """A sub-domain in which units are unfair or undecided: a guide for readers.

    Regions may overlap, and what is proved stands in the shares.
    """

    #: The values of the attributes that it restricts.
    restricted: Mapping[str, Restriction]
    #: Its share of all units.
    share: Fraction
    #: The share of all units that lie in it and are unfair.
    falsified: Fraction
    #: The share of all units that lie in it and are open.
    undecided: Fraction


@dataclass(frozen=True, slots=True)
class Moment:
    """How much was undecided after so many seconds."""

    #: Since refining began.
    seconds: float
    #: The share of the units in question.
    undecided: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares(_NoTruthValue):
    """Fractions of the units in question that sum to exactly 1: ``certified <= fair share <= 1 - falsified``.

    A unit is in question where it has an admissible pair.
    """

    #: Certainly fair.
    certified: Lower
    #: Certainly unfair.
    falsified: Lower
    #: The rest.
    undecided: Upper
    #: Beside them: the part of all units, in question or not, that has no admissible pair.
    vacuous: Lower
    #: What is counted.
    measure: str
    #: What one unit is.
    unit: str
    #: What it rests on.
    evidence: Evidence
    #: Pairs of unfair units.
    witnesses: tuple[Witness, ...] = ()
    #: Those who break a demand that is not a plain comparison of two.
    breaches: tuple[Breach, ...] = ()
    #: How many units are in question; None: they are not counted.
    total: int | None = None
    #: Why some are undecided.
    reason: Reason | None = None
    #: What is certified for the deployed float32 file as well; None: not known.
    float32_certified: Lower | None = None
    #: What a random sample says.
    estimate: Estimate | None = None
    #: Under a distribution that was counted in rows: an interval for the fair share of whom the rows were drawn from.
    sampling: Enclosure | None = None
    #: With which probability it contains that share.
    confidence: Fraction | None = None
    #: Under a distribution: the fair share of the whole domain, each unit counted alike, between two bounds.
    of_domain: Enclosure | None = None
    #: Where it fails, the heaviest first.
    regions: tuple[Region, ...] = ()
    #: Of rows of a table, the fair share by everybody who decides them.
    by_decider: tuple[ByDecider, ...] = ()
    #: The rows on which they differ.
    differing: tuple[DifferingRow, ...] = ()
    #: How it came to that, where somebody kept it; it is not written, for it is another one each time.
    course: tuple[Moment, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.certified + self.falsified + self.undecided != 1:
            raise ValueError("shares do not sum to 1")
        if min(self.certified, self.falsified, self.undecided, self.vacuous) < 0:
            raise ValueError("a share is negative")
        if self.float32_certified is not None and not 0 <= self.float32_certified <= self.certified:
            raise ValueError("more is certified for the deployed file than at all")

    @property
    def share(self) -> Enclosure:
        """The fair share."""
        return Enclosure(low=self.certified, high=1 - self.falsified)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated(_NoTruthValue):
    """A share that is estimated because the spec asks for an estimate: nothing of it is proved."""

    #: The estimate.
    estimate: Estimate
    #: What is counted.
    measure: str
    #: What one unit is.
    unit: str
    #: What it rests on.
    evidence: Evidence
    #: The distance that was asked for; None: what the threshold needs.
    within: Fraction | None = None
    #: Pairs of unfair units.
    witnesses: tuple[Witness, ...] = ()
    #: Those who break a demand that is not a plain comparison of two.
    breaches: tuple[Breach, ...] = ()
    #: Why the distance was not reached.
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Value(Enclosed, _NoTruthValue):
    """A number that is known between two ends; exact when these are equal."""

    #: The number.
    number: Annotated[Enclosure, INLINE]
    #: What it rests on.
    evidence: Evidence
    #: The rates of groups that it was computed from.
    rates: tuple[Rate, ...] = ()
    #: The groups that may be the most favoured, by their places in ``rates``.
    most: tuple[int, ...] = ()
    #: The groups that may be the least favoured.
    least: tuple[int, ...] = ()
    #: Groups that were left out as asked.
    excluded: tuple[Named, ...] = ()
    #: The interval that is judged where a confidence was asked for: it also covers the sampling error of the rows or,
    #: where people were drawn, is what the bounds and the interval of the draw have in common.
    sampling: Enclosure | None = None
    #: With which probability it contains the number.
    confidence: Fraction | None = None
    #: The number among people who were drawn from the distribution; None: nobody was, or it is none.
    drawn: Drawn | None = None
    #: Who was drawn, where somebody was.
    draw: Draw | None = None
    #: Numbers of which each is judged; the value is the worst one.
    parts: tuple[Part, ...] = ()
    #: Whether it certainly is a number; else its bounds mean nothing.
    defined: bool = True
    #: Why it is known between bounds only.
    reason: Reason | None = None
    #: Findings about the groups.
    warnings: tuple[Diagnostic, ...] = ()
    #: Of rows of a table, the number by everybody who decides them, which the bounds contain; under a distribution what
    #: the deployed file's rounding may make of it, beside the bounds.
    by_decider: tuple[ByDecider, ...] = ()
    #: The rows on which they differ.
    differing: tuple[DifferingRow, ...] = ()
    #: The values that each of them has; a threshold is met where it is by all.
    alternatives: tuple[Value, ...] = ()
    #: Of `max_score_gap`, the pair with the largest gap that was found: the number is no less than their gap.
    witnesses: tuple[Witness, ...] = ()

    def __post_init__(self) -> None:
        if self.defined and self.reason is Reason.UNDEFINED:
            raise ValueError("a number that is defined is not unknown for being none")
        if any(not 0 <= place < len(self.rates) for place in self.most + self.least):
            raise ValueError("the most and the least favoured groups are some of those that have rates")

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.number.exact

    @property
    def beside(self) -> tuple[Part, ...]:
        """The parts, unless they are the groups' rates: the numbers for the values of ``given``, or influences."""
        own = {rate.group | rate.given: rate.number for rate in self.rates}
        return () if all(own.get(part.at) == part.number for part in self.parts) else self.parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(_NoTruthValue):
    """No backend answers this question; the diagnostics say why, one note a backend."""

    #: Why, one note a backend.
    diagnostics: tuple[Diagnostic, ...] = field(default=())


Verdict = Holds | Vacuous | Violated | Unknown | Shares | Estimated | Value | Refused


def held(evidence: Evidence, *, nobody: bool | None) -> Holds | Vacuous | Unknown:
    """What is proved of everybody, where ``nobody`` is compared or not; None: that was not found out."""
    if nobody is None:
        detail = "whoever is compared is treated as required, but whether anybody is was not found out"
        return Unknown(reason=Reason.INCOMPLETE, detail=detail, evidence=evidence)
    return Vacuous(evidence=evidence) if nobody else Holds(evidence=evidence)
