"""Metrics held against each other are compared where both are: group by group, and nowhere else."""

from __future__ import annotations

import pytest

import fairdsl
from fairdsl.verdict import Reason

SPEC = """
domain Person {
  sex    : category { female, male }
  income : integer 0 .. 4
}
protected sex
label repaid : boolean
model old : Person -> { refuse, grant }
  grant when income > 2
  favourable grant
model new : Person -> { refuse, grant }
  grant when income <= 2
  favourable grant
distribution people over Person, repaid
  empirical from "people.csv"
property compared {
  across    sex
  under     people
  excluding groups of probability 0
  require   DEMAND
}
"""
#: All whom the old model grants are men, and all whom the new one grants are women.
ROWS = [("female", 0, 0), ("female", 1, 1), ("male", 3, 1), ("male", 4, 0)]


def verdict(demand: str, rows: list[tuple[str, int, int]]) -> fairdsl.DemandReport:
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("sex", "income", "repaid"))}
    [checked] = fairdsl.check(SPEC.replace("DEMAND", demand), data={"people": columns}).properties
    [demanded] = checked.demands
    return demanded


@pytest.mark.parametrize("relation", ["<=", ">", "<", ">="])
def test_rates_of_different_groups_are_not_compared(relation: str) -> None:
    found = verdict(f"rate(repaid given grant) of old {relation} rate(repaid given grant) of new", ROWS)
    assert found.judgement.value == "unknown"
    assert found.reason is Reason.UNDEFINED
    assert "every group is left out of one of the two, so there is nothing to compare" in found.notes


@pytest.mark.parametrize(("relation", "judgement"), [("<", "holds"), (">=", "violated")])
def test_groups_that_both_have_are_compared(relation: str, judgement: str) -> None:
    """Women are left out: the old model grants none; of the men granted, 1/2 repay by the old, all by the new."""
    rows = [*ROWS, ("male", 1, 1)]
    found = verdict(f"rate(repaid given grant) of old {relation} rate(repaid given grant) of new", rows)
    assert found.judgement.value == judgement


@pytest.mark.parametrize(("relation", "judgement"), [(">=", "violated"), ("<=", "violated")])
def test_each_rate_is_held_against_one_number(relation: str, judgement: str) -> None:
    """Women are granted nothing by the old model and men everything; one third lies between."""
    found = verdict(f"rate(grant) of old {relation} most(rate(grant)) of old - 67%", ROWS)
    assert found.judgement.value == judgement
