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
_CALIBRATION = _rate(Event.DESERVING, Each.DECISION)
_ALONG_PATHS = Rate(event=Event.FAVOURABLE, given=None, along_paths=True)

_GAP, _RATIO, _EVERY = Comparison.GAP, Comparison.RATIO, Comparison.EVERY
_DIFFERENCE, _QUOTIENT = Comparison.DIFFERENCE, Comparison.QUOTIENT

#: The pair metrics.
SHARES: Mapping[str, ShareMetric] = MappingProxyType(
    {
        share.name: share
        for share in (
            ShareMetric(
                name="fair_share",
                quantity=Quantity.FAIR_SHARE,
                ideal=Fraction(1),
                meaning="share of the units in question that no admissible pair treats unfairly: of the assignments of "
                "the attributes that do not differ, or with `relax` of the individuals",
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


def _metric(
    name: str, comparison: Comparison, rate: Rate, meaning: str, aliases: tuple[Alias, ...] = (), *, mean: bool = False
) -> Metric:
    """``mean``: what is taken for each label is averaged, where otherwise the worst decides."""
    worst = comparison.value.strata if isinstance(rate.given, Each) else Fold.SINGLE
    folded = Fold.MEAN if mean else worst
    return Metric(name=name, aliases=aliases, rate=rate, comparison=comparison, folded=folded, meaning=meaning)


def _gap_and_ratio(name: str, rate: Rate, meaning: str, theirs: str) -> Iterator[Metric]:
    """Both comparisons of a rate; ``theirs`` is what Fairlearn calls it."""
    alike = _fairlearn(f"{theirs}_ratio") if theirs != name else ()
    yield _metric(f"{name}_gap", _GAP, rate, f"largest minus smallest {meaning}", _fairlearn(f"{theirs}_difference"))
    yield _metric(f"{name}_ratio", _RATIO, rate, f"smallest over largest {meaning}", alike)


def _signed(name: str, rate: Rate, meaning: str) -> Iterator[Metric]:
    """AIF360's difference and ratio of a rate."""
    yield _metric(f"{name}_difference", _DIFFERENCE, rate, f"{meaning} among everybody else minus that of {{group}}")
    yield _metric(f"{name}_ratio", _QUOTIENT, rate, f"{meaning} among everybody else over that of {{group}}")


#: The rates that the language's own words are about: favoured groups are those of the greatest of them.
ACCEPTANCE_RATE = _metric(
    "acceptance_rate", _EVERY, _ACCEPTANCE, "Pr[favourable | group], for each group", _fairlearn("selection_rate")
)

#: All metrics of groups: those that compare all groups with each other, then AIF360's, which compare everybody else
#: with a privileged group.
METRICS: tuple[Metric, ...] = (
    ACCEPTANCE_RATE,
    _metric(
        "statistical_parity",
        _GAP,
        _ACCEPTANCE,
        "largest minus smallest acceptance rate",
        _fairlearn("demographic_parity_difference", "selection_rate_difference"),
    ),
    _metric(
        "disparate_impact",
        _RATIO,
        _ACCEPTANCE,
        "smallest over largest acceptance rate",
        _fairlearn("demographic_parity_ratio", "selection_rate_ratio"),
    ),
    _metric(
        "equalized_odds",
        _GAP,
        _ODDS,
        "worst gap of acceptance given the label, over its values",
        _fairlearn("equalized_odds_difference", two_labels=True),
    ),
    _metric(
        "equal_opportunity",
        _GAP,
        _TRUE_POSITIVE,
        "gap of acceptance among the deserving",
        _fairlearn("equal_opportunity_difference", "true_positive_rate_difference"),
    ),
    _metric("predictive_parity", _GAP, _PRECISION, "gap of Pr[deserving | favourable, group]"),
    _metric("path_specific_gap", _GAP, _ALONG_PATHS, "gap left when influence flows only as allowed"),
    _metric("most_favoured", Comparison.MOST, _ACCEPTANCE, "group with the highest acceptance rate"),
    _metric("least_favoured", Comparison.LEAST, _ACCEPTANCE, "group with the lowest acceptance rate"),
    _metric(
        "equalized_odds_ratio",
        _RATIO,
        _ODDS,
        "worst ratio of acceptance given the label, smallest over largest, over its values",
    ),
    *_gap_and_ratio(
        "accuracy", _ACCURACY, "accuracy, the share of decisions that agree with the label", "accuracy_score"
    ),
    *_gap_and_ratio(
        "false_positive_rate", _FALSE_POSITIVE, "share of the undeserving who are accepted", "false_positive_rate"
    ),
    *_gap_and_ratio(
        "false_negative_rate", _FALSE_NEGATIVE, "share of the deserving who are not accepted", "false_negative_rate"
    ),
    *_gap_and_ratio(
        "true_negative_rate", _TRUE_NEGATIVE, "share of the undeserving who are not accepted", "true_negative_rate"
    ),
    _metric(
        "true_positive_rate_ratio",
        _RATIO,
        _TRUE_POSITIVE,
        "smallest over largest share of the deserving who are accepted",
        _fairlearn("equal_opportunity_ratio"),
    ),
    _metric("precision_ratio", _RATIO, _PRECISION, "smallest over largest Pr[deserving | favourable, group]"),
    _metric(
        "error_rate_ratio",
        _RATIO,
        _ERROR,
        "smallest over largest share of decisions that disagree with the label",
        _fairlearn("zero_one_loss_ratio"),
    ),
    _metric(
        "calibration_gap",
        _GAP,
        _CALIBRATION,
        "worst gap of Pr[deserving | decision, group], over favourable and unfavourable decisions",
    ),
    _metric("disparate_impact", _QUOTIENT, _ACCEPTANCE, "acceptance rate of everybody else over that of {group}"),
    _metric(
        "statistical_parity_difference",
        _DIFFERENCE,
        _ACCEPTANCE,
        "acceptance rate of everybody else minus that of {group}",
    ),
    _metric(
        "equal_opportunity_difference",
        _DIFFERENCE,
        _TRUE_POSITIVE,
        "acceptance rate of the deserving among everybody else minus that of the deserving in {group}",
        _aif360("true_positive_rate_difference"),
    ),
    _metric(
        "average_odds_difference",
        _DIFFERENCE,
        _ODDS,
        "mean, over false and true positives, of the rate of everybody else minus that of {group}",
        mean=True,
    ),
    *_signed("false_positive_rate", _FALSE_POSITIVE, "share of the undeserving who are accepted"),
    *_signed("false_negative_rate", _FALSE_NEGATIVE, "share of the deserving who are not accepted"),
    *_signed("false_discovery_rate", _FALSE_DISCOVERY, "Pr[undeserving | favourable]"),
    *_signed("false_omission_rate", _FALSE_OMISSION, "Pr[deserving | unfavourable]"),
    *_signed("error_rate", _ERROR, "share of decisions that disagree with the label"),
)


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
