"""Models of which no boxes are bounded, over few people: boxes are cut until their individuals can be listed.

So sigmoid and tanh units, kernel machines and files that are only run have rates, too: everybody is decided.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Refusal
from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.rates.cuts import NOWHERE, Look
from fairdsl.clock import look
from fairdsl.ir.model import ByHighest, Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import Subject, looked_at
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite

__all__ = ["NoBounds", "only_decides", "people_in_words", "refusal_of_people"]

IntArray = NDArray[np.int64]

#: People that are decided at most.
_MOST = 1 << 22


def only_decides(model: Model) -> bool:
    """Whether nothing is known of the model but what it decides about single individuals."""
    slack = isinstance(model.rule, ByHighest) and any(model.rule.slack)
    return model.opaque is not None or not model.rational or slack


def refusal_of_people(problem: Problem) -> Refusal | None:
    """Why not everybody can be decided; None where it is so few that they can."""
    model, question = problem.model, question_of(problem)
    if question.metric.rate.along_paths:
        return Refusal(why="paths of influence are not treated of models that are only evaluated", span=question.span)
    box = isinstance(model.opaque, BlackBox)
    if box and question.influence:
        return Refusal(why="a black box cannot be asked with two values of one column", span=model.span)
    for subject in subjects_of(problem):
        for column in sorted(looked_at(subject)):
            attribute = subject.network.columns[column]
            if attribute.values is None:
                why = f"`{attribute.name}` has values that cannot be listed, and the model is only evaluated"
                return Refusal(why=why, span=attribute.span)
            if box and not Grid.representable(Finite(attribute.values)):
                return Refusal(why=f"`{attribute.name}` has values that are no float64 numbers", span=attribute.span)
        if (count := _people(subject)) > _MOST:
            why = f"the model is only evaluated, and there are {count:,} people to decide; the limit is 2^22"
            return Refusal(why=why, span=model.span)
    return None


def people_in_words(problem: Problem) -> str:
    """How many people are decided."""
    count = sum(_people(subject) for subject in subjects_of(problem))
    return f"the model is only evaluated, and there are at most {count:,} people"


def _people(subject: Subject) -> int:
    """How many different ones there are in what is looked at."""
    return prod(len(subject.network.columns[column].values or ()) for column in looked_at(subject))


class NoBounds:
    """Says nothing of boxes."""

    def look(self, start: IntArray, stop: IntArray) -> Look:
        """Everything is open, and may be cut anywhere."""
        look()
        nobody, nowhere = np.zeros(len(start), dtype=np.bool_), np.full(len(start), NOWHERE)
        return Look(nobody, nobody.copy(), nowhere, nowhere.copy(), np.zeros(len(start)), np.ones(len(start)))
