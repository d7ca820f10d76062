"""Recipes: which rows are added before a model is trained again. By name, in ``RECIPES``.

``published``
    What the program published with Udeshi, Arora and Chattopadhyay, "Automated Directed Fairness Testing" (ASE
    2018), does with the file that comes with it: in round i, between 2^(i-1) and 2^i per cent as many rows as there
    are, drawn among the discriminatory inputs found, each as it is stored (one protected value alone), and all with
    the unfavourable outcome. It is here to be compared with.
``pairs``
    Everybody in the groups of individuals who are discriminated, with all protected values, and one outcome a group:
    the majority vote of estimators that are fitted to resampled rows (bootstrap aggregating: Breiman, Machine
    Learning 24, 1996) about all members; a tie goes to the outcome of the nearest row.
``pairs-training-rule``
    The same groups with the outcome of the row of the table that is nearest in all that does not differ.
``flipped-copies``
    The rows of the table once more for every other protected value, with the row's own outcome.
``portfolio``
    ``flipped-copies``, ``pairs`` and ``pairs-training-rule``, each tried in every round from the best model so far.

A group of more than 64 is a sample of 64 and the two who are decided differently. Which recipe is best for a model
is measured, never assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import conjoin
from fairdsl.numerics.narrow import narrow
from fairdsl.repairing.estimators import Factory, fitted, predicted
from fairdsl.repairing.groups import Groups, nearest_outcomes, others, protected_values
from fairdsl.repairing.subject import Rows, Subject
from fairdsl.repairing.training import Addition, Training

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Estimators that vote.
_VOTERS = 5

#: From how many individuals to find to the pairs found, a and b, [n, attributes] each.
Search = Callable[[int], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A round, from 1: what the best model was trained on, where it discriminates, and at most how much is added.

    ``wanted``: so many rows are added by a recipe that searches. ``tried`` are the recipes that were tried from this
    model before.
    """

    subject: Subject
    factory: Factory
    training: Training
    search: Search
    round: int
    wanted: int
    tried: frozenset[str]
    rng: np.random.Generator

    @property
    def original(self) -> Rows:
        """The rows of the table."""
        return self.training.original

    def extended(self, recipe: str, rows: Rows) -> Training | None:
        """The best model's rows and these; None where there are none."""
        return self.training.extended(Addition(recipe, self.round, rows)) if len(rows) else None


#: From the situation to what is trained on next; None where the recipe has nothing to add.
Recipe = Callable[[Situation], Training | None]


def _published(now: Situation) -> Training | None:
    per_cent = now.rng.uniform(2 ** (now.round - 1), 2**now.round)
    wanted = int(per_cent * len(now.original) / 100)
    found, _ = now.search(wanted)
    if not len(found):
        return None
    drawn = found[now.rng.permutation(len(found))[:wanted]]
    outcomes = np.full(len(drawn), _unfavourable(now), dtype=np.int64)
    # Always the table's rows and these: what an earlier round added is not kept.
    return Training(now.original, (Addition("published", now.round, Rows(ExactRows.of_floats(drawn), outcomes)),))


def _unfavourable(now: Situation) -> int:
    """The outcome that rows have most often, of those that are not the favourable one."""
    counts = np.bincount(now.original.outcomes, minlength=len(now.subject.declaration.outcomes))
    favourable = now.subject.declaration.favourable
    if favourable is not None:
        counts[favourable] = -1
    return int(np.argmax(counts))


def _pairs(now: Situation) -> Training | None:
    groups = _discriminated(now)
    if not groups.count:
        return None
    rows, kinds = now.training.rows, len(now.subject.declaration.outcomes)
    votes = np.zeros((groups.count, kinds), dtype=np.int64)
    for _ in range(_VOTERS):
        resampled = rows.at(now.rng.integers(0, len(rows), len(rows)))
        voter = fitted(now.factory, now.subject, resampled, int(now.rng.integers(2**31)))
        ballots = predicted(now.factory, voter, now.subject, groups.values)
        np.add.at(votes, (groups.owners, ballots), 1)
    most = votes.max(axis=1)
    outcomes = np.argmax(votes, axis=1).astype(np.int64)
    tied = (votes == most[:, None]).sum(axis=1) > 1
    outcomes[tied] = _nearest(now, groups)[tied]
    return now.extended("pairs", groups.labelled(outcomes))


def _pairs_training_rule(now: Situation) -> Training | None:
    groups = _discriminated(now)
    return now.extended("pairs-training-rule", groups.labelled(_nearest(now, groups))) if groups.count else None


def _flipped_copies(now: Situation) -> Training | None:
    name = "flipped-copies"
    if name in now.tried or any(addition.recipe == name for addition in now.training.additions):
        return None  # the same rows a second time say nothing new
    subject, rows = now.subject, now.original
    protected = protected_values(subject.pair, narrow(subject.domain), now.rng)
    flipped = others(rows.values, subject.pair, protected.values, subject.domain.where)
    pair = list(subject.pair.differ)  # all else is as it was
    itself = (flipped.values.floats[:, pair] == rows.values.floats[flipped.owners][:, pair]).all(axis=1)
    copies = Groups(flipped.values.at(~itself), flipped.owners[~itself])
    return now.extended(name, copies.labelled(rows.outcomes))


def _discriminated(now: Situation) -> Groups:
    """Groups with somebody who is discriminated, as many as are to be added."""
    subject, pair = now.subject, now.subject.pair
    protected = protected_values(pair, narrow(subject.domain, pair.target), now.rng)
    size = 2 if pair.relax else len(protected.values)
    a, b = now.search(max(1, now.wanted // max(1, size)))
    both = Groups(ExactRows.of_floats(np.concatenate([a, b])), np.tile(np.arange(len(a), dtype=np.int64), 2))
    if pair.relax:  # who is compared with whom is not a group; the two of them are
        return both.numbered()
    everybody = others(ExactRows.of_floats(a), pair, protected.values, conjoin(subject.domain.where, pair.target))
    return (everybody if protected.complete else everybody.and_also(both)).numbered()


def _nearest(now: Situation, groups: Groups) -> Integers:
    """The outcome of the nearest row for each group, by its first member."""
    _, first = np.unique(groups.owners, return_index=True)
    return nearest_outcomes(now.subject.domain, now.subject.pair, groups.values.at(first), now.original)


#: The recipes that a name represents, each with its own name.
RECIPES: Mapping[str, Mapping[str, Recipe]] = MappingProxyType(
    {
        "portfolio": {"flipped-copies": _flipped_copies, "pairs": _pairs, "pairs-training-rule": _pairs_training_rule},
        "flipped-copies": {"flipped-copies": _flipped_copies},
        "pairs": {"pairs": _pairs},
        "pairs-training-rule": {"pairs-training-rule": _pairs_training_rule},
        "published": {"published": _published},
    }
)
