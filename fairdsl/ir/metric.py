"""What a metric of groups is: a comparison, over the groups, of one rate (:mod:`fairdsl.ir.rate`).

Whoever computes, words or encodes a metric reads it from here and never goes by its name: what a field says is the
only description of a metric that there is. The named ones are lines in the language, read by :mod:`fairdsl.prelude`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType

from fairdsl.ir.rate import Each, Fact, Rate


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
    fold: Fold  # what the numbers at several conditions come to, where they are taken one by one
    share: bool  # the number lies in [0, 1]
    signed: bool  # everybody else is compared with a privileged group
    names_groups: bool  # the answer is a group, so it has no threshold
    compares: bool  # it means nothing of a single group
    formula: str  # over the rate ``{p}``, or those of the ``{others}`` and the privileged ``{group}``


class Comparison(Enum):
    """What is made of the rates of all groups."""

    GAP = _Kind(
        word="gap", ideal=Fraction(0), strata=Fold.GREATEST, fold=Fold.GREATEST, share=True, signed=False,
        names_groups=False, compares=True, formula="max {p} - min {p}",
    )  # fmt: skip
    RATIO = _Kind(
        word="ratio", ideal=Fraction(1), strata=Fold.SMALLEST, fold=Fold.SMALLEST, share=True, signed=False,
        names_groups=False, compares=True, formula="min {p} / max {p}",
    )  # fmt: skip
    #: Everybody else less the privileged group.
    DIFFERENCE = _Kind(
        word="difference", ideal=Fraction(0), strata=Fold.SPAN, fold=Fold.MEAN, share=False, signed=True,
        names_groups=False, compares=True, formula="{others} - {group}",
    )  # fmt: skip
    #: Everybody else over the privileged group.
    QUOTIENT = _Kind(
        word="quotient", ideal=Fraction(1), strata=Fold.SPAN, fold=Fold.MEAN, share=False, signed=True,
        names_groups=False, compares=True, formula="{others} / {group}",
    )  # fmt: skip
    #: The rate of every group by itself.
    EVERY = _Kind(
        word="rate", ideal=None, strata=Fold.SPAN, fold=Fold.SPAN, share=True, signed=False,
        names_groups=False, compares=False, formula="p(g)",
    )  # fmt: skip
    #: The group of the greatest rate, with that rate.
    MOST = _Kind(
        word="most", ideal=None, strata=Fold.SPAN, fold=Fold.GREATEST, share=True, signed=False,
        names_groups=True, compares=False, formula="max {p}",
    )  # fmt: skip
    #: The group of the least rate, with that rate.
    LEAST = _Kind(
        word="least", ideal=None, strata=Fold.SPAN, fold=Fold.SMALLEST, share=True, signed=False,
        names_groups=True, compares=False, formula="min {p}",
    )  # fmt: skip

    @property
    def is_span(self) -> bool:
        """Whether its value is the span of the rates of all groups."""
        return self is Comparison.EVERY


class Library(Enum):
    """Whose name an alias is."""

    FAIRLEARN = "Fairlearn"
    AIF360 = "AIF360"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """Another name for exactly this quantity."""

    #: The name.
    name: str
    #: Who coined it; None: the language.
    library: Library | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric of groups: its names, and the expression that it is.

    Raises ValueError where the parts do not fit: folds without anything to fold.
    """

    #: The name in specs, reports and documents; of a metric without one its definition.
    name: str
    #: Other names for it.
    aliases: tuple[Alias, ...] = ()
    #: What is compared.
    rate: Rate
    #: How.
    comparison: Comparison
    #: What the numbers at each condition of ``rate.given`` (:class:`Each`) come to.
    folded: Fold
    #: In words; "the privileged group" represents that group.
    meaning: str
    #: The expression, as the spec that defines it has it.
    definition: str

    def __post_init__(self) -> None:
        if isinstance(self.rate.given, Each) is (self.folded is Fold.SINGLE):
            raise ValueError(f"{self.name}: numbers are folded exactly if a condition is taken value by value")
        if self.folded not in (Fold.SINGLE, self.comparison.value.fold) or self.folded is Fold.SPAN:
            raise ValueError(f"{self.name}: of several numbers the worst decides, or of signed ones the mean")

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
        return self.comparison.value.share and (not self.rate.is_mean or self.comparison is Comparison.RATIO)

    @property
    def is_rate(self) -> bool:
        """Whether its value is rates themselves and no comparison, which is shown in percent."""
        return not self.comparison.value.compares

    @property
    def is_span(self) -> bool:
        """Whether its value is the span of the rates of all groups."""
        return self.comparison.is_span

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

    def in_words(self, group: str | None = None) -> str:
        """What it means; ``group`` is the privileged one in the spec's words."""
        return self.meaning if group is None else self.meaning.replace(PRIVILEGED, group)

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


#: What represents the privileged group in what a signed metric means.
PRIVILEGED = "the privileged group"
_LETTERS: Mapping[Each, str] = MappingProxyType({Each.LABEL: "y", Each.DECISION: "d"})
_FOLDS: Mapping[Fold, str] = MappingProxyType({Fold.GREATEST: "max", Fold.SMALLEST: "min", Fold.MEAN: "mean"})


#: The rates by which groups are favoured: of favourable decisions, of each group by itself.
ACCEPTANCE = Metric(
    name="rate(favourable)",
    rate=Rate(event=Fact.FAVOURABLE, given=None),
    comparison=Comparison.EVERY,
    folded=Fold.SINGLE,
    meaning="share of favourable decisions, for each group",
    definition="rate(favourable)",
)
