"""The recidivism example: its scripts write its files, list and tree are one, and its figures are those of counting."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import fairdsl
from tests.examples.example_folders import assert_in_order, exact_value, script_of

FOLDER = Path(__file__).parents[2] / "examples" / "recidivism"
SPEC = FOLDER / "recidivism.fair"
RACES = ("black", "white", "other")
SEXES = ("female", "male")
AGES = ("below_25", "from_25_to_45", "above_45")
#: The last number of prior arrests in each range that the tree tells apart.
RANGES = (0, 3, 6, 20)
ENOUGH = 30

#: juvenile, age, priors, charge: what models read.
Person = tuple[str, bool, int, str]
Decides = Callable[[Person], bool]


def rows() -> list[dict[str, str]]:
    with (FOLDER / "defendants.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def everybody() -> Iterator[Person]:
    yield from product(AGES, (False, True), range(21), ("misdemeanour", "felony"))


def listed(person: Person) -> bool:
    """Whether the list releases, read by hand off the spec."""
    age, juvenile, priors, charge = person
    if priors > 6 or (juvenile and (priors > 3 or age != "above_45")):
        return False
    return juvenile or priors == 0 or (priors > 3 and charge == "felony") or (priors <= 3 and age != "below_25")


def short(person: Person) -> bool:
    age, juvenile, priors, _ = person
    return not (priors > 4 or (age == "below_25" and juvenile and priors > 0))


def share(part: Counter[object], whole: Counter[object], key: object, given: object) -> Fraction:
    return Fraction(part[key], whole[given]) if whole[given] else Fraction(0)


def in_groups(releases: Decides) -> dict[tuple[str, str, str], Fraction]:
    """The rate of each group of thirty rows and more, its columns independent of each other."""
    found = {}
    for race, sex, age in product(RACES, SEXES, AGES):
        own = [row for row in rows() if (row["race"], row["sex"], row["age"]) == (race, sex, age)]
        if len(own) < ENOUGH:
            continue
        juveniles = Counter(row["juvenile"] == "yes" for row in own)
        priors = Counter(int(row["priors"]) for row in own)
        charges = Counter(row["charge"] for row in own)
        released = sum(
            juveniles[juvenile] * priors[number] * charges[charge]
            for juvenile, number, charge in product(juveniles, priors, charges)
            if releases((age, juvenile, number, charge))
        )
        found[race, sex, age] = Fraction(released, len(own) ** 3)
    return found


@pytest.fixture(scope="module")
def report() -> fairdsl.Report:
    return fairdsl.check(SPEC, timeout=120)


def test_the_scripts_write_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script_of(FOLDER, "make_data", tmp_path).main()
    assert (tmp_path / "defendants.csv").read_bytes() == (FOLDER / "defendants.csv").read_bytes()
    script_of(FOLDER, "train", tmp_path).main()
    assert (tmp_path / "recidivism.onnx").read_bytes() == (FOLDER / "recidivism.onnx").read_bytes()
    assert "detained" in capsys.readouterr().out


def test_the_spec_is_laid_out_and_free_of_findings() -> None:
    assert_in_order(SPEC)


def test_the_list_decides_like_the_deployed_tree() -> None:
    runtime = pytest.importorskip("onnxruntime")
    people = list(everybody())
    numbers = [(AGES.index(age), juvenile, priors, charge == "felony") for age, juvenile, priors, charge in people]
    session = runtime.InferenceSession(str(FOLDER / "recidivism.onnx"))
    labels, _ = session.run(None, {"x": np.array(numbers, dtype=np.float32)})
    assert [label == 0 for label in labels.tolist()] == [listed(person) for person in people]


def test_verdicts(report: fairdsl.Report) -> None:
    assert {checked.name: checked.judgement.value for checked in report.properties} == {
        "four_fifths": "violated",
        "races": "violated",
        "races_alone": "holds",
        "equal_errors": "holds",
        "listed_four_fifths": "violated",
        "short_four_fifths": "violated",
    }
    # The law in which nothing depends on race is contradicted by the rows, and nothing else is to be said.
    assert [diagnostic.code for diagnostic in report.diagnostics] == ["W0809"]


@pytest.mark.parametrize(
    ("name", "releases"),
    [("four_fifths", listed), ("listed_four_fifths", listed), ("short_four_fifths", short)],
)
def test_compound_groups_are_counted(report: fairdsl.Report, name: str, releases: Decides) -> None:
    rates = in_groups(releases)
    assert len(rates) == 9
    assert exact_value(report, name) == min(rates.values()) / max(rates.values())


def test_error_rates_are_summed_over_the_graph(report: fairdsl.Report) -> None:
    """Protected columns by themselves, then juvenile records, priors, charges and arrests as the graph says."""
    table = [
        (
            (row["race"], row["sex"], row["age"]),
            row["juvenile"] == "yes",
            next(place for place, last in enumerate(RANGES) if int(row["priors"]) <= last),
            row["charge"],
            row["rearrested"],
        )
        for row in rows()
    ]
    groups, columns = Counter(row[0] for row in table), [Counter(row[0][place] for row in table) for place in range(3)]
    juveniles, priors = Counter(row[:2] for row in table), Counter(row[:3] for row in table)
    ranges, charges = Counter(row[2] for row in table), Counter(row[2:4] for row in table)
    # An arrest depends on race, age, the juvenile record and priors.
    known = [(row[0][0], row[0][2], row[1], row[2]) for row in table]
    arrests, records = Counter(zip(known, (row[4] for row in table), strict=True)), Counter(known)
    released: Counter[tuple[str, str]] = Counter()
    whole: Counter[tuple[str, str]] = Counter()
    for group in product(RACES, SEXES, AGES):
        of_group = Fraction(1)
        for counts, word in zip(columns, group, strict=True):
            of_group *= Fraction(counts[word], len(table))
        for juvenile, place, charge, label in product(
            (False, True), range(4), ("misdemeanour", "felony"), ("no", "yes")
        ):
            record = (group[0], group[2], juvenile, place)
            mass = of_group * share(juveniles, groups, (group, juvenile), group)
            mass *= share(priors, juveniles, (group, juvenile, place), (group, juvenile))
            mass *= share(charges, ranges, (place, charge), place) * share(arrests, records, (record, label), record)
            whole[group[0], label] += mass
            if listed((group[2], juvenile, RANGES[place], charge)):
                released[group[0], label] += mass
    gaps = []
    for label in ("no", "yes"):
        rates = [released[race, label] / whole[race, label] for race in RACES]
        gaps.append(max(rates) - min(rates))
    assert exact_value(report, "equal_errors") == max(gaps)


def test_trees_and_lists_are_answered_by_their_states(report: fairdsl.Report) -> None:
    """Also a tree in ONNX, which is fed columns as numbers that it gives no weight."""
    backends = {demand.backend for checked in report.properties for demand in checked.demands}
    assert backends == {"rates"}


def test_the_page_shows_the_figures_and_the_tree(report: fairdsl.Report) -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in ("four_fifths", "races", "equal_errors", "listed_four_fifths", "short_four_fifths"):
        assert f"{float(exact_value(report, name)) * 100:.2f}" in page, name
    assert f"sha256 {sha256(SPEC.read_bytes()).hexdigest()[:12]}" in page
    train = script_of(FOLDER, "train", FOLDER)
    for line in train.written(train.grow(*train.read())).splitlines():
        assert line.rstrip() in page


@pytest.mark.slow
def test_instances_whose_solver_chooses_the_group(report: fairdsl.Report, tmp_path: Path) -> None:
    """Compiled, solved and recovered, as the page shows; what has no answer is unknown."""
    out = tmp_path / "out"
    fairdsl.compile(SPEC, to="sdimacs", directory=out, options={"ssat": {"groups": "learn"}})
    rates = in_groups(listed)
    most, least = (fairdsl.solve(out / f"four_fifths.{end}.sdimacs").found for end in ("most", "least"))
    assert (most.low, 1 - least.low) == (max(rates.values()), min(rates.values()))
    for name in ("four_fifths.most", "four_fifths.least", "races_alone.most", "races_alone.least"):
        answer = fairdsl.solve(out / f"{name}.sdimacs").found
        (out / f"{name}.sdimacs.answer").write_text(f"{answer.low}\n", encoding="utf-8")
    recovered = fairdsl.recover(out)
    judged = {checked.name: checked.judgement.value for checked in recovered.properties}
    assert (judged["four_fifths"], judged["races_alone"], judged["races"]) == ("violated", "holds", "unknown")
    # Some probabilities are rounded in the files, and the interval is as wide as that may matter.
    interval = recovered.properties[0].demands[0].value
    assert interval is not None
    assert interval.low <= exact_value(report, "four_fifths") <= interval.high
    assert interval.high - interval.low < Fraction(1, 10**12)
