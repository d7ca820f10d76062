"""Writes census.csv: 10,000 people and whether they earn much, invented from a seed.

The columns, their codes and their ranges are those of the census data that the program Aequitas (Udeshi, Arora and
Chattopadhyay, ASE 2018) was shown with: 13 whole numbers. No row is a person: the law is written out in ``people`` and
``earns_much``. Earning depends on education, hours, age, marriage and capital, and on sex, as in data
shaped by earlier decisions; occupation and hours follow sex, and husbands and wives have codes of their own.

Run from anywhere: ``python examples/repair/make_data.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROWS = 10_000
SEED = 2018

COLUMNS = (
    "age_bin",
    "workclass",
    "fnlwgt_bin",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours",
    "country",
)


def people(random: np.random.Generator, count: int) -> NDArray[np.int64]:
    """The attributes, one column each, in the order of COLUMNS."""
    sex = (random.random(count) < 0.67).astype(int)
    age = np.clip(np.round(random.gamma(6.0, 0.65, count)), 1, 9)
    workclass = random.choice(8, count, p=[0.7, 0.09, 0.05, 0.04, 0.06, 0.04, 0.01, 0.01])
    weight = np.clip(np.round(random.gamma(4.0, 4.6, count)), 0, 39)
    education = np.clip(np.round(random.normal(9.0, 2.6, count)), 0, 15)
    married = random.random(count) < 0.25 + 0.35 * sex
    marital = np.where(married, 0, random.integers(1, 7, count))
    occupation = np.clip(np.round(random.normal(5.0 + 3.0 * sex, 2.8, count)), 0, 13)
    relationship = np.where(married, np.where(sex == 1, 0, 5), random.integers(1, 5, count))
    race = random.choice(5, count, p=[0.85, 0.04, 0.01, 0.01, 0.09])
    gain = np.where(random.random(count) < 0.08, np.clip(np.round(random.gamma(1.5, 20.0, count)), 1, 99), 0)
    loss = np.where(random.random(count) < 0.05, np.clip(np.round(random.normal(19.0, 4.0, count)), 1, 39), 0)
    hours = np.clip(np.round(random.normal(37.0 + 5.0 * sex, 11.0, count)), 0, 99)
    country = np.where(random.random(count) < 0.9, 0, random.integers(1, 40, count))
    columns = [age, workclass, weight, education, marital, occupation, relationship, race, sex]
    return np.column_stack([*columns, gain, loss, hours, country]).astype(np.int64)


def earns_much(rows: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """1 for who earns much: a logistic law of work and means, and of sex."""
    age, _, _, education, marital, occupation, _, _, sex, gain, loss, hours, _ = rows.T
    logit = (
        -4.9
        + 0.42 * (education - 9)
        + 0.055 * (hours - 40)
        + 0.55 * np.minimum(age, 6)
        + 0.02 * gain
        + 0.03 * loss
        + 1.3 * (marital == 0)
        + 0.06 * (occupation - 6)
        + 0.8 * sex
    )
    return (random.random(len(rows)) < 1 / (1 + np.exp(-2.0 * logit))).astype(np.int64)


def main() -> None:
    """Write the file beside this script."""
    random = np.random.default_rng(SEED)
    rows = people(random, ROWS)
    much = earns_much(rows, random)
    with (HERE / "census.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COLUMNS, "income"])
        for row, label in zip(rows.tolist(), much.tolist(), strict=True):
            writer.writerow([*row, "high" if label else "low"])


if __name__ == "__main__":
    main()
