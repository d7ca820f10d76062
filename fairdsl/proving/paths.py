"""Path-specific gaps as gaps under another distribution: of people who are set to each group in turn.

Nobody's own group matters then, so columns across which groups lie may have any probabilities: uniform ones here. What
is read along an allowed edge is the baseline: a child's table is the one of that parent, and the model reads a column
with one value. What is proved is a gap of rates under that distribution, with the same checker.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.ir.population import Factor, Network, Population
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.subject import subject_of, with_baseline
from fairdsl.proving.question import Unproved


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The distribution under which rates are counted."""

    population: Population
    #: The columns that the model reads in place of others, by those; they stand behind all columns of the population.
    copies: Mapping[int, int] = field(default_factory=dict)
    #: What a reader has to know of it.
    rests: tuple[str, ...] = ()


def counted_under(problem: Problem, question: GroupMetric, population: Population) -> Counted:
    """The population itself or, along paths, people who are set to each group. Raises Unproved."""
    if not question.metric.rate.along_paths or not isinstance(population, Network):
        return Counted(population=population)
    if not isinstance(question.baseline, tuple):
        raise Unproved("a baseline that is found by the rates themselves has no proofs")
    if question.excluding is not None:
        raise Unproved("along paths, groups that are left out have no proofs")
    subject = with_baseline(
        subject_of(problem), dict(zip(question.across, question.baseline, strict=True)), question.allowed
    )
    columns, cells = list(population.columns), subject.network.cells
    for column in subject.copies:
        name = free_name(f"{population.columns[column].name}_baseline", [each.name for each in columns])
        columns.append(replace(population.columns[column], name=name))
    free = [
        Factor(column=column, parents=(), rows={(): (Fraction(1, len(cells[column])),) * len(cells[column])})
        for column in question.across
    ]
    network = replace(subject.network, columns=tuple(columns), factors=(*subject.network.factors, *free))
    said = "`law` is derived from a distribution: groups are set, and read as the baseline along the allowed edges"
    return Counted(population=network, copies=subject.copies, rests=(said,))


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, or a longer one that no other column has."""
    known = set(taken)
    while name in known:
        name += "_"
    return name
