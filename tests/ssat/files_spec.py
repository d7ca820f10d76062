"""A spec whose questions stay instances in normal form: rules, compound groups, a label, an influence, open masses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.codec import plain

__all__ = ["SPEC", "answered", "checked", "demands", "recovered", "run", "written"]

SPEC = """audit "Admission by rules"

domain Applicant {
  sex    : category { female, male }
  region : category { north, south, west }
  skill  : integer 0 .. 9
  exam   : boolean
  work   : boolean
  age    : integer 18 .. 60  bins at 30, 45
}

label succeeds : boolean deserving yes

protected sex, region

model admit : Applicant -> { reject, admit }
  first     admit   when skill > 6 and exam = true
  then      reject  when work = false and region != west
  then      admit   when skill > 3 or age < 33
  otherwise reject
  favourable admit

distribution applicants over Applicant, succeeds
  sex      : table { female: 35%, male: 65% }
  region   : table { north: 50%, south: 30%, west: 20% } given sex = female
  region   : table { north: 30%, south: 30%, west: 40% } given sex = male
  skill    : uniform(0, 9)
  exam     : bernoulli(0.15) given sex = female
  exam     : bernoulli(0.3) given sex = male
  work     : bernoulli(0.6) given region in { north, west }
  work     : bernoulli(0.35) given region = south
  age      : uniform(18, 60)
  succeeds : bernoulli(0.8) given exam = true
  succeeds : bernoulli(0.4) given exam = false

property compound "Nobody is favoured much" {
  model    admit
  across   sex, region
  under    applicants
  require  impact_ratio >= 80%
  measure  parity_gap, most_favoured, least_favoured, acceptance_rate
}

property errors {
  model    admit
  across   sex
  under    applicants
  among exam = true or skill >= 2
  require  odds_gap <= 20%
  measure  predictive_gap
  measure  influence of work on parity_gap
}

property strata {
  model    admit
  across   sex
  under    applicants
  for each region
  require  parity_gap <= 50%
}
"""


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def written(folder: Path) -> Path:
    spec = folder / "admission.fair"
    spec.write_text(SPEC, encoding="utf-8")
    return spec


def demands(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What a report says of each demand, but for its place, who said it and how long it took."""
    found = [demand for checked in report["properties"] for demand in checked["demands"]]
    for demand in found:
        del demand["seconds"], demand["span"]
        evidence = demand["verdict"].pop("evidence", {})
        demand |= {name: evidence[name] for name in ("basis", "fidelity", "notes") if evidence.get(name)}
    return found


def answered(folder: Path, *options: str) -> None:
    """Answer every file with ``fairdsl solve``."""
    for file in sorted(folder.glob("*.sdimacs")):
        done = run("solve", file, *options)
        assert done.exit_code == 0, done.output
        file.with_name(f"{file.name}.answer").write_text(done.stdout, encoding="utf-8")


def recovered(folder: Path, *options: object) -> list[dict[str, Any]]:
    """What the report from the answers says of each demand."""
    done = run("recover", folder, "--json", *options)
    assert done.stdout, done.output
    return _by(demands(json.loads(done.stdout)), "files")


def _by(found: list[dict[str, Any]], word: str) -> list[dict[str, Any]]:
    """The demands without whose word they are: this, where something is taken from files."""
    for demand in found:
        basis = demand.get("basis", {})
        claims, arithmetic, whose = (basis.pop(name, None) for name in ("claims", "arithmetic", "word"))
        assert bool(claims) == (arithmetic == "claimed")
        assert whose in ((word, None) if claims else (word, "own", None))
    return found


def checked(spec: Path, groups: str) -> list[dict[str, Any]]:
    """What `check` says of each."""
    found = _by(demands(plain(fairdsl.check(spec, backend="ssat", options={"ssat": {"groups": groups}}))), "own")
    for demand in found:
        notes = demand.get("notes", ())
        if any(note.startswith("every group was asked") for note in notes):  # learning does not do for every metric
            demand["notes"] = [note for note in notes if not note.startswith("every group was asked")]
        if not demand.get("notes"):
            demand.pop("notes", None)
    return found
