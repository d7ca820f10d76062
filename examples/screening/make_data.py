"""Writes candidates.csv: 3,000 candidates whom a tool scored and let pass or not, invented from a seed.

The table has the shape of those that bias audits under New York City's Local Law 144 start from: a score, a decision,
sex and race/ethnicity as people gave them, some of them unknown, and two categories below 2 %.

Run from anywhere: ``python examples/screening/make_data.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROWS = 3000
SEED = 144
#: The score from which the tool lets pass.
PASS = 62.5

SEXES = ("female", "male", "unknown")
SEX = (0.46, 0.49, 0.05)
RACES = ("hispanic", "white", "black", "pacific", "asian", "native", "two_or_more", "unknown")
RACE = (0.16, 0.33, 0.15, 0.008, 0.22, 0.012, 0.05, 0.07)
#: What the invented tool adds to the score of a category, on average.
SHIFT = (-3.0, 2.0, -5.0, -1.0, 3.5, -4.0, 0.0, 0.0)


def main() -> None:
    """Write the file beside this script."""
    random = np.random.default_rng(SEED)
    sex = random.choice(len(SEXES), ROWS, p=SEX)
    race = random.choice(len(RACES), ROWS, p=RACE)
    spread = random.normal(60 + np.array(SHIFT)[race] - 2.5 * (sex == 0), 14, ROWS)
    # Half points, as a questionnaire gives them: many people have the same score, some the median itself.
    score = np.clip(np.round(2 * spread) / 2, 0, 100)
    with (HERE / "candidates.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("sex", "race", "score", "decision"))
        for who in range(ROWS):
            decision = "pass" if score[who] >= PASS else "reject"
            writer.writerow((SEXES[sex[who]], RACES[race[who]], f"{score[who]:.1f}", decision))


if __name__ == "__main__":
    main()
