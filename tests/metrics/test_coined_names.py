"""Names that Fairlearn and AIF360 coined: on random tables the numbers are theirs, as their documentation defines them.

The definitions are written again below, from counts of a table; where the libraries are installed they are asked too.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from operator import sub, truediv
from pathlib import Path
from typing import Any

import pytest

import fairdsl
from fairdsl.ir.metric import Library
from fairdsl.prelude import metrics, with_canonical_names
from fairdsl.source import SourceFile
from fairdsl.verdict import Interval

F = Fraction
RACES = ("a", "b", "c")

#: Race, the true outcome, and what the model says.
Row = tuple[int, int, int]

#: A number of a table.
Definition = Callable[[Sequence[Row]], Fraction]

SPEC = """
domain Person {
  race : category { a, b, c }
  said : boolean
}
protected race
label truth : boolean deserving yes
model m : Person -> { no_, yes_ }
  score = said = yes
  yes_ when score > 0
  favourable yes_
distribution rows over Person, truth
  empirical from "rows.csv"
property fairlearn {
  across race
  under rows
  measure FAIRLEARN
}
property aif360 {
  across race
  under rows
  privileged race = b
  measure AIF360
}
"""


def table(seed: int) -> list[Row]:
    """Every group has somebody of either outcome, and the model is right and wrong about some."""
    rng = random.Random(seed)
    chances = [(rng.random(), rng.random(), rng.random()) for _ in RACES]
    rows = [(race, truth, said) for race in range(3) for truth in (0, 1) for said in (0, 1)]
    for _ in range(rng.randint(5, 120)):
        race = rng.randrange(3)
        truth = int(rng.random() < chances[race][0])
        rows.append((race, truth, int(rng.random() < chances[race][1 + truth])))
    rng.shuffle(rows)
    return rows


# ---- the definitions -------------------------------------------------------------------------------


def rate(rows: Sequence[Row], truth: int | None = None) -> Fraction:
    """How many are accepted, of all or of those with one true outcome: selection rate, false and true positive rate."""
    among = [said for _, true, said in rows if truth is None or true == truth]
    return F(sum(among), len(among))


def confused(rows: Sequence[Row], said: int, truth: int) -> Fraction:
    """How many of those with a true outcome the model says this of: true or false positive or negative rate."""
    among = [row for row in rows if row[1] == truth]
    return F(sum(row[2] == said for row in among), len(among))


def predicted(rows: Sequence[Row], truth: int, said: int) -> Fraction:
    """How many of those of whom the model says something have a true outcome."""
    among = [row for row in rows if row[2] == said]
    return F(sum(row[1] == truth for row in among), len(among))


def agreeing(rows: Sequence[Row]) -> Fraction:
    return F(sum(row[1] == row[2] for row in rows), len(rows))


def races(rows: Sequence[Row], of: Definition) -> list[Fraction]:
    return [of([row for row in rows if row[0] == race]) for race in range(3)]


def smallest_over_largest(rates: Sequence[Fraction]) -> Fraction:
    return min(rates) / max(rates)


def by_race(rows: Sequence[Row], truth: int | None = None) -> list[Fraction]:
    return [rate([row for row in rows if row[0] == race], truth) for race in range(3)]


def spread(rates: Sequence[Fraction]) -> Fraction:
    return max(rates) - min(rates)


def sides(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Everybody else, and the privileged."""
    return [row for row in rows if row[0] != 1], [row for row in rows if row[0] == 1]


def average_odds(rows: Sequence[Row]) -> Fraction:
    others, privileged = sides(rows)
    return sum((rate(others, truth) - rate(privileged, truth) for truth in (0, 1)), F(0)) / 2


FAIRLEARN: dict[str, Definition] = {
    "demographic_parity_difference": lambda rows: spread(by_race(rows)),
    "demographic_parity_ratio": lambda rows: min(by_race(rows)) / max(by_race(rows)),
    "equalized_odds_difference": lambda rows: max(spread(by_race(rows, 0)), spread(by_race(rows, 1))),
    "equal_opportunity_difference": lambda rows: spread(by_race(rows, 1)),
    "selection_rate_difference": lambda rows: spread(by_race(rows)),
    "selection_rate_ratio": lambda rows: min(by_race(rows)) / max(by_race(rows)),
    "true_positive_rate_difference": lambda rows: spread(by_race(rows, 1)),
    "equal_opportunity_ratio": lambda rows: smallest_over_largest(by_race(rows, 1)),
    "true_positive_rate_ratio": lambda rows: smallest_over_largest(by_race(rows, 1)),
    "equalized_odds_ratio": lambda rows: min(smallest_over_largest(by_race(rows, truth)) for truth in (0, 1)),
    "accuracy_score_difference": lambda rows: spread(races(rows, agreeing)),
    "accuracy_score_ratio": lambda rows: smallest_over_largest(races(rows, agreeing)),
    "zero_one_loss_ratio": lambda rows: smallest_over_largest(races(rows, lambda some: 1 - agreeing(some))),
    "false_positive_rate_difference": lambda rows: spread(races(rows, lambda some: confused(some, 1, 0))),
    "false_positive_rate_ratio": lambda rows: smallest_over_largest(races(rows, lambda some: confused(some, 1, 0))),
    "false_negative_rate_difference": lambda rows: spread(races(rows, lambda some: confused(some, 0, 1))),
    "false_negative_rate_ratio": lambda rows: smallest_over_largest(races(rows, lambda some: confused(some, 0, 1))),
    "true_negative_rate_difference": lambda rows: spread(races(rows, lambda some: confused(some, 0, 0))),
    "true_negative_rate_ratio": lambda rows: smallest_over_largest(races(rows, lambda some: confused(some, 0, 0))),
}
#: The rates that AIF360 has a signed difference and a ratio of.
AGAINST: dict[str, Definition] = {
    "false_positive_rate": lambda rows: confused(rows, 1, 0),
    "false_negative_rate": lambda rows: confused(rows, 0, 1),
    "false_discovery_rate": lambda rows: predicted(rows, 0, 1),
    "false_omission_rate": lambda rows: predicted(rows, 1, 0),
    "error_rate": lambda rows: 1 - agreeing(rows),
}


def of_sides(rows: Sequence[Row], rate: Definition, compare: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    others, privileged = sides(rows)
    return compare(rate(others), rate(privileged))


AIF360: dict[str, Definition] = {
    "statistical_parity_difference": lambda rows: rate(sides(rows)[0]) - rate(sides(rows)[1]),
    "disparate_impact": lambda rows: rate(sides(rows)[0]) / rate(sides(rows)[1]),
    "average_odds_difference": average_odds,
    "equal_opportunity_difference": lambda rows: rate(sides(rows)[0], 1) - rate(sides(rows)[1], 1),
    "true_positive_rate_difference": lambda rows: rate(sides(rows)[0], 1) - rate(sides(rows)[1], 1),
    **{
        f"{name}_{comparison}": partial(of_sides, rate=of, compare=compare)
        for name, of in AGAINST.items()
        for comparison, compare in (("difference", sub), ("ratio", truediv))
    },
}


def answers(folder: Path, rows: Sequence[Row]) -> tuple[fairdsl.Report, list[Fraction], list[Fraction]]:
    """What comes out, in the order of the two tables above."""
    with (folder / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["race", "said", "truth"])
        writer.writerows([RACES[race], ("no", "yes")[said], ("no", "yes")[truth]] for race, truth, said in rows)
    names = ", ".join(("selection_rate", *FAIRLEARN))
    spec = SPEC.replace("FAIRLEARN", names).replace("AIF360", ", ".join(AIF360))
    (folder / "spec.fair").write_text(spec)
    report = fairdsl.check(folder / "spec.fair")
    found = [
        [number(demand.value) for demand in item.demands[offset:]]
        for item, offset in zip(report.properties, (1, 0), strict=True)
    ]
    return report, found[0], found[1]


def number(value: Interval | None) -> Fraction:
    assert value is not None
    assert value.exact is not None
    return value.exact


@pytest.mark.parametrize("seed", range(12))
def test_coined_names_mean_what_they_mean_there(tmp_path: Path, seed: int) -> None:
    rows = table(seed)
    report, fairlearn, aif360 = answers(tmp_path, rows)
    assert dict(zip(FAIRLEARN, fairlearn, strict=True)) == {name: of(rows) for name, of in FAIRLEARN.items()}
    assert dict(zip(AIF360, aif360, strict=True)) == {name: of(rows) for name, of in AIF360.items()}
    groups = report.properties[0].demands[0].groups
    assert groups is not None
    assert [rate.low for rate in groups.rates] == by_race(rows)


def test_the_definitions_are_fairlearns() -> None:
    metrics = pytest.importorskip("fairlearn.metrics")
    for seed in range(12):
        agrees_with_fairlearn(metrics, table(seed))


def agrees_with_fairlearn(metrics: Any, rows: Sequence[Row]) -> None:
    race, truth, said = ([row[place] for row in rows] for place in range(3))
    for name, definition in FAIRLEARN.items():
        there = getattr(metrics, name)(truth, said, sensitive_features=race)
        assert there == pytest.approx(float(definition(rows)), abs=1e-12), name
    frame = metrics.MetricFrame(metrics=metrics.selection_rate, y_true=truth, y_pred=said, sensitive_features=race)
    assert frame.by_group.tolist() == pytest.approx([float(value) for value in by_race(rows)], abs=1e-12)


def test_the_definitions_are_those_of_aif360() -> None:
    metrics = pytest.importorskip("aif360.metrics")
    for seed in range(12):
        agrees_with_aif360(metrics, table(seed))


def agrees_with_aif360(metrics: Any, rows: Sequence[Row]) -> None:
    datasets, frames = pytest.importorskip("aif360.datasets"), pytest.importorskip("pandas")

    def dataset(place: int) -> object:
        frame = frames.DataFrame({"race": [float(row[0] == 1) for row in rows], "y": [row[place] for row in rows]})
        return datasets.BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["race"])

    there = metrics.ClassificationMetric(
        dataset(1), dataset(2), unprivileged_groups=[{"race": 0.0}], privileged_groups=[{"race": 1.0}]
    )
    for name, definition in AIF360.items():
        assert getattr(there, name)() == pytest.approx(float(definition(rows)), abs=1e-12), name


def test_every_name_of_another_library_is_defined_here() -> None:
    """An alias that nobody compares with the library's definition could mean anything."""
    coined = {
        library: {alias.name for metric in metrics() for alias in metric.aliases if alias.library is library}
        for library in Library
    }
    assert coined[Library.FAIRLEARN] <= {"selection_rate", *FAIRLEARN}
    assert coined[Library.AIF360] <= set(AIF360)
    known = {name for metric in metrics() for name in (metric.name, *(alias.name for alias in metric.aliases))}
    assert {*FAIRLEARN, *AIF360} <= known


REFUSED = {
    "a ratio whatever is privileged": ("boolean deserving yes", "zero_one_loss_ratio", "`error_rate_ratio`"),
    "three values": ("category { no, late, yes } deserving yes", "equalized_odds_difference", "`odds_gap`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_mean_something_else_cannot_be_written(tmp_path: Path, case: str) -> None:
    label, name, instead = REFUSED[case]
    spec = SPEC.replace("boolean deserving yes", label).replace("FAIRLEARN", "selection_rate")
    (tmp_path / "spec.fair").write_text(spec.replace("AIF360", f"disparate_impact, {name}"))
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(tmp_path / "spec.fair")
    (found,) = caught.value.diagnostics
    assert found.code == "E0413"
    assert name in found.title
    assert instead in (found.help or "")


def test_the_formatter_writes_names_that_say_what_is_compared() -> None:
    """Not of another library's names, nor beside a privileged group, where `disparate_impact` is AIF360's."""
    written = (
        "metric mine = equalized_odds\n\n"
        "property p {\n  across sex\n  under d\n"
        "  require disparate_impact of new >= disparate_impact of old - 1%\n"
        "  require rate(statistical_parity = 1) <= 5%\n"
        "  measure statistical_parity within 1%, influence of age on equal_opportunity, demographic_parity_ratio\n}\n\n"
        "property q {\n  across sex\n  under d\n  privileged sex = f\n"
        "  measure disparate_impact, predictive_parity\n}\n\n"
        "property pairs {\n  compare a : D\n  require statistical_parity <= 3\n}\n"
    )
    assert with_canonical_names(SourceFile("spec.fair", written)).text == (
        "metric mine = odds_gap\n\n"
        "property p {\n  across sex\n  under d\n"
        "  require impact_ratio of new >= impact_ratio of old - 1%\n"
        "  require rate(statistical_parity = 1) <= 5%\n"
        "  measure parity_gap within 1%, influence of age on opportunity_gap, demographic_parity_ratio\n}\n\n"
        "property q {\n  across sex\n  under d\n  privileged sex = f\n  measure disparate_impact, predictive_gap\n}\n\n"
        "property pairs {\n  compare a : D\n  require statistical_parity <= 3\n}\n"
    )
