"""Rows keep what was written: tables with decimals that no float64 is, against a second reading and plain counting."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_cases import Case, case, written

import fairdsl
from fairdsl.diagnostics import DiagnosticError

Found = dict[str, tuple[int, Fraction]]


def checked(spec: str, table: str) -> fairdsl.Report:
    with TemporaryDirectory() as folder:
        (Path(folder) / "case.fair").write_text(spec, encoding="utf-8")
        (Path(folder) / "rows.csv").write_text(table, encoding="utf-8", newline="")
        return fairdsl.check(Path(folder) / "case.fair")


def groups_of(demand: fairdsl.DemandReport) -> Found:
    """Rows and exact rate of each group; of its rows, the rate is the frequency as well."""
    found: Found = {}
    for group in demand.groups.rates if demand.groups is not None else ():
        assert group.low == group.high, group
        assert group.empirical == group.number, group
        ((_, cell),) = group.group.items()
        found[str(cell)] = (group.rows, group.low)
    return found


def assert_true(seed: int) -> None:
    asked = case(seed)
    if asked.wrong:
        assert_told(asked)
        return
    report = checked(asked.spec, asked.table)
    demands = {found.name: found.demands[0] for found in report.properties}
    for name, expected in asked.rates.items():
        got = groups_of(demands[name])
        if not expected:  # nobody is in question
            assert not got, (seed, name)
        elif name in ("bins", "jobs"):  # their groups have other names
            assert sorted(got.values()) == sorted(expected.values()), (seed, name, demands[name])
        else:
            assert got == expected, (seed, name, demands[name])
    shares = demands["pairs"].shares
    if asked.fair is None:
        assert shares is None, seed
    else:
        assert shares is not None, (seed, demands["pairs"])
        assert (shares.total, shares.certified, 1 - shares.falsified) == (asked.fair[0], asked.fair[1], asked.fair[1])


def assert_told(asked: Case) -> None:
    """One finding for the column, with every text that is not a value and its rows."""
    with pytest.raises(DiagnosticError) as caught:
        checked(asked.spec, asked.table)
    ((column, wrong),) = asked.wrong.items()
    (finding,) = {
        (finding.code, finding.title, finding.notes) for finding in caught.value.diagnostics if finding.code[0] == "E"
    }
    code, title, notes = finding
    assert code == "E0532"
    assert f"`{column}`" in title
    if sum(wrong.values()) > 1:
        for text, rows in wrong.items():
            shown = f"`{text if len(text) <= 30 else f'{text[:27]}...'}`" if text else "empty"
            assert f"{shown} ({rows} row{'s' if rows > 1 else ''})" in notes[0], (wrong, notes)


@given(st.integers(0, 2**32))
def test_random_tables_are_what_a_second_reading_says(seed: int) -> None:
    assert_true(seed)


@pytest.mark.slow
def test_two_thousand_tables() -> None:
    for seed in range(2_000):
        assert_true(seed)


# ---- the cases that were found, remade -------------------------------------------------------------

DECIMALS = ["0.1", "0.3", "0.7", "0.29", "1e-1", "0.10000000000000001"]
DOMAIN = """domain P {{ sex : category {{ f, m }}  rate : real 0 .. 1{bins} }}
protected sex
model m : P -> {{ no, ok }}
{rule}
  favourable ok
distribution rows over P
  {rows}
property p {{ {asked} }}
"""


def spec(rule: str, asked: str, *, rows: str = 'empirical from "rows.csv"', bins: str = "") -> str:
    return DOMAIN.format(rule=rule, asked=asked, rows=rows, bins=bins)


def plain(text: str) -> str:
    """The number as a spec writes it."""
    return {"1e-1": "0.1"}.get(text, text)


def only(report: fairdsl.Report) -> fairdsl.DemandReport:
    return report.properties[0].demands[0]


PARITY = "across sex under rows require parity_gap <= 10%"


@pytest.mark.parametrize("text", DECIMALS)
@pytest.mark.parametrize("rule", ["  ok when rate <= {}", "  ok when rate in {{ {}, 0.25 }}", "  ok when rate = {}"])
def test_a_cell_compares_as_it_is_written(text: str, rule: str) -> None:
    table = f"sex,rate\nf,{text}\nf,{text}\nf,0.9\nf,0.9\nm,0.9\nm,0.9\n"
    demand = only(checked(spec(rule.format(plain(text)), PARITY), table))
    assert demand.judgement.value == "violated"
    assert demand.value is not None
    assert (demand.value.low, demand.value.high) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.parametrize("text", DECIMALS)
def test_scores_tie_where_they_are_written_so(text: str) -> None:
    rule = f"  score = {plain(text)} - rate\n  ok when score >= 0"
    demand = only(checked(spec(rule, PARITY), f"sex,rate\nf,{text}\nf,0.9\nm,0.9\nm,0.95\n"))
    assert demand.value is not None
    assert demand.value.low == Fraction(1, 2)


@pytest.mark.parametrize("seed", range(5))
def test_a_where_that_the_rows_reach_exactly(seed: int) -> None:
    """0.7 + 0.1 is 0.8, as the decimals have it and no float64."""
    rows = [(f"0.{ten + 1}", f"0.{ten}") for ten in range(1 + seed, 9)]
    text = spec(
        "  ok when rate <= 0.5", "across sex under rows excluding groups of probability 0 measure acceptance_rate"
    )
    text = text.replace("rate : real 0 .. 1", "rate : real 0 .. 1  cap : real 0 .. 1  where rate <= cap + 0.1")
    table = "sex,rate,cap\n" + "".join(f"f,{rate},{cap}\n" for rate, cap in rows)
    demand = only(checked(text, table))
    expected = Fraction(sum(Fraction(rate) <= Fraction(1, 2) for rate, _ in rows), len(rows))
    assert groups_of(demand) == {"f": (len(rows), expected)}
    outside = table + "m,0.8000000000000001,0.7\n"
    with pytest.raises(DiagnosticError, match="E0533"):
        checked(text, outside)


@pytest.mark.parametrize("edge", ["0.3", "0.1", "0.7"])
def test_a_law_and_its_rows_agree_at_the_edge_of_a_bin(edge: str) -> None:
    """Of the rows half of the men have the edge itself; a law that puts them elsewhere contradicts its rows."""
    table = "sex,rate\n" + f"f,{edge}\nm,0.05\nf,{edge}\nm,{edge}\n" * 50
    text = spec(
        f"  ok when rate >= {edge}",
        "across sex under rows require parity_gap <= 60% with confidence 95% measure acceptance_rate",
        rows='independent given sex\n  from "rows.csv"',
        bins=f" bins at {edge}",
    )
    report = checked(text, table)
    assert {finding.code for finding in report.diagnostics}.isdisjoint({"W0809"})
    assert groups_of(report.properties[0].demands[1]) == {"f": (100, Fraction(1)), "m": (100, Fraction(1, 2))}


@pytest.mark.parametrize("text", DECIMALS)
def test_pairs_under_rows_are_the_rows(text: str) -> None:
    rule = f"  ok when rate <= {plain(text)} and sex = m"
    table = f"sex,rate\nf,{text}\nf,0.9\nm,0.9\nm,0.95\n"
    whole = only(checked(spec(rule, "compare a, b : P differ in sex under rows measure fair_share"), table))
    assert (whole.value.low, whole.value.high) == (Fraction(3, 4), Fraction(3, 4))
    ask = f"compare a, b : P differ in sex under rows among rate <= {plain(text)} measure fair_share"
    within = only(checked(spec(rule, ask), table))
    assert (within.shares.total, within.shares.falsified) == (1, 1)
    assert within.witnesses[0].a["rate"] == Fraction(text)


@pytest.mark.parametrize(
    ("values", "cells", "wrong"),
    [
        ('"1", "2", "3"', "0 0 1 2", {"0": 2}),
        ('"1", "2", "3"', "1 2 3 1", {}),
        ("a, b, c", "0 1 2 0", {}),
        ("a, b, c", "a 1 2 b", {"1": 1, "2": 1}),
        ('"1" = 2, "2" = 1', "1 2 1.0 2", {"1.0": 1}),
        ("a = 4, b = 7", "4 7 4.0 07", {}),
        ("a = 4, b = 7", "4 7 0 1", {"0": 1, "1": 1}),
    ],
)
def test_a_column_is_names_or_codes(values: str, cells: str, wrong: Mapping[str, int]) -> None:
    text = spec("  ok when sex = f", "across sex under rows measure acceptance_rate")
    text = text.replace("rate : real 0 .. 1", f"job : category {{ {values} }}")
    table = "sex,job\n" + "".join(f"{'fm'[row % 2]},{cell}\n" for row, cell in enumerate(cells.split()))
    if not wrong:
        checked(text, table)
        return
    with pytest.raises(DiagnosticError) as caught:
        checked(text, table)
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0532"
    if sum(wrong.values()) > 1:
        assert all(f"`{cell}` ({rows} row" in finding.notes[0] for cell, rows in wrong.items())


def test_ways_to_write_a_number() -> None:
    """The generator writes each of them, and the reading of the tests is not that of the package."""
    from random import Random

    found = {written(Fraction(3, 10), 1, Random(seed)) for seed in range(60)}
    assert {"0.3", "+0.3", "3e-1", "0.3000", ".3", "00.3", "30E-002"} == found
