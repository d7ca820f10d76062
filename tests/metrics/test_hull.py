"""One number out of those of several deciders: it contains each, whatever groups one of them leaves out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from group_cases import EVIDENCE, about, people
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.expr import Relation
from fairdsl.ir.question import Excluding, Threshold
from fairdsl.metrics import Bounds, Counted, Joint, of_all_deciders, value_of
from fairdsl.verdict import Decider, DifferingRow, Judgement, Reason, Refused, Value, judged

F = Fraction
RACES = (F(0), F(1), F(5))
ROW = DifferingRow(row=1, values=(F(0),), exact=0, deployed=1)

#: Rows by race and label, and how many of them are favoured in exact arithmetic and by the file.
Table = dict[tuple[F, F], tuple[int, int, int]]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    found: Table = {}
    for race in RACES:
        for label in (F(0), F(1)):
            rows = draw(st.integers(1, 6))
            found[race, label] = (rows, draw(st.integers(0, rows)), draw(st.integers(0, rows)))
    return found


def joint(table: Table, place: int, labelled: bool) -> Joint:
    whole = sum(rows for rows, *_ in table.values())
    keys = list(table) if labelled else [(race,) for race in RACES]
    summed = {
        key: [sum(row[n] for at, row in table.items() if at[: len(key)] == key) for n in range(3)] for key in keys
    }
    return Joint(
        favourable={key: Bounds.exactly(F(row[place], whole)) for key, row in summed.items()},
        total={key: Bounds.exactly(F(row[0], whole)) for key, row in summed.items()},
        counts={key: Counted(rows=row[0], least=row[place], most=row[place]) for key, row in summed.items()},
    )


METRICS = ("parity_gap", "impact_ratio", "acceptance_rate", "odds_gap", "predictive_gap")


@given(tables(), st.sampled_from(METRICS), st.booleans(), st.integers(0, 20))
def test_it_contains_both_and_judges_as_both(table: Table, metric: str, excluding: bool, limit: int) -> None:
    question = about(metric, excluding=Excluding(rows=None) if excluding else None)
    labelled = metric in ("odds_gap", "predictive_gap")
    values = {
        by: value_of(question, joint(table, place, labelled), people(), EVIDENCE)
        for by, place in ((Decider.EXACT, 1), (Decider.DEPLOYED, 2))
    }
    one = of_all_deciders(values, [ROW])
    assert isinstance(one, Value)
    exact, deployed = (value for value in values.values() if isinstance(value, Value))
    threshold = Threshold(relation=Relation.LE, limit=F(limit, 20), text="")
    both = {judged(value, threshold) for value in (exact, deployed)}
    assert judged(one, threshold) is (both.pop() if len(both) == 1 else Judgement.UNKNOWN)
    if not (exact.defined and deployed.defined):
        assert not one.defined
        return
    assert one.low == min(exact.low, deployed.low)
    assert one.high == max(exact.high, deployed.high)
    assert {each.by: (each.low, each.high) for each in one.by_decider} == {
        Decider.EXACT: (exact.low, exact.high),
        Decider.DEPLOYED: (deployed.low, deployed.high),
    }
    if (exact.low, exact.high) != (deployed.low, deployed.high):
        assert one.reason is Reason.NUMERIC_GAP
    for value in (exact, deployed):
        for rate in value.rates:
            (wide,) = (each for each in one.rates if (each.group, each.given) == (rate.group, rate.given))
            assert wide.low <= rate.low <= rate.high <= wide.high
        marked = {value.rates[place].group for place in value.most}
        assert marked <= {one.rates[place].group for place in one.most}


def test_one_who_decides_is_taken_as_he_says() -> None:
    table = {(race, label): (4, 1, 2) for race in RACES for label in (F(0), F(1))}
    value = value_of(about("parity_gap"), joint(table, 1, False), people(), EVIDENCE)
    assert isinstance(value, Value)
    alone = of_all_deciders({Decider.ANSWERS: value})
    assert isinstance(alone, Value)
    assert replace(alone, by_decider=(), rates=value.rates) == value


@pytest.mark.parametrize("excluding", [None, Excluding(rows=None)])
def test_a_group_of_nobody_is_refused_by_all_or_left_out(excluding: Excluding | None) -> None:
    table = {(race, label): (4, 1, 2) for race in RACES[:2] for label in (F(0), F(1))}
    empty = {(RACES[2], label): (0, 0, 0) for label in (F(0), F(1))}
    question = about("parity_gap", excluding=excluding)
    found = of_all_deciders(
        {
            by: value_of(question, joint({**table, **empty}, place, False), people(), EVIDENCE)
            for by, place in ((Decider.EXACT, 1), (Decider.DEPLOYED, 2))
        }
    )
    assert isinstance(found, Refused if excluding is None else Value)
    if isinstance(found, Value):
        assert found.excluded == ({"race": "c"},)
