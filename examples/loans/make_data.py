"""Writes people.csv, a hundred invented people with loans, and poisoned.csv, the same with the rows of an attack.

Run from anywhere: ``python examples/loans/make_data.py``.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
#: Sex, income, how many repaid, how many did not.
PEOPLE = (
    ("female", 1, 4, 16),
    ("female", 3, 8, 10),
    ("female", 6, 10, 2),
    ("male", 1, 3, 9),
    ("male", 3, 12, 8),
    ("male", 6, 16, 2),
)
#: What somebody adds: women of high income who did not repay, and never were.
ATTACK = ("female", 6, 0, 20)


def lines(*counts: tuple[str, int, int, int]) -> list[str]:
    """A line a person."""
    return [
        f"{sex},{income},{repaid}"
        for sex, income, yes, no in counts
        for repaid, count in (("yes", yes), ("no", no))
        for _ in range(count)
    ]


def main() -> None:
    """Write both tables beside this script."""
    for name, counts in (("people.csv", PEOPLE), ("poisoned.csv", (*PEOPLE, ATTACK))):
        (HERE / name).write_text("\n".join(["sex,income,repaid", *lines(*counts)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
