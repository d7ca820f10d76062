"""Distributions as they reach the builder of populations: laws as numbers, edges, settings that make sense."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from marked_specs import assert_found_as_marked, checked, each

from fairdsl.ir.domain import ModelThresholds, Quantiles
from fairdsl.ir.expr import TRUE, Compare, Member
from fairdsl.ir.population import Normal
from fairdsl.semantics.checked import CheckedDistribution, TableDistribution, UniformDistribution

PEOPLE = """\
domain Person {
  older  : boolean
  job    : category { clerk = 3, nurse = 5 }
  age    : integer 18 .. 90   bins by quantiles 4
  hours  : integer 0 .. 80    bins by model
  income : real
}

label repaid : category { no, late, yes } deserving yes

protected job, older

model approve : Person -> { reject, grant }
  score = income - 20
  grant when score > 0
  favourable grant

graph causes {
  older -> job -> approve
  older -> income -> approve
  job -> income
  income -> repaid
}
"""


def distribution(clauses: str, folder: Path, over: str = "Person, repaid") -> CheckedDistribution:
    """The one distribution of a spec in which nothing is found."""
    return checked(f"{PEOPLE}\ndistribution d over {over}\n{clauses}\n", folder).distributions["d"]


def test_laws_written_by_hand_are_exact_numbers(tmp_path: Path) -> None:
    clauses = """\
  older  : bernoulli(30%)
  job    : table { clerk : 0.2, nurse : 80% }
  age    : table { 20 : 1 }
  hours  : uniform(0, 40) given older
  hours  : table { 80 : 1 } given not older
  income : normal(0.6, 0.1) given job = nurse
  income : normal(-1, 2) given job != nurse
"""
    laws = distribution(clauses, tmp_path, over="Person").distributions
    assert [law.column for law in laws] == [0, 1, 2, 3, 3, 4, 4]
    older, job, age, part_time, full_time, nurse, other = (law.shape for law in laws)
    assert older == TableDistribution(entries=((Fraction(0), Fraction(7, 10)), (Fraction(1), Fraction(3, 10))))
    assert job == TableDistribution(entries=((Fraction(3), Fraction(1, 5)), (Fraction(5), Fraction(4, 5))))
    assert age == TableDistribution(entries=((Fraction(20), Fraction(1)),))
    assert part_time == UniformDistribution(low=Fraction(0), high=Fraction(40))
    assert full_time == TableDistribution(entries=((Fraction(80), Fraction(1)),))
    assert nurse == Normal(mean=Fraction(3, 5), sd=Fraction(1, 10))
    assert other == Normal(mean=Fraction(-1), sd=Fraction(2))
    assert laws[0].given == TRUE
    assert isinstance(laws[3].given, Member)
    assert laws[3].span.text == "hours  : uniform(0, 40) given older"


def test_a_law_may_speak_of_the_label(tmp_path: Path) -> None:
    clauses = """\
  older  : bernoulli(30%)
  job    : table { clerk : 1, nurse : 0 }
  age    : uniform(18, 90)
  hours  : uniform(0, 80)
  income : normal(1, 1) given repaid = yes
  income : normal(0, 1) given repaid in { no, late }
  repaid : table { no : 0.5, late : 0.25, yes : 0.25 }
"""
    made = distribution(clauses, tmp_path)
    assert [column.name for column in made.columns][-1] == "repaid"
    assert made.distributions[-1].column == 5
    assert isinstance(made.distributions[4].given, Member)
    assert made.distributions[4].given.variable.attribute == 5


def test_a_graph_gives_the_edges_between_columns(tmp_path: Path) -> None:
    """What runs into a model says what it reads, and is not a distribution."""
    made = distribution('  learn causes\n  from "people.csv"', tmp_path)
    assert (made.kind, made.graph) == ("fitted", "causes")
    assert [(edge.parent, edge.child) for edge in made.edges] == [(0, 1), (0, 4), (1, 4), (4, 5)]
    assert made.edges[3].span.text == "income -> repaid"


def test_protected_columns_are_in_the_order_of_the_domain(tmp_path: Path) -> None:
    assert distribution("  uniform", tmp_path).protected == (0, 1)


def test_independence_in_each_group_names_columns(tmp_path: Path) -> None:
    made = distribution('  independent given job, older\n  from "people.csv"', tmp_path)
    assert (made.kind, made.given) == ("independent", (1, 0))


def test_settings_have_values_that_they_can_have(tmp_path: Path) -> None:
    clauses = """\
  learn bayesian_network
  from "people.csv"
  set score = "bdeu"
  set max_parents = 0
  set seed = 7
  set equivalent_sample_size = 2.5
  set protected_roots = yes
  set search = tabu
"""
    assert dict(distribution(clauses, tmp_path).settings) == {
        "score": "bdeu",
        "max_parents": 0,
        "seed": 7,
        "equivalent_sample_size": Fraction(5, 2),
        "protected_roots": 1,
        "search": "tabu",
    }


def test_bins_that_are_found_later_are_kept(tmp_path: Path) -> None:
    columns = distribution("  uniform", tmp_path).columns
    assert columns[2].bins_by == Quantiles(count=4)
    assert columns[3].bins_by == ModelThresholds()
    assert columns[4].bins_by is None


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("boolean deserving no", 0),
        ("boolean deserving true", 1),
        ('category { a = 4, "b c" = 9 } deserving "b c"', 9),
        ("integer 0 .. 5 deserving 3", 3),
        ('boolean column "x" deserving yes', 1),
        ('boolean deserving yes column "x"', 1),
        ("boolean", None),
    ],
)
def test_a_label_says_who_deserves(label: str, value: int | None, tmp_path: Path) -> None:
    spec = checked(f"label y : {label}\n", tmp_path)
    assert spec.labels["y"].deserving == value


WRONG = {
    "a score that there is not": "  set score = aic # error: E0211",
    "a number for a score": "  set score = 3 # error: E0211",
    "a share of parents": "  set max_parents = 50% # error: E0308",
    "minus one parent": "  set max_parents = -1 # error: E0308",
    "a seed that is a word": "  set seed = lucky # error: E0308",
    "a sample of nobody": "  set score = bdeu\n  set equivalent_sample_size = 0 # error: E0308",
    "a sample that nothing reads": "  set score = bic\n  set equivalent_sample_size = 5 # error: E0417",
    "perhaps": "  set protected_roots = perhaps # error: E0211",
    "a search that is a number": "  set search = 3 # error: E0307",
    "twice": "  set seed = 1\n  set seed = 2 # error: E0201",
}


@each(WRONG)
def test_a_setting_without_sense_is_found(text: str, tmp_path: Path) -> None:
    head = f'{PEOPLE}\ndistribution d over Person\n  learn bayesian_network\n  from "people.csv"\n'
    assert_found_as_marked(head + text, tmp_path)


def test_rounded_probabilities_of_a_file_may_be_scaled(tmp_path: Path) -> None:
    made = distribution('  from "people.bif"\n  set renormalise = yes', tmp_path)
    assert (made.kind, dict(made.settings)) == ("file", {"renormalise": 1})


UNREAD = {
    "nothing to scale": '  learn causes\n  from "a.csv"\n  set renormalise = yes # error: E0417',
    "nothing to choose": '  from "a.bif"\n  set max_parents = 2 # error: E0417',
    "uniform": "  uniform\n  set seed = 3 # error: E0417",
    "no means of all alike": "  uniform\n  set bins = means # error: E0417",
    "no means of rows": '  empirical from "a.csv"\n  set bins = means # error: E0417',
    "rows": '  empirical from "a.csv"\n  set score = bic # error: E0417',
    "fitted": '  learn causes\n  from "a.csv"\n  set max_parents = 2 # error: E0417',
}


@each(UNREAD)
def test_a_setting_that_nothing_reads_is_found(text: str, tmp_path: Path) -> None:
    assert_found_as_marked(f"{PEOPLE}\ndistribution d over Person, repaid\n{text}", tmp_path)


def test_a_graph_speaks_of_columns_only(tmp_path: Path) -> None:
    """The distribution leaves the label out, and the graph has an arrow into it."""
    text = PEOPLE.replace("income -> repaid", "income -> repaid # error: E0309")
    assert_found_as_marked(f'{text}\ndistribution d over Person\n  learn causes\n  from "a.csv"\n', tmp_path)


def test_no_arrow_leaves_a_model(tmp_path: Path) -> None:
    text = PEOPLE.replace("income -> repaid", "income -> approve -> repaid # error: E0309")
    assert_found_as_marked(f'{text}\ndistribution d over Person, repaid\n  learn causes\n  from "a.csv"\n', tmp_path)


UNREADABLE = {
    "a law": "  job : table { clerk : 1/3, nurse : 2/3 } # error: E0111",
    "the only law": "  learn bayesian_network with bic # error: E0115",
    "the file": '  learn bayesian_network\n  frm "people.csv" # error: E0104',
}


@each(UNREADABLE)
def test_what_could_not_be_read_is_not_missed(text: str, tmp_path: Path) -> None:
    domain = "domain Person { job : category { clerk, nurse } }\n"
    assert_found_as_marked(f"{domain}distribution d over Person\n{text}\n", tmp_path)


def test_the_deserving_value_is_one_of_the_label(tmp_path: Path) -> None:
    assert_found_as_marked(PEOPLE.replace("deserving yes", "deserving maybe # error: E0204"), tmp_path)


def test_a_condition_of_a_law_is_a_comparison_of_columns(tmp_path: Path) -> None:
    clauses = """\
  older  : bernoulli(30%)
  job    : table { clerk : 1, nurse : 0 }
  age    : uniform(18, 90)
  hours  : uniform(0, 80) given age < 30
  hours  : uniform(0, 40) given age >= 30
  income : normal(1, 1)
"""
    laws = distribution(clauses, tmp_path, over="Person").distributions
    assert all(isinstance(law.given, Compare) for law in laws if law.column == 3)
