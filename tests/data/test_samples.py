"""Each table of a run is decoded once, and each model decides its rows once, however many demands ask."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import fairdsl
import fairdsl.data.table as tables
import fairdsl.replay.decisions as decisions
from fairdsl.clock import NEVER, Deadline
from fairdsl.data.samples import Samples
from fairdsl.ir.domain import Attribute, Boolean
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import Model
from tests.builders import BOOLEAN, domain, integer

SPEC = """\
domain P { sex : category { f, m }  age : integer 18 .. 90  bins at 30, 50 }
label y : boolean deserving yes
protected sex
model m : P -> { no, ok }
  ok when age >= 40
  favourable ok
model n : P -> { no, ok }
  ok when age >= 50
  favourable ok
distribution rows over P, y
  empirical from "people.csv"
distribution counted over P, y
  learn bayesian_network
  from "people.csv"
distribution plain over P
  empirical from "people.csv"
property a { model m  across sex under rows measure opportunity_gap, acceptance_rate }
property b { model m  across sex under counted measure acceptance_rate }
property c { model m  across sex for each age under rows measure acceptance_rate }
property d { model n  across sex under rows measure acceptance_rate, parity_gap }
property e { model n  across sex under plain measure acceptance_rate }
"""
ROWS = "sex,age,y\n" + "".join(f"{'fm'[n % 2]},{20 + n},{n % 3 % 2}\n" for n in range(60))


def test_every_demand_goes_by_one_decoding_and_one_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text(ROWS, encoding="utf-8")
    spec = tmp_path / "spec.fair"
    spec.write_text(SPEC, encoding="utf-8")
    opened: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    open_records, decide = tables.open_records, decisions.decide

    def counting_open(path: str) -> tables.Cells:
        opened[Path(path).name] += 1
        return open_records(path)

    def counting_decide(model: Model, points: ExactRows, deadline: Deadline = NEVER) -> decisions.Decisions:
        decided[model.name] += len(points)
        return decide(model, points, deadline)

    monkeypatch.setattr(tables, "open_records", counting_open)
    monkeypatch.setattr(decisions, "decide", counting_decide)
    report = fairdsl.check(spec, timeout=60.0)
    assert [item.judgement.value for item in report.properties] == ["measured"] * 5
    assert opened == {"people.csv": 1}
    assert decided["m"] == 60
    assert decided["n"] <= 120  # the rows without their labels are another table


def test_a_sample_is_the_table_with_and_without_its_label(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("rate,sex,y\n1,0,1\n2,1,0\n2,1,1\n", encoding="utf-8")
    people, label = domain(rate=integer(0, 2), sex=BOOLEAN), Attribute(name="y", type=Boolean())
    samples = Samples()
    labelled, plain = samples.of(str(path), people, label), samples.of(str(path), people, None)
    for sample, asked in ((labelled, label), (plain, None)):
        table = tables.read_table(str(path), people, asked)
        assert sample.sha256 == table.sha256
        assert sample.values.points() == table.with_labels.points()
        assert samples.of(str(path), people, asked) is sample
    assert (labelled.values.width, plain.values.width) == (3, 2)
    other = Attribute(name="sex", type=Boolean())
    narrower = domain(rate=integer(0, 2))
    assert samples.of(str(path), narrower, other).values.points() == plain.values.points()
