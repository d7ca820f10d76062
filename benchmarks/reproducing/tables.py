"""Tables to train and measure on: public ones from a folder, or invented ones of their shape.

An invented table has the names, categories, ranges and about the marginals of a public one, drawn from a seed, and a
label that is a logistic function of its columns. It says nothing about anybody. Of either kind, numbers are put into so
many bins of about as many rows each, every number becoming the mean of its bin, as both papers do; here that is done to
the *table*, before a model is trained, so models and rates mean the same people and nothing is approximated later.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHAPES", "Column", "Shape", "Table", "invented", "read", "table_of"]

Cells = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A category with its ``shares``, or a whole number between ``low`` and ``high`` with ``mean`` and ``spread``.

    ``pull`` is how far being in the second value of the first protected column moves it, and ``weight`` what it adds to
    the label's score, both in standard deviations. ``header`` is its name in the public table.
    """

    name: str
    header: str = ""
    shares: Mapping[str, float] | None = None
    low: int = 0
    high: int = 0
    mean: float = 0.0
    spread: float = 1.0
    pull: float = 0.0
    weight: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Of one public table: its ``protected`` columns, the first with two values, and the share of good labels."""

    columns: tuple[Column, ...]
    protected: tuple[str, ...]
    good: float
    label: str = ""
    deserving: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
    """``cells`` of each column, and the ``label`` (1 is good) of each row."""

    name: str
    shape: Shape
    cells: Mapping[str, Cells]
    label: NDArray[np.int64]
    invented: bool

    @property
    def size(self) -> int:
        return len(self.label)

    def rows(self, places: NDArray[np.int64]) -> Table:
        """These rows alone, one of them as often as it is named."""
        cells = {name: column[places] for name, column in self.cells.items()}
        return Table(name=self.name, shape=self.shape, cells=cells, label=self.label[places], invented=self.invented)

    def with_label(self, label: NDArray[np.int64]) -> Table:
        return Table(name=self.name, shape=self.shape, cells=self.cells, label=label, invented=self.invented)

    def write(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*self.cells, "good"])
            writer.writerows(zip(*self.cells.values(), self.label, strict=True))


#: How much louder the weights of an invented label are than its noise, so that classifiers find something.
_SIGNAL = 2.0
_SEXES = {"Female": 0.33, "Male": 0.67}
_RACES = {"White": 0.8, "Black": 0.12, "Other": 0.08}

SHAPES: Mapping[str, Shape] = {
    "adult": Shape(
        protected=("sex", "race"),
        good=0.24,
        label="income",
        deserving=">50K",
        columns=(
            Column(name="sex", header="sex", shares=_SEXES, weight=0.4),
            Column(name="race", header="race", shares=_RACES, weight=-0.2),
            Column(name="age", header="age", low=17, high=90, mean=38.6, spread=13.6, pull=0.15, weight=0.6),
            Column(name="education", header="education-num", low=1, high=16, mean=10, spread=2.6, weight=0.9),
            Column(name="hours", header="hours-per-week", low=1, high=99, mean=40, spread=12, pull=0.5, weight=0.5),
        ),
    ),
    "compas": Shape(
        protected=("sex", "race"),
        good=0.55,
        columns=(
            Column(name="sex", shares={"Male": 0.81, "Female": 0.19}, weight=0.2),
            Column(name="race", shares={"African-American": 0.51, "Caucasian": 0.34, "Other": 0.15}, weight=0.2),
            Column(name="age", low=18, high=70, mean=34, spread=11, weight=0.6),
            Column(name="priors", low=0, high=30, mean=3.5, spread=4.5, pull=-0.5, weight=-1.1),
            Column(name="charge", shares={"felony": 0.65, "misdemeanor": 0.35}, pull=0.2, weight=0.2),
        ),
    ),
    "german": Shape(
        protected=("sex",),
        good=0.7,
        label="risk",
        deserving="1",
        columns=(
            Column(name="sex", header="sex", shares={"female": 0.31, "male": 0.69}, weight=0.2),
            Column(name="age", header="age", low=19, high=75, mean=35, spread=11, pull=0.3, weight=0.3),
            Column(name="housing", header="housing", shares={"own": 0.71, "rent": 0.18, "free": 0.11}, weight=-0.3),
            Column(name="amount", header="credit_amount", low=250, high=18424, mean=3271, spread=2800, weight=-0.4),
            Column(name="duration", header="duration", low=4, high=72, mean=21, spread=12, pull=0.2, weight=-0.6),
        ),
    ),
    "ricci": Shape(
        protected=("race",),
        good=0.47,
        columns=(
            Column(name="race", shares={"White": 0.58, "Non-white": 0.42}),
            Column(name="position", shares={"Lieutenant": 0.65, "Captain": 0.35}, weight=0.1),
            Column(name="oral", low=41, high=93, mean=65, spread=12, pull=-0.5, weight=1.4),
            Column(name="written", low=46, high=95, mean=70, spread=10, pull=-0.6, weight=1.0),
        ),
    ),
    "titanic": Shape(
        protected=("sex",),
        good=0.38,
        label="survived",
        deserving="1",
        columns=(
            Column(name="sex", header="gender", shares={"female": 0.35, "male": 0.65}, weight=-0.7),
            Column(name="class", header="class", shares={"1st": 0.25, "2nd": 0.2, "3rd": 0.55}, pull=0.2, weight=-0.8),
            Column(name="age", header="age", low=0, high=80, mean=30, spread=13, weight=-0.3),
            Column(name="relatives", header="sibsp", low=0, high=8, mean=0.5, spread=1, weight=-0.2),
        ),
    ),
}


def _binned(numbers: NDArray[np.float64], bins: int) -> Cells:
    """Each number as the rounded mean of its bin; bins of about as many rows each, fewer where numbers repeat."""
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, bins + 1)[1:-1]))
    places = np.searchsorted(edges, numbers, side="left")
    means = {place: round(float(numbers[places == place].mean())) for place in np.unique(places).tolist()}
    return np.array([means[place] for place in places.tolist()], dtype=object)


def invented(name: str, rows: int, seed: int, bins: int) -> Table:
    """A table of this shape, drawn."""
    shape = SHAPES[name]
    random = np.random.default_rng([seed, rows, *name.encode()])
    cells: dict[str, Cells] = {}
    score, side = random.logistic(size=rows), np.zeros(rows)
    for column in shape.columns:
        if column.shares is None:
            drawn = random.normal(column.mean + column.pull * column.spread * side, column.spread)
            numbers = np.clip(np.round(drawn), column.low, column.high)
            cells[column.name] = _binned(numbers, bins)
        else:
            names, shares = list(column.shares), np.log(list(column.shares.values()))
            noise = random.gumbel(size=(rows, len(names)))
            places = (shares + column.pull * side[:, None] * np.arange(len(names)) + noise).argmax(axis=1)
            cells[column.name] = np.array(names, dtype=object)[places]
            numbers = places.astype(float)
        score += _SIGNAL * column.weight * (numbers - numbers.mean()) / (numbers.std() or 1.0)
        if column.name == shape.protected[0]:
            side = numbers - 0.5
    label = (score > np.quantile(score, 1 - shape.good)).astype(np.int64)
    return Table(name=name, shape=shape, cells=cells, label=label, invented=True)


def read(name: str, path: Path, bins: int) -> Table:
    """The public table; rows with an empty cell are left aside, and categories below 1 % become `Other`."""
    shape = SHAPES[name]
    headers = [column.header for column in shape.columns] + [shape.label]
    with path.open(newline="", encoding="utf-8") as file:
        listed = [row for row in csv.DictReader(file) if all(row[header].strip() for header in headers)]
    cells: dict[str, Cells] = {}
    for column in shape.columns:
        texts = [row[column.header].strip() for row in listed]
        if column.shares is None:
            cells[column.name] = _binned(np.array([float(text) for text in texts]), bins)
        else:
            common = {text for text in set(texts) if texts.count(text) * 100 >= len(texts)}
            cells[column.name] = np.array([text if text in common else "Other" for text in texts], dtype=object)
    label = np.array([row[shape.label].strip() == shape.deserving for row in listed], dtype=np.int64)
    return Table(name=name, shape=shape, cells=cells, label=label, invented=False)


def table_of(name: str, data: Path | None, rows: int, seed: int, bins: int) -> Table:
    """The public table at most ``rows`` long, drawn from the seed, where ``data`` has it; else an invented one."""
    path = None if data is None else data / "tables" / f"{name}.csv"
    if path is None or not SHAPES[name].label or not path.is_file():
        return invented(name, rows, seed, bins)
    whole = read(name, path, bins)
    return whole.rows(np.sort(np.random.default_rng(seed).permutation(whole.size)[:rows]))


def one_hot(table: Table, names: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
    """Columns as numbers [rows, features], with what each means as a condition or a number of the language."""
    terms: list[str] = []
    found: list[NDArray[np.float64]] = []
    for name in names:
        cells = table.cells[name]
        if isinstance(cells[0], str):
            for value in sorted(set(cells.tolist()))[1:]:
                terms.append(f'{name} = "{value}"')
                found.append((cells == value).astype(float))
        else:
            terms.append(name)
            found.append(cells.astype(float))
    return terms, np.stack(found, axis=1)
