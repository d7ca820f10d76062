"""The questions of ``specs/fairify``, the networks that they are asked of, and what the paper prints.

``published.csv`` holds tables II (base) and IV (relaxed and targeted) of Biswas and Rajan, *Fairify: Fairness
Verification of Neural Networks*, ICSE 2023: a verdict, how many partitions were tried within half an hour (base) or an
hour, how many of them were SAT, UNSAT and unknown, and coverage in %, which table IV does not have. SAT is a
violation. Adult is about race there; nothing is published for sex.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DATA", "FAMILIES", "STRESS", "STRICT", "Published", "Question", "networks_in", "published", "questions_of"]

HERE = Path(__file__).parent
SPECS = HERE.parent.parent / "specs" / "fairify"

#: Name in the files of ``specs/fairify`` and of the model in them, by the letters that a network's name begins with.
DATA = {"GC": ("german", "approve"), "BM": ("bank", "subscribe"), "AC": ("adult", "income")}
FAMILIES = ("base", "relaxed-1", "relaxed-2", "targeted-1", "targeted-2")
#: The base question cut finer: as a whole it has the same verdict.
STRESS = "stress"
#: The base question as Fairify's formula has it: a score of 0 is on neither side.
STRICT = "strict"
#: How finely Fairify cuts the base questions, and all others: values of an attribute in a partition.
SIZES, FINER = {"GC": 100, "BM": 100, "AC": 10}, {"GC": 10, "BM": 10, "AC": 6}


@dataclass(frozen=True, kw_only=True)
class Question:
    """A spec, and the network that takes the place of the one it names."""

    family: str
    network: Path
    spec: Path
    model: str

    @property
    def name(self) -> str:
        return f"{self.network.stem} {self.family}"

    @property
    def printed_as(self) -> tuple[str, str]:
        """Where the paper's row for it is among :func:`published`."""
        return ("base" if self.family == STRICT else self.family), self.network.stem

    @property
    def size(self) -> int:
        """How many values of an attribute a partition has at most."""
        return (SIZES if self.printed_as[0] == "base" else FINER)[self.network.stem[:2]]


@dataclass(frozen=True, kw_only=True)
class Published:
    """The paper's row for one question; ``coverage`` in %, None where it has none."""

    verdict: str
    partitions: int
    sat: int
    unsat: int
    unknown: int
    coverage: float | None


def published() -> dict[tuple[str, str], Published]:
    """By family and network."""
    with (HERE / "published.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["family"], row["network"]): Published(
                verdict=row["verdict"],
                partitions=int(row["partitions"]),
                sat=int(row["sat"]),
                unsat=int(row["unsat"]),
                unknown=int(row["unknown"]),
                coverage=float(row["coverage"]) if row["coverage"] else None,
            )
            for row in csv.DictReader(file)
        }


def networks_in(folder: Path, only: list[str] | None) -> list[Path]:
    """The networks with a known domain at any depth below the folder, by name and number."""
    found = [path for path in folder.rglob("*.onnx") if path.stem[:2] in DATA and path.stem[3:].isdigit()]
    wanted = [path for path in found if only is None or path.stem in only]
    return sorted(wanted, key=lambda path: (path.stem[:2], int(path.stem[3:])))


def questions_of(network: Path, families: tuple[str, ...]) -> list[Question]:
    """The questions of these families about a network; of Adult, the base question about sex as well."""
    data, model = DATA[network.stem[:2]]
    files = [(family, SPECS / f"{family}-{data}.fair") for family in families]
    if data == "adult" and "base" in families:
        files.insert(files.index(("base", SPECS / "base-adult.fair")) + 1, ("base, sex", SPECS / "base-adult-sex.fair"))
    return [Question(family=family, network=network, spec=spec, model=model) for family, spec in files]
