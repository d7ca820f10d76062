"""Shares of units in which those are linked who meet a condition on both of two: no more than counting everybody."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import helper

from fairdsl.backends.contract import Silent
from fairdsl.proving import Proved, prove_spec
from fairdsl_verify import RejectedError
from fairdsl_verify.command import check
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import YES
from fairdsl_verify.relaxed import LinkedChecker, checker_of, question_of
from fairdsl_verify.tree import Node, Totals
from tests.models.tree_files import regressor, tree_file
from tests.proving.proved_networks import network
from tests.proving.test_checker_review import ABOVE_ZERO, chain_file, question
from tests.proving.test_moments import drawn
from tests.proving.test_relaxed_proofs import PERSON, Person, decided_by
from tests.proving.test_tree_proofs import forest_file

#: What the two differ in is a rank and a sex.
PEOPLE: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "low": 0, "high": 3},
    {"name": "rank", "type": "integer", "low": 0, "high": 2},
    {"name": "sex", "type": "values", "values": [0, 2], "labels": ["f", "m"]},
]


def conditions(names: Sequence[str], most: int) -> st.SearchStrategy[list[Any]]:
    """Conditions on attributes of these names, a few of them joined."""
    number = st.integers(-3, 3)
    terms = st.lists(st.tuples(st.sampled_from(names), number).map(list), min_size=2, max_size=2)
    sums = st.tuples(st.sampled_from(["<", "<="]), terms, number)
    listed = st.tuples(st.just("in"), st.sampled_from(names), st.lists(st.integers(0, 3), max_size=2, unique=True))
    atoms = st.one_of(sums, listed).map(list)
    return st.tuples(st.sampled_from(["or", "and"]), st.lists(atoms, min_size=1, max_size=most)).map(
        lambda each: [each[0], *each[1]]
    )


ONE = st.one_of(st.just(["and"]), st.just(["and"]), conditions(["age", "rank", "sex"], 2))
TWO = conditions([f"{who}.{each['name']}" for who in "ab" for each in PEOPLE], 4)


@st.composite
def checkers(draw: st.DrawFn) -> LinkedChecker:
    """A network or trees, and a question about shares of units with a condition on both of two."""
    rng = random.Random(draw(st.integers(0, 99)))
    if draw(st.booleans()):
        model = tree_file([regressor(drawn(rng))], outputs=["y"])
    else:
        nodes = [
            helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
            helper.make_node("Relu", ["z"], ["h"]),
            helper.make_node("Gemm", ["h", "v", "c"], ["y"], transB=1),
        ]
        tensors = {"w": [[rng.randint(-3, 3) for _ in range(3)] for _ in range(2)], "b": [1, -1], "v": [[1, -1]]}
        model = chain_file(nodes, tensors | {"c": [rng.randint(-3, 3)]}, width=3)
    asked = question(
        attributes=PEOPLE,
        reads=[{"constant": 0, "terms": [[each["name"], each.get("values", 1)]]} for each in PEOPLE],
        differ=["rank", "sex"],
        decides=ABOVE_ZERO,
        mode=draw(st.sampled_from(["any", "each"])),
        where=draw(ONE),
        target=draw(ONE),
        pair=draw(TWO),
        asks="share",
    )
    found = checker_of(
        question_of(asked | {"claims": asked["claims"] | {"compared": []}}), Graph(model.SerializeToString())
    )
    assume(isinstance(found, LinkedChecker))
    assert isinstance(found, LinkedChecker)
    return found


def judged(members: Iterable[Any], joined: Callable[[Any, Any], bool], decide: Callable[[Any], bool]) -> bool | None:
    """Whether a unit is fair: nobody is joined, in a chain, with one of the other decision; None: nobody with any."""
    left, fair = list(members), None
    while left:
        chain = [left.pop()]
        for one in chain:
            chain += (near := [other for other in left if joined(one, other)])
            left = [other for other in left if other not in near]
        if len(chain) > 1:
            fair = fair is not False and len({decide(one) for one in chain}) == 1
    return fair


def counted(checker: LinkedChecker, node: Node) -> Counter[bool | None]:
    """How many units of a box are fair, unfair, or of nobody who is compared, by each two of them."""
    asked, found = checker.question, Counter[bool | None]()

    def joined(one: Sequence[int], other: Sequence[int]) -> bool:
        apart = [one[place] != other[place] for place in asked.differ]
        either = (
            asked.pair.truth([(at, at) for at in (*mine, *theirs)]) for mine, theirs in ((one, other), (other, one))
        )
        return (all if asked.each else any)(apart) and YES in either

    (low, high), known = node.box[0], checker.root().known
    for age in range(low, high + 1):
        everybody = [(age, rank, sex) for rank, sex in product(range(3), range(2))]
        some = [each for each in everybody if checker.asked([(at, at) for at in each]) == YES]
        found[judged(some, joined, lambda each: checker.net.high(known, tuple((at, at) for at in each)) == YES)] += 1
    return found


#: The claims of leaves that were accepted.
ACCEPTED = Counter[str]()


def held(checker: LinkedChecker, data: st.DataObject) -> None:
    """Whatever is accepted of a box claims no more than is true there."""
    node = checker.root()
    while node.box[0][0] < node.box[0][1] and data.draw(st.booleans()):
        cut = data.draw(st.integers(node.box[0][0], node.box[0][1] - 1))
        node = checker.halves(node, ["S", "0", str(cut)])[data.draw(st.integers(0, 1))]
    truth = counted(checker, node)
    for claim in ("V", "=", "E", "~", "/ 0", "?", *(f"U {one} {other}" for one, other in product(range(6), repeat=2))):
        totals = Totals()
        try:
            checker.leaf(node, claim.split(" "), totals)
        except RejectedError:
            continue
        ACCEPTED[claim[0]] += 1
        assert totals.fair <= truth[True] <= totals.fair + totals.unsure + totals.open, claim
        assert totals.unfair <= truth[False] <= totals.unfair + totals.open, claim


@settings(max_examples=10)
@given(checkers(), st.data())
def test_no_leaf_says_more_than_counting_everybody(checker: LinkedChecker, data: st.DataObject) -> None:
    held(checker, data)


@pytest.mark.slow
@settings(max_examples=1500)
@given(checkers(), st.data())
def test_no_leaf_of_many_says_more(checker: LinkedChecker, data: st.DataObject) -> None:
    held(checker, data)


SPEC = (
    PERSON
    + """property couples {{
  compare a, b : Person differ in any sex, job among a.sex = f and b.sex = m require same decision measure fair_share
}}
property crossed {{
  compare a, b : Person
  differ in each sex, job
  among a.sex = f and (b.job = smith or a.age <= 4)
  require same decision
  measure fair_share
}}
property near {{
  compare a, b : Person
  differ in age
  among abs(a.age - b.age) <= 1 and age != 5
  require same decision
  measure fair_share
}}
property far {{
  compare a, b : Person differ in any age, sex among a.age >= b.age + 6 require same decision measure fair_share
}}
"""
)


def compared(of: str, a: Person, b: Person) -> bool:
    """Whether two are compared, as the spec says it, in this order."""
    match of:
        case "couples":
            return a[0] == b[0] and (a[1], b[1]) == (1, 3)
        case "crossed":
            return a[0] == b[0] and (a[1], b[1]) == (1, 3) and a[2] != b[2] and (b[2] == 3 or a[0] <= 4)
        case "near":
            return a[1:] == b[1:] and abs(a[0] - b[0]) == 1 and 5 not in (a[0], b[0])
    return a[2] == b[2] and a[0] >= b[0] + 6


def share(of: str, decide: Callable[[Sequence[int]], bool]) -> tuple[Fraction, Fraction]:
    """Which part of the units in which two are compared is fair, and which part is not."""
    kept = {"couples": (0,), "crossed": (0,), "near": (1, 2), "far": (2,)}[of]
    units = dict[tuple[int, ...], list[Person]]()
    for age, sex, job in product(range(10), (1, 3), (0, 2, 3)):
        if age >= 1 or job != 2:
            person = age, sex, job
            units.setdefault(tuple(person[place] for place in kept), []).append(person)
    found = [judged(each, lambda a, b: compared(of, a, b) or compared(of, b, a), decide) for each in units.values()]
    some = max(1, len(found) - found.count(None))
    return Fraction(found.count(True), some), Fraction(found.count(False), some)


def shares_of(
    folder: Path, seed: int, properties: Sequence[str] = ()
) -> Iterator[tuple[Proved, tuple[Fraction, Fraction]]]:
    """Shares of a small network, or of odd seeds a small forest, each with what it is by counting everybody."""
    folder.mkdir()
    if seed % 2:
        when, decide = forest_file(random.Random(seed), folder / "m.onnx")
        reads = "age, sex, job"
    else:
        network(folder / "m.onnx", seed)
        when, reads, decide = "score > 0", "age, job, age, sex, job", decided_by(folder / "m.onnx")
    (folder / "p.fair").write_text(SPEC.format(reads=reads, when=when))
    asked = {"models": {}, "data": {}, "seconds": 60, "observer": Silent(), "properties": properties}
    for each in prove_spec(str(folder / "p.fair"), str(folder), **asked):  # type: ignore[arg-type]
        if each.demand != "require same decision":
            yield each, share(each.property, decide)


@pytest.mark.parametrize(
    ("seed", "properties"),
    [(5, ("crossed",)), pytest.param(5, (), marks=pytest.mark.slow), pytest.param(4, (), marks=pytest.mark.slow)],
)
def test_shares_of_small_domains_are_proved_whole(tmp_path: Path, seed: int, properties: tuple[str, ...]) -> None:
    found = list(shares_of(tmp_path / "one", seed, properties))
    assert len(found) == (len(properties) or 4)
    for each, truth in found:
        assert each.proof is not None, each.said
        assert (each.proof.certified, each.proof.falsified) == truth, each.property
        assert check(Path(each.proof.path), tmp_path / "one" / "m.onnx").follows


@pytest.mark.slow
def test_no_share_is_more_than_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where few are evaluated."""
    monkeypatch.setattr("fairdsl.proving.prover.EVALUATED", 6)
    whole = some = 0
    for seed in range(6, 60):
        for each, truth in shares_of(tmp_path / str(seed), seed):
            if each.proof is not None:
                assert each.proof.verified
                assert each.proof.certified <= truth[0]
                assert each.proof.falsified <= truth[1]
                whole, some = whole + ((each.proof.certified, each.proof.falsified) == truth), some + 1
    print(some, whole)
    assert some > 100
    assert whole > some / 2
