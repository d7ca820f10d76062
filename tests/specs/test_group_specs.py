"""``specs/group`` runs on a table with the columns that it names and a linear model of them.

The tables are drawn here: their headers and values are those of the public data sets, their rows are invented.
"""

from __future__ import annotations

import csv
import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.ir.domain import Attribute, Boolean, Category
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.verdict import Judgement

FILES = sorted((Path(__file__).parents[2] / "specs" / "group").glob("*.fair"))
ROWS = 600


def drawn(attribute: Attribute, source: random.Random) -> str:
    """A value of an attribute as a table has it."""
    if isinstance(attribute.type, Category | Boolean):
        return attribute.show(source.choice(list(attribute.values or ())))
    low, high = attribute.bounds
    assert low is not None
    assert high is not None
    return str(source.randint(int(low), int(high)))


def columns_of(spec: CheckedSpec) -> list[Attribute]:
    (model,) = spec.models.values()
    labels = [Attribute(name=label.name, type=label.type, column=label.column) for label in spec.labels.values()]
    return [*model.domain.attributes, *labels]


def write_table(path: Path, spec: CheckedSpec) -> None:
    source = random.Random(0)
    columns = columns_of(spec)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([column.column or column.name for column in columns])
        writer.writerows([drawn(column, source) for column in columns] for _ in range(ROWS))


def write_model(path: Path, spec: CheckedSpec) -> None:
    """The sum of what the model reads, less its middle, so that some are favoured and some are not."""
    (model,) = spec.models.values()
    read = model.domain.attributes if model.declaration.reads is None else model.domain.attributes[1:3]
    middle = sum((sum(attribute.bounds) / 2 for attribute in read), Fraction(0))
    path.write_text(json.dumps({"coefficients": [1] * len(read), "intercept": -float(middle)}), encoding="utf-8")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_group_spec_runs(file: Path, tmp_path: Path) -> None:
    spec, _ = front_end(str(file))
    table, model = tmp_path / "rows.csv", tmp_path / "model.json"
    write_table(table, spec)
    write_model(model, spec)
    report = fairdsl.check(
        file,
        models=dict.fromkeys(spec.models, model),
        data=dict.fromkeys(spec.distributions, table),
        timeout=20,
    )
    judgements = {found.name: found.judgement for found in report.properties}
    assert judgements.keys() == {found.name for found in spec.properties}
    assert Judgement.REFUSED not in judgements.values(), judgements
    # Rows decide everything. A law over bins leaves open where in a bin the numbers lie that the model weighs.
    open_ended = {name for name, judgement in judgements.items() if judgement is Judgement.UNKNOWN}
    assert open_ended <= {"by_law", "if_scores_were_independent"}
    assert judgements["four_fifths"] is Judgement.VIOLATED
