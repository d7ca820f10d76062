"""The metrics of the language: their names, what each needs, and the names of other libraries.

docs/semantics.md section 4 defines them. Fairlearn's names mean the same and are aliases, refused where they would not
(:mod:`fairdsl.semantics.coined`); AIF360's signed metrics are different quantities and need ``privileged GROUP``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["ALIASES", "METRICS", "Metric", "known_metrics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What a property must say for this metric to mean something."""

    name: str
    meaning: str
    about_pairs: bool = False
    needs_label: bool = False
    needs_privileged: bool = False
    takes_privileged: bool = False  # with a privileged group it is AIF360's quantity of that name
    needs_path: bool = False
    is_share: bool = True  # lies in [0, 1], so a threshold above 100 % is a slip
    is_group: bool = False  # names groups, not a number: can be measured, not required
    each_group: bool = False  # a number for each group
    needs_deserving: bool = False  # is about one value of the label
    needs_two_labels: bool = False  # is about false and true positives

    @property
    def is_number(self) -> bool:
        """Whether its value is a single number."""
        return not (self.is_group or self.each_group)


_METRICS = (
    Metric(
        name="fair_share",
        about_pairs=True,
        meaning="share of the units that no admissible pair treats unfairly: of the assignments of the attributes "
        "that do not differ, or with `relax` of the individuals",
    ),
    Metric(name="discrimination_rate", about_pairs=True, meaning="exactly 1 - fair_share"),
    Metric(name="acceptance_rate", each_group=True, meaning="Pr[favourable | group], for each group"),
    Metric(name="statistical_parity", meaning="largest minus smallest acceptance rate"),
    Metric(name="disparate_impact", takes_privileged=True, meaning="smallest over largest acceptance rate"),
    Metric(
        name="equalized_odds",
        needs_label=True,
        meaning="worst gap of acceptance given the label, over its values",
    ),
    Metric(
        name="equal_opportunity",
        needs_label=True,
        needs_deserving=True,
        meaning="gap of acceptance among the deserving",
    ),
    Metric(
        name="predictive_parity",
        needs_label=True,
        needs_deserving=True,
        meaning="gap of Pr[deserving | favourable, group]",
    ),
    Metric(name="path_specific_gap", needs_path=True, meaning="gap left when influence flows only as allowed"),
    Metric(name="most_favoured", is_group=True, meaning="group with the highest acceptance rate"),
    Metric(name="least_favoured", is_group=True, meaning="group with the lowest acceptance rate"),
    Metric(
        name="statistical_parity_difference",
        needs_privileged=True,
        takes_privileged=True,
        is_share=False,
        meaning="AIF360: unprivileged minus privileged acceptance rate, signed",
    ),
    Metric(
        name="average_odds_difference",
        needs_privileged=True,
        takes_privileged=True,
        needs_label=True,
        needs_two_labels=True,
        is_share=False,
        meaning="AIF360: mean of the signed gaps of false and true positive rates",
    ),
)

#: Every metric by name.
METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _METRICS})

#: Fairlearn's names for metrics of ours.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "demographic_parity_ratio": "disparate_impact",
        "demographic_parity_difference": "statistical_parity",
        "equalized_odds_difference": "equalized_odds",
        "equal_opportunity_difference": "equal_opportunity",
        "selection_rate": "acceptance_rate",
    }
)


def known_metrics() -> tuple[str, ...]:
    """All names that can be written, aliases included."""
    return (*METRICS, *ALIASES)
