"""The rows that are not judged alike by all who judge them, as reports list them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.replay import Decisions
from fairdsl.verdict import Decider, DifferingRow, Individual

__all__ = ["listed"]


def listed(problem: Problem, rows: Rows, decisions: Decisions, marked: Sequence[int]) -> tuple[DifferingRow, ...]:
    """The rows at these places, with the outcomes that exact arithmetic and the file come to."""

    def said(by: Decider, place: int) -> str | None:
        found = UNDECIDED if by not in decisions else int(decisions[by][place])
        return None if found == UNDECIDED else problem.model.outcomes[found]

    people = rows.sample.values.keep(range(len(problem.domain.attributes)))
    points = people.at(np.array(marked, dtype=np.intp)).points() if marked else []
    file = Decider.ANSWERS if Decider.ANSWERS in decisions else Decider.DEPLOYED
    return tuple(
        DifferingRow(
            row=place + 1,
            values=Individual.of(problem.domain, point),
            exact=said(Decider.EXACT, place),
            deployed=said(file, place),
        )
        for place, point in zip(marked, points, strict=True)
    )
