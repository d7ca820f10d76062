"""Every engine that answers general demands against the definition, on random properties over a tiny domain."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from fairdsl.plan.registry import BACKENDS
from fairdsl.verdict import Estimated, Holds, Shares, Vacuous, Violated
from tests.agreement.engines import ask
from tests.demands.files import KINDS
from tests.demands.held import ask_each, demands_of, drawn, laws_agree, people_in, rows_agree, rows_refuse
from tests.demands.naive import Said, law

#: Of so many demands about models of a kind, how many an engine decides at least; others say nothing, or it refuses.
COUNT = 12
DECIDED = {
    "formula": {"enumerate": 7, "enumerate, share": 6, "search": 3, "smt": 7, "smt, share": 5},
    "network": {"enumerate": 5, "search": 2, "smt": 5, "smt, share": 3},
    "curves": {"enumerate": 4, "search": 2},
    "trees": {"enumerate": 5, "search": 2, "smt": 5, "smt, share": 2},
    "black box": {"enumerate": 5, "search": 2},
}

#: How many are drawn for engines that answer most of them.
FEW = 8


@pytest.mark.parametrize("kind", DECIDED)
def test_engines_agree_with_the_definition(kind: str, tmp_path: Path) -> None:
    random = Random(21)
    decided: Counter[str] = Counter()
    for _ in range(COUNT):
        for engine, verdict in ask_each(drawn(random, kind, tmp_path), tmp_path):
            decided[engine] += isinstance(verdict, Holds | Vacuous | Violated | Shares)
    assert all(decided[engine] >= least for engine, least in DECIDED[kind].items()), decided


@pytest.mark.parametrize(
    ("kind", "people", "count"),
    [
        ("network", 3, 4),
        pytest.param("formula", 3, 12, marks=pytest.mark.slow),
        pytest.param("trees", 4, 12, marks=pytest.mark.slow),
    ],
)
def test_engines_agree_about_several(kind: str, people: int, count: int, tmp_path: Path) -> None:
    random = Random(51)
    said: Counter[tuple[str, type]] = Counter()
    for _ in range(count):
        found = drawn(random, kind, tmp_path, names=tuple("abcd"[:people]))
        said.update((engine, type(verdict)) for engine, verdict in ask_each(found, tmp_path))
        said.update((engine, type(verdict)) for engine, verdict in laws_agree(found, *law(random), tmp_path))
        assert rows_refuse(found, tmp_path)
    engines = {engine for engine, verdict in said if verdict in (Holds, Vacuous, Violated, Shares)}
    assert {"enumerate", "smt", "enumerate, share", "enumerate, law"} <= engines, said
    assert 0 < said["search", Violated] <= said["enumerate", Violated], said


@pytest.mark.parametrize("kind", ["formula", *KINDS])
def test_rows_agree_with_the_definition(kind: str, tmp_path: Path) -> None:
    random = Random(31)
    seen = set[type]()
    for _ in range(FEW):
        found = drawn(random, kind, tmp_path, alone=0.5)
        seen.add(type(rows_agree(found, people_in(random, tmp_path), tmp_path)))
    assert {Holds, Violated} <= seen


def test_rows_count_whom_the_model_is_sure_of(tmp_path: Path) -> None:
    random = Random(33)
    seen = set[type]()
    for _ in range(FEW):
        found = drawn(random, "formula", tmp_path, alone=0)
        while not found.sure:
            found = drawn(random, "formula", tmp_path, alone=0)
        model = next(model for model in found.models if model.chance is not None)
        same = Said(
            f"{model.name}(a) = {model.name}(b)", lambda p, of=model.decide: of(p["a"]) == of(p["b"])
        )  # a question with engines of its own, where its own model is the one that is asked how sure it is
        sure = tuple(said for said in found.sure if said.text.startswith(model.name))
        found = replace(found, demand=same, premises=(), sure=sure or found.sure)
        seen.add(type(rows_agree(found, people_in(random, tmp_path), tmp_path)))
        list(laws_agree(found, *law(random), tmp_path))
    assert {Holds, Violated} <= seen


@pytest.mark.parametrize("kind", ["formula", *KINDS])
def test_shares_under_distributions_agree_with_the_definition(kind: str, tmp_path: Path) -> None:
    random = Random(41)
    seen: Counter[type] = Counter()
    for _ in range(FEW // 2):
        found = drawn(random, kind, tmp_path)
        seen.update(type(said) for _, said in laws_agree(found, *law(random), tmp_path))
    assert seen[Shares] >= FEW // 4, seen
    assert seen[Estimated] >= FEW // 4, seen


@pytest.mark.parametrize("kind", ["formula", "network", "trees"])
def test_rates_agree_about_one(kind: str, tmp_path: Path) -> None:
    random, rates = Random(61), BACKENDS["rates"].procedure()
    seen: Counter[str] = Counter()
    for _ in range(FEW):
        found = drawn(random, kind, tmp_path, alone=1)
        said, chance = law(random)
        share = f"share({found.demand.text}) >= 50%"
        for counted, under in (("domain", ""), ("law", "people")):
            demands = demands_of(found.spec(share, under=under, law=said if under else ""), tmp_path)
            verdict = ask(rates, demands[0]) if demands else None
            right = found.share_under(chance) if under else found.share()
            seen[counted] += isinstance(verdict, Shares)
            if isinstance(verdict, Shares):
                assert verdict.certified == right == 1 - verdict.falsified, found.spec(share)
            else:
                assert verdict is None or (isinstance(verdict, Vacuous) and right is None)
    assert min(seen["domain"], seen["law"]) >= 1, seen
