"""Distances that are small beside their ranges: who is visited is who may be near, and none of them is missed."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

import fairdsl
from fairdsl.backends.enumerate import offer
from fairdsl.verdict import Judgement

SPEC = """\
domain Applicant {{
  income : integer 0 .. {most}
  rank : integer 0 .. 7
  sex : category {{ f, m, x }}
  where income + 2 * rank <= 20
}}
protected sex
model approve : Applicant -> {{ reject, grant }}
  score = {income} * income + {rank} * rank + {sex} * (sex = m)
  grant when score > 4
property p {{
  compare {people} : Applicant
  differ in sex
  within {near} in income
  within 2 in rank
  require {demand}
}}
"""


@pytest.mark.parametrize("seed", range(4))
def test_what_is_near_is_what_the_definition_says(seed: int, tmp_path: Path) -> None:
    """The largest sum of gaps is met by a demand that allows it, and by none that allows less."""
    rng = Random(seed)
    weights = {name: rng.choice((-3, -1, 2, 5)) for name in ("income", "rank", "sex")}
    most, near, names = ((12, rng.choice((1, 2, 5)), "ab"), (5, 1, "abc"))[seed % 2]
    everybody = [one for one in product(range(most + 1), range(8), range(3)) if one[0] + 2 * one[1] <= 20]

    def alike(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
        return abs(one[0] - other[0]) <= near and abs(one[1] - other[1]) <= 2 and one[2] != other[2]

    def score(one: tuple[int, int, int]) -> int:
        return weights["income"] * one[0] + weights["rank"] * one[1] + weights["sex"] * (one[2] == 1)

    partners = {one: [other for other in everybody if alike(one, other)] for one in everybody}
    tuples = [(one, other) for one in everybody for other in partners[one]]
    if len(names) == 3:
        tuples = [(one, other, last) for one, other in tuples for last in partners[one] if alike(other, last)]
    largest = max(sum(score(each[0]) - score(other) for other in each[1:]) for each in tuples)
    gap = " + ".join(f"(score(a) - score({other}))" for other in names[1:])
    for allowed, judged in ((largest, Judgement.HOLDS), (largest - 1, Judgement.VIOLATED)):
        text = SPEC.format(**weights, people=", ".join(names), most=most, near=near, demand=f"{gap} <= {allowed}")
        (tmp_path / "s.fair").write_text(text, encoding="utf-8")
        demand = fairdsl.check(tmp_path / "s.fair", backend="enumerate").properties[0].demands[0]
        assert demand.judgement is judged, text


def test_the_limit_is_of_pairs_that_may_be_near(tmp_path: Path) -> None:
    """260,000 people, of whom each is compared with 7; with the whole range they would be 2^33 pairs."""
    text = SPEC.format(
        income=1, rank=0, sex=2, people="a, b", most=9999, near=3, demand="abs(score(a) - score(b)) <= 5"
    )
    text = text.replace("  where income + 2 * rank <= 20\n", "")
    (tmp_path / "s.fair").write_text(text.replace("within 2 in rank\n", "").replace("0 .. 7", "0 .. 1"))
    demand = fairdsl.check(tmp_path / "s.fair", backend="enumerate").properties[0].demands[0]
    assert demand.judgement is Judgement.HOLDS
    (tmp_path / "s.fair").write_text(text.replace("within 3 in income", "regardless of income"))
    demand = fairdsl.check(tmp_path / "s.fair", backend="enumerate").properties[0].demands[0]
    assert "pairs to visit one by one; its limit is 2^26" in demand.refusals[0].primary.text


@pytest.mark.parametrize("within", ["", "  within 3 in income\n"])
def test_who_is_left_decides_whether_there_are_too_many(
    within: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 8 incomes, 8 ranks and 3 sexes the domain leaves those between two lines."""
    text = SPEC.format(income=1, rank=0, sex=2, people="a, b", most=7, near=3, demand="same decision")
    text = text.replace("  within 3 in income\n", within).replace("<= 20", "<= 9")
    (tmp_path / "s.fair").write_text(text, encoding="utf-8")
    people = 3 * sum(income + 2 * rank <= 9 for income in range(8) for rank in range(5))
    monkeypatch.setattr(offer, "_MOST_BOX", 8 * 5 * 3)  # of the ranks five are possible
    for most, said in ((people, ""), (people - 1, f"{people} of 120 points; its limit is {people - 1}")):
        monkeypatch.setattr(offer, "MOST_POINTS", most)
        demand = fairdsl.check(tmp_path / "s.fair", backend="enumerate").properties[0].demands[0]
        assert demand.judgement is (Judgement.REFUSED if said else Judgement.VIOLATED)
        assert not said or said in demand.refusals[0].primary.text
    monkeypatch.setattr(offer, "_MOST_BOX", 119)
    demand = fairdsl.check(tmp_path / "s.fair", backend="enumerate").properties[0].demands[0]
    assert f"120 points; its limit is {people - 1}" in demand.refusals[0].primary.text
