"""Writes credit.csv: 1,000 applicants and whether they repaid, invented from a seed.

The columns and their codes are of the kinds that real credit files have: categories with gaps between
their codes, counts, an amount of wide range. The law is written out in ``repayment``: repaying depends on
means, and a little on sex, as in data shaped by earlier decisions.

Run from anywhere: ``python examples/credit/make_data.py``.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
ROWS = 1000
SEED = 2024

#: Codes as the bank writes them; 3 was retired and `unknown` is far away.
CHECKING = {1: 0.35, 2: 0.30, 4: 0.35}
SAVINGS = {0: 0.45, 1: 0.25, 2: 0.15, 5: 0.15}

COLUMNS = (
    "checking",
    "duration_months",
    "credit_amount",
    "savings",
    "employment_years",
    "instalment_rate",
    "age",
    "sex",
)


def applicants(random: np.random.Generator) -> NDArray[np.int64]:
    """The attributes, one column each, in the order of COLUMNS."""
    sex = random.integers(0, 2, ROWS)
    age = np.clip(np.round(random.gamma(4.0, 5.0, ROWS) + 19), 18, 75)
    employment = np.clip(np.round((age - 18) * random.beta(1.5, 2.5, ROWS)), 0, 40)
    duration = np.clip(6 * random.integers(1, 13, ROWS) - random.integers(0, 3, ROWS), 4, 72)
    amount = np.clip(np.round(duration * 110 * random.lognormal(0.0, 0.6, ROWS)), 250, 20000)
    return np.column_stack(
        [
            random.choice(list(CHECKING), ROWS, p=list(CHECKING.values())),
            duration,
            amount,
            random.choice(list(SAVINGS), ROWS, p=list(SAVINGS.values())),
            employment,
            random.integers(1, 5, ROWS),
            age,
            sex,
        ]
    ).astype(np.int64)


def repayment(rows: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """1 where the applicant repaid: a logistic law of means, and a little of sex."""
    checking, duration, amount, savings, employment, rate, age, sex = rows.T
    logit = (
        -0.9
        + 0.55 * checking
        + 0.45 * savings
        - 0.025 * duration
        - 0.00013 * amount
        + 0.05 * employment
        - 0.15 * rate
        + 0.008 * (age - 35)
        + 0.20 * sex
    )
    return (random.random(ROWS) < 1 / (1 + np.exp(-1.6 * logit))).astype(np.int64)


def main() -> None:
    """Write the file beside this script."""
    random = np.random.default_rng(SEED)
    rows = applicants(random)
    repaid = repayment(rows, random)
    with (HERE / "credit.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*COLUMNS, "repaid"))
        writer.writerows([*row, label] for row, label in zip(rows.tolist(), repaid.tolist(), strict=True))


if __name__ == "__main__":
    main()
