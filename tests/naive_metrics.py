"""Every metric of groups by its definition, one individual after the other, sharing nothing with the package.

The registry describes a metric by an expression that the package interprets. Here each is written down once more, as
plain code over lists of people, and by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

ZERO = Fraction(0)


@dataclass(frozen=True)
class Person:
    """So many of a population (``mass``), with what the model decides about them and what was true of them."""

    mass: Fraction
    label: Fraction | None
    favoured: bool


#: What is true of somebody, where a value of the label stands for those who deserve the favourable outcome.
Fact = Callable[[Person, Fraction | None], bool]
#: What a rate is given, as reports show it: a value of the label, and a decision.
Case = tuple[Fraction | None, bool | None]
#: The rates of some people, by case; the numbers that compare groups are made of those of one case.
Rates = Callable[[Sequence[Fraction], Fraction | None], dict[Case, Callable[[Sequence[Person]], Fraction]]]
Compare = Callable[[Sequence[Fraction]], Fraction]


def anybody(one: Person, deserving: Fraction | None) -> bool:
    return True


def favoured(one: Person, deserving: Fraction | None) -> bool:
    return one.favoured


def refused(one: Person, deserving: Fraction | None) -> bool:
    return not one.favoured


def deserves(one: Person, deserving: Fraction | None) -> bool:
    return one.label == deserving


def does_not(one: Person, deserving: Fraction | None) -> bool:
    return one.label != deserving


def share(people: Sequence[Person], event: Fact, among: Fact, deserving: Fraction | None) -> Fraction:
    """How many of some people it is true of; ZeroDivisionError where there is nobody."""
    counting = [one for one in people if among(one, deserving)]
    return mass(one for one in counting if event(one, deserving)) / mass(counting)


def mass(people: Iterable[Person]) -> Fraction:
    return sum((one.mass for one in people), ZERO)


def one_rate(event: Fact, among: Fact = anybody) -> Rates:
    """The same rate, whatever the label's values are."""

    def rates(
        labels: Sequence[Fraction], deserving: Fraction | None
    ) -> dict[Case, Callable[[Sequence[Person]], Fraction]]:
        shown = None
        if among is deserves:
            shown = deserving
        if among is does_not and len(labels) == 2:
            [shown] = [value for value in labels if value != deserving]
        return {(shown, None): lambda people: share(people, event, among, deserving)}

    return rates


def at_each_label(
    labels: Sequence[Fraction], deserving: Fraction | None
) -> dict[Case, Callable[[Sequence[Person]], Fraction]]:
    """How many are favoured of those with a value of the label, for each."""
    return {(value, None): lambda people, value=value: share(people, favoured, deserves, value) for value in labels}


def at_each_decision(
    labels: Sequence[Fraction], deserving: Fraction | None
) -> dict[Case, Callable[[Sequence[Person]], Fraction]]:
    """How many deserve it of those who are favoured, and of those who are not."""
    return {
        (None, True): lambda people: share(people, deserves, favoured, deserving),
        (None, False): lambda people: share(people, deserves, refused, deserving),
    }


def right(one: Person, deserving: Fraction | None) -> bool:
    return (one.favoured and one.label == deserving) or (not one.favoured and one.label != deserving)


def wrong(one: Person, deserving: Fraction | None) -> bool:
    return (one.favoured and one.label != deserving) or (not one.favoured and one.label == deserving)


ACCEPTANCE = one_rate(favoured)
TRUE_POSITIVE = one_rate(favoured, deserves)
FALSE_POSITIVE = one_rate(favoured, does_not)
FALSE_NEGATIVE = one_rate(refused, deserves)
TRUE_NEGATIVE = one_rate(refused, does_not)
PRECISION = one_rate(deserves, favoured)
FALSE_DISCOVERY = one_rate(does_not, favoured)
FALSE_OMISSION = one_rate(deserves, refused)
ACCURACY = one_rate(right)
ERROR = one_rate(wrong)


def gap(rates: Sequence[Fraction]) -> Fraction:
    return max(rates) - min(rates)


def ratio(rates: Sequence[Fraction]) -> Fraction:
    return min(rates) / max(rates)


def minus(rates: Sequence[Fraction]) -> Fraction:
    """Everybody else less the privileged."""
    others, privileged = rates
    return others - privileged


def over(rates: Sequence[Fraction]) -> Fraction:
    """Everybody else over the privileged."""
    others, privileged = rates
    return others / privileged


def mean(numbers: Sequence[Fraction]) -> Fraction:
    return sum(numbers, ZERO) / len(numbers)


@dataclass(frozen=True)
class Naive:
    """A metric: rates, what compares groups, and what the numbers of several cases, and of several strata, come to.

    Without ``worst`` all numbers count, from the least to the greatest.
    """

    rates: Rates
    compare: Compare
    of_cases: Compare = max
    worst: Compare | None = max
    label: bool = False
    signed: bool = False
    alone: bool = False  # means something of a single group
    every: bool = False  # is all rates

    def of_groups(
        self,
        groups: Mapping[object, Sequence[Person]],
        labels: Sequence[Fraction],
        deserving: Fraction | None,
        privileged: object = None,
    ) -> Fraction:
        """The metric of these groups; ZeroDivisionError where there is no such number."""
        numbers = []
        for rate in self.rates(labels, deserving).values():
            if self.signed:
                others = [one for group, people in groups.items() if group != privileged for one in people]
                numbers.append(self.compare([rate(others), rate(groups[privileged])]))
            else:
                numbers.append(self.compare([rate(people) for people in groups.values()]))
        return self.of_cases(numbers)


#: By name, and whether everybody else is compared with a privileged group. ``path_specific_gap`` is not a quantity of
#: these people: tests/subset_sum/test_changed_laws.py has its definition.
NAIVE: dict[tuple[str, bool], Naive] = {
    ("acceptance_rate", False): Naive(ACCEPTANCE, max, worst=None, alone=True, every=True),
    ("least_accuracy", False): Naive(ACCURACY, min, worst=None, label=True, alone=True),
    ("most_favoured", False): Naive(ACCEPTANCE, max, worst=None, alone=True),
    ("least_favoured", False): Naive(ACCEPTANCE, min, worst=None, alone=True),
    ("parity_gap", False): Naive(ACCEPTANCE, gap),
    ("impact_ratio", False): Naive(ACCEPTANCE, ratio, worst=min),
    ("odds_gap", False): Naive(at_each_label, gap, label=True),
    ("opportunity_gap", False): Naive(TRUE_POSITIVE, gap, label=True),
    ("predictive_gap", False): Naive(PRECISION, gap, label=True),
    ("disparate_impact", True): Naive(ACCEPTANCE, over, worst=None, signed=True),
    ("statistical_parity_difference", True): Naive(ACCEPTANCE, minus, worst=None, signed=True),
    ("equal_opportunity_difference", True): Naive(TRUE_POSITIVE, minus, worst=None, signed=True, label=True),
    ("average_odds_difference", True): Naive(at_each_label, minus, of_cases=mean, worst=None, signed=True, label=True),
    ("equalized_odds_ratio", False): Naive(at_each_label, ratio, of_cases=min, worst=min, label=True),
    ("accuracy_gap", False): Naive(ACCURACY, gap, label=True),
    ("accuracy_ratio", False): Naive(ACCURACY, ratio, worst=min, label=True),
    ("false_positive_rate_gap", False): Naive(FALSE_POSITIVE, gap, label=True),
    ("false_positive_rate_ratio", False): Naive(FALSE_POSITIVE, ratio, worst=min, label=True),
    ("false_negative_rate_gap", False): Naive(FALSE_NEGATIVE, gap, label=True),
    ("false_negative_rate_ratio", False): Naive(FALSE_NEGATIVE, ratio, worst=min, label=True),
    ("true_negative_rate_gap", False): Naive(TRUE_NEGATIVE, gap, label=True),
    ("true_negative_rate_ratio", False): Naive(TRUE_NEGATIVE, ratio, worst=min, label=True),
    ("true_positive_rate_ratio", False): Naive(TRUE_POSITIVE, ratio, worst=min, label=True),
    ("precision_ratio", False): Naive(PRECISION, ratio, worst=min, label=True),
    ("error_rate_ratio", False): Naive(ERROR, ratio, worst=min, label=True),
    ("calibration_gap", False): Naive(at_each_decision, gap, label=True),
    ("false_positive_rate_difference", True): Naive(FALSE_POSITIVE, minus, worst=None, signed=True, label=True),
    ("false_positive_rate_ratio", True): Naive(FALSE_POSITIVE, over, worst=None, signed=True, label=True),
    ("false_negative_rate_difference", True): Naive(FALSE_NEGATIVE, minus, worst=None, signed=True, label=True),
    ("false_negative_rate_ratio", True): Naive(FALSE_NEGATIVE, over, worst=None, signed=True, label=True),
    ("false_discovery_rate_difference", True): Naive(FALSE_DISCOVERY, minus, worst=None, signed=True, label=True),
    ("false_discovery_rate_ratio", True): Naive(FALSE_DISCOVERY, over, worst=None, signed=True, label=True),
    ("false_omission_rate_difference", True): Naive(FALSE_OMISSION, minus, worst=None, signed=True, label=True),
    ("false_omission_rate_ratio", True): Naive(FALSE_OMISSION, over, worst=None, signed=True, label=True),
    ("error_rate_difference", True): Naive(ERROR, minus, worst=None, signed=True, label=True),
    ("error_rate_ratio", True): Naive(ERROR, over, worst=None, signed=True, label=True),
}
ELSEWHERE = {("path_specific_gap", False)}
