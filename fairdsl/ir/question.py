"""Questions: what a property asks of a model, with every name resolved.

The meaning of each is docs/semantics.md: pairs in section 2, shares in 3, group metrics in 4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from math import ceil, floor

from fairdsl.ir.domain import Attribute, Derived, Integer, Real
from fairdsl.ir.expr import TRUE, Predicate, Relation, Who, conjoin, rename, variables
from fairdsl.ir.metric import Metric
from fairdsl.source import Span


class Differ(Enum):
    """How several differing attributes differ."""

    ANY = "any"
    EACH = "each"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """``|a.x - b.x| <= by`` (``within 5 in x``); None: any value of the attribute (``regardless of x``)."""

    #: Its position in the domain.
    attribute: int
    #: How far the two may be apart; None: as far as they like.
    by: Fraction | None
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True)
class SameDecision:
    """The two decisions are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGap:
    """``|score(a) - score(b)| RELATION limit`` with relation ``<=`` or ``<``."""

    #: At most, or less than.
    relation: Relation
    #: How far scores may be apart.
    limit: Fraction


PairDemand = SameDecision | ScoreGap


@dataclass(frozen=True, slots=True, kw_only=True)
class Sure:
    """``confidence(who) RELATION level`` with ``>=`` or ``>``, and 0 < level < 1.

    The confidence of an individual is the probability that the model gives to the decision which it takes. ``model``
    names another model than the question's.
    """

    #: Of whose decision.
    who: Who
    #: At least, or more than.
    relation: Relation
    #: The probability.
    level: Fraction
    #: The name of another model than the question's.
    model: str = ""
    span: Span | None = field(compare=False, repr=False, default=None)

    @property
    def odds_against(self) -> Fraction:
        """``(1 - level) / level``: the odds against the decision that are just admitted."""
        return (1 - self.level) / self.level


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Individual fairness. Attributes neither in ``differ`` nor in ``relax`` are equal in a and b.

    Both individuals lie in the domain and in ``target`` (over ``Who.EACH``); ``pair_target`` (over
    ``Who.A`` and ``Who.B``) restricts the ordered pair, and ``sure`` the pairs to those of whose individuals the
    model is sure. A pair in force that breaks ``demand`` is a violation.
    """

    #: The attributes in which the two differ.
    differ: tuple[int, ...]
    #: Whether in one of them or in each.
    mode: Differ
    #: Those in which they may differ.
    relax: tuple[Relaxation, ...] = ()
    #: What is asked of either.
    target: Predicate = TRUE
    #: What is asked of the two.
    pair_target: Predicate = TRUE
    #: The confidence that the model has to have in its decisions about them.
    sure: tuple[Sure, ...] = ()
    #: What is demanded of their decisions or scores.
    demand: PairDemand = SameDecision()
    span: Span | None = field(compare=False, repr=False, default=None)

    @property
    def symmetric(self) -> bool:
        """Whether (a, b) is admissible exactly when (b, a) is."""
        of_a, of_b = ({(sure.relation, sure.level) for sure in self.sure_of(who)} for who in (Who.A, Who.B))
        return self.pair_target == TRUE and of_a == of_b

    @property
    def one_sided(self) -> Who | None:
        """The one whom the target names without the other; None where it names neither or both.

        Shares are then of the individuals that can be this one.
        """
        named = {variable.who for variable in variables(self.pair_target)}
        return named.pop() if len(named) == 1 else None

    @property
    def of_individuals(self) -> bool:
        """Whether the units of shares are individuals, not assignments of what does not differ."""
        return bool(self.relax) or self.one_sided is not None

    @property
    def unit_target(self) -> Predicate:
        """What a unit's individual has to meet, beside the domain: the target, and what a one-sided one asks of it."""
        if self.one_sided is None:
            return self.target
        return conjoin(self.target, rename(self.pair_target, {self.one_sided: Who.EACH}))

    def sure_of(self, who: Who) -> tuple[Sure, ...]:
        """What ``sure`` asks about one of the two."""
        return tuple(sure for sure in self.sure if sure.who is who)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairUnder:
    """A share of a question about pairs by a population: an individual, or row, counts as the unit that it lies in.

    Of the population those are drawn who are ``given``, a condition that is not asked of whom they are compared with.
    It is a question of its own, so that nobody who answers :class:`Pair` answers it by counting units alike.
    """

    pair: Pair
    given: Predicate = TRUE
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Individually:
    """What happens to individuals themselves, and not to the unit that they lie in: the quantity says what.

    Either somebody whom they are compared with is decided differently, or somebody is who is drawn anew from the
    population, given all that does not differ. Those are in question who are ``given``, as in :class:`PairUnder`;
    without a population each individual counts alike. A question of its own, as a unit may be treated unfairly
    without all who are in it being in a violation.
    """

    pair: Pair
    given: Predicate = TRUE
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPair:
    """How far the scores of two who are compared are apart at most: of all pairs in force the largest gap.

    The ``pair`` demands equal scores, so whoever breaks it bounds the number from below. It is a question of its own,
    so that nobody who answers :class:`Pair` takes it for a yes or no.
    """

    pair: Pair
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluding:
    """Groups that are listed instead of counted: those of fewer than ``rows`` rows, or (None) of probability 0."""

    #: Groups of fewer rows are listed; None: those of probability 0.
    rows: int | None


#: The group that a path-specific gap reads allowed edges as: its values of ``across``, or whichever is favoured most.
MOST_FAVOURED = "most_favoured"
Baseline = tuple[Fraction, ...] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnFrom:
    """The range that a column of an influence is drawn from, where that is not all that is declared."""

    column: int
    low: Fraction
    high: Fraction

    def of(self, attribute: Attribute) -> Attribute:
        """The column with these values alone, which everybody has."""
        if isinstance(attribute.known.type, Integer):
            return replace(attribute.known, type=Integer(low=ceil(self.low), high=floor(self.high)))
        return replace(attribute.known, type=Real(low=self.low, high=self.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMetric:
    """A metric over groups under a population; see docs/semantics.md section 4.

    Columns are those of the population: the domain's attributes, behind them the ``derived`` ones that make groups,
    and behind those the label. Groups are the assignments of ``across``. ``given`` conditions the distribution; for
    each value of the columns ``given_each`` the metric is taken by itself, and the worst decides. ``deserving`` is the
    label's value that the rates of some metrics are about, ``privileged`` and ``baseline`` are values of ``across``, of
    bins the least value (below the first edge of an unbounded attribute, some value).
    ``allowed`` are the edges out of protected columns that influence may take, ``None`` for the model as
    an end. With ``influence`` it is the metric's value less its value where these columns are drawn
    uniformly, from the ranges of ``drawn_from`` where some are stated. ``confidence`` asks for an interval that covers
    sampling error with that probability.
    ``excluding_below`` is the part of the rows in question below which groups are listed, until the rows are known and
    ``excluding`` has their number. ``details`` holds the clauses in force in the spec's words.
    """

    metric: Metric
    across: tuple[int, ...]
    population: str | None
    derived: tuple[Derived, ...] = ()
    given: Predicate = TRUE
    given_each: tuple[int, ...] = ()
    deserving: Fraction | None = None
    privileged: tuple[Fraction, ...] | None = None
    baseline: Baseline | None = None
    allowed: frozenset[tuple[int, int | None]] = frozenset()
    excluding: Excluding | None = None
    excluding_below: Fraction | None = None
    influence: tuple[int, ...] = ()
    drawn_from: tuple[DrawnFrom, ...] = ()
    confidence: Fraction | None = None
    details: tuple[tuple[str, str], ...] = ()
    span: Span | None = field(compare=False, repr=False, default=None)

    def drawn(self, columns: Sequence[Attribute]) -> list[Attribute]:
        """The columns of the influence with the values that they are drawn from."""
        stated = {each.column: each for each in self.drawn_from}
        return [stated[at].of(columns[at]) if at in stated else columns[at] for at in self.influence]


Question = Pair | GroupMetric


class Quantity(Enum):
    """What is asked of the question: whether it always holds, how large a share does, or a number."""

    HOLDS = "holds"
    FAIR_SHARE = "fair_share"
    DISCRIMINATION_RATE = "discrimination_rate"
    MAX_SCORE_GAP = "max_score_gap"
    AFFECTED_RATE = "affected_rate"
    REDRAW_DISAGREEMENT = "redraw_disagreement"
    METRIC = "metric"


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """How close to a share an estimate has to come, and with which probability it has to contain it.

    ``within`` is the largest distance of an end of the interval from the estimate, 0 < within < 1/2; None: as
    close as a threshold needs. 0 < confidence < 1.
    """

    within: Fraction | None
    confidence: Fraction
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """``value RELATION limit``, as required by the spec."""

    #: How the value compares with the limit.
    relation: Relation
    #: The limit.
    limit: Fraction
    #: The limit as the spec writes it.
    text: str


#: The name of the influence of something on a metric.
_INFLUENCE = "influence of {of} on {on}"
_OF_INFLUENCE = re.compile(_INFLUENCE.format(of="(.+)", on="(.+?)"))


def influence_name(of: str, on: str) -> str:
    """The name of the metric that an influence is."""
    return _INFLUENCE.format(of=of, on=on)


def influence_of(metric: str) -> tuple[str, str] | None:
    """What has the influence, and the metric that it has it on; None of a metric that is not an influence."""
    found = _OF_INFLUENCE.fullmatch(metric)
    return None if found is None else (found[1], found[2])


def metric_words(metric: str) -> str:
    """The name of a metric in prose: ``path-specific gap``, ``disparate impact``; a term as it is written."""
    if "(" in metric:
        return metric
    return metric.replace("path_specific", "path-specific").replace("_", " ")
