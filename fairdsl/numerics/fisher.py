"""Whether two groups are selected at different rates by chance: Fisher's exact test, and standard deviations.

Both compare ``hits`` of ``people`` in two groups. Fisher's test (The Design of Experiments, 1935) takes the number of
people and of hits as given, so the first group's hits have a hypergeometric distribution; its two-sided p-value is the
probability of all outcomes that are no likelier than the one that came. The difference in standard deviations is that
of the two-sample test with a pooled rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, fsum, lgamma, sqrt

#: Outcomes as likely as the one that came but for rounding count as no likelier.
_ALIKE = 1e-7
#: Standard deviations from the mean beyond which outcomes have no weight in a float64.
_FAR = 40


@dataclass(frozen=True, slots=True)
class Selected:
    """How many of the people of a group were selected."""

    hits: int
    people: int


def fisher_p(one: Selected, other: Selected) -> float:
    """The two-sided p-value of Fisher's exact test, up to the rounding of float64."""
    people, hits = one.people + other.people, one.hits + other.hits
    least, most = max(0, hits - other.people), min(hits, one.people)
    if least == most:
        return 1.0
    mean = one.people * hits / people
    spread = sqrt(mean * (people - hits) / people * other.people / max(people - 1, 1)) + 1
    low, high = (min(max(int(mean + way * _FAR * spread), least), most) for way in (-1, 1))
    low, high = min(low, one.hits), max(high, one.hits)
    logs = [_choose(one.people, k) + _choose(other.people, hits - k) for k in range(low, high + 1)]
    came = logs[one.hits - low]
    top = max(logs)
    return min(1.0, fsum(exp(each - top) for each in logs if each <= came + _ALIKE) / fsum(exp(e - top) for e in logs))


def _choose(n: int, k: int) -> float:
    """The logarithm of the binomial coefficient."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def standard_deviations(one: Selected, other: Selected) -> float:
    """By how many standard deviations the rate of ``one`` is below that of ``other``; 0 where all are treated alike."""
    pooled = (one.hits + other.hits) / (one.people + other.people)
    error = sqrt(pooled * (1 - pooled) * (1 / one.people + 1 / other.people))
    return (other.hits / other.people - one.hits / one.people) / error if error else 0.0
