"""Proofs about small models of each kind, and changes of their files: each is rejected, or what is reached is true."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fairdsl.clock import Deadline
from fairdsl.proving import Proved
from fairdsl_verify import RejectedError, command, rates
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.command import Checked, check
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Question
from fairdsl_verify.tree import Checker, follow
from tests.models.tree_files import regressor, tree_file
from tests.proving import (
    proved_networks,
    test_claims_about_two,
    test_linked_units,
    test_moments,
    test_rates_proofs,
    test_relaxed_proofs,
    test_tree_proofs,
)
from tests.proving.proved_networks import path_of
from tests.proving.test_checker_review import ABOVE_ZERO, question
from tests.proving.test_claims_about_regions import drawn_tree

__all__ = ["KINDS", "SUBJECTS", "Subject", "rejected", "shares", "tampered"]

#: What is changed: lines of the tree or of the order, a number of one, a leaf's claim, what the whole file claims, a
#: number of the question, a bit of the proof, a bit of the model.
KINDS = ("dropped", "doubled", "swapped", "numbers", "leaves", "claims", "question", "bytes", "another model")


#: Everybody that a random network is asked about, as a question says it.
EVERYBODY: list[dict[str, Any]] = [
    {"name": "age", "type": "integer", "low": 0, "high": 11},
    {"name": "job", "type": "values", "values": [0, 2, 3], "labels": ["clerk", "cook", "smith"]},
    {"name": "years", "type": "integer", "low": 0, "high": 7},
    {"name": "sex", "type": "values", "values": [0, 1], "labels": ["f", "m"]},
    {"name": "race", "type": "values", "values": [0, 1], "labels": ["x", "y"]},
]

#: Shares of a model in a folder, by its seed, with what they are.
Proofs = Callable[[Path, int], Iterable[tuple[Proved, tuple[Fraction, Fraction]]]]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A proof, its question, the model's file, and what must be true of whatever the checker reaches about that."""

    proof: Path
    question: str
    model: Path
    holds: Callable[[Checked], None]


def shares(truth: tuple[Fraction, Fraction], checked: Checked) -> None:
    """No more is reached than is true; nor is it claimed where the claim follows."""
    assert checked.totals.certified <= truth[0]
    assert checked.totals.falsified <= truth[1]
    if checked.follows:
        assert checked.question.certified <= truth[0]  # type: ignore[attr-defined]
        assert checked.question.falsified <= truth[1]  # type: ignore[attr-defined]


def _subject(proved: Proved, model: Path, holds: Callable[[Checked], None]) -> Subject:
    assert proved.proof is not None
    return Subject(proof=path_of(proved), question=proved.proof.question, model=model, holds=holds)


def _is(number: Fraction, checked: Checked) -> None:
    assert checked.number == (number, number)


def _networks(folder: Path, *, seeds: int, linear: bool = False) -> list[Subject]:
    found = []
    for seed in range(7, 7 + seeds):
        (folder / str(seed)).mkdir()
        model = folder / str(seed) / "m.onnx"
        for each in proved_networks.prove(model.parent, seed, linear=linear):
            if each.proof is not None and each.property != "calm":
                holds = partial(shares, proved_networks.brute(model, each.property))
                found.append(_subject(each, model, holds))
    return found


def _forests(folder: Path, *, seeds: int) -> list[Subject]:
    found = []
    for seed in range(5, 5 + seeds):
        (folder / str(seed)).mkdir()
        model = folder / str(seed) / "m.onnx"
        when, decide = test_tree_proofs.forest_file(random.Random(seed), model)
        everybody = seed % 2 == 1  # there trees are put together
        spec = test_tree_proofs.OPEN if everybody else test_tree_proofs.SPEC
        for each in test_tree_proofs.prove(model.parent, when, spec=spec):
            if each.proof is not None and each.property != "calm":
                truth = test_tree_proofs.brute(each.property, decide, everybody=everybody)
                found.append(_subject(each, model, partial(shares, truth)))
    return found


def _on_the_two(shares_of: Proofs, folder: Path, *, seeds: int) -> list[Subject]:
    """Of relaxed questions, and of conditions on the two."""
    found = []
    for seed in range(2, 2 + seeds):
        model = folder / str(seed) / "m.onnx"
        with patch("fairdsl.proving.prover.EVALUATED", 8):  # so that there are boxes
            for each, truth in shares_of(model.parent, seed):
                if each.proof is not None:
                    found.append(_subject(each, model, partial(shares, truth)))
    return found


def _rates(folder: Path, *, seeds: int) -> list[Subject]:
    found = []
    for seed in range(1, 1 + seeds):
        proofs = test_rates_proofs.held_in_files(folder / str(seed), seed)
        model = next(path for name in ("m.onnx", "m.json") if (path := folder / str(seed) / name).exists())
        found += [_subject(each, model, partial(_is, known)) for each, known in proofs]
    return found


def _counted(checker: Checker, rng: random.Random, *, regions: bool) -> list[str]:
    """A tree of random splits whose leaves count, most of them lines, or regions."""
    assert isinstance(checker.net, Integers)
    lines, waiting = list[str](), [(checker.root().box, 2 if regions else 3)]
    while waiting:
        box, depth = waiting.pop()
        wide = [place for place in checker.shared if box[place][0] < box[place][1]]
        if depth and wide and rng.random() < 0.7:
            place = rng.choice(wide)
            lines.append(f"S {place} {rng.randrange(*box[place])}")
            waiting += reversed([(half, depth - 1) for _, half in checker.cut(box, lines[-1].split(" "))])
        elif regions:
            found = Pass(checker.net, box, range(len(checker.assignments)))
            lines.append(" ".join(("R", *drawn_tree(rng, found, [], {}))))
        else:
            claims = ["/ 0", "/ 2", "/ 0 13107", "/ 2 0 65536", "/ 1", "~", "~ 32768", "u 0 1", "u 1 0"]
            lines.append(rng.choice(claims))
    return lines


def _lines(folder: Path, *, seeds: int, regions: bool = False) -> list[Subject]:
    """Networks of everybody, in real arithmetic and in float32 by turns; what is claimed is what follows."""
    found: list[Subject] = []
    seed = 0
    while len(found) < 2 * seeds:
        seed += 1
        (folder / str(seed)).mkdir()
        model, rng = folder / str(seed) / "m.onnx", random.Random(seed)
        proved_networks.network(model, seed)
        content = model.read_bytes()
        asked = question(
            attributes=EVERYBODY,
            reads=[{"constant": 0, "terms": [[each["name"], each.get("values", 1)]]} for each in EVERYBODY],
            differ=["sex", "race"],
            decides=ABOVE_ZERO,
            model=sha256(content).hexdigest(),
            asks="share",
        )
        claims = asked["claims"] | {"holds": False, "compared": []}
        if len(found) % 2:
            asked["arithmetic"] = "float32"
            claims["margin"] = str(Checker(Question(asked | {"arithmetic": "real"}), Graph(content)).net.rounding())
        checker = Checker(Question(asked | {"claims": claims}), Graph(content))
        lines = _counted(checker, rng, regions=regions)
        totals = follow(checker, iter(lines))
        if totals.certified and any(line[0] in "/R" for line in lines):
            truth = proved_networks.brute(model, "share of everybody")
            found.append(_written(model, asked | {"claims": claims}, lines, truth))
    return found


def _written(model: Path, asked: dict[str, Any], lines: list[str], truth: tuple[Fraction, Fraction]) -> Subject:
    """A proof that claims what follows."""
    checker, path = Checker(Question(asked), Graph(model.read_bytes())), model.with_suffix(".proof")
    totals = follow(checker, iter(lines))
    claims = asked["claims"] | {"certified": str(totals.certified), "falsified": str(totals.falsified)}
    path.write_bytes(gzip.compress("\n".join([json.dumps(asked | {"claims": claims}), *lines, ""]).encode()))
    return Subject(proof=path, question=checker.question.digest, model=model, holds=partial(shares, truth))


def _means(folder: Path, *, seeds: int) -> list[Subject]:
    """Trees of whom boxes are counted by mean and variance, some of them together, in both arithmetics by turns."""
    found: list[Subject] = []
    for seed in range(4 * seeds):
        (folder / str(seed)).mkdir()
        model, rng = folder / str(seed) / "m.onnx", random.Random(seed)
        made = [*test_moments.drawn(rng), *test_moments.drawn(rng)]
        content = tree_file([regressor(made)], outputs=["y"]).SerializeToString()
        model.write_bytes(content)
        asked = test_moments.asked() | {"model": sha256(content).hexdigest()}
        if seed % 2:
            margin = Checker(Question(asked), Graph(content)).net.rounding()
            asked |= {"arithmetic": "float32", "claims": asked["claims"] | {"margin": str(margin)}}
        checker, lines = Checker(Question(asked), Graph(content)), list[str]()
        waiting = [(checker.root(), 3)]
        while waiting:
            node, depth = waiting.pop()
            wide = [place for place in checker.shared if node.box[place][0] < node.box[place][1]]
            place = rng.choice(wide) if depth and wide and rng.random() < 0.7 else None
            line = "+ 0 1" if place is None else f"S {place} {rng.randrange(*node.box[place])}"
            if place is None and (depth < 1 or len(node.known[1]) < 2):
                line = "~" if test_moments.counted(checker, node).fair else "?"
            else:
                waiting += reversed([(half, depth - 1) for half in checker.halves(node, line.split(" "))])
            lines.append(line)
        if "~" in lines and not set(lines) <= {"~", "?"}:
            unfair = Fraction(test_moments.truth(made), 28)
            found.append(_written(model, asked, lines, (1 - unfair, unfair)))
    return found


def _pairs(folder: Path, *, seeds: int) -> list[Subject]:
    """Networks of everybody, in boxes of which it is claimed that no two are decided differently."""
    found: list[Subject] = []
    seed = 2
    while len(found) < seeds:
        seed += 1
        (folder / str(seed)).mkdir()
        checker, pairing = test_claims_about_two.asked(folder / str(seed), "any", seed)
        lines, waiting, rng = list[str](), [(checker.root(), 1)], random.Random(seed)
        while waiting:
            node, depth = waiting.pop()
            place = rng.choice(checker.shared)
            if depth and node.box[place][0] < node.box[place][1]:
                lines.append(f"S {place} {rng.randrange(*node.box[place])}")
                waiting += reversed([(half, depth - 1) for half in checker.halves(node, lines[-1].split(" "))])
            else:
                lines.append(pairing.claim(node, Deadline.within(60)) or "?")
        if any(line[0] == "P" for line in lines):
            model = folder / str(seed) / "m.onnx"
            asked = checker.question.said | {"asks": "share", "claims": test_claims_about_two.CLAIMS}
            found.append(_written(model, asked, lines, proved_networks.brute(model, "share of everybody")))
    return found


#: Proofs of each kind, about models of so many seeds.
SUBJECTS: dict[str, Callable[..., list[Subject]]] = {
    "network": _networks,
    "linear": partial(_networks, linear=True),
    "forest": _forests,
    "relaxed": partial(_on_the_two, test_relaxed_proofs.shares_of),
    "linked": partial(_on_the_two, test_linked_units.shares_of),
    "lines": _lines,
    "regions": partial(_lines, regions=True),
    "means": _means,
    "pairs": _pairs,
    "rates": _rates,
}


def _numbers_in(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all whole numbers of a JSON document but its claims."""
    if type(data) is int:
        return [path]
    parts = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [way for key, part in parts if key != "claims" for way in _numbers_in(part, (*path, key))]


def tampered(text: str, kind: str, rng: random.Random) -> str:
    """The proof's text with one change."""
    header, *lines = text.rstrip("\n").split("\n")
    data: dict[str, Any] = json.loads(header)
    at, to = rng.randrange(len(lines)), rng.randrange(len(lines))
    match kind:
        case "dropped":
            del lines[at]
        case "doubled":
            lines.insert(at, lines[at])
        case "swapped":
            lines[at], lines[to] = lines[to], lines[at]
        case "leaves":
            lines[at] = rng.choice(
                [
                    "=",
                    "= 0 65536",
                    "E",
                    "~",
                    "~ 0 13107 99999",
                    "/ 0",
                    "/ 1 9999",
                    "V",
                    "U 0 1",
                    "u 0 1",
                    "u 1 0",
                    "U 2 0",
                    "U 3 0",
                    "+ 0 1",
                    "P V",
                    "P D 1 1",
                    "P O 0 V V",
                    "R ~",
                    "R N 0 1 ~ H 0",
                ]
            )
        case "numbers":
            numbered = [
                place for place, line in enumerate(lines) if line[0] in "SUCPR/+" and any(map(str.isdigit, line))
            ]
            if numbered:
                at = rng.choice(numbered)
                words = lines[at].split(" ")
                place = rng.choice([place for place, word in enumerate(words) if word.lstrip("-").isdigit()])
                number = int(words[place]) + rng.choice((-2, -1, 1, 2))
                words[place] = str(number if lines[at][0] == "P" else max(0, number))
                lines[at] = " ".join(words)
        case "claims":
            told = ["certified", "falsified", "low", "high", *["margin"] * (data.get("arithmetic") == "float32")]
            key = rng.choice([key for key in data["claims"] if key in told])
            data["claims"][key] = str(Fraction(data["claims"][key]) + Fraction(rng.choice((-1, 1)), 10**9))
        case "question":
            *way, last = rng.choice(_numbers_in(data))
            inside: Any = data
            for step in way:
                inside = inside[step]
            inside[last] += rng.choice((-1, 1))
    return "\n".join([json.dumps(data), *lines]) + "\n"


def _with_another_bit(content: bytes, rng: random.Random) -> bytes:
    other = bytearray(content)
    other[rng.randrange(len(other))] ^= 1 << rng.randrange(8)
    return bytes(other)


_READ = lru_cache(maxsize=64)(Graph)


def _read(content: bytes) -> Graph:
    """The graph of a file that was read before: whoever looks at a node's attributes takes them away."""
    graph = copy(_READ(content))
    graph.nodes = [copy(node) for node in graph.nodes]
    for node in graph.nodes:
        node.attributes = dict(node.attributes)
    return graph


@patch.object(command, "Graph", _read)
@patch.object(rates, "Graph", _read)
def rejected(subjects: list[Subject], kind: str, times: int, scratch: Path) -> int:
    """How many of so many tamperings are rejected; whatever is reached by the others is true."""
    rng, count = random.Random(kind), 0
    for number in range(times):
        subject = subjects[number % len(subjects)]
        packed, model = subject.proof.read_bytes(), subject.model
        if kind == "bytes":
            packed = _with_another_bit(packed, rng)
        elif kind == "another model":
            model = scratch / "other.model"
            model.write_bytes(_with_another_bit(subject.model.read_bytes(), rng))
        else:
            packed = gzip.compress(tampered(gzip.decompress(packed).decode(), kind, rng).encode(), 1)
        (scratch / "t.proof").write_bytes(packed)
        try:
            checked = check(scratch / "t.proof", model)
        except RejectedError:
            count += 1
            continue
        if checked.question.digest != subject.question:
            count += 1  # by whoever names the question
            continue
        subject.holds(checked)
        count += not checked.follows
    return count
