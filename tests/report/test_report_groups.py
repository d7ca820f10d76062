"""Metrics of groups in reports: the table of rates, who was left out, and two kinds of intervals side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import DOMAIN

from fairdsl.codec import plain, schema
from fairdsl.ir.domain import Attribute, Boolean, Integer
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation
from fairdsl.ir.population import Cell, Inside, Network
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.metrics.words import Names
from fairdsl.report.group_table import group_table
from fairdsl.report.model import DemandReport, PropertyReport, Report, SpecFile
from fairdsl.report.text import render, table_lines
from fairdsl.report.words import known, outcome
from fairdsl.verdict import Evidence, Interval, Judgement, Part, Rate, Reason, Value

F = Fraction

EVIDENCE = Evidence(backend="rates", method="sums of weights, exactly")
SEX = DOMAIN.attributes[3]
AGE = Attribute(name="age", type=Integer(low=18, high=90), bins=(F(25), F(45)))
PEOPLE = Network(
    name="cohort",
    columns=(SEX, AGE, Attribute(name="repaid", type=Boolean())),
    cells=(
        (Cell(low=F(0), high=F(0)), Cell(low=F(1), high=F(1))),
        tuple(Cell(low=F(low), high=F(high), inside=Inside.UNKNOWN) for low, high in ((18, 24), (25, 44), (45, 90))),
        (Cell(low=F(0), high=F(0)), Cell(low=F(1), high=F(1))),
    ),
    factors=(),
    has_label=True,
)
NAMES = Names(PEOPLE)
F_YOUNG, M_YOUNG = NAMES(((0, F(0)), (1, F(18)))), NAMES(((0, F(1)), (1, F(18))))
F_OLD, M_OLD = NAMES(((0, F(0)), (1, F(45)))), NAMES(((0, F(1)), (1, F(45))))
RATES = (
    Rate(
        group=F_YOUNG,
        number=Enclosure.exactly(F(7, 50)),
        mass=Enclosure.exactly(F(1, 8)),
        rows=1204,
        empirical=Enclosure.exactly(F(3, 20)),
        sampling=Enclosure(low=F(1, 8), high=F(1, 6)),
    ),
    Rate(
        group=M_YOUNG,
        number=Enclosure(low=F(1, 3), high=F(2, 5)),
        mass=Enclosure.exactly(F(1, 4)),
        rows=88,
        sampling=Enclosure(low=F(1, 4), high=F(1, 2)),
    ),
    Rate(
        group=F_OLD,
        number=Enclosure.exactly(F(11, 20)),
        mass=Enclosure.exactly(F(1, 8)),
        rows=9,
        sampling=Enclosure(low=F(0), high=F(1)),
    ),
)
VALUE = Value(
    number=Enclosure.exactly(F(14, 55)),
    evidence=EVIDENCE,
    rates=RATES,
    most=(2,),
    least=(0,),
    excluded=(M_OLD, NAMES(((0, F(1)), (1, F(25))))),
    sampling=Enclosure(low=F(1, 5), high=F(1, 3)),
    confidence=F(95, 100),
)


def at_least(text: str) -> Threshold:
    return Threshold(relation=Relation.GE, limit=F(text.rstrip("%")) / (100 if "%" in text else 1), text=text)


def demand(value: Value, metric: str, limit: str | None = None) -> DemandReport:
    return DemandReport(
        text=f"measure {metric}" if limit is None else f"require {metric} >= {limit}",
        metric=metric,
        quantity=Quantity.METRIC,
        threshold=None if limit is None else at_least(limit),
        verdict=value,
        seconds=0.02,
    )


def rated(*groups: tuple[F, F], **more: object) -> Value:
    """Exact rates of age groups for both sexes."""
    rates = tuple(
        Rate(group=NAMES(((1, F(age)),)), number=Enclosure(low=low, high=high), mass=Enclosure.exactly(F(1, 3)))
        for age, (low, high) in zip((18, 25, 45), groups, strict=False)
    )
    parts = tuple(Part(at=rate.group, number=rate.number) for rate in rates)
    number = reduce(Enclosure.around, (rate.number for rate in rates))
    return Value(number=number, evidence=EVIDENCE, rates=rates, parts=parts, **more)  # type: ignore[arg-type]


STRATA = Value(
    number=Enclosure.exactly(F(1, 4)),
    evidence=EVIDENCE,
    rates=tuple(
        Rate(
            group=NAMES(((0, F(sex)),)),
            given=NAMES(((1, F(age)),)),
            number=Enclosure.exactly(rate),
            mass=Enclosure.exactly(F(1, 4)),
        )
        for age, sex, rate in ((18, 0, F(1, 8)), (18, 1, F(1, 2)), (45, 0, F(1)), (45, 1, F(1)))
    ),
    most=(1, 2, 3),
    least=(0, 2, 3),
    parts=(
        Part(at=NAMES(((1, F(18)),)), number=Enclosure.exactly(F(1, 4))),
        Part(at=NAMES(((1, F(45)),)), number=Enclosure.exactly(F(1))),
    ),
)
UNDEFINED = replace(rated((F(0), F(0)), (F(0), F(0)), reason=Reason.UNDEFINED, defined=False), parts=())
REPORT = Report(
    fairdsl="0.1.0",
    spec=SpecFile(path="credit.fair", sha256="ab" * 32),
    properties=(
        PropertyReport(
            name="four_fifths",
            sentence="",
            clauses=("across sex, age", "under cohort"),
            demands=(
                demand(VALUE, "impact_ratio", "80%"),
                demand(VALUE, "impact_ratio", "30%"),
                demand(VALUE, "most_favoured"),
                demand(VALUE, "impact_ratio"),
            ),
        ),
        PropertyReport(name="each_age", sentence="", clauses=(), demands=(demand(STRATA, "impact_ratio", "0.8"),)),
        PropertyReport(
            name="rates",
            sentence="",
            clauses=(),
            demands=(
                demand(rated((F(1, 6), F(1, 6)), (F(1, 2), F(1, 2))), "acceptance_rate", "16.67%"),
                demand(rated((F(1, 3), F(2, 5)), (F(1, 2), F(1, 2))), "acceptance_rate"),
            ),
        ),
        PropertyReport(name="nobody", sentence="", clauses=(), demands=(demand(UNDEFINED, "impact_ratio", "80%"),)),
    ),
)


def test_the_table_of_rates(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(Path(__file__).parent / "groups.txt", render(REPORT))


def test_several_known_numbers_are_written_as_each_by_itself() -> None:
    """Bounds of one number are rounded outward; the ends of several are numbers of their own."""
    span = Enclosure(low=F(1, 6), high=F(2, 3))
    for last, said in ((Enclosure.exactly(F(2, 3)), "from 16.67% to 66.67%"), (span, "between 16.66% and 66.67%")):
        first, other = STRATA.parts
        parts = (replace(first, number=Enclosure.exactly(F(1, 6))), replace(other, number=last))
        found = demand(replace(STRATA, number=span, parts=parts), "impact_ratio", "80%")
        assert known(found, Interval(*span)) == said


def test_who_is_favoured_is_open_where_rates_overlap() -> None:
    """Equal rates that are known are both the greatest; of intervals that overlap one is, perhaps."""
    known, open_ = (F(1, 2), F(1, 2)), (F(2, 5), F(3, 5))
    for rates, marks in (
        ((known, known, (F(1, 3), F(1, 3))), ["most", "most", "least"]),
        ((known, open_, (F(1, 3), F(1, 3))), ["perhaps most", "perhaps most", "least"]),
        ((open_, open_, open_), ["perhaps most or least"] * 3),
        ((known, known, known), ["", "", ""]),
    ):
        most = tuple(place for place, rate in enumerate(rates) if rate[1] >= max(low for low, _ in rates))
        least = tuple(place for place, rate in enumerate(rates) if rate[0] <= min(high for _, high in rates))
        found = demand(rated(*rates, most=most, least=least), "acceptance_rate").groups
        assert found is not None
        heading, *lines = table_lines(group_table(found), 120)
        start = heading.find("favoured")
        assert [line[start:].strip() if start > 0 else "" for line in lines] == marks


def test_a_value_that_may_be_none_is_not_shown() -> None:
    late = replace(rated((F(0), F(1)), (F(0), F(1)), reason=Reason.TIMEOUT, defined=False), parts=())
    found = demand(late, "impact_ratio", "80%")
    assert (found.judgement, found.value, found.reason) == (Judgement.UNKNOWN, None, Reason.TIMEOUT)
    assert found.detail is not None
    assert "the time ended" in found.detail


@pytest.mark.parametrize("width", [72, 80])
def test_narrow_terminals(width: int) -> None:
    lines = render(REPORT, width=width).split("\n")
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith("groups"))
    table = lines[start : start + 4]
    assert max(len(line) for line in table) <= width
    assert "95% interval" in table[0]
    assert "of all" not in table[0]
    assert table[1].endswith("least")


def test_the_interval_with_sampling_error_is_judged() -> None:
    first, second, _, _ = REPORT.properties[0].demands
    assert first.judgement is Judgement.VIOLATED
    # 14/55 < 30 %, but the rows leave up to a third.
    assert second.judgement is Judgement.UNKNOWN
    assert second.reason is Reason.INCOMPLETE
    assert second.detail is not None
    assert "more of them" in second.detail


def test_a_required_rate_is_required_of_every_group() -> None:
    judgement = [
        demand(rated((F(1, 3), F(2, 5)), (F(1, 2), F(1, 2))), "acceptance_rate", limit).judgement
        for limit in ("30%", "35%", "45%")
    ]
    assert judgement == [Judgement.HOLDS, Judgement.UNKNOWN, Judgement.VIOLATED]


def test_what_is_shown_never_contradicts_the_verdict() -> None:
    """Of several numbers the worst is shown; `<=` may be broken by another one."""
    at_most = Threshold(relation=Relation.LE, limit=F(1, 2), text="0.5")
    found = DemandReport(
        text="require impact_ratio <= 0.5",
        metric="impact_ratio",
        quantity=Quantity.METRIC,
        threshold=at_most,
        verdict=STRATA,
        seconds=0.0,
    )
    assert found.judgement is Judgement.VIOLATED
    assert outcome(found) == "impact ratio 0.25, required <= 0.5"


def test_groups_as_json() -> None:
    written = plain(REPORT)
    jsonschema.Draft202012Validator(schema(Report)).validate(written)
    assert Report.from_json(REPORT.to_json()) == REPORT
    found = written["properties"][0]["demands"][0]["verdict"]
    assert (found["sampling"]["low_exact"], found["sampling"]["high_exact"]) == ("1/5", "1/3")
    assert Fraction(found["sampling"]["low"]) <= F(1, 5)
    assert Fraction(found["sampling"]["high"]) >= F(1, 3)
    assert found["confidence"] == 0.95
    assert found["excluded"] == [{"sex": "m", "age": "45 .. 90"}, {"sex": "m", "age": "25 .. 44"}]
    assert (found["most"], found["least"]) == ([2], [0])
    rate = found["rates"][0]
    assert (rate["group"], rate["given"], rate["rows"]) == ({"sex": "f", "age": "18 .. 24"}, {}, 1204)
    assert (rate["low_exact"], rate["mass"]) == ("7/50", {"low": 0.125, "high": 0.125})
    assert "rows" not in written["properties"][1]["demands"][0]["verdict"]["rates"][0]
    assert [part["at"] for part in written["properties"][1]["demands"][0]["verdict"]["parts"]] == [
        {"age": "18 .. 24"},
        {"age": "45 .. 90"},
    ]
    assert "value" not in written["properties"][3]["demands"][0]


FEW = st.sampled_from([F(0), F(1, 4), F(1, 2), F(1)])


@given(st.lists(st.tuples(st.integers(0, 1), FEW, FEW), min_size=1, max_size=7))
def test_others_are_those_of_the_same_values(drawn: list[tuple[int, F, F]]) -> None:
    """Whom a rate is marked and divided by, however many groups there are: by definition, each beside each."""
    rates = tuple(
        Rate(
            group=NAMES(((0, F(place)),)),
            given=NAMES(((1, F(18 + 27 * stratum)),)),
            number=Enclosure(low=min(ends), high=max(ends)),
            mass=Enclosure.exactly(F(1, 4)),
        )
        for place, (stratum, *ends) in enumerate(drawn)
    )
    every = tuple(range(len(rates)))
    value = Value(number=Enclosure(low=F(0), high=F(1)), evidence=EVIDENCE, rates=rates, most=every, least=every)
    columns = {column.name: [entry.text for entry in column.entries] for column in group_table(value).columns}
    alike = all(rate.low == rate.high for rate in rates)
    for place, rate in enumerate(rates):
        others = [other for other in rates if other is not rate and other.given == rate.given]
        most, least = all(o.high <= rate.low for o in others), all(rate.high <= o.low for o in others)
        mark = columns.get("favoured", [""] * len(rates))[place]
        assert alike or mark.startswith("most") is most
        assert alike or ("least" in mark.split("perhaps")[0]) is least
        greatest = max((o.high for o in others), default=F(0))
        if others and rate.low == rate.high == greatest > 0 and all(o.low == o.high for o in others):
            assert columns["impact ratio"][place] == "100%"
