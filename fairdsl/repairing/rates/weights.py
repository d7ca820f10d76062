"""Reweighing: rows count for so much that what is right does not depend on the group.

A row of group g whose right outcome is y counts Pr[g] Pr[y] / Pr[g, y], frequencies of the rows (Kamiran and Calders,
"Data preprocessing techniques for classification without discrimination", Knowledge and Information Systems 33, 2012).
Among weighted rows the two are independent, and the frequency of each is what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.codec import Upper
from fairdsl.metrics import RowKeys
from fairdsl.metrics.words import Names
from fairdsl.repairing.rates.subject import Asked
from fairdsl.verdict import Named

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """How much rows of a group count for which an outcome was right."""

    #: The group.
    group: Named
    #: The outcome.
    outcome: str
    #: How much each of these rows counts; 1 is what it counts by itself.
    weight: Upper


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """The weight of each row [rows], and what they are by group and outcome."""

    each: NDArray[np.float64]
    weights: tuple[Weight, ...]


def weighed(asked: Asked, outcomes: Integers) -> Weighed:
    """Weights of the rows that are asked about, [rows], by the outcome that is right for each; 1 for all others."""
    question, rows = asked.question, asked.rows
    keys = RowKeys.of(question, rows, asked.problem.domain.where)
    width = len(question.across)
    groups = list(dict.fromkeys(key[:width] for key in keys.keys))
    place_of = {group: place for place, group in enumerate(groups)}
    of_key = np.array([place_of[key[:width]] for key in keys.keys], dtype=np.int64)
    names, kinds = asked.problem.model.outcomes, len(asked.problem.model.outcomes)
    group_of, right = of_key[keys.places], outcomes[keys.among]
    counts = np.zeros((len(groups), kinds), dtype=np.int64)
    np.add.at(counts, (group_of, right), 1)
    whole, by_group, by_outcome = int(counts.sum()), counts.sum(axis=1), counts.sum(axis=0)
    each, written = np.ones(len(outcomes)), np.ones(counts.shape)
    called, found = Names(rows), []
    for place, outcome in zip(*np.nonzero(counts), strict=True):
        weight = Fraction(int(by_group[place]) * int(by_outcome[outcome]), whole * int(counts[place, outcome]))
        written[place, outcome] = float(weight)
        group = called(tuple(zip(question.across, groups[place], strict=True)))
        found.append(Weight(group=group, outcome=names[outcome], weight=weight))
    each[keys.among] = written[group_of, right]
    return Weighed(each, tuple(found))
