"""Every clause of a property about groups, resolved: what an engine reads instead of words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, checked, each, only_property

from fairdsl.ir.expr import TRUE, Predicate, Variable, holds
from fairdsl.ir.question import MOST_FAVOURED, Excluding, GroupMetric
from fairdsl.semantics import CheckedProperty

STUDENTS = """\
domain Student {
  sex        : category { female = 2, male = 5 }
  race       : category { black, white, other }
  department : category { arts, science, law }
  grade      : integer 0 .. 100   bins at 50, 65, 80
  age        : integer 18 .. 90   bins at 25, 45
  income     : real
  distance   : real 0 .. 50       bins at 10
  savings    : integer 0 .. 1000
  citizen    : boolean
}

label finished : boolean deserving yes

protected sex, race, age, distance, savings, income

model admit : Student -> { no, yes }
  score = grade - 60 + 10 * (department = arts)
  yes when score > 0
  favourable yes

graph influence {
  sex -> department -> admit
  department -> grade
  sex -> race -> grade -> admit
  sex               -> admit
}

distribution students over Student, finished
  empirical from "students.csv"

distribution alike over Student, finished
  uniform

distribution causal over Student, finished
  learn influence
  from "students.csv"
"""
SEX, RACE, DEPARTMENT, GRADE, AGE, DISTANCE, CITIZEN, FINISHED = 0, 1, 2, 3, 4, 6, 8, 9


def asking(
    clauses: str, folder: Path, *, across: str = "sex", under: str = "students", declared: str = STUDENTS
) -> str:
    """A spec with one property about groups; what is declared stands beside it, where nothing need be used."""
    (folder / "students.fair").write_text(declared, encoding="utf-8")
    return f'use "students.fair"\n\nproperty p {{\n  across {across}\n  under {under}\n{clauses}\n}}\n'


def found(clauses: str, folder: Path, *, across: str = "sex", under: str = "students") -> CheckedProperty:
    """The property, about which nothing may be said."""
    return only_property(asking(clauses, folder, across=across, under=under), folder)


def question(clauses: str, folder: Path, *, across: str = "sex", under: str = "students") -> GroupMetric:
    """The question of its first demand."""
    asked = found(clauses, folder, across=across, under=under).demands[0].question
    assert isinstance(asked, GroupMetric)
    return asked


def true_of(predicate: Predicate, **values: int) -> bool:
    """Whether a predicate over the columns is true; columns that are not given are 0."""
    columns = {"race": RACE, "department": DEPARTMENT, "grade": GRADE, "age": AGE, "finished": FINISHED}
    of = {columns[name]: Fraction(value) for name, value in values.items()}

    def value_of(variable: Variable) -> Fraction:
        return of.get(variable.attribute, Fraction(0))

    return holds(predicate, value_of)


# ---- given ---------------------------------------------------------------------------------------


def test_conditions_hold_together_and_may_name_the_label(tmp_path: Path) -> None:
    given = question(
        "  among age >= 30 or race = white\n  for each finished\n  among not citizen\n  measure impact_ratio",
        tmp_path,
    )
    assert given.given_each == (FINISHED,)
    assert true_of(given.given, age=30)
    assert true_of(given.given, age=20, race=1)
    assert not true_of(given.given, age=20)
    labelled = question("  among finished = no\n  measure impact_ratio", tmp_path)
    assert true_of(labelled.given, finished=0)
    assert not true_of(labelled.given, finished=1)


def test_an_attribute_alone_is_taken_value_by_value(tmp_path: Path) -> None:
    asked = question("  for each department\n  for each grade\n  measure impact_ratio", tmp_path)
    assert asked.given == TRUE
    assert asked.given_each == (DEPARTMENT, GRADE)


GIVEN = {
    "a real attribute": "  for each income # error: E0302\n  measure impact_ratio",
    "too many values": "  for each savings # error: E0302\n  measure impact_ratio",
    "an attribute of the groups": "  for each sex # error: E0413\n  measure impact_ratio",
    "twice": "  for each race\n  for each race # error: E0201\n  measure impact_ratio",
    "nobody": "  among age > 90 # error: E0409\n  measure impact_ratio",
    "everybody": "  among age <= 90 # warning: W0802\n  measure impact_ratio",
    "the label of error rates": "  for each finished # error: E0413\n  measure odds_gap",
    "part of the label": "  among finished = yes and age > 20 # error: E0413\n  measure opportunity_gap",
}


@each(GIVEN)
def test_a_condition_without_sense_is_found(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(asking(text, tmp_path), tmp_path)


# ---- groups that others are compared with ----------------------------------------------------------


@pytest.mark.parametrize(
    ("across", "group", "values"),
    [
        ("sex", "sex = male", (5,)),
        ("race, sex", "sex = female and race = other", (2, 2)),
        ("age", "age < 25", (18,)),
        ("age", "age >= 25 and age < 45", (25,)),
        ("age", "age in 45 .. 90", (45,)),
        ("age", "age > 24 and age <= 44", (25,)),
        ("age", "abs(age - 34.5) < 10", (25,)),
        ("sex, age", "age > 44.5 and sex = male", (5, 45)),
        ("distance", "distance < 10", (0,)),
        ("distance", "distance >= 10", (10,)),
    ],
)
def test_a_privileged_group_is_its_values(across: str, group: str, values: tuple[int, ...], tmp_path: Path) -> None:
    asked = question(f"  privileged {group}\n  measure disparate_impact", tmp_path, across=across)
    assert asked.privileged == values


@pytest.mark.parametrize(
    ("across", "group"),
    [
        ("age", "age < 26"),
        ("age", "age < 24"),
        ("age", "age >= 25"),
        ("age", "age = 30"),
        ("age", "age < 25 or age >= 45"),
        ("age", "age != 30"),
        ("distance", "distance <= 10"),
        ("distance", "distance < 9.5"),
        ("sex, age", "sex = male"),
        ("sex", "sex = male and age < 25"),
        ("sex, age", "sex = male and 2 * age + savings > 3"),
    ],
)
def test_part_of_a_group_is_none(across: str, group: str, tmp_path: Path) -> None:
    clauses = f"  privileged {group} # error: E0403\n  measure disparate_impact"
    assert_found_as_marked(asking(clauses, tmp_path, across=across), tmp_path)


def test_a_bin_that_is_found_later_cannot_be_named(tmp_path: Path) -> None:
    declared = STUDENTS.replace("bins at 25, 45", "bins by quantiles 3")
    clauses = "  privileged age < 25 # error: E0403\n  measure disparate_impact"
    assert_found_as_marked(asking(clauses, tmp_path, across="age", declared=declared), tmp_path)


def test_each_question_holds_what_its_metric_reads(tmp_path: Path) -> None:
    clauses = """\
  privileged sex = male
  measure disparate_impact, parity_gap, opportunity_gap, statistical_parity_difference
"""
    asked = [demand.question for demand in found(clauses, tmp_path).demands]
    assert [one.privileged for one in asked] == [(5,), None, None, (5,)]
    assert [one.deserving for one in asked] == [None, None, 1, None]
    assert all(one.details == (("privileged", "sex = male"),) for one in asked)


# ---- excluding, confidence, precision ------------------------------------------------------------


def test_groups_are_left_out_by_rows_or_by_probability(tmp_path: Path) -> None:
    few = question("  excluding groups below 30 rows\n  measure impact_ratio", tmp_path)
    none = question("  excluding groups of probability 0\n  measure impact_ratio", tmp_path, under="alike")
    assert (few.excluding, none.excluding) == (Excluding(rows=30), Excluding(rows=None))


def test_confidence_belongs_to_its_demand(tmp_path: Path) -> None:
    clauses = "  require parity_gap <= 5% with confidence 95%\n  require impact_ratio >= 80%"
    first, second = found(clauses, tmp_path).demands
    assert (first.question.confidence, second.question.confidence) == (Fraction(19, 20), None)
    assert first.text == "require parity_gap <= 5% with confidence 95%"
    assert first.beyond == ()


def test_an_interval_is_measured_as_well(tmp_path: Path) -> None:
    clauses = "  measure parity_gap with confidence 90%, impact_ratio"
    first, second = found(clauses, tmp_path).demands
    assert (first.question.confidence, second.question.confidence) == (Fraction(9, 10), None)
    assert first.text == "measure parity_gap with confidence 90%"
    assert (first.required, first.threshold, first.beyond) == (False, None, ())


@pytest.mark.parametrize(
    ("line", "under", "within", "drawn", "rows"),
    [
        ("measure impact_ratio within 0.1%", "alike", "0.1", 95, None),
        ("measure impact_ratio within 1% with confidence 99%", "alike", "1", 99, None),
        ("require impact_ratio >= 80% within 1%", "students", "1", 95, None),
        ("require impact_ratio >= 80% with confidence 90%", "alike", None, 90, None),
        ("require impact_ratio >= 80% with confidence 90%", "students", None, None, 90),
        ("measure impact_ratio with confidence 90%", "students", None, None, 90),
    ],
)
def test_what_a_confidence_is_of(
    line: str, under: str, within: str | None, drawn: int | None, rows: int | None, tmp_path: Path
) -> None:
    (demand,) = found(f"  {line}", tmp_path, under=under).demands
    assert isinstance(demand.question, GroupMetric)
    assert demand.question.confidence == (None if rows is None else Fraction(rows, 100))
    if drawn is None:
        assert demand.precision is None
        return
    assert demand.precision is not None
    assert demand.precision.within == (None if within is None else Fraction(within) / 100)
    assert demand.precision.confidence == Fraction(drawn, 100)


ROWS = {
    "few rows of no rows": "  excluding groups below 30 rows # error: E0413\n  measure impact_ratio",
    "an interval without a sample": "  measure impact_ratio with confidence 95% # error: E0413",
}


@each(ROWS)
def test_what_is_not_counted_has_no_rows(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(asking(text, tmp_path, under="alike"), tmp_path)


# ---- influences ----------------------------------------------------------------------------------


def test_an_influence_is_one_question_a_set(tmp_path: Path) -> None:
    clauses = """\
  measure influence of age, (grade, department) on demographic_parity_ratio
  require influence of citizen, race on parity_gap <= -5%
  require influence of age on acceptance_rate >= -5%
"""
    demands = found(clauses, tmp_path).demands
    columns = [(AGE,), (GRADE, DEPARTMENT), (CITIZEN,), (RACE,), (AGE,)]
    assert [demand.question.influence for demand in demands] == columns
    metrics = ["impact_ratio"] * 2 + ["parity_gap"] * 2 + ["acceptance_rate"]
    assert [demand.question.metric.name for demand in demands] == metrics
    assert [demand.text for demand in demands] == [
        "measure influence of age on impact_ratio",
        "measure influence of (grade, department) on impact_ratio",
        "require influence of citizen on parity_gap <= -5%",
        "require influence of race on parity_gap <= -5%",
        "require influence of age on acceptance_rate >= -5%",
    ]


INFLUENCES = {
    "the label": "  measure influence of finished on impact_ratio # error: E0203",
    "what makes the groups": "  measure influence of (age, sex) on impact_ratio # error: E0413",
    "no range": "  measure influence of income on impact_ratio # error: E0302",
    "a range that runs backwards": "  measure influence of income in 9 .. 3 on impact_ratio # error: E0301",
    "a range of what is not a number": "  measure influence of race in 0 .. 1 on impact_ratio # error: E0302",
    "a range beyond what is declared": "  measure influence of age in 20 .. 1000 on impact_ratio # error: E0204",
    "a range of parts": "  measure influence of age in 20.5 .. 30 on impact_ratio # error: E0308",
    "twice": "  measure influence of (age, age) on impact_ratio # error: E0201",
}


@each(INFLUENCES)
def test_an_influence_without_sense_is_found(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(asking(text, tmp_path), tmp_path)


# ---- groups and labels -----------------------------------------------------------------------------


@pytest.mark.parametrize("across", ["income", "savings"])
def test_there_are_few_groups(across: str, tmp_path: Path) -> None:
    text = asking("  measure impact_ratio", tmp_path, across=f"{across} # error: E0302")
    assert_found_as_marked(text, tmp_path)


LABELS = {
    "nobody deserves": ("boolean", "opportunity_gap"),
    "deserving among the accepted": ("boolean", "predictive_gap"),
    "three values for two rates": ("category { no, late, yes } deserving yes", "average_odds_difference"),
    "a real label": ("real 0 .. 1", "odds_gap"),
}


@pytest.mark.parametrize(("label", "metric"), LABELS.values(), ids=LABELS)
def test_a_label_is_what_the_metric_needs(label: str, metric: str, tmp_path: Path) -> None:
    clauses = "  privileged sex = male\n  measure statistical_parity_difference\n"
    declared = STUDENTS.replace("boolean deserving yes", label)
    text = asking(f"{clauses}  measure {metric} # error: E0416", tmp_path, declared=declared)
    assert_found_as_marked(text, tmp_path)


# ---- paths ---------------------------------------------------------------------------------------


def test_allowed_paths_are_their_first_edges(tmp_path: Path) -> None:
    clauses = """\
  allow sex -> admit
  allow sex -> department -> admit
  allow sex -> department -> grade -> admit
  baseline most_favoured
  measure path_specific_gap, parity_gap
"""
    gap, parity = (demand.question for demand in found(clauses, tmp_path, under="causal").demands)
    assert gap.allowed == {(SEX, DEPARTMENT), (SEX, None)}
    assert gap.baseline == MOST_FAVOURED
    assert (parity.allowed, parity.baseline) == (frozenset(), None)


def test_what_the_groups_fix_carries_nothing(tmp_path: Path) -> None:
    """Beyond race nothing of sex flows on where both make the groups, so race -> grade need not be allowed."""
    clauses = "  allow race -> grade -> admit\n  baseline sex = male and race = white\n  measure path_specific_gap"
    asked = question(clauses, tmp_path, across="sex, race", under="causal")
    assert (asked.allowed, asked.baseline) == ({(RACE, GRADE)}, (5, 1))


PATHS = {
    "through another group": ("sex, race", "allow sex -> race -> grade -> admit", "E0402"),
    "from no group": ("sex", "allow race -> grade -> admit", "E0402"),
    "from nobody protected": ("sex", "allow department -> admit", "E0402"),
}


@pytest.mark.parametrize(("across", "path", "code"), PATHS.values(), ids=PATHS)
def test_a_path_leads_from_a_group_to_the_model(across: str, path: str, code: str, tmp_path: Path) -> None:
    clauses = f"  {path} # error: {code}\n  baseline most_favoured\n  measure path_specific_gap"
    assert_found_as_marked(asking(clauses, tmp_path, across=across, under="causal"), tmp_path)


@pytest.mark.parametrize("under", ["students", "alike"])
def test_a_population_without_arrows_has_no_paths(under: str, tmp_path: Path) -> None:
    clauses = "  allow sex -> admit\n  baseline most_favoured\n  measure path_specific_gap # error: E0405"
    assert_found_as_marked(asking(clauses, tmp_path, under=under), tmp_path)


BY_HAND = """\
domain D {
  sex : boolean
  job : boolean
  old : boolean
}

protected sex

model m : D -> { no, yes }
  score = job - old
  yes when score > 0
  favourable yes

graph g {
  sex -> job -> m
  old -> m
}

distribution d over D
  sex : bernoulli(0.5)
  job : bernoulli(0.5) given sex
  job : bernoulli(0.7) given not sex
  old : bernoulli(0.5)

property p {
  across sex
  under d
  allow sex -> job -> m
  baseline sex = yes
  measure path_specific_gap
}
"""


def test_laws_by_hand_are_causes_where_a_graph_says_so(tmp_path: Path) -> None:
    asked = checked(BY_HAND, tmp_path).properties[0].demands[0].question
    assert asked.allowed == {(0, 1)}


def test_laws_by_hand_agree_with_the_graph(tmp_path: Path) -> None:
    """The law of `old` depends on `sex`, and the graph has no such arrow."""
    text = BY_HAND.replace(
        "  old : bernoulli(0.5)\n", "  old : bernoulli(0.5) given sex\n  old : bernoulli(0.1) given not sex\n"
    )
    (finding,) = assert_found_as_marked(
        text.replace("measure path_specific_gap", "measure path_specific_gap # error: E0405"), tmp_path
    )
    assert finding.primary is not None
    assert "sex -> old" in finding.primary.text


@pytest.mark.parametrize(
    ("named", "written"),
    [
        ("grown", "age >= 25"),
        ("not grown and citizen", "not age >= 25 and citizen"),
        ("grown or finished", "age >= 25 or finished"),
    ],
)
def test_a_named_condition_represents_it_among_groups(named: str, written: str, tmp_path: Path) -> None:
    declared = STUDENTS + "\ncondition grown = age >= 25\n"

    def given(condition: str) -> tuple[Predicate, tuple[str, ...]]:
        spec = asking(f"  among {condition}\n  measure parity_gap", tmp_path, declared=declared)
        found = only_property(spec, tmp_path)
        asked = found.demands[0].question
        assert isinstance(asked, GroupMetric)
        return asked.given, found.clauses

    assert given(named)[0] == given(written)[0] != TRUE
    [clause] = [clause for clause in given(named)[1] if clause.startswith("among")]
    assert "age >= 25" in clause
    assert "grown" not in clause
