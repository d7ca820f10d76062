"""The cookbook's questions about rates: each spec is in order, and its numbers are those of counting rows."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median

import pytest

import fairdsl
from fairdsl.semantics import front_end
from fairdsl.verdict import Interval, Judgement
from tests.examples.example_folders import assert_in_order, script_of

FOLDER = Path(__file__).parents[2] / "examples" / "cookbook"
F = Fraction
Row = Mapping[str, str]
Says = Callable[[Row], bool]


def rows(name: str) -> list[Row]:
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def share(people: Sequence[Row], event: Says, among: Says = lambda _: True) -> Fraction:
    counting = [one for one in people if among(one)]
    return F(sum(map(event, counting)), len(counting))


def by_group(name: str, column: str, event: Says, among: Says = lambda _: True) -> list[Fraction]:
    people = rows(name)
    groups = sorted({one[column] for one in people})
    return [share([one for one in people if one[column] == group], event, among) for group in groups]


# ---- the models, once more ---------------------------------------------------------------------------


def treats(one: Row) -> bool:
    return 94 - int(one["oxygen"]) + F(int(one["age"]), 30) > 0


def right(one: Row) -> bool:
    return treats(one) == (one["sick"] == "yes")


def detains(one: Row) -> bool:
    return not 4 - int(one["priors"]) + F(int(one["age"]), 20) > 0


def score(one: Row) -> Fraction:
    return F(int(one["income"]), 2) + F(int(one["savings"]), 4)


def old_grants(one: Row) -> bool:
    return int(one["income"]) > 42


def new_grants(one: Row) -> bool:
    return int(one["income"]) + F(int(one["savings"]), 2) > 50


def repaid(one: Row) -> bool:
    return one["repaid"] == "yes"


def ages(one: Row) -> str:
    return "young" if int(one["age"]) < 40 else "middle" if int(one["age"]) < 65 else "old"


# ---- the questions -----------------------------------------------------------------------------------


def checked(name: str) -> list[tuple[Judgement, Interval | None]]:
    report = fairdsl.check(FOLDER / f"{name}.fair")
    return [(demand.judgement, demand.value) for each in report.properties for demand in each.demands]


def exactly(number: Fraction) -> Interval:
    return Interval(number, number)


def spread(numbers: Sequence[Fraction]) -> Interval:
    return Interval(min(numbers), max(numbers))


@pytest.mark.parametrize("spec", sorted(FOLDER.glob("*.fair")), ids=lambda path: path.stem)
def test_every_spec_is_in_order(spec: Path) -> None:
    assert_in_order(spec)


def test_the_tables_are_what_the_script_writes(tmp_path: Path) -> None:
    script_of(FOLDER, "make_rates_data", tmp_path).main()
    for name in ("patients", "defendants", "borrowers", "drivers", "candidates"):
        assert (tmp_path / f"{name}.csv").read_bytes() == (FOLDER / f"{name}.csv").read_bytes()


def test_miss_rates() -> None:
    missed = by_group("patients", "race", lambda one: not treats(one), lambda one: one["sick"] == "yes")
    ratio = min(missed) / max(missed)
    assert ratio < F(80, 100)
    assert checked("miss-rates") == [(Judgement.VIOLATED, exactly(ratio)), (Judgement.MEASURED, spread(missed))]


def test_false_alarms() -> None:
    alarms = by_group("defendants", "race", detains, lambda one: one["rearrested"] == "no")
    gap = max(alarms) - min(alarms)
    assert gap <= F(5, 100)
    assert checked("false-alarms") == [(Judgement.HOLDS, exactly(gap)), (Judgement.MEASURED, exactly(gap))]


def test_accuracy_in_every_group() -> None:
    by_race = by_group("patients", "race", right)
    people = rows("patients")
    by_age = [share([one for one in people if ages(one) == age], right) for age in ("young", "middle", "old")]
    assert checked("accuracy-in-every-group") == [
        (Judgement.VIOLATED, exactly(min(by_race))),
        (Judgement.MEASURED, spread([1 - rate for rate in by_race])),
        (Judgement.VIOLATED, spread(by_age)),
        (Judgement.MEASURED, exactly(1 - min(by_age))),
    ]


def test_scoring_rates() -> None:
    people = rows("borrowers")
    middle = median(map(score, people))
    above = by_group("borrowers", "sex", lambda one: score(one) > middle)
    ratio = min(above) / max(above)
    assert ratio >= F(80, 100)
    assert checked("scoring-rate") == [(Judgement.HOLDS, exactly(ratio)), (Judgement.MEASURED, spread(above))]


def test_the_new_model_against_the_old_one() -> None:
    old, new = (by_group("borrowers", "sex", grants) for grants in (old_grants, new_grants))
    before, after = (min(rates) / max(rates) for rates in (old, new))
    assert after - before >= F(-1, 100)
    missed = [
        by_group("borrowers", "sex", lambda one, grants=grants: not grants(one), repaid)
        for grants in (old_grants, new_grants)
    ]
    more = [late - early for early, late in zip(*missed, strict=True)]
    assert max(more) <= F(2, 100)
    assert checked("no-worse-than-the-old-model") == [
        (Judgement.HOLDS, exactly(after - before)),
        (Judgement.MEASURED, exactly(before)),
        (Judgement.MEASURED, exactly(after)),
        (Judgement.HOLDS, spread(more)),
    ]


def mean(people: Sequence[Row], number: Callable[[Row], Fraction]) -> Fraction:
    return sum(map(number, people), F(0)) / len(people)


def gap(numbers: Sequence[Fraction]) -> Fraction:
    return max(numbers) - min(numbers)


def test_equal_need() -> None:
    def risk(one: Row) -> Fraction:
        return 94 - int(one["oxygen"]) + F(int(one["age"]), 30)

    people = rows("patients")
    means = [
        [
            mean([one for one in people if (one["race"], one["sick"]) == (race, sick)], risk)
            for race in ("black", "white")
        ]
        for sick in ("no", "yes")
    ]
    worst = max(map(gap, means))
    assert worst <= 2
    assert checked("equal-need") == [
        (Judgement.HOLDS, exactly(worst)),
        (Judgement.MEASURED, spread([number for pair in means for number in pair])),
    ]


def test_mean_premiums() -> None:
    def premium(one: Row) -> Fraction:
        return F(300 + 12 * int(one["distance"]) + 150 * (int(one["age"]) < 25) + 40 * (int(one["age"]) >= 65))

    people = rows("drivers")
    by_sex = [mean([one for one in people if one["sex"] == sex], premium) for sex in ("female", "male")]
    bands = ((18, 25), (25, 65), (65, 81))
    by_age = [
        [
            mean([one for one in people if one["sex"] == sex and low <= int(one["age"]) < high], premium)
            for sex in ("female", "male")
        ]
        for low, high in bands
    ]
    ratio, worst = min(by_sex) / max(by_sex), max(map(gap, by_age))
    assert checked("mean-premiums") == [
        (Judgement.HOLDS if ratio >= F(98, 100) else Judgement.VIOLATED, exactly(ratio)),
        (Judgement.MEASURED, spread(by_sex)),
        (Judgement.HOLDS if worst <= 30 else Judgement.VIOLATED, exactly(worst)),
    ]


# ---- four-fifths, ages, calibration ------------------------------------------------------------------


def ratio_of(people: Sequence[Row], groups: Callable[[Row], object], event: Says, at_least: int = 0) -> Fraction:
    by: dict[object, list[Row]] = {}
    for one in people:
        by.setdefault(groups(one), []).append(one)
    rates = [share(members, event) for members in by.values() if len(members) >= at_least]
    return min(rates) / max(rates)


def fifths(ratio: Fraction) -> tuple[Judgement, Interval]:
    return (Judgement.HOLDS if ratio >= F(80, 100) else Judgement.VIOLATED), exactly(ratio)


def test_four_fifths() -> None:
    people = rows("candidates")

    def above(percent: int) -> Says:
        return lambda one: int(one["points"]) >= percent

    def both(one: Row) -> object:
        return one["race"], one["sex"]

    found = [fifths(ratio_of(people, both, above(50), 30))]
    two_percent = len(people) * 2 // 100
    for groups in (lambda one: one["sex"], lambda one: one["race"], both):
        found.append(fifths(ratio_of(people, groups, above(50), two_percent)))
    sites = sorted({one["site"] for one in people})
    for percent in (40, 45, 50, 55, 60):
        for site in sites:
            here = [one for one in people if one["site"] == site]
            found.append(fifths(ratio_of(here, lambda one: one["sex"], above(percent))))
    assert len(found) == 4 + 5 * 12
    assert {judgement for judgement, _ in found} == {Judgement.HOLDS, Judgement.VIOLATED}
    assert checked("four-fifths") == found


def test_ages_and_minorities() -> None:
    people, found = rows("candidates"), []
    for protected in (
        lambda one: int(one["age"]) >= 40,
        lambda one: int(one["age"]) >= 62,
        lambda one: one["race"] != "white",
    ):
        rates = [
            share([one for one in people if protected(one) is side], lambda one: int(one["points"]) >= 50)
            for side in (False, True)
        ]
        found += [fifths(min(rates) / max(rates)), (Judgement.MEASURED, spread(rates))]
    assert checked("age-and-minorities") == found


def test_the_top_tenth() -> None:
    people = rows("candidates")
    cut = sorted((int(one["points"]) for one in people), reverse=True)[len(people) // 10 - 1]
    assert f"let cut = {cut}" in (FOLDER / "top-tenth.fair").read_text(encoding="utf-8")
    top = by_group("candidates", "sex", lambda one: int(one["points"]) >= cut)
    assert checked("top-tenth") == [fifths(min(top) / max(top)), (Judgement.MEASURED, spread(top))]


def test_calibration() -> None:
    def risk(one: Row) -> Fraction:
        return 94 - int(one["oxygen"]) + F(int(one["age"]), 30)

    people = rows("patients")
    scores = sorted(map(risk, people))
    deciles = [scores[len(people) * k // 10] for k in range(1, 10)]

    def worst(groups: Callable[[Row], object], edges: Sequence[Fraction | int], at_least: int) -> Fraction:
        gaps = []
        for band in range(len(edges) + 1):
            inside = [one for one in people if sum(risk(one) >= edge for edge in edges) == band]
            by: dict[object, list[Row]] = {}
            for one in inside:
                by.setdefault(groups(one), []).append(one)
            rates = [share(each, lambda one: one["sick"] == "yes") for each in by.values() if len(each) >= at_least]
            gaps.append(gap(rates))
        return max(gaps)

    def senior(one: Row) -> bool:
        return int(one["age"]) >= 65

    found = [worst(lambda one: one["race"], deciles, 1)]
    for groups in (lambda one: one["race"], senior, lambda one: (one["race"], senior(one))):
        found.append(worst(groups, (-3, 0, 3), 5))
    assert checked("calibration") == [
        (Judgement.HOLDS if number <= F(20, 100) else Judgement.VIOLATED, exactly(number)) for number in found
    ]


def test_equal_records() -> None:
    people, gaps = rows("defendants"), []
    for low, high in ((0, 2), (2, 4), (4, 8), (8, 22)):
        alike = [one for one in people if low <= int(one["priors"]) < high]
        by_race = [share([one for one in alike if one["race"] == race], detains) for race in ("black", "white")]
        gaps.append(gap(by_race))
    assert max(gaps) <= F(10, 100)
    assert checked("equal-records") == [(Judgement.HOLDS, exactly(max(gaps)))]


def test_a_difference_and_what_it_is_of_are_explained_once() -> None:
    checked, _ = front_end(str(FOLDER / "no-worse-than-the-old-model.fair"))
    (no_worse, *_) = checked.properties
    assert len(no_worse.sentences) == 3
    (formula,) = no_worse.formulas
    assert formula.startswith("Q - Q' >= -1%\nQ  = min p / max p\n")
