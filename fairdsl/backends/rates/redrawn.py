"""People who are drawn again: somebody with the same values of all that does not differ, as more columns of a network.

Given all other columns, those that differ hang on their *blanket* alone: their parents, their children, and the other
parents of these. So what somebody is who is drawn again, given what the two share, is a table over the blanket: the
product of the factors that mention what differs, divided by its sum. The two need not share the label, so where it is
in the blanket it is summed over, with all the factors that mention it. Columns with that distribution stand behind the
network's own; then the two are decided apart with the sum, over two assignments of what differs, of

    Pr[x has the one, x' has the other, and copies of the model for the two decide apart],

each of which is an event of one individual of the larger network. Of those for whom who is asked about hangs on what
differs, the table would have to be over all that the condition reads; they are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product
from math import prod

from fairdsl.backends.contract import Refusal
from fairdsl.backends.rates.people import ASSIGNMENTS, Case, case_of, nobody_compared
from fairdsl.ir.expr import TRUE, conjoin, variables
from fairdsl.ir.population import Factor, Inside, Network, label_column
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, SameDecision
from fairdsl.metrics.alike import having, together
from fairdsl.metrics.subject import Subject, without_idle

#: Entries of the tables of those who are drawn again.
_ENTRIES = 1 << 16


def redrawn_of(problem: Problem) -> list[Case] | Refusal:
    """All who are drawn; then those who are drawn with two assignments, one of their own and one when drawn again."""
    pair, law = problem.demanded.pair, problem.population
    if pair.relax or pair.pair_target != TRUE or pair.sure or not isinstance(pair.demand, SameDecision):
        why = "whoever is drawn again shares what does not differ: no distances, no conditions on the two"
        return Refusal(why=why, span=pair.span)
    assert isinstance(law, Network), "checked before"
    if any(problem.domain.attributes[index].present is not None for index in pair.differ):
        return Refusal(why="values of what differs may be missing", span=pair.span)
    if problem.model.opaque is not None:
        return Refusal(why="the model only answers", span=problem.model.span)
    asked = conjoin(problem.domain.where, pair.target)
    if {variable.attribute for variable in variables(asked)} & set(pair.differ):
        return Refusal(why="who is drawn again depends on conditions on what differs", span=pair.span)
    found = together(problem, replace(pair, mode=Differ.ANY), ASSIGNMENTS)
    if isinstance(found, str):
        return Refusal(why=found, span=pair.span)
    larger = drawn_again(law, pair.differ)
    if isinstance(larger, str):
        return Refusal(why=larger, span=pair.span)
    model = without_idle(replace(problem.model, favourable=0, beside=frozenset()))
    drawn = conjoin(asked, problem.given)
    cases = [nobody_compared(Subject(network=law, model=model, condition=drawn, keys=()))]
    again = {column: len(law.columns) + place for place, column in enumerate(pair.differ)}
    for one, other in permutations([each for group in found for them in group.groups for each in them], 2):
        both = conjoin(drawn, having(one), having({again[column]: value for column, value in other.items()}))
        subject = Subject(network=larger, model=model, condition=both, keys=())
        cases.append(case_of(subject, ((one, other),), pair.differ))
    return cases


def drawn_again(law: Network, differ: tuple[int, ...]) -> Network | str:
    """The network with a column more for each that differs, given all others; why there is none."""
    cells, label = law.cells, label_column(law)
    mentioning = _mentioning(law, differ)
    hidden = () if label is None or not _mentioning(law, (label,), among=mentioning) else (label,)
    mentioning = _mentioning(law, (*differ, *hidden))
    if any(cell.inside is not Inside.POINT for column in differ for cell in cells[column]):
        return "what differs is known by its bins alone"
    shared = (of for at, of in enumerate(cells) if at not in (*differ, label))
    if any(cell.inside is Inside.UNKNOWN for of in shared for cell in of):
        return "what the two share is known by its bins alone, inside of which it may depend on what differs"
    if any(not isinstance(row, tuple) for each in mentioning for row in each.rows.values()):
        return "what depends on what differs has a normal distribution"
    blanket = sorted({at for each in mentioning for at in (each.column, *each.parents)} - {*differ, *hidden})
    if prod(len(cells[at]) for at in (*blanket, *differ, *hidden)) > _ENTRIES:
        return "what differs depends on too much at once"
    first = len(law.columns)
    rows: list[dict[tuple[int, ...], tuple[Fraction, ...]]] = [{} for _ in differ]
    for given in product(*(range(len(cells[at])) for at in blanket)):
        at = dict(zip(blanket, given, strict=True))
        masses = {
            own: sum(
                _mass(mentioning, at | dict(zip((*differ, *hidden), (*own, *unseen), strict=True)))
                for unseen in product(*(range(len(cells[column])) for column in hidden))
            )
            for own in product(*(range(len(cells[column])) for column in differ))
        }
        for place, column in enumerate(differ):
            for before in product(*(range(len(cells[each])) for each in differ[:place])):
                count = len(cells[column])
                of_cells = [
                    sum(m for own, m in masses.items() if own[: place + 1] == (*before, c)) for c in range(count)
                ]
                if whole := sum(of_cells):
                    rows[place][*given, *before] = tuple(Fraction(each) / whole for each in of_cells)
    added = tuple(
        Factor(column=first + place, parents=(*blanket, *range(first, first + place)), rows=rows[place])
        for place in range(len(differ))
    )
    named = (replace(law.columns[column], name=f"{law.columns[column].name} (again)") for column in differ)
    return replace(
        law,
        columns=(*law.columns, *named),
        cells=(*cells, *(cells[column] for column in differ)),
        factors=(*law.factors, *added),
    )


def _mentioning(law: Network, columns: tuple[int, ...], among: Sequence[Factor] | None = None) -> list[Factor]:
    every = law.factors if among is None else among
    return [each for each in every if {each.column, *each.parents}.intersection(columns)]


def _mass(factors: list[Factor], at: dict[int, int]) -> Fraction:
    """The product of the factors where columns have these cells."""
    found = Fraction(1)
    for factor in factors:
        row = factor.rows.get(tuple(at[parent] for parent in factor.parents))
        found *= row[at[factor.column]] if isinstance(row, tuple) else 0  # without a row it is nobody
    return found
