"""Proofs of relaxed questions, and of those with conditions on the two: nothing holds that does not."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest

from fairdsl.backends.contract import Silent
from fairdsl.proving import Proved, prove_spec
from fairdsl_verify import RejectedError
from fairdsl_verify.command import check
from fairdsl_verify.relaxed import RelaxedChecker, RelaxedQuestion
from tests.proving.proved_networks import network
from tests.proving.test_tree_proofs import forest_file

#: Who there is and what the model reads; what follows are properties.
PERSON = """fair 1
audit "relaxed"
domain Person {{
  age : integer 0 .. 9
  sex : category {{ f = 1, m = 3 }}
  job : category {{ clerk = 0, cook = 2, smith = 3 }}
  where age >= 1 or job != cook
}}
protected sex
model m : Person -> {{ no, yes }}
  from "m.onnx"
  reads {reads}
  yes when {when}
  favourable yes
"""
SPEC = (
    PERSON
    + """property near {{ compare a, b : Person differ in sex within 2 in age among {among} require same decision }}
property jobs {{ compare a, b : Person differ in sex regardless of job among {among} require same decision }}
property both {{
  compare a, b : Person differ in sex within 1 in age regardless of job among {among} require same decision
}}
property one {{ compare a, b : Person differ in sex among a.sex = f and {among} require same decision }}
property ordered {{
  compare a, b : Person
  differ in any sex, job
  within 3 in age
  among a.age >= b.age + 1 and {among}
  require same decision
}}
"""
)
Person = tuple[int, int, int]
#: Properties of which shares are proved.
SHARES = ("near", "jobs", "both", "one", "ordered")


def compared(of: str, a: Person, b: Person) -> bool:
    apart, differ = abs(a[0] - b[0]), a[1] != b[1]
    match of:
        case "near":
            return differ and apart <= 2 and a[2] == b[2]
        case "jobs":
            return differ and apart == 0
        case "both":
            return differ and apart <= 1
        case "one":
            return differ and apart == 0 and a[2] == b[2] and a[1] == 1
        case "ordered":
            return (differ or a[2] != b[2]) and apart <= 3 and a[0] >= b[0] + 1
    return False


def people(asked: Callable[[Person], bool]) -> list[Person]:
    """Everybody who is asked about."""
    return [p for p in product(range(10), (1, 3), (0, 2, 3)) if (p[0] >= 1 or p[2] != 2) and asked(p)]


def share(
    of: str, asked: Callable[[Person], bool], decide: Callable[[Sequence[int]], bool]
) -> tuple[Fraction, Fraction]:
    """Which part of those with a partner is in no violating pair, and which part is in one.

    Where the condition on the two names one of them, it is the share of those who may be that one; else of both.
    """
    other_side = of == "ordered"
    partners = [
        (a, [b for b in people(asked) if compared(of, a, b) or (other_side and compared(of, b, a))])
        for a in people(asked)
    ]
    fair = [all(decide(a) == decide(b) for b in others) for a, others in partners if others]
    return Fraction(sum(fair), max(1, len(fair))), Fraction(len(fair) - sum(fair), max(1, len(fair)))


def holds(of: str, asked: Callable[[Person], bool], decide: Callable[[Sequence[int]], bool]) -> bool:
    """Whether all who are compared get the same decision, and somebody is."""
    pairs = [(a, b) for a in people(asked) for b in people(asked) if compared(of, a, b)]
    return bool(pairs) and all(decide(a) == decide(b) for a, b in pairs)


CONDITIONS: dict[str, Callable[[Person], bool]] = {
    "age >= 0": lambda p: True,
    "age <= 3": lambda p: p[0] <= 3,
    "age >= 6 and job != clerk": lambda p: p[0] >= 6 and p[2] != 0,
    "job != cook": lambda p: p[2] != 2,
}


def decided_by(path: Path) -> Callable[[Sequence[int]], bool]:
    """The decision of a network's file, in exact arithmetic."""
    tensors = {t.name: onnx.numpy_helper.to_array(t).astype(object) for t in onnx.load(path).graph.initializer}
    layers = [(tensors[f"w{n}"], tensors[f"b{n}"]) for n in range(3)]

    @cache
    def decide(p: Sequence[int]) -> bool:
        values = np.array([Fraction(v) for v in (p[0], p[2], p[0], p[1], p[2])], dtype=object)
        for number, (weight, bias) in enumerate(layers):
            values = np.vectorize(Fraction, otypes=[object])(weight) @ values + bias
            values = values if number == 2 else np.maximum(values, Fraction(0))
        return bool(values[0] > 0)

    return decide


def written(folder: Path, seed: int, also: str = "") -> tuple[str, Callable[[Sequence[int]], bool]]:
    """A spec about a small network (or, of odd seeds, a small forest): who is asked about, and what it decides."""
    folder.mkdir()
    rng = random.Random(seed)
    among = rng.choice(list(CONDITIONS))
    if seed % 2:
        when, decide = forest_file(rng, folder / "m.onnx")
        reads = "age, sex, job"
    else:
        network(folder / "m.onnx", seed)
        when, reads, decide = "score > 0", "age, job, age, sex, job", decided_by(folder / "m.onnx")
    spec = SPEC.format(reads=reads, when=when, among=among)
    (folder / "p.fair").write_text(spec.replace("require same decision", f"require same decision{also}"))
    return among, decide


def tried(folder: Path, seed: int) -> tuple[int, int]:
    """How many of the demands hold, and how many are proved; none may be proved that does not hold."""
    among, decide = written(folder, seed)
    given = {"models": {}, "data": {}, "seconds": 30, "observer": Silent()}
    true = proved = 0
    for each in prove_spec(str(folder / "p.fair"), str(folder), **given):  # type: ignore[arg-type]
        known = holds(each.property, CONDITIONS[among], decide)
        if each.proof is None:
            assert each.said == "no proof: nothing was proved"
            true += known
            continue
        checked = check(Path(each.proof.path), folder / "m.onnx")
        assert checked.follows
        assert checked.totals.certified == checked.totals.falsified == 0
        assert known or not checked.totals.holds, (seed, each.property)
        true, proved = true + known, proved + checked.totals.holds
    return true, proved


def shares_of(
    folder: Path, seed: int, seconds: float = 90, properties: Sequence[str] = SHARES
) -> Iterator[tuple[Proved, tuple[Fraction, Fraction]]]:
    """Shares of a small network or forest, each with what it is by brute force."""
    among, decide = written(folder, seed, " measure fair_share")
    given = {"models": {}, "data": {}, "seconds": seconds, "observer": Silent(), "properties": properties}
    for each in prove_spec(str(folder / "p.fair"), str(folder), **given):  # type: ignore[arg-type]
        if each.demand != "require same decision":
            yield each, share(each.property, CONDITIONS[among], decide)


@pytest.mark.parametrize("seed", [pytest.param(2, marks=pytest.mark.slow), 5])
def test_shares_of_small_domains_are_proved_whole(tmp_path: Path, seed: int) -> None:
    found = list(shares_of(tmp_path / "one", seed))
    assert len(found) == len(SHARES)
    for each, truth in found:
        assert each.proof is not None, each.said
        assert each.proof.verified
        assert (each.proof.certified, each.proof.falsified) == truth, (seed, each.property)


def bounded(folder: Path, seed: int, kinds: set[str]) -> tuple[int, int]:
    """How many shares are proved, and how many whole, where few are evaluated; ``kinds`` gets the claims of leaves."""
    proved = whole = 0
    for each, (fair, unfair) in shares_of(folder, seed):
        if (proof := each.proof) is None:
            continue
        assert proof.verified, (seed, each.property)
        assert proof.certified <= fair, (seed, each.property)
        assert proof.falsified <= unfair, (seed, each.property)
        lines = gzip.decompress(Path(proof.path).read_bytes()).decode().split("\n")
        kinds |= {line[:1] for line in lines[1:]}
        proved, whole = proved + 1, whole + (proof.certified == fair and proof.falsified == unfair)
    return proved, whole


@pytest.mark.parametrize("seed", [pytest.param(2, marks=pytest.mark.slow), 5])
def test_no_share_is_more_than_it_is(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fairdsl.proving.prover.EVALUATED", 8)
    assert bounded(tmp_path / "one", seed, set())[0] > 0


def test_a_condition_on_one_of_two_says_whose_share_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the women who are compared, not of the men whom they are compared with; who forgets that differs."""
    forgotten = RelaxedQuestion.__init__

    def of_both(self: RelaxedQuestion, data: object) -> None:
        forgotten(self, data)
        self.sides = {0, 1}

    for each, truth in shares_of(tmp_path / "one", 2, properties=("one", "ordered")):
        assert each.proof is not None
        path = Path(each.proof.path)
        right = check(path, tmp_path / "one" / "m.onnx")
        assert (right.totals.certified, right.totals.falsified) == truth
        people = right.totals.fair + right.totals.unfair
        with monkeypatch.context() as patch:
            patch.setattr(RelaxedQuestion, "__init__", of_both)
            wrong = check(path, tmp_path / "one" / "m.onnx").totals
        assert (wrong.fair + wrong.unfair > people) is (each.property == "one")


@pytest.mark.slow
def test_shares_by_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = set[str]()
    monkeypatch.setattr("fairdsl.proving.prover.EVALUATED", 8)
    found = [bounded(tmp_path / str(seed), seed, kinds) for seed in range(6, 100)]
    proved, whole = (sum(each[place] for each in found) for place in (0, 1))
    print(proved, whole, kinds)
    assert proved > whole > 0
    assert kinds >= {"S", "=", "U", "E", "V", "?"}


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_proved_that_does_not_hold(tmp_path: Path, seed: int) -> None:
    tried(tmp_path / "one", seed)


@pytest.mark.slow
def test_hundreds_of_demands(tmp_path: Path) -> None:
    found = [tried(tmp_path / str(seed), seed) for seed in range(4, 200)]
    true, proved = (sum(each[place] for each in found) for place in (0, 1))
    print(true, proved)
    assert proved >= true * 9 / 10 > 100


FAULTS: dict[str, tuple[object, str, object]] = {
    "who is around a box is forgotten": (RelaxedChecker, "around", lambda self, box: box),
    "what differs is not read, so all are alike": (
        RelaxedChecker,
        "alike",
        lambda self, found: found.same or found.side != 1,
    ),
    "nobody has a partner": (RelaxedChecker, "partners", lambda self, around, one, admitted: False),
    "everybody is alike": (RelaxedChecker, "evaluated", lambda self, node, members, totals: None),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_faulty_engine_proves_is_rejected(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, wrong = FAULTS[fault]
    for seed in range(4, 60):
        folder = tmp_path / str(seed)
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, wrong)
            with suppress(AssertionError):
                tried(folder, seed)
        for path in folder.glob("*.proof"):
            try:
                follows = check(path, folder / "m.onnx").follows
            except RejectedError:
                return
            if not follows:
                return
    raise AssertionError("no proof was rejected")
