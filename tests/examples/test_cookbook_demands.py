"""The cookbook's questions about individuals: each spec is in order, and its verdicts are those of asking everybody."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import fairdsl
from tests.examples.example_folders import assert_in_order, script_of

FOLDER = Path(__file__).parents[2] / "examples" / "cookbook"
Person = Mapping[str, object]
Values = Mapping[str, list[object]]


def everybody(values: Values) -> list[dict[str, object]]:
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def pairs(values: Values, *differ: str) -> Iterator[tuple[Person, Person]]:
    """Ordered pairs that differ in some of these attributes and in nothing else."""
    for a in everybody(values):
        for other in product(*(values[name] for name in differ)):
            b = {**a, **dict(zip(differ, other, strict=True))}
            if b != a:
                yield a, b


# ---- the models, once more ---------------------------------------------------------------------------

APPLICANTS: Values = {
    "sex": ["female", "male"],
    "age": [*range(55, 71)],
    "income": [*range(31)],
    "savings": [*range(11)],
}
EARNERS: Values = {"income": [*range(21)], "debt": [*range(11)], "job": ["clerk", "nurse", "cook"]}
LOANS: Values = {
    "sex": ["female", "male"],
    "race": ["black", "white", "other"],
    "income": [*range(61)],
    "debt": [*range(21)],
}
CHANGED: Values = {"income": [*range(61)], "savings": [*range(21)], "age": [*range(18, 81)]}
PATIENTS: Values = {
    "oxygen": [*range(80, 96)],
    "pulse": [*range(145, 156)],
    "age": [*range(70, 81)],
    "race": ["black", "white", "other"],
}


def approve(p: Person) -> bool:
    score = 2 * p["income"] + 3 * p["savings"] + 5 * (p["age"] >= 62) + 2 * (p["sex"] == "female") - 50
    return score >= 0


def earns(p: Person) -> int:
    return p["income"] - 2 * p["debt"] + 4 * (p["job"] == "nurse") - 3 * (p["income"] >= 10 and p["debt"] >= 5)


def old(p: Person) -> int:
    return 2 * p["income"] + 3 * p["savings"] - 55


def new(p: Person) -> int:
    return 2 * p["income"] + 3 * p["savings"] - 52 - 4 * (p["age"] < 21)


def triage(p: Person) -> int:
    if p["oxygen"] < 85 or p["pulse"] > 150:
        return 2
    return 1 if p["oxygen"] < 92 or (p["age"] >= 75 and p["race"] != "black") else 0


def lends(p: Person) -> bool:
    fifths = 5 * (p["income"] - 2 * p["debt"] - 20) - 15 * (p["race"] == "black") + 2 * (p["sex"] == "female")
    return fifths >= 0


def nearly_equal(least: Fraction) -> bool:
    """Whether so large a part of the individuals has no partner of another sex or race, within 2, treated otherwise."""
    fair = 0
    for a in everybody(LOANS):
        near = range(max(0, a["income"] - 2), min(60, a["income"] + 2) + 1)
        others = [(sex, race) for sex in LOANS["sex"] for race in LOANS["race"] if (sex, race) != (a["sex"], a["race"])]
        fair += all(
            lends({**a, "sex": sex, "race": race, "income": income}) == lends(a)
            for sex, race in others
            for income in near
        )
    return Fraction(fair, len(everybody(LOANS))) >= least


def alike_among_borrowers(least: Fraction) -> bool:
    def grants(row: Mapping[str, str], sex: str) -> bool:
        return int(row["income"]) + Fraction(int(row["savings"]), 2) - 50 - 2 * (sex == "female") > 0

    with (FOLDER / "borrowers.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    return Fraction(sum(grants(row, "female") == grants(row, "male") for row in people), len(people)) >= least


def had_she_been_a_man(points: int) -> bool:
    def hires(p: Person) -> bool:
        return p["hours"] + 3 * p["skill"] + points * (p["sex"] == "female") - 70 >= 0

    return all(
        hires(she) == hires({**she, "sex": "male", "hours": she["hours"] + 5})
        for she in everybody({"sex": ["female"], "hours": [*range(10, 56)], "skill": [*range(21)]})
    )


def five_more_are_enough(least_income: int) -> bool:
    def grants(p: Person) -> bool:
        return p["income"] + 3 * p["savings"] - 40 >= 0

    refused = [p for p in everybody({"income": [*range(61)], "savings": [*range(21)]}) if not grants(p)]
    assert all(p["savings"] + 5 <= 20 for p in refused)
    return all(grants({**p, "savings": p["savings"] + 5}) for p in refused if p["income"] >= least_income)


def last_year() -> bool:
    with (FOLDER / "applicants.csv").open(encoding="utf-8", newline="") as file:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]
    alike = sum((old(row) >= 0) == (new(row) >= 0) for row in rows)
    return Fraction(alike, len(rows)) >= Fraction(99, 100)


def never_worse(one: Callable[[Person], bool], other: Callable[[Person], bool], differ: str) -> bool:
    return all(approve(a) >= approve(b) for a, b in pairs(APPLICANTS, differ) if one(a) and other(b))


ANSWERS: dict[str, dict[str, Callable[[], bool]]] = {
    "never-worse": {
        "a_woman_is_never_treated_worse": lambda: never_worse(
            lambda a: a["sex"] == "female", lambda b: b["sex"] == "male", "sex"
        ),
        "nor_is_a_man": lambda: never_worse(lambda a: a["sex"] == "male", lambda b: b["sex"] == "female", "sex"),
        "the_old_are_never_disfavoured": lambda: never_worse(lambda a: a["age"] >= 62, lambda b: b["age"] < 62, "age"),
    },
    "more-income": {
        "more_income_never_hurts": lambda: all(
            (earns(b) >= 5) >= (earns(a) >= 5) for a, b in pairs(EARNERS, "income") if a["income"] <= b["income"]
        ),
        "more_debt_never_helps": lambda: all(
            earns(a) >= earns(b) for a, b in pairs(EARNERS, "debt") if a["debt"] <= b["debt"]
        ),
        "similar_people_have_similar_scores": lambda: all(
            abs(earns(a) - earns(b)) <= 4 * abs(a["income"] - b["income"]) + 5 * abs(a["debt"] - b["debt"])
            for a, b in pairs(EARNERS, "income", "debt")
        ),
    },
    "old-against-new": {
        "nobody_is_lost": lambda: all(new(a) >= 0 for a in everybody(CHANGED) if old(a) >= 0),
        "nobody_grown_up_is_lost": lambda: all(
            new(a) >= 0 for a in everybody(CHANGED) if old(a) >= 0 and a["age"] >= 21
        ),
        "few_of_last_year": last_year,
        "scores_hardly_move": lambda: all(abs(new(a) - old(a)) <= 3 for a in everybody(CHANGED)),
    },
    "one-person-changed": {
        "sex_never_decides": lambda: all(lends(a) == lends(b) for a, b in pairs(LOANS, "sex")),
        "neither_sex_nor_race": lambda: all(lends(a) == lends(b) for a, b in pairs(LOANS, "sex", "race")),
        "nearly_equal_loans": lambda: nearly_equal(Fraction(80, 100)),
    },
    "alike-among-applicants": {"applicants_alike": lambda: alike_among_borrowers(Fraction(95, 100))},
    "had-she-been-a-man": {"by_hire": lambda: had_she_been_a_man(5), "by_strict": lambda: had_she_been_a_man(2)},
    "recourse": {"five_more": lambda: five_more_are_enough(25), "five_more_for_all": lambda: five_more_are_enough(0)},
    "urgency": {
        "short_of_breath": lambda: all(triage(a) > 0 for a in everybody(PATIENTS) if a["oxygen"] < 90),
        "by_one_level_at_most": lambda: all(abs(triage(a) - triage(b)) <= 1 for a, b in pairs(PATIENTS, "race")),
        "not_at_all": lambda: all(triage(a) == triage(b) for a, b in pairs(PATIENTS, "race")),
    },
}


@pytest.mark.parametrize("name", ANSWERS)
def test_verdicts_are_those_of_asking_everybody(name: str) -> None:
    path = FOLDER / f"{name}.fair"
    assert_in_order(path)
    report = fairdsl.check(path)
    said = {item.name: item.judgement.value for item in report.properties}
    assert said == {prop: "holds" if answer() else "violated" for prop, answer in ANSWERS[name].items()}


def test_the_table_is_the_scripts(tmp_path: Path) -> None:
    script_of(FOLDER, "make_applicants", tmp_path).main()
    assert (tmp_path / "applicants.csv").read_bytes() == (FOLDER / "applicants.csv").read_bytes()
