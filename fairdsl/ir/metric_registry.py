"""The metrics of the language: one object each, and nothing about any of them anywhere else.

docs/semantics.md, section 4, has the definitions. Another library's name is an alias exactly where the quantity is the
same: Fairlearn compares all groups with each other, AIF360 everybody else with a privileged group. Where both use one
name, it is Fairlearn's quantity in a property without ``privileged`` and AIF360's in one with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from fairdsl.ir.metric import Alias, Comparison, Each, Event, Fold, Library, Metric, Rate
from fairdsl.ir.question import Quantity

__all__ = [
    "ACCEPTANCE_RATE",
    "METRICS",
    "SHARES",
    "Named",
    "ShareMetric",
    "known_metrics",
    "metric_named",
    "nearest",
    "registered",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMetric:
    """A number about pairs of individuals: a share of what :class:`~fairdsl.ir.question.Pair` asks about."""

    #: The name in specs, reports and documents.
    name: str
    #: What is asked of the question about pairs.
    quantity: Quantity
    #: The best value.
    ideal: Fraction
    #: In words.
    meaning: str

    @property
    def is_share(self) -> bool:
        """Whether it lies in [0, 1]."""
        return True

    @property
    def is_rate(self) -> bool:
        """Whether it is shown in percent."""
        return True


#: Whatever a name may stand for.
Named = Metric | ShareMetric


def _rate(event: Event, given: Event | Each | None = None) -> Rate:
    return Rate(event=event, given=given, along_paths=False)


def _fairlearn(*names: str, two_labels: bool = False) -> tuple[Alias, ...]:
    return tuple(Alias(name=name, library=Library.FAIRLEARN, two_labels=two_labels) for name in names)


def _aif360(*names: str) -> tuple[Alias, ...]:
    return tuple(Alias(name=name, library=Library.AIF360, two_labels=False) for name in names)


_ACCEPTANCE = _rate(Event.FAVOURABLE)
_ODDS = _rate(Event.FAVOURABLE, Each.LABEL)
_TRUE_POSITIVE = _rate(Event.FAVOURABLE, Event.DESERVING)
_FALSE_POSITIVE = _rate(Event.FAVOURABLE, Event.UNDESERVING)
_FALSE_NEGATIVE = _rate(Event.UNFAVOURABLE, Event.DESERVING)
_TRUE_NEGATIVE = _rate(Event.UNFAVOURABLE, Event.UNDESERVING)
_PRECISION = _rate(Event.DESERVING, Event.FAVOURABLE)
_FALSE_DISCOVERY = _rate(Event.UNDESERVING, Event.FAVOURABLE)
_FALSE_OMISSION = _rate(Event.DESERVING, Event.UNFAVOURABLE)
_ACCURACY = _rate(Event.CORRECT)
_ERROR = _rate(Event.WRONG)

#: The pair metrics.
SHARES: Mapping[str, ShareMetric] = MappingProxyType(
    {
        share.name: share
        for share in (
            ShareMetric(
                name="fair_share",
                quantity=Quantity.FAIR_SHARE,
                ideal=Fraction(1),
                meaning="share of the units that no admissible pair treats unfairly: of the assignments of the "
                "attributes that do not differ, or with `relax` of the individuals",
            ),
            ShareMetric(
                name="discrimination_rate",
                quantity=Quantity.DISCRIMINATION_RATE,
                ideal=Fraction(0),
                meaning="exactly 1 - fair_share",
            ),
        )
    }
)

#: The rates that the language's own words are about: favoured groups are those of the greatest of them.
ACCEPTANCE_RATE = Metric(
    name="acceptance_rate",
    aliases=_fairlearn("selection_rate"),
    rate=_ACCEPTANCE,
    comparison=Comparison.EVERY,
    folded=Fold.SINGLE,
    meaning="Pr[favourable | group], for each group",
)


def _all_groups() -> Iterator[Metric]:
    """Those that compare all groups with each other."""
    yield ACCEPTANCE_RATE
    yield Metric(
        name="statistical_parity",
        aliases=_fairlearn("demographic_parity_difference", "selection_rate_difference"),
        rate=_ACCEPTANCE,
        comparison=Comparison.GAP,
        folded=Fold.SINGLE,
        meaning="largest minus smallest acceptance rate",
    )
    yield Metric(
        name="disparate_impact",
        aliases=_fairlearn("demographic_parity_ratio", "selection_rate_ratio"),
        rate=_ACCEPTANCE,
        comparison=Comparison.RATIO,
        folded=Fold.SINGLE,
        meaning="smallest over largest acceptance rate",
    )
    yield Metric(
        name="equalized_odds",
        aliases=_fairlearn("equalized_odds_difference", two_labels=True),
        rate=_ODDS,
        comparison=Comparison.GAP,
        folded=Fold.GREATEST,
        meaning="worst gap of acceptance given the label, over its values",
    )
    yield Metric(
        name="equal_opportunity",
        aliases=_fairlearn("equal_opportunity_difference", "true_positive_rate_difference"),
        rate=_TRUE_POSITIVE,
        comparison=Comparison.GAP,
        folded=Fold.SINGLE,
        meaning="gap of acceptance among the deserving",
    )
    yield Metric(
        name="predictive_parity",
        aliases=(),
        rate=_PRECISION,
        comparison=Comparison.GAP,
        folded=Fold.SINGLE,
        meaning="gap of Pr[deserving | favourable, group]",
    )
    yield Metric(
        name="path_specific_gap",
        aliases=(),
        rate=Rate(event=Event.FAVOURABLE, given=None, along_paths=True),
        comparison=Comparison.GAP,
        folded=Fold.SINGLE,
        meaning="gap left when influence flows only as allowed",
    )
    yield Metric(
        name="most_favoured",
        aliases=(),
        rate=_ACCEPTANCE,
        comparison=Comparison.MOST,
        folded=Fold.SINGLE,
        meaning="group with the highest acceptance rate",
    )
    yield Metric(
        name="least_favoured",
        aliases=(),
        rate=_ACCEPTANCE,
        comparison=Comparison.LEAST,
        folded=Fold.SINGLE,
        meaning="group with the lowest acceptance rate",
    )
    yield Metric(
        name="equalized_odds_ratio",
        aliases=(),
        rate=_ODDS,
        comparison=Comparison.RATIO,
        folded=Fold.SMALLEST,
        meaning="worst ratio of acceptance given the label, smallest over largest, over its values",
    )
    yield from _gap_and_ratio(
        "accuracy", _ACCURACY, "accuracy, the share of decisions that agree with the label", "accuracy_score"
    )
    yield from _gap_and_ratio(
        "false_positive_rate", _FALSE_POSITIVE, "share of the undeserving who are accepted", "false_positive_rate"
    )
    yield from _gap_and_ratio(
        "false_negative_rate", _FALSE_NEGATIVE, "share of the deserving who are not accepted", "false_negative_rate"
    )
    yield from _gap_and_ratio(
        "true_negative_rate", _TRUE_NEGATIVE, "share of the undeserving who are not accepted", "true_negative_rate"
    )
    yield Metric(
        name="true_positive_rate_ratio",
        aliases=_fairlearn("equal_opportunity_ratio"),
        rate=_TRUE_POSITIVE,
        comparison=Comparison.RATIO,
        folded=Fold.SINGLE,
        meaning="smallest over largest share of the deserving who are accepted",
    )
    yield Metric(
        name="precision_ratio",
        aliases=(),
        rate=_PRECISION,
        comparison=Comparison.RATIO,
        folded=Fold.SINGLE,
        meaning="smallest over largest Pr[deserving | favourable, group]",
    )
    yield Metric(
        name="error_rate_ratio",
        aliases=_fairlearn("zero_one_loss_ratio"),
        rate=_ERROR,
        comparison=Comparison.RATIO,
        folded=Fold.SINGLE,
        meaning="smallest over largest share of decisions that disagree with the label",
    )
    yield Metric(
        name="calibration_gap",
        aliases=(),
        rate=_rate(Event.DESERVING, Each.DECISION),
        comparison=Comparison.GAP,
        folded=Fold.GREATEST,
        meaning="worst gap of Pr[deserving | decision, group], over favourable and unfavourable decisions",
    )


def _gap_and_ratio(name: str, rate: Rate, meaning: str, theirs: str) -> Iterator[Metric]:
    """Both comparisons of a rate; ``theirs`` is what Fairlearn calls it."""
    yield Metric(
        name=f"{name}_gap",
        aliases=_fairlearn(f"{theirs}_difference"),
        rate=rate,
        comparison=Comparison.GAP,
        folded=Fold.SINGLE,
        meaning=f"largest minus smallest {meaning}",
    )
    yield Metric(
        name=f"{name}_ratio",
        aliases=_fairlearn(f"{theirs}_ratio") if theirs != name else (),
        rate=rate,
        comparison=Comparison.RATIO,
        folded=Fold.SINGLE,
        meaning=f"smallest over largest {meaning}",
    )


def _against_privileged() -> Iterator[Metric]:
    """AIF360's, which compare everybody else with a privileged group."""
    yield Metric(
        name="disparate_impact",
        aliases=(),
        rate=_ACCEPTANCE,
        comparison=Comparison.QUOTIENT,
        folded=Fold.SINGLE,
        meaning="acceptance rate of everybody else over that of {group}",
    )
    yield Metric(
        name="statistical_parity_difference",
        aliases=(),
        rate=_ACCEPTANCE,
        comparison=Comparison.DIFFERENCE,
        folded=Fold.SINGLE,
        meaning="acceptance rate of everybody else minus that of {group}",
    )
    yield Metric(
        name="equal_opportunity_difference",
        aliases=_aif360("true_positive_rate_difference"),
        rate=_TRUE_POSITIVE,
        comparison=Comparison.DIFFERENCE,
        folded=Fold.SINGLE,
        meaning="acceptance rate of the deserving among everybody else minus that of the deserving in {group}",
    )
    yield Metric(
        name="average_odds_difference",
        aliases=(),
        rate=_ODDS,
        comparison=Comparison.DIFFERENCE,
        folded=Fold.MEAN,
        meaning="mean, over false and true positives, of the rate of everybody else minus that of {group}",
    )
    for name, rate, meaning in _SIGNED_RATES:
        yield Metric(
            name=f"{name}_difference",
            aliases=(),
            rate=rate,
            comparison=Comparison.DIFFERENCE,
            folded=Fold.SINGLE,
            meaning=f"{meaning} among everybody else minus that of {{group}}",
        )
        yield Metric(
            name=f"{name}_ratio",
            aliases=(),
            rate=rate,
            comparison=Comparison.QUOTIENT,
            folded=Fold.SINGLE,
            meaning=f"{meaning} among everybody else over that of {{group}}",
        )


#: AIF360 has the difference and the ratio of each.
_SIGNED_RATES = (
    ("false_positive_rate", _FALSE_POSITIVE, "share of the undeserving who are accepted"),
    ("false_negative_rate", _FALSE_NEGATIVE, "share of the deserving who are not accepted"),
    ("false_discovery_rate", _FALSE_DISCOVERY, "Pr[undeserving | favourable]"),
    ("false_omission_rate", _FALSE_OMISSION, "Pr[deserving | unfavourable]"),
    ("error_rate", _ERROR, "share of decisions that disagree with the label"),
)


#: All metrics of groups.
METRICS: tuple[Metric, ...] = (*_all_groups(), *_against_privileged())


def _by_written_name() -> dict[str, dict[bool, Metric]]:
    """Of every name that can be written, what it means beside a privileged group (True) and without one (False)."""
    found: dict[str, dict[bool, Metric]] = {}
    for metric in METRICS:
        for name in (metric.name, *(alias.name for alias in metric.aliases)):
            meant = found.setdefault(name, {})
            if metric.signed in meant or name in SHARES:
                raise ValueError(f"`{name}` is the name of two metrics")
            meant[metric.signed] = metric
    return found


_WRITTEN = _by_written_name()


def registered(name: str, *, privileged: bool = False) -> Named | None:
    """What a name or an alias stands for, in a question with or without a privileged group; None: no metric has it."""
    if name in SHARES:
        return SHARES[name]
    meant = _WRITTEN.get(name)
    if meant is None:
        return None
    return meant[privileged] if privileged in meant else meant[not privileged]


def metric_named(name: str, *, privileged: bool = False) -> Metric:
    """The metric of groups of that name or alias. Raises ValueError where there is none."""
    found = registered(name, privileged=privileged)
    if not isinstance(found, Metric):
        raise ValueError(f"`{name}` is not a metric of groups")
    return found


def known_metrics() -> tuple[str, ...]:
    """All names that can be written, the aliases behind the names."""
    names = dict.fromkeys((*SHARES, *(metric.name for metric in METRICS)))
    return (*names, *(name for name in _WRITTEN if name not in names))


def nearest(metric: Metric) -> Metric:
    """One of the same rate that compares all groups with each other, whoever is privileged; else of the decisions."""
    like = Comparison.RATIO if metric.comparison is Comparison.QUOTIENT else Comparison.GAP
    unsigned = [each for each in METRICS if each.comparison is like]
    return next((each for each in unsigned if each.rate == metric.rate), unsigned[0])
