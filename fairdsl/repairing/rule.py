"""When a model takes the place of the best one so far. A repair never returns a model that this rule does not prefer.

Let every rate be known to lie in an interval, all of them together with the confidence of the run (the union bound:
each of the at most m measurements has 1 - (1 - confidence) / m). A candidate replaces the best one if

1. it decides the rows held out for choosing no less often rightly than the first model did, up to the loss allowed;
2. no more of those rows lie in unfair units than with the best one;
3. it does not give one outcome to all of these rows where they are labelled with several;
4. the upper end of its rate lies below the lower end of the best one's; or both rates are exact and equal, and
   fewer of the rows are unfair, or as many and more are decided rightly.

So with the confidence of the run the rate over the domain fell with every replacement: intervals that overlap show
nothing, and then the best one stays. 1 to 3 are facts about the rows held out, which are not a sample of what is to
come once they were chosen by; that is why the report is on other rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from fairdsl.repairing.measure import Measured


class Choice(Enum):
    """Why a model replaced the best one, or why not."""

    FIRST = "first"
    FAIRER = "fairer"
    AS_FAIR = "as_fair"  # with an equal rate, and better on the rows
    NOT_MEASURED = "not_measured"  # the time ended
    INACCURATE = "inaccurate"
    UNFAIR_ROWS = "unfair_rows"
    ONE_OUTCOME = "one_outcome"
    NOT_FAIRER = "not_fairer"  # it discriminates more, or as much
    NOT_TOLD_APART = "not_told_apart"  # the intervals overlap
    FAILED = "failed"  # it could not be trained or exported


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What a replacement may cost: ``loss`` of accuracy on the rows, of the ``first`` model's."""

    first: Measured
    loss: Fraction
    labelled: int


def chosen(choice: Choice) -> bool:
    """Whether the candidate is the best one now."""
    return choice in (Choice.FIRST, Choice.FAIRER, Choice.AS_FAIR)


def judged(best: Measured, candidate: Measured, allowed: Allowed) -> Choice:
    """What the rule makes of a candidate."""
    if candidate.rate is None or best.rate is None:
        return Choice.NOT_MEASURED
    now, before = candidate.rows, best.rows
    if allowed.first.rows.correct - now.correct > allowed.loss * now.rows:
        return Choice.INACCURATE
    if now.unfair > before.unfair:
        return Choice.UNFAIR_ROWS
    if allowed.labelled > 1 and sum(count > 0 for count in now.decided) == 1:
        return Choice.ONE_OUTCOME
    if candidate.rate.number.high < best.rate.number.low:
        return Choice.FAIRER
    if candidate.rate.exact and candidate.rate == best.rate:
        better = (now.unfair, -now.correct) < (before.unfair, -before.correct)
        return Choice.AS_FAIR if better else Choice.NOT_FAIRER
    return Choice.NOT_FAIRER if candidate.rate.number.low >= best.rate.number.high else Choice.NOT_TOLD_APART
