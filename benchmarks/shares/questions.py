"""The question that FairQuant asks of each public network, and what FairQuant answers.

The domains are those of ``specs/``, so Bank has its corrected one. One attribute is protected, the others are
equal in the two individuals compared: Adult sex, Bank age, German age, COMPAS race.
"""

from __future__ import annotations

import csv
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import fairdsl
from fairdsl.elaborate import elaborate
from fairdsl.ir.domain import Domain
from fairdsl.ir.problem import Problem
from fairdsl.semantics import front_end

__all__ = ["ASKED", "Peer", "ask", "domain_of", "networks_in", "peers", "write_spec"]

HERE = Path(__file__).parent.parent
SPECS = HERE.parent / "specs"
#: Spec, domain and protected attribute by the letters that a network's name begins with.
ASKED = {
    "GC": ("german.fair", "Applicant", "age"),
    "BM": ("bank.fair", "Client", "age"),
    "AC": ("adult.fair", "Person", "sex"),
    "CP": ("compas.fair", "Defendant", "race"),
}


@dataclass(frozen=True, kw_only=True)
class Peer:
    """FairQuant's figures for one network, as shares of 1."""

    certified: Fraction
    falsified: Fraction
    undecided: Fraction
    cpu: float


def peers() -> dict[str, Peer]:
    with (HERE / "fairquant.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["network"]: Peer(
                certified=Fraction(row["certified"]) / 100,
                falsified=Fraction(row["falsified"]) / 100,
                undecided=Fraction(row["undecided"]) / 100,
                cpu=float(row["cpu_s"]),
            )
            for row in csv.DictReader(file)
        }


def networks_in(folder: Path, only: list[str] | None) -> list[Path]:
    """The networks with a known domain at any depth below the folder, by name and number."""
    found = [path for path in folder.rglob("*.onnx") if path.stem[:2] in ASKED and path.stem[3:].isdigit()]
    wanted = [path for path in found if only is None or path.stem in only]
    return sorted(wanted, key=lambda path: (path.stem[:2], int(path.stem[3:])))


def domain_of(letters: str) -> Domain:
    spec, domain, _ = ASKED[letters]
    checked, _ = front_end(str(SPECS / spec))
    return checked.domains[domain]


def write_spec(file: Path, network: Path, target: str = "") -> None:
    """The question about a network, for the whole domain or a target within it."""
    spec, domain, protected = ASKED[network.stem[:2]]
    clause = f"\n  among {target}" if target else ""
    file.write_text(
        f"""fair 1
audit "{network.stem}: how often does {protected} alone decide?"

use "{(SPECS / spec).resolve()}"

model decide : {domain} -> {{ no, yes }}
  from "{network.resolve()}"
  yes when score > 0

property {protected}_decides {{
  compare  a, b : {domain}
  differ   in {protected}{clause}
  measure  fair_share
}}
""",
        encoding="utf-8",
    )


@fairdsl.reading(root="/")  # the spec lies in a folder of its own
def ask(network: Path) -> Problem:
    """The question about the whole domain, closed."""
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "share.fair"
        write_spec(spec, network)
        checked, _ = front_end(str(spec))
        (demand,) = elaborate(checked, {}).demands
    assert demand.problem is not None, "pairs of one domain and one model have a problem"
    return demand.problem
