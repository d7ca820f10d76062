"""Writes applicants.csv: 400 people who applied, drawn with a fixed seed. Nothing in it is about anybody real."""

from __future__ import annotations

from pathlib import Path
from random import Random

HERE = Path(__file__).parent


def main() -> None:
    """Write the table beside this script."""
    random = Random(7)
    lines = ["income,savings,age"]
    for _ in range(400):
        age = min(80, max(18, round(random.gauss(42, 14))))
        income = min(60, max(0, round(random.gauss(24 + age / 8, 12))))
        savings = min(20, max(0, round(random.gauss(income / 5, 3))))
        lines.append(f"{income},{savings},{age}")
    (HERE / "applicants.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
