"""Writes defendants.csv: 900 defendants and who of them was arrested again, invented from a seed.

The law is written out in ``defendants`` and ``arrested``. It has the shape of what was reported of Broward County
[Angwin et al. 2016]: whether somebody offends again depends on age, on prior offences and on juvenile ones, in no way
on race or sex. But an arrest is not an offence: where more is patrolled more offences become arrests, before and
after. So black defendants have longer records, and are arrested again more often, for the same conduct. All figures
are invented.

Run from anywhere: ``python examples/recidivism/make_data.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROWS = 900
SEED = 2016

RACES = ("black", "white", "other")
SEXES = ("female", "male")
AGES = ("below_25", "from_25_to_45", "above_45")
CHARGES = ("misdemeanour", "felony")
COLUMNS = ("race", "sex", "age", "juvenile", "priors", "charge", "rearrested")

#: How often each race and each age occurs, and how often a defendant is a man.
RACE, AGE, MEN = (0.48, 0.38, 0.14), (0.22, 0.56, 0.22), 0.78

#: The chance that an offence becomes an arrest, by race.
ARREST = (0.60, 0.38, 0.42)

#: Offences so far by age, on average: when they were young, and since.
YOUNG, SINCE = (1.1, 0.6, 0.5), (1.5, 4.5, 4.0)

MOST_PRIORS = 20

Codes = NDArray[np.int64]


def defendants(random: np.random.Generator) -> Codes:
    """Codes of race, sex and age, whether there is a juvenile record, prior arrests, code of the charge; [rows, 6]."""
    race = random.choice(len(RACE), ROWS, p=RACE)
    sex = (random.random(ROWS) < MEN).astype(np.int64)
    age = random.choice(len(AGE), ROWS, p=AGE)
    seen, active = np.array(ARREST)[race], random.gamma(1.3, 1 / 1.3, ROWS) * (0.65 + 0.35 * sex)
    juvenile = random.poisson(np.array(YOUNG)[age] * active * seen) > 0
    priors = np.minimum(random.poisson(np.array(SINCE)[age] * active * seen), MOST_PRIORS)
    felony = random.random(ROWS) < 0.55 + 0.1 * (priors > 3)
    return np.column_stack([race, sex, age, juvenile, priors, felony]).astype(np.int64)


def arrested(rows: Codes, random: np.random.Generator) -> Codes:
    """1 where a defendant offends again, by a logistic law without race and sex, and is arrested for it; [rows]."""
    race, _, age, juvenile, priors, _ = rows.T
    logit = -0.4 - 1.2 * (age - 1) + 1.4 * juvenile + 0.5 * (priors - 2)
    offends = random.random(ROWS) < 1 / (1 + np.exp(-logit))
    # Somebody who offends again does so three times, and one arrest is enough.
    return (offends & (random.random(ROWS) < 1 - (1 - np.array(ARREST)[race]) ** 3)).astype(np.int64)


def main() -> None:
    """Write the file beside this script."""
    random = np.random.default_rng(SEED)
    rows = defendants(random)
    labels = arrested(rows, random)
    with (HERE / "defendants.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (race, sex, age, juvenile, priors, charge), label in zip(rows.tolist(), labels.tolist(), strict=True):
            words = (RACES[race], SEXES[sex], AGES[age], ("no", "yes")[juvenile], priors, CHARGES[charge])
            writer.writerow((*words, ("no", "yes")[label]))


if __name__ == "__main__":
    main()
