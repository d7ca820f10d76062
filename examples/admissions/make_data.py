"""Writes applicants.csv: 4,000 applicants and what a committee decided, invented from a seed.

The law is written out in ``applicants`` and ``admitted``. It has the shape of the admissions of Berkeley in 1973:
women apply more often to the departments that admit few. Beside that, the committee held being a woman against
applicants a little, and there are very few applicants from abroad.

Run from anywhere: ``python examples/admissions/make_data.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROWS = 4000
SEED = 1973

SEXES = ("female", "male")
REGIONS = ("city", "country", "abroad")
DEPARTMENTS = ("arts", "law", "science", "engineering")

#: How often each region occurs.
REGION = (0.70, 0.295, 0.005)

#: How often each department is chosen, by sex.
CHOICE = ((0.45, 0.25, 0.20, 0.10), (0.20, 0.20, 0.25, 0.35))

#: What a department's places add to the logit of being admitted.
PLACES = (-1.6, -0.6, 0.3, 1.0)

COLUMNS = ("sex", "region", "department", "grade", "experience", "admitted")

Codes = NDArray[np.int64]


def applicants(random: np.random.Generator) -> Codes:
    """Codes of sex, region and department, a grade of 0 to 10 and years of experience of 0 to 6; [rows, 5]."""
    sex = random.integers(0, 2, ROWS)
    region = random.choice(len(REGION), ROWS, p=REGION)
    department = np.array([random.choice(len(DEPARTMENTS), p=CHOICE[s]) for s in sex])
    grade = np.clip(np.round(random.normal(6.0 - 0.9 * (region == 1), 1.6, ROWS)), 0, 10)
    experience = np.clip(random.poisson(1.2 + 0.5 * sex, ROWS), 0, 6)
    return np.column_stack([sex, region, department, grade, experience]).astype(np.int64)


def admitted(rows: Codes, random: np.random.Generator) -> Codes:
    """1 where the committee admitted: a logistic law of grade, experience and places, and a little of sex; [rows]."""
    sex, _, department, grade, experience = rows.T
    logit = 1.1 * (grade - 6) + 0.35 * (experience - 1.5) + np.array(PLACES)[department] + 0.4 * (sex - 0.5)
    return (random.random(ROWS) < 1 / (1 + np.exp(-logit))).astype(np.int64)


def main() -> None:
    """Write the file beside this script."""
    random = np.random.default_rng(SEED)
    rows = applicants(random)
    labels = admitted(rows, random)
    with (HERE / "applicants.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (sex, region, department, grade, experience), label in zip(rows.tolist(), labels.tolist(), strict=True):
            words = (SEXES[sex], REGIONS[region], DEPARTMENTS[department])
            writer.writerow((*words, grade, experience, ("no", "yes")[label]))


if __name__ == "__main__":
    main()
