"""What a metric of groups is: a comparison, over the groups, of one rate.

A *rate* is ``Pr[event | condition, group]``. Events and conditions are about two facts of an individual, the model's
decision and the true outcome (the *label*), so every rate is a quotient of sums of four probabilities:

================== ========================== ==============================
cell               favourable                 unfavourable
================== ========================== ==============================
at the label value Pr[favourable, y, group]   Pr[not favourable, y, group]
at other values    Pr[favourable, not y, ...] Pr[not favourable, not y, ...]
================== ========================== ==============================

Whoever computes, words or encodes a metric reads it from here and never goes by its name: what a field says is the
only description of a metric that there is. The named ones are in :mod:`fairdsl.ir.metric_registry`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import assert_never

__all__ = ["Alias", "Comparison", "Each", "Event", "Fold", "Library", "Metric", "Rate"]


class Event(Enum):
    """What may be true of an individual: the model's decision, the label, or how the two agree."""

    FAVOURABLE = "favourable"
    UNFAVOURABLE = "unfavourable"
    DESERVING = "deserving"
    UNDESERVING = "undeserving"
    CORRECT = "correct"
    WRONG = "wrong"

    def holds(self, *, favourable: bool, deserving: bool) -> bool:
        """Whether it is true of somebody who is treated so, and whose label has the deserving value or another."""
        match self:
            case Event.FAVOURABLE:
                return favourable
            case Event.UNFAVOURABLE:
                return not favourable
            case Event.DESERVING:
                return deserving
            case Event.UNDESERVING:
                return not deserving
            case Event.CORRECT:
                return favourable is deserving
            case Event.WRONG:
                return favourable is not deserving
        assert_never(self)

    @property
    def reads_decision(self) -> bool:
        """Whether it depends on what the model decides."""
        return self not in (Event.DESERVING, Event.UNDESERVING)

    @property
    def reads_label(self) -> bool:
        """Whether it depends on the label."""
        return self not in (Event.FAVOURABLE, Event.UNFAVOURABLE)


class Each(Enum):
    """Conditions that are taken one by one: the metric compares groups under each of them by itself."""

    LABEL = "each label"
    DECISION = "each decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """``rate(event given condition)``: ``Pr[event | condition, group]`` under the population's distribution.

    With ``along_paths`` it is taken under the distribution in which a group's attributes are set, and influence flows
    from them along the allowed edges only (docs/semantics.md, section 4).
    """

    #: What is counted.
    event: Event
    #: Among whom; None: among everybody of the group.
    given: Event | Each | None
    #: Whether it is a causal quantity, of a distribution along paths.
    along_paths: bool

    def __post_init__(self) -> None:
        if self.given is Each.LABEL and self.event.reads_label:
            raise ValueError("given each value of the label, only the decision can be counted")
        if self.given is Each.DECISION and self.event.reads_decision:
            raise ValueError("given each decision, only the label can be counted")

    @property
    def reads_label(self) -> bool:
        """Whether the true outcome takes part in it."""
        return self.event.reads_label or self._condition_on_label

    @property
    def about_deserving(self) -> bool:
        """Whether one value of the label plays a part of its own."""
        return self.event.reads_label or (isinstance(self.given, Event) and self.given.reads_label)

    @property
    def among_decided(self) -> bool:
        """Whether the model decides who is in the denominator, so that a group of somebody may have no such rate."""
        return self.given is Each.DECISION or (isinstance(self.given, Event) and self.given.reads_decision)

    @property
    def is_favour(self) -> bool:
        """Whether a group of a greater rate is favoured: it is one of favourable decisions, whoever is counted."""
        return self.event is Event.FAVOURABLE

    @property
    def of_decisions(self) -> bool:
        """Whether it is a share of decisions within groups that the distribution alone defines."""
        return not self.event.reads_label and not self.among_decided

    @property
    def _condition_on_label(self) -> bool:
        return self.given is Each.LABEL or (isinstance(self.given, Event) and self.given.reads_label)

    def __str__(self) -> str:
        """As a spec would define it: ``rate(favourable given deserving)``."""
        condition = "" if self.given is None else f" given {self.given.value}"
        return f"rate({self.event.value}{condition}{', along allowed paths' if self.along_paths else ''})"


class Fold(Enum):
    """How several numbers become one."""

    #: There is a single one.
    SINGLE = "single"
    GREATEST = "greatest"
    SMALLEST = "smallest"
    MEAN = "mean"
    #: From the least to the greatest of them: what is worst depends on the threshold, which each has to meet.
    SPAN = "span"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """The facts about a comparison."""

    word: str
    ideal: Fraction | None  # the value of equal treatment; None: no value is better than another
    strata: Fold  # what several strata come to, of which the worst decides
    share: bool  # the number lies in [0, 1]
    signed: bool  # everybody else is compared with a privileged group
    names_groups: bool  # the answer is a group, so it has no threshold
    compares: bool  # it means nothing of a single group
    formula: str  # over the rate ``{p}``, or those of the ``{others}`` and the privileged ``{group}``


class Comparison(Enum):
    """What is made of the rates of all groups."""

    GAP = _Kind(
        word="gap", ideal=Fraction(0), strata=Fold.GREATEST, share=True, signed=False, names_groups=False,
        compares=True, formula="max {p} - min {p}",
    )  # fmt: skip
    RATIO = _Kind(
        word="ratio", ideal=Fraction(1), strata=Fold.SMALLEST, share=True, signed=False, names_groups=False,
        compares=True, formula="min {p} / max {p}",
    )  # fmt: skip
    #: Everybody else less the privileged group.
    DIFFERENCE = _Kind(
        word="difference", ideal=Fraction(0), strata=Fold.SPAN, share=False, signed=True, names_groups=False,
        compares=True, formula="{others} - {group}",
    )  # fmt: skip
    #: Everybody else over the privileged group.
    QUOTIENT = _Kind(
        word="quotient", ideal=Fraction(1), strata=Fold.SPAN, share=False, signed=True, names_groups=False,
        compares=True, formula="{others} / {group}",
    )  # fmt: skip
    #: The rate of every group by itself.
    EVERY = _Kind(
        word="every", ideal=None, strata=Fold.SPAN, share=True, signed=False, names_groups=False,
        compares=False, formula="p(g)",
    )  # fmt: skip
    #: The group of the greatest rate, with that rate.
    MOST = _Kind(
        word="most", ideal=None, strata=Fold.SPAN, share=True, signed=False, names_groups=True,
        compares=False, formula="argmax {p}",
    )  # fmt: skip
    #: The group of the least rate, with that rate.
    LEAST = _Kind(
        word="least", ideal=None, strata=Fold.SPAN, share=True, signed=False, names_groups=True,
        compares=False, formula="argmin {p}",
    )  # fmt: skip


class Library(Enum):
    """Whose name an alias is."""

    FAIRLEARN = "Fairlearn"
    AIF360 = "AIF360"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Another library's name for exactly this quantity."""

    #: The name, as it is written there.
    name: str
    #: Who coined it.
    library: Library
    #: Whether it is defined there for a label of two values only, while the metric takes any number of them.
    two_labels: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric of groups: its names, and the expression that it is.

    Raises ValueError where the parts do not fit: folds without anything to fold, or a mean of what is not signed.
    """

    #: The name in specs, reports and documents.
    name: str
    #: The names of other libraries for it.
    aliases: tuple[Alias, ...]
    #: What is compared.
    rate: Rate
    #: How.
    comparison: Comparison
    #: What the numbers at each condition of ``rate.given`` (:class:`Each`) come to.
    folded: Fold
    #: In words; ``{group}`` stands for the privileged group.
    meaning: str

    def __post_init__(self) -> None:
        if isinstance(self.rate.given, Each) is (self.folded is Fold.SINGLE):
            raise ValueError(f"{self.name}: numbers are folded exactly if a condition is taken value by value")
        fitting = (Fold.SINGLE, Fold.MEAN, self.strata) if self.signed else (Fold.SINGLE, self.strata)
        if self.folded not in fitting or self.folded is Fold.SPAN:
            raise ValueError(f"{self.name}: of several numbers the worst decides, or of signed ones the mean")
        if self.signed is not ("{group}" in self.meaning):
            raise ValueError(f"{self.name}: the meaning names the group that is compared with, if there is one")

    @property
    def strata(self) -> Fold:
        """What the numbers at each value of the attributes of ``given`` come to."""
        return self.comparison.value.strata

    @property
    def ideal(self) -> Fraction | None:
        """The value of equal treatment; None where no value is better than another."""
        return self.comparison.value.ideal

    @property
    def is_share(self) -> bool:
        """Whether it lies in [0, 1], so that a threshold above 100 % is a slip."""
        return self.comparison.value.share

    @property
    def is_rate(self) -> bool:
        """Whether its value is rates themselves and no comparison, which is shown in percent."""
        return not self.comparison.value.compares

    @property
    def is_span(self) -> bool:
        """Whether its value is the span of the rates of all groups."""
        return self.comparison is Comparison.EVERY

    @property
    def signed(self) -> bool:
        """Whether everybody else is compared with a privileged group, so that the question has to name one."""
        return self.comparison.value.signed

    @property
    def names_groups(self) -> bool:
        """Whether the answer is a group: it can be measured, and not required."""
        return self.comparison.value.names_groups

    @property
    def compares(self) -> bool:
        """Whether it takes two groups to mean anything."""
        return self.comparison.value.compares

    @property
    def needs_two_labels(self) -> bool:
        """Whether it is about true and false positives, of a label with two values."""
        return self.rate.given is Each.LABEL and self.folded is Fold.MEAN

    @property
    def definition(self) -> str:
        """The expression in one line: ``greatest gap(rate(favourable given each label))``."""
        compared = f"{self.comparison.value.word}({self.rate})"
        return compared if self.folded is Fold.SINGLE else f"{self.folded.value} {compared}"

    def in_words(self, group: str | None = None) -> str:
        """What it means; ``group`` is the privileged one in the spec's words."""
        return self.meaning.format(group="the privileged group" if group is None else group)

    def formula(self, group: str | None = None) -> str:
        """Over rates ``p``; ``group`` is the privileged one in the spec's words."""
        given = self.rate.given
        letter = _LETTERS[given] if isinstance(given, Each) else None
        at = "" if letter is None else f", {letter}"
        parts = {
            "p": "p" if letter is None else f"p(., {letter})",
            "others": f"p(others{at})",
            "group": f"p({'privileged' if group is None else group}{at})",
        }
        compared = self.comparison.value.formula.format(**parts)
        return compared if letter is None else f"{_FOLDS[self.folded]} over {letter} of ({compared})"


_LETTERS: Mapping[Each, str] = MappingProxyType({Each.LABEL: "y", Each.DECISION: "d"})
_FOLDS: Mapping[Fold, str] = MappingProxyType({Fold.GREATEST: "max", Fold.SMALLEST: "min", Fold.MEAN: "mean"})
