"""Writes patients.csv, defendants.csv, borrowers.csv, drivers.csv and candidates.csv: invented people, from a seed.

The laws are written out below. Each table has groups of which one fares a little worse, as the questions of the
cookbook about rates suppose, and the first three the true outcome that rates of errors are about.

Run from anywhere: ``python examples/cookbook/make_rates_data.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
ROWS = 400
SEED = 26


def patients(random: Random) -> list[tuple[object, ...]]:
    """Race, oxygen saturation, age, and whether they were found to be sick."""
    found = []
    for _ in range(ROWS):
        race = random.choice(("black", "white"))
        sick = random.random() < (0.35 if race == "black" else 0.25)
        # Oximeters read too high on dark skin.
        oxygen = round(random.gauss(90 if sick else 96, 3) + (1 if race == "black" else 0))
        found.append((race, min(100, max(80, oxygen)), random.randint(18, 90), "yes" if sick else "no"))
    return found


def defendants(random: Random) -> list[tuple[object, ...]]:
    """Race, prior arrests, age, and whether they were arrested again."""
    found = []
    for _ in range(ROWS):
        race = random.choice(("black", "white"))
        again = random.random() < 0.4
        priors = min(20, int(random.expovariate(1 / (4 if again else 2))) + (race == "black"))
        found.append((race, priors, random.randint(18, 70), "yes" if again else "no"))
    return found


def borrowers(random: Random) -> list[tuple[object, ...]]:
    """Sex, income, savings, and whether the loan was repaid."""
    found = []
    for _ in range(ROWS):
        sex = random.choice(("female", "male"))
        income = min(100, max(0, round(random.gauss(46 if sex == "female" else 50, 15))))
        savings = random.randint(0, 40)
        repaid = random.random() < 0.3 + 0.005 * income + 0.005 * savings
        found.append((sex, income, savings, "yes" if repaid else "no"))
    return found


def drivers(random: Random) -> list[tuple[object, ...]]:
    """Sex, age, and thousands of kilometres a year."""
    found = []
    for _ in range(ROWS):
        sex = random.choice(("female", "male"))
        distance = min(40, max(1, round(random.gauss(11 if sex == "female" else 12, 5))))
        found.append((sex, random.randint(18, 80), distance))
    return found


def candidates(random: Random) -> list[tuple[object, ...]]:
    """Sex, race, age, the site they apply to, and their points in a test."""
    found = []
    for _ in range(2 * ROWS):
        sex, age = random.choice(("female", "male")), random.randint(18, 70)
        race = random.choices(("black", "white", "asian", "islander"), (25, 50, 24, 1))[0]
        points = random.gauss(55 - 3 * (race == "black") - 4 * (age >= 62), 15)
        found.append((sex, race, age, random.choice(SITES), min(100, max(0, round(points)))))
    return found


SITES = ("aldham", "barnes", "corby", "dalton", "epsom", "fleet", "goole", "hull", "irvine", "jarrow", "kelso", "leeds")
TABLES = {
    "patients": (("race", "oxygen", "age", "sick"), patients),
    "defendants": (("race", "priors", "age", "rearrested"), defendants),
    "drivers": (("sex", "age", "distance"), drivers),
    "candidates": (("sex", "race", "age", "site", "points"), candidates),
    "borrowers": (("sex", "income", "savings", "repaid"), borrowers),
}


def main() -> None:
    """Write all tables."""
    for name, (header, people) in TABLES.items():
        with (HERE / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(people(Random(f"{SEED} {name}")))


if __name__ == "__main__":
    main()
