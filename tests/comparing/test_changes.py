"""What is certain of a change: intervals against every pair of numbers in them, and verdicts against a table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import F, demand, group, interval, part, report

import fairdsl
from fairdsl.comparing.compare import compared
from fairdsl.comparing.model import Change, Comparison, Course, ExitCode, Favoured, Movement
from fairdsl.report.model import DemandReport, Report
from fairdsl.verdict import Interval, Judgement

_NUMBERS = st.fractions(min_value=-2, max_value=2, max_denominator=6)
_INTERVALS = st.tuples(_NUMBERS, _NUMBERS).map(lambda ends: Interval(min(ends), max(ends)))


def numbers(value: Interval, *marks: Fraction) -> list[Fraction]:
    """Enough numbers of an interval to attain whatever extremes a piecewise linear function has."""
    assert value.low is not None
    assert value.high is not None
    return [value.low, value.high, *(mark for mark in marks if value.low <= mark <= value.high)]


@given(_INTERVALS, _INTERVALS)
def test_movements_are_certain_and_nothing_certain_is_missed(before: Interval, after: Interval) -> None:
    change = Change(before, after)
    differences = [y - x for x, y in product(numbers(before), numbers(after))]
    assert change.difference == Interval(min(differences), max(differences))
    certain = {
        Movement.ROSE: all(one > 0 for one in differences),
        Movement.FELL: all(one < 0 for one in differences),
        Movement.SAME: all(one == 0 for one in differences),
    }
    expected = [movement for movement, true in certain.items() if true] or [Movement.OPEN]
    assert [change.movement] == expected


@given(_INTERVALS, _INTERVALS, st.fractions(min_value=0, max_value=2, max_denominator=6), st.sampled_from([F(0), F(1)]))
def test_a_tolerance_against_all_pairs(before: Interval, after: Interval, tolerance: Fraction, ideal: Fraction) -> None:
    grown = [abs(y - ideal) - abs(x - ideal) for x, y in product(numbers(before, ideal), numbers(after, ideal))]
    kept = [one <= tolerance for one in grown]
    expected = True if all(kept) else None if any(kept) else False
    assert Change(before, after).within(tolerance, ideal) is expected


def test_ends_that_are_not_known() -> None:
    above, below = Interval(F(1, 2), None), Interval(None, F(1, 4))
    assert Change(below, above).movement is Movement.ROSE
    assert Change(above, below).movement is Movement.FELL
    assert Change(above, above).movement is Movement.OPEN
    assert Change(interval(F(0)), above).within(F(1, 4), F(0)) is False
    assert Change(above, interval(F(0))).within(F(0), F(0)) is True
    assert Change(interval(F(0)), below).within(F(1, 4), F(0)) is None
    assert Change(interval(F(0)), None).movement is Movement.MISSING
    assert Change(interval(F(0)), None).within(F(1), F(0)) is None
    assert Change(None, None).within(F(0), F(0)) is True


_HOLDS, _VIOLATED, _UNKNOWN = Judgement.HOLDS, Judgement.VIOLATED, Judgement.UNKNOWN
_REFUSED, _MEASURED = Judgement.REFUSED, Judgement.MEASURED


@pytest.mark.parametrize(
    ("before", "after", "course"),
    [
        (_HOLDS, _HOLDS, Course.SAME),
        (_HOLDS, _VIOLATED, Course.WORSE),
        (_HOLDS, _UNKNOWN, Course.WORSE),
        (_HOLDS, _REFUSED, Course.WORSE),
        (_MEASURED, _UNKNOWN, Course.WORSE),
        (_UNKNOWN, _VIOLATED, Course.WORSE),
        (_REFUSED, _VIOLATED, Course.WORSE),
        (_VIOLATED, _HOLDS, Course.BETTER),
        (_UNKNOWN, _HOLDS, Course.BETTER),
        (_REFUSED, _MEASURED, Course.BETTER),
        (_VIOLATED, _UNKNOWN, Course.OTHER),
        (_UNKNOWN, _REFUSED, Course.OTHER),
    ],
)
def test_where_verdicts_go(before: Judgement, after: Judgement, course: Course) -> None:
    text = "require parity_gap <= 10%"
    found = compare(report(demand(text, before)), report(demand(text, after)))
    assert found.properties[0].demands[0].course is course
    assert (found.exit_code is ExitCode.WORSE) is (course is Course.WORSE)


def compare(before: Report, after: Report, tolerance: Fraction | None = None) -> Comparison:
    return compared(("before.json", "after.json"), before, after, tolerance)


def test_what_held_and_is_asked_no_more_got_worse() -> None:
    kept, held = demand("measure fair_share"), demand("require fair_share >= 90%", _HOLDS)
    lost = compare(report(kept, held), report(kept))
    assert [one.course for one in lost.properties[0].demands] == [Course.SAME, Course.WORSE]
    assert (lost.properties[0].course, lost.exit_code) == (Course.WORSE, ExitCode.WORSE)
    violated = demand("require fair_share >= 90%", _VIOLATED)
    freed = compare(report(kept, violated), report(kept))
    assert [one.course for one in freed.properties[0].demands] == [Course.SAME, Course.REMOVED]
    joined = compare(report(kept), report(kept, held))
    assert [one.course for one in joined.properties[0].demands] == [Course.SAME, Course.ADDED]
    assert joined.exit_code is ExitCode.NOT_WORSE


def test_a_line_with_another_threshold_is_another_demand() -> None:
    other = demand("measure fair_share")
    strict, loose = (demand(f"require fair_share >= {n}%", _HOLDS) for n in (90, 50))
    found = compare(report(other, strict), report(other, loose))
    assert [(one.before, one.after) for one in found.properties[0].demands][1:] == [(_HOLDS, None), (None, _HOLDS)]
    assert found.exit_code is ExitCode.WORSE


def test_a_metric_that_is_defined_in_another_way_is_another_demand() -> None:
    old, new = (
        replace(demand("require mine <= 5%", _HOLDS), definition=f"gap(rate({event}))") for event in ("high", "low")
    )
    kept = demand("measure parity_gap")
    found = compare(report(kept, old), report(kept, new))
    assert [(one.before, one.after) for one in found.properties[0].demands][1:] == [(_HOLDS, None), (None, _HOLDS)]
    assert found.exit_code is ExitCode.WORSE


def test_lines_with_the_same_words_are_told_apart_by_their_order() -> None:
    one, two = (demand("measure parity_gap", value=interval(F(n, 10))) for n in (1, 2))
    found = compare(report(one, two), report(one, one))
    assert [item.value.movement for item in found.properties[0].demands if item.value] == [Movement.SAME, Movement.FELL]


def test_clauses_and_files() -> None:
    line = demand("measure parity_gap")
    before = report(line, clauses=("across sex", "under d"))
    found = compare(before, report(line, clauses=("across sex", "for each age"), data="ef"))
    assert (found.properties[0].left, found.properties[0].joined) == (("under d",), ("for each age",))
    assert (found.spec.same, found.data[0].same, found.models[0].same) == (True, False, None)


def test_groups_by_their_values() -> None:
    text = "measure parity_gap"
    half, quarter = interval(F(1, 2)), interval(F(1, 4))
    old = demand(text, _MEASURED, quarter, group(True, half, mark="+"), group(1, quarter, mark="-"))
    new = demand(text, _MEASURED, interval(F(0)), group(1, half, mark="+-"), group(2, half, mark="+-"))
    (line,) = compare(report(old), report(new)).properties[0].demands
    assert [(one.at["sex"], one.number.movement) for one in line.groups] == [
        (True, Movement.MISSING), (1, Movement.ROSE), (2, Movement.MISSING),
    ]  # fmt: skip
    assert line.favoured == {
        "most": Favoured(before="sex = true", after="sex = 1 or sex = 2"),
        "least": Favoured(before="sex = 1", after="sex = 1 or sex = 2"),
    }


def rated(metric: str, *values: Fraction) -> list[Report]:
    return [report(demand(f"measure {metric}", value=interval(value))) for value in values]


@pytest.mark.parametrize(
    ("metric", "before", "after", "code"),
    [
        ("parity_gap", F(10, 100), F(15, 100), ExitCode.NOT_WORSE),
        ("parity_gap", F(10, 100), F(16, 100), ExitCode.WORSE),
        ("parity_gap", F(50, 100), F(10, 100), ExitCode.NOT_WORSE),
        ("impact_ratio", F(80, 100), F(74, 100), ExitCode.WORSE),
        ("impact_ratio", F(60, 100), F(90, 100), ExitCode.NOT_WORSE),
        ("impact_ratio", F(90, 100), F(120, 100), ExitCode.WORSE),
        ("statistical_parity_difference", F(-30, 100), F(-10, 100), ExitCode.NOT_WORSE),
        ("statistical_parity_difference", F(-10, 100), F(20, 100), ExitCode.WORSE),
        ("most_favoured", F(50, 100), F(90, 100), ExitCode.NOT_WORSE),
    ],
)
def test_the_tolerance_is_about_the_distance_from_the_ideal(
    metric: str, before: Fraction, after: Fraction, code: ExitCode
) -> None:
    assert compare(*rated(metric, before, after), F(5, 100)).exit_code is code
    assert compare(*rated(metric, before, after)).exit_code is ExitCode.NOT_WORSE


def test_what_may_exceed_the_tolerance_is_not_known() -> None:
    before = report(demand("measure parity_gap", value=interval(F(1, 10), F(2, 10))))
    assert compare(before, before, F(1, 20)).exit_code is ExitCode.UNKNOWN
    assert compare(before, before, F(1, 10)).exit_code is ExitCode.NOT_WORSE


def test_numbers_for_each_value_of_given_are_compared_one_by_one() -> None:
    def line(*values: Fraction | None) -> DemandReport:
        found = [None if value is None else interval(value) for value in values]
        parts = tuple(part({"age": n}, value) for n, value in enumerate(found))
        half = interval(F(1, 2))
        return demand("measure parity_gap", _MEASURED, half, group("f", half), parts=parts)

    # The worst one stays what it is, another one gets worse.
    found = compare(report(line(F(1, 2), F(0), None)), report(line(F(1, 2), F(1, 4), None)), F(1, 10))
    assert found.exit_code is ExitCode.WORSE
    assert [one.number.movement for one in found.properties[0].demands[0].parts] == [
        Movement.SAME, Movement.ROSE, Movement.MISSING,
    ]  # fmt: skip
    lost = compare(report(line(F(1, 2), F(0))), report(line(F(1, 2), None)), F(1, 10))
    assert lost.exit_code is ExitCode.UNKNOWN


def test_the_function_takes_reports() -> None:
    before, after = rated("parity_gap", F(1, 10), F(2, 10))
    found = fairdsl.compare(before, after, tolerance=0.1)
    assert (found.tolerance, found.exit_code) == (F(1, 10), ExitCode.NOT_WORSE)
    assert fairdsl.compare(before, after, tolerance=F(1, 11)).exit_code is ExitCode.WORSE
    with pytest.raises(ValueError, match="from 0"):
        fairdsl.compare(before, after, tolerance=-1.0)
