"""The people of a case with one value an attribute: bins and one-hot columns exclude each other.

Three readings of the same file, further and further from the tool's:

* ``ROUNDED``: the tool's rounded weights, a bin's at its middle;
* ``EXACT``: the model's own weights, a bin's at its middle;
* ``RANGES``: the model's own weights, a bin being the range that it is: rates become intervals, which hold however
  the data lie within the bins.

Attributes are independent in all three, for the file has no more of them than frequencies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import product
from pathlib import Path

from group.cases import Case, Document, decimal, write_law, write_spec

__all__ = ["Attributes", "Reading", "Value", "attributes_of"]


class Reading(Enum):
    ROUNDED = "rounded weights"
    EXACT = "weights of the model"
    RANGES = "bins as ranges"


@dataclass(frozen=True, kw_only=True)
class Value:
    """One cell of an attribute: its name, frequency, and what it adds to the score, at least and at most."""

    name: str
    chance: Fraction
    least: Fraction
    most: Fraction
    ends: tuple[Fraction, Fraction] | None = None


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """Independent attributes, ``across`` of which are protected; ``slopes`` weigh those that are ranges."""

    name: str
    values: tuple[tuple[Value, ...], ...]
    slopes: tuple[Fraction | None, ...]
    features: tuple[str, ...]
    across: tuple[int, ...]
    threshold: Fraction

    def group(self, cell: Sequence[int]) -> str:
        return ", ".join(self.values[place][index].name for place, index in zip(self.across, cell, strict=True))

    def cell_of(self, columns: Sequence[str], row: Sequence[int]) -> tuple[int, ...]:
        """The group whose columns in the tool's data have these values."""
        held = dict(zip(columns, row, strict=True))
        found = []
        for place in self.across:
            feature, names = self.features[place], [value.name for value in self.values[place]]
            name = str(int(held[feature])) if feature in held else _held(feature, held)
            found.append(names.index(name))
        return tuple(found)

    def spec(self, folder: Path) -> Path:
        """Writes the question with its law."""
        lines, columns, laws, terms = [], [], [], []
        for place, (values, slope) in enumerate(zip(self.values, self.slopes, strict=True)):
            name = f"a{place}"
            line, cells = _ranges(values) if slope is not None else _words(values)
            lines.append(f"  {name} : {line}")
            columns.append({"name": name, "cells": cells})
            law = [str(value.chance) for value in values]
            laws.append({"of": name, "given": [], "rows": [{"where": [], "law": law}]})
            if slope is not None:
                terms.append(_term(slope, name))
            else:
                terms += [_term(value.least, f"({name} = c{i})") for i, value in enumerate(values) if value.least]
        write_law(folder, columns, laws)
        score = f"score = {_written(-self.threshold)} {' '.join(terms)}"
        return write_spec(folder, self.name, "\n".join(lines), [f"a{place}" for place in self.across], score)

    def brute_force(self) -> dict[tuple[int, ...], tuple[Fraction, Fraction]]:
        """The least and the greatest rate of every group that there is: one cell after the other, in fractions."""
        low: dict[tuple[int, ...], Fraction] = {}
        high: dict[tuple[int, ...], Fraction] = {}
        whole: dict[tuple[int, ...], Fraction] = {}
        for cell in product(*(range(len(values)) for values in self.values)):
            mass, least, most = Fraction(1), Fraction(0), Fraction(0)
            for values, index in zip(self.values, cell, strict=True):
                mass *= values[index].chance
                least, most = least + values[index].least, most + values[index].most
            group = tuple(cell[place] for place in self.across)
            whole[group] = whole.get(group, Fraction(0)) + mass
            low[group] = low.get(group, Fraction(0)) + (mass if least >= self.threshold else 0)
            high[group] = high.get(group, Fraction(0)) + (mass if most >= self.threshold else 0)
        return {group: (low[group] / mass, high[group] / mass) for group, mass in whole.items() if mass}


def _held(feature: str, held: Mapping[str, int]) -> str:
    """The value of the one-hot columns of a feature."""
    start = f"{feature}_"
    (name,) = [column.removeprefix(start) for column, value in held.items() if value and column.startswith(start)]
    return name


def _words(values: Sequence[Value]) -> tuple[str, list[object]]:
    words = [f"c{index}" for index in range(len(values))]
    return f"category {{ {', '.join(words)} }}", list(words)


def _ranges(values: Sequence[Value]) -> tuple[str, list[object]]:
    """Half-open ranges that follow each other; the last one has both ends."""
    ends = [value.ends for value in values if value.ends is not None]
    edges = ", ".join(_written(low) for low, _ in ends[1:])
    cells: list[object] = [
        {"low": str(low), "high": str(high), "open": index < len(ends) - 1, "inside": "unknown"}
        for index, (low, high) in enumerate(ends)
    ]
    return f"real {_written(ends[0][0])} .. {_written(ends[-1][1])} bins at {edges}", cells


def _term(weight: Fraction, factor: str) -> str:
    return f"{'-' if weight < 0 else '+'} {_written(abs(weight))} * {factor}"


def _written(number: Fraction) -> str:
    """A number whose denominator has no primes but 2 and 5, as a decimal."""
    digits = 0
    while (number * 10**digits).denominator != 1:
        digits += 1
    whole = abs(int(number * 10**digits))
    return f"{'-' if number < 0 else ''}{whole // 10**digits}.{whole % 10**digits:0{max(digits, 1)}d}"


def attributes_of(case: Case, reading: Reading) -> Attributes:
    """Frequencies that sum to less than 1 leave the rest to ``none``; those of more are divided by their sum."""
    exclusive = case.document["exclusive_blocks"]
    blocks = [(name, numbers, True) for name, numbers in exclusive["discretised_bins"].items()]
    blocks += [(name, numbers, False) for name, numbers in exclusive["one_hot"].items()]
    inside = {number for _, numbers, _ in blocks for number in numbers}
    by_number = {variable["id"]: variable for variable in case.variables}
    blocks += [(by_number[number]["feature"], [number], False) for number in by_number if number not in inside]
    weights = dict(zip(case.document["original"]["features"], case.document["original"]["coef"], strict=True))
    values: list[tuple[Value, ...]] = []
    slopes: list[Fraction | None] = []
    for name, numbers, bins in blocks:
        slope = decimal(weights[name]) if bins and reading is Reading.RANGES else None
        values.append(_values([by_number[number] for number in numbers], reading, slope))
        slopes.append(slope)
    sensitive = frozenset(case.sensitive)
    return Attributes(
        name=case.name,
        values=tuple(values),
        slopes=tuple(slopes),
        features=tuple(name for name, _, _ in blocks),
        across=tuple(place for place, (_, numbers, _) in enumerate(blocks) if not sensitive.isdisjoint(numbers)),
        threshold=decimal(case.document["threshold_int" if reading is Reading.ROUNDED else "threshold_float"]),
    )


def _values(variables: Sequence[Document], reading: Reading, slope: Fraction | None) -> tuple[Value, ...]:
    chances = [decimal(variable["p1"]) for variable in variables]
    total = max(sum(chances, Fraction(0)), Fraction(1))
    found = [_value(each, chance / total, reading, slope) for each, chance in zip(variables, chances, strict=True)]
    rest = 1 - sum(chances, Fraction(0)) / total
    if rest and slope is not None:
        raise ValueError("somebody is in none of the bins")
    none = Value(name="none" if len(variables) > 1 else "0", chance=rest, least=Fraction(0), most=Fraction(0))
    return (none, *found) if rest else tuple(found)


def _value(variable: Document, chance: Fraction, reading: Reading, slope: Fraction | None) -> Value:
    test = variable["test"]
    if slope is not None:
        ends = (decimal(test[1]), decimal(test[3]))
        both = sorted(slope * end for end in ends)
        return Value(name=f"{test[1]:.3g}..", chance=chance, least=both[0], most=both[1], ends=ends)
    weight = decimal(variable["weight_int" if reading is Reading.ROUNDED else "weight_float"])
    name = variable["feature"].rpartition("_")[2] if "_" in variable["feature"] else "1"
    return Value(name=name, chance=chance, least=weight, most=weight)
