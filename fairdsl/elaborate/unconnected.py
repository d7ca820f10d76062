"""Groups that a distribution found by search cannot tell apart.

Columns of a Bayesian network between which no path of edges leads, whatever its directions, are independent, and
remain so given any of the others: the distribution is a product over the connected parts of its graph. A condition over
columns of two parts makes them one. So where a model reads nothing of the parts that the groups lie in, the rates of
all groups are the same, whatever the model does. A structure of few rows often is like that: a search adds an edge
where it pays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import conjoin, conjuncts
from fairdsl.ir.model import Model, read_attributes
from fairdsl.ir.population import Network, Population, label_column
from fairdsl.ir.question import GroupMetric
from fairdsl.numerics.axes import mentioned


def cannot_tell_apart(question: GroupMetric, population: Population | None, model: Model, domain: Domain) -> bool:
    """Whether all groups have the same rates because of the edges of a searched distribution alone."""
    if not isinstance(population, Network) or not population.searched:
        return False
    decisive = set(read_attributes(model))
    label = label_column(population)
    if question.metric.rate.event_reads_label and label is not None:  # its rates are shares of the label's values
        decisive.add(label)
    conditions = (mentioned(part) for part in conjuncts(conjoin(domain.where, question.given)))
    return bool(decisive) and decisive.isdisjoint(_reached(question.across, (*population.edges, *conditions)))


def _reached(columns: Iterable[int], links: Collection[tuple[int, ...]]) -> set[int]:
    """The columns, and all that are linked with one of them, directly or by others."""
    reached: set[int] = set()
    further = set(columns)
    while further:
        reached |= further
        further = {column for link in links if not reached.isdisjoint(link) for column in link} - reached
    return reached
