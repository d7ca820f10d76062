"""Counts every number of the published tables again, by pandas and nothing of fairdsl, and says which differ.

    fairdsl report audit.json --format ll144 > published.md
    python examples/screening/recount.py published.md

Ends with 1 where a number differs or a table is missing. Needs pandas.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
GROUPINGS = {"sex": ["sex"], "race": ["race"], "(sex, race)": ["sex", "race"]}
#: Categories of a smaller part of those of known category may be left out (6 RCNY 5-301).
SMALL = 0.02


def tables(people: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Of each calculation and grouping how many there are, how many of them are hits, the rate and the ratio."""
    hits = {
        "ll144_selection": people["decision"] == "pass",
        "ll144_scores_scoring": people["score"] > people["score"].median(),
    }
    found = {}
    for name, hit in hits.items():
        for grouping, columns in GROUPINGS.items():
            known = people.assign(hit=hit)[(people[columns] != "unknown").all(axis=1)]
            table = known.groupby(columns)["hit"].agg(people="size", hits="sum").reset_index()
            table["rate"] = table["hits"] / table["people"]
            table["small"] = table["people"] < SMALL * len(known)
            table["ratio"] = table["rate"] / table.loc[~table["small"], "rate"].max()
            found[f"{name}[{grouping}]"] = table
    return found


def lines(table: pd.DataFrame, columns: list[str]) -> set[tuple[str, ...]]:
    """The table as it is published."""
    return {
        (*(row[name] for name in columns), f"{row['people']:,}", f"{row['hits']:,}", f"{row['rate']:.1%}",
         "left out" if row["small"] else f"{row['ratio']:.3f}")
        for _, row in table.iterrows()
    }  # fmt: skip


def left_out(name: str, found: dict[str, pd.DataFrame]) -> set[str]:
    """The categories without a ratio, with their numbers."""
    return {
        f"{', '.join(row[column] for column in columns)} ({row['people']:,}, {row['rate']:.1%})"
        for grouping, columns in GROUPINGS.items()
        for _, row in found[f"{name}[{grouping}]"].iterrows()
        if row["small"]
    }


def differing(text: str, people: pd.DataFrame) -> Iterator[str]:
    """What stands otherwise in the published text, a line each."""
    text, found = text.replace("\\", ""), tables(people)
    for name, table in found.items():
        columns = GROUPINGS[name[name.index("[") + 1 : -1]]
        _, heading, rest = text.partition(f"#### {name}\n\n")
        if not heading:
            yield f"{name} is not there"
            continue
        rows = rest.split("\n\n")[0].split("\n")[2:]
        published = {tuple(cell.strip() for cell in row.strip("|").split("|")) for row in rows}
        counted = lines(table, columns)
        yield from (f"{name}: published {row}, not counted" for row in sorted(published - counted))
        yield from (f"{name}: counted {row}, not published" for row in sorted(counted - published))
    unknown = people[["sex", "race"]] == "unknown"
    either, (sexless, raceless) = int(unknown.any(axis=1).sum()), unknown.sum()
    for sentence in (
        f"{len(people):,} people were assessed.",
        f"{either:,} people ({sexless:,} of unknown sex and {raceless:,} of unknown race)",
        f"a score above {people['score'].median():g}, the median of all",
    ):
        if sentence not in text:
            yield f"not published: {sentence}"
    said = re.findall(r"^Left out of impact ratios.*?: (.*?)\. Justification", text, re.MULTILINE)
    for name, listed in zip(("ll144_selection", "ll144_scores_scoring"), [*said, "", ""], strict=False):
        if set(listed.split("; ")) != left_out(name, found):
            yield f"{name}: left out {sorted(left_out(name, found))}, published {listed!r}"


def main(published: str) -> int:
    """The number of differences, which are printed."""
    people = pd.read_csv(HERE / "candidates.csv")
    found = list(differing(Path(published).read_text(encoding="utf-8"), people))
    for line in found:
        print(line)
    rows = sum(len(table) for table in tables(people).values())
    print(f"{rows} categories in 6 tables counted again: {len(found)} differences")
    return len(found)


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1]) else 0)
