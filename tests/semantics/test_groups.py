"""Questions about groups: everything that defines a metric is there, and is kept for the engines."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import PEOPLE, assert_found_as_marked, checked, each, findings, groups, only_property

from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.prelude import metric_named

RECIDIVISM = """\
## Group fairness of a recidivism tree, over a population learned from data.
audit "Recidivism screening tree, 2024 cohort"

domain Defendant {
  race   : category { black, white, other }
  sex    : category { female, male }
  age    : integer 18 .. 96   bins at 25, 45
  priors : integer 0 .. 38    column "priors_count"  bins at 1, 4
  felony : boolean            column "c_charge_degree"
}

label reoffended : boolean

protected race, sex

model screen : Defendant -> { low, high }
  from "models/screen-tree.json"
  high when score > 0
  favourable low

distribution cohort over Defendant, reoffended
  learn bayesian_network
  from "data/cohort.csv"
  set score = bic
  set max_parents = 2
  set seed = 7

property four_fifths "Four-fifths rule across every race and sex" {
  across   race, sex
  under    cohort
  require  impact_ratio >= 80%
  measure  most_favoured, least_favoured
}

property equal_errors "Error rates within five points, whatever the outcome" {
  across   race
  under    cohort
  require  odds_gap <= 5%
}
"""

ADMISSIONS = """\
domain Student {
  sex        : category { female, male }
  department : category { arts, science, law }
  grade      : integer 0 .. 100   bins at 50, 65, 80
}

protected sex

model admit : Student -> { no, yes }
  from linear "models/admit.json"
  yes when score > 0
  favourable yes

graph influence {
  sex -> department -> admit
  sex -> grade      -> admit
  sex               -> admit
}

distribution applicants over Student
  learn influence
  from "data/applicants.csv"

property no_other_path "Only the path through department is legitimate" {
  across    sex
  under     applicants
  allow     sex -> department -> admit
  baseline  sex = male
  require   path_specific_gap <= 2%
}
"""


def test_an_audit_of_groups_is_understood_in_full(tmp_path: Path) -> None:
    four_fifths, equal_errors = checked(RECIDIVISM, tmp_path).properties
    assert [(demand.metric, demand.required) for demand in four_fifths.demands] == [
        ("impact_ratio", True),
        ("most_favoured", False),
        ("least_favoured", False),
    ]
    required = four_fifths.demands[0]
    metric = metric_named("impact_ratio")
    assert required.question == GroupMetric(metric=metric, across=(0, 1), population="cohort")
    assert required.quantity is Quantity.METRIC
    assert required.threshold.limit == Fraction(4, 5)
    assert equal_errors.demands[0].question.across == (0,)


def test_settings_that_change_the_meaning_are_kept(tmp_path: Path) -> None:
    cohort = checked(RECIDIVISM, tmp_path).distributions["cohort"]
    assert dict(cohort.settings) == {"score": "bic", "max_parents": 2, "seed": 7}
    assert (cohort.kind, cohort.label.name) == ("learned", "reoffended")


def test_an_audit_of_paths_is_understood_in_full(tmp_path: Path) -> None:
    question = only_property(ADMISSIONS, tmp_path).demands[0].question
    assert question.details == (("allow", "sex -> department -> admit"), ("baseline", "sex = male"))


@pytest.mark.parametrize(
    ("alias", "metric"),
    [
        ("demographic_parity_ratio", "impact_ratio"),
        ("demographic_parity_difference", "parity_gap"),
        ("equalized_odds_difference", "odds_gap"),
        ("equal_opportunity_difference", "opportunity_gap"),
        ("selection_rate", "acceptance_rate"),
    ],
)
def test_names_of_fairlearn_mean_the_same(alias: str, metric: str, tmp_path: Path) -> None:
    (demand,) = only_property(groups(f"  measure {alias}"), tmp_path).demands
    assert demand.metric == metric


AIF360 = ["statistical_parity_difference", "average_odds_difference"]


@pytest.mark.parametrize("metric", AIF360)
def test_signed_metrics_of_aif360_need_a_privileged_group(metric: str, tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked(groups(f"  require {metric} >= -5% # error: E0416"), tmp_path)
    assert "which needs none" in (finding.help or "")
    (demand,) = only_property(groups(f"  privileged sex = male\n  require {metric} >= -5%"), tmp_path).demands
    assert demand.threshold.limit == Fraction(-1, 20)


def test_a_ratio_to_a_privileged_group_may_exceed_one(tmp_path: Path) -> None:
    text = groups("  privileged sex = male\n  require disparate_impact >= 80%\n  require disparate_impact <= 125%")
    assert [demand.threshold.limit for demand in only_property(text, tmp_path).demands] == [
        Fraction(4, 5),
        Fraction(5, 4),
    ]


CLAUSES = {
    "among a condition": "among age >= 30 and repaid = yes",
    "among an attribute": "for each education",
    "among the label": "for each repaid",
    "without small groups": "excluding groups below 30 rows",
    "without impossible groups": "excluding groups of probability 0",
    "a privileged group": "privileged sex = male",
}


@pytest.mark.parametrize("clause", CLAUSES.values(), ids=CLAUSES)
def test_further_clauses_are_kept_in_the_words_of_the_spec(clause: str, tmp_path: Path) -> None:
    found = only_property(groups(f"  {clause}\n  measure disparate_impact"), tmp_path)
    word, _, rest = clause.partition(" ")
    assert found.demands[0].question.details == ((word, rest),)
    assert clause in found.clauses


INFLUENCES = ["influence of age, hours on impact_ratio", "influence of (age, hours) on parity_gap"]


@pytest.mark.parametrize("influence", INFLUENCES)
def test_influences_are_measured_or_required(influence: str, tmp_path: Path) -> None:
    text = groups(f"  measure {influence}\n  require {influence} <= 5%\n  require {influence} >= -120%")
    demands = only_property(text, tmp_path).demands
    sets = 2 if "(" not in influence else 1
    assert [demand.required for demand in demands] == [False] * sets + [True] * (2 * sets)


def test_groups_of_numbers_are_bins(tmp_path: Path) -> None:
    people = PEOPLE.replace("income    : real 0 .. 100", "income    : real 0 .. 100 bins at 20, 50")
    text = people.replace("protected sex", "protected income, sex") + (
        "property p { across income, sex under people measure impact_ratio }\n"
    )
    assert [finding.code for finding in findings(text, tmp_path)] == ["W0801", "W0801"]


def test_a_group_may_be_fixed_by_a_number(tmp_path: Path) -> None:
    people = PEOPLE.replace("protected sex", "protected age, sex")
    text = people + "property p { across age under people privileged age = 30 measure disparate_impact }\n"
    assert {finding.code for finding in findings(text, tmp_path)} == {"W0801", "W0816"}


def test_a_metric_less_another_one_has_no_scale(tmp_path: Path) -> None:
    model = PEOPLE[PEOPLE.index("model approve") : PEOPLE.index("label repaid")]
    two = PEOPLE.replace(model, model + model.replace("approve", "other"))
    demand = "property p {{ across sex under people require impact_ratio of approve >= {} }}\n"
    for limit, wrong in (("impact_ratio of other + 5%", False), ("5%", True)):
        codes = {finding.code for finding in findings(two + demand.format(limit), tmp_path)}
        assert ("W0816" in codes) is wrong
        assert not any(code.startswith("E") for code in codes)


# ---- what defines a metric -----------------------------------------------------------------------

LACKING = {
    "the label": PEOPLE.replace("over Applicant, repaid", "over Applicant").replace(
        "label repaid : boolean deserving yes\n", ""
    )
    + "property p {\n  across sex\n  under people\n  require odds_gap <= 5% # error: E0416\n}\n",
    "a path and a baseline": ADMISSIONS.replace("  allow     sex -> department -> admit\n", "")
    .replace("  baseline  sex = male\n", "")
    .replace("<= 2%", "<= 2% # error: E0416"),
    "a written graph": groups("  allow sex -> income -> approve # error: E0416\n  measure impact_ratio"),
}


@each(LACKING)
def test_a_metric_has_what_defines_it(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(text, tmp_path)


def test_the_favourable_outcome_is_asked_for_once(tmp_path: Path) -> None:
    text = RECIDIVISM.replace("  favourable low\n", "").replace("{ low, high }", "{ low, high } # error: E0412")
    assert_found_as_marked(text, tmp_path)


BASELINES = {
    "another attribute": "  baseline  department = arts # error: E0403",
    "a further attribute": "  baseline  sex = male and department = arts # error: E0403",
    "a list": "  baseline  sex in { female, male } # error: E0403",
    "an inequality": "  baseline  sex != male # error: E0403",
    "an alternative": "  baseline  sex = male or sex = female # error: E0403",
    "a contradiction": "  baseline  sex = male and sex = female # error: E0403",
}


@pytest.mark.parametrize("baseline", BASELINES.values(), ids=BASELINES)
def test_a_baseline_is_one_group(baseline: str, tmp_path: Path) -> None:
    assert_found_as_marked(ADMISSIONS.replace("  baseline  sex = male", baseline), tmp_path)


def test_a_baseline_may_be_the_most_favoured_group(tmp_path: Path) -> None:
    checked(ADMISSIONS.replace("baseline  sex = male", "baseline  most_favoured"), tmp_path)


def test_a_privileged_group_is_named(tmp_path: Path) -> None:
    text = groups("  privileged race = white # error: E0403\n  measure disparate_impact")
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert finding.title == "`privileged` must pick exactly one group"


# ---- paths ---------------------------------------------------------------------------------------

PATHS = {
    "an edge that there is not": ("sex -> department -> grade -> admit", "E0401"),
    "a mediator that there is not": ("sex -> income -> admit", "E0401"),
    "a start that is not protected": ("department -> admit", "E0402"),
    "an end before the model": ("sex -> department", "E0402"),
}


@pytest.mark.parametrize(("path", "code"), PATHS.values(), ids=PATHS)
def test_an_allowed_path_runs_along_the_graph(path: str, code: str, tmp_path: Path) -> None:
    text = ADMISSIONS.replace("allow     sex -> department -> admit", f"allow     {path} # error: {code}")
    assert_found_as_marked(text, tmp_path)


FORKED = ADMISSIONS.replace(
    "-> department -> admit\n  sex -> grade", "-> department -> admit\n  department -> grade\n  sex -> grade"
)


def test_an_edge_is_not_both_allowed_and_forbidden(tmp_path: Path) -> None:
    """department -> admit would be allowed and department -> grade -> admit forbidden, after one edge."""
    text = FORKED.replace("allow     sex -> department -> admit", "allow     sex -> department -> admit # error: E0404")
    assert_found_as_marked(text, tmp_path)


def test_all_ways_on_from_an_edge_may_be_allowed(tmp_path: Path) -> None:
    checked(FORKED.replace("  baseline", "  allow     sex -> department -> grade -> admit\n  baseline"), tmp_path)


def test_the_direct_edge_may_be_allowed(tmp_path: Path) -> None:
    checked(ADMISSIONS.replace("allow     sex -> department -> admit", "allow     sex -> admit"), tmp_path)


def test_a_structure_found_by_search_is_not_causal(tmp_path: Path) -> None:
    text = ADMISSIONS.replace("learn influence", "learn bayesian_network").replace("<= 2%", "<= 2% # error: E0405")
    assert_found_as_marked(text, tmp_path)


# ---- groups --------------------------------------------------------------------------------------


def test_there_are_several_groups(tmp_path: Path) -> None:
    text = PEOPLE.replace("category { female, male }", "category { female }") + (
        "property p {\n  across sex # error: E0410\n  under people\n  measure impact_ratio\n}\n"
    )
    assert_found_as_marked(text, tmp_path)
