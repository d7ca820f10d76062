"""What verifiers of networks answer, and the pairs that their points stand for.

An answer is a line with a status, and behind `sat` the values of the inputs, as VNN-COMP writes them::

    sat
    ((X_0 0.25)
     (X_1 -1.5e-3)
     (Y_0 0.01))

A point of the files is a real one: the pair is looked for among the nearest individuals of the domain.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from fairdsl.backends.contract import Answer
from fairdsl.backends.smt.cases import pair_of
from fairdsl.ir.domain import Attribute, Point, Real
from fairdsl.ir.problem import Problem

__all__ = ["pairs_in", "parse_answer"]

_STATUS = {
    "sat": "sat",
    "violated": "sat",
    "unsat": "unsat",
    "holds": "unsat",
    "unknown": "unknown",
    "timeout": "timeout",
    "timed-out": "timeout",
    "timed_out": "timeout",
}
_VALUE = re.compile(r"\(\s*([XY]\w*(?:\s*\[[\d\s,]{1,40}\])?)\s+(-?[\d.]{1,400}(?:[eE][-+]?\d{1,3})?)\s*\)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?\Z")

#: So many fractional values are tried both ways; the others go to the nearest.
_BOTH_WAYS = 6


def parse_answer(output: str) -> Answer:
    """What a verifier printed; total. The status stands alone on its line; two that differ are no answer."""
    stated = [_STATUS[word] for line in output.splitlines() if (word := line.strip().lower()) in _STATUS]
    if not stated:
        return Answer(status="malformed", detail="no line says sat, unsat, unknown or timeout")
    if len(set(stated)) > 1:
        return Answer(status="malformed", detail=f"the output says {' and '.join(dict.fromkeys(stated))}")
    if stated[0] == "timeout":
        return Answer(status="unknown", detail="timeout")
    found = _VALUE.findall(output) if stated[0] == "sat" else []
    values = {"".join(name.split()): text for name, text in found if _NUMBER.match(text)}
    return Answer(status=stated[0], values=values)


def pairs_in(
    problem: Problem, described: Mapping[str, Mapping[str, Any]], file: str, answer: Answer
) -> Iterator[tuple[Point, Point]]:
    """The pairs near the point that the answer gives for the file, the nearest first; none without a point.

    ``described`` is what the manifest says about the file and its network. A value that the answer leaves out
    is free: it becomes the nearest to 0.
    """
    if not answer.values:
        return
    people = _people(problem, described, file, answer)
    apart = {*pair_of(problem).differ, *(item.attribute for item in pair_of(problem).relax)}
    attributes = problem.domain.attributes
    # What both share is chosen once.
    keys = [(who, index) for index in range(len(attributes)) for who in ("ab" if index in apart else "a")]
    choices = {key: _nearest(attributes[key[1]], people.get(key, Fraction(0))) for key in keys}
    fractional = sorted(
        (key for key in keys if len(choices[key]) > 1), key=lambda key: _preference(choices[key], people[key])
    )
    for key in fractional[_BOTH_WAYS:]:
        choices[key] = choices[key][:1]
    for chosen in product(*choices.values()):
        values = dict(zip(choices, chosen, strict=True))
        a = tuple(values["a", index] for index in range(len(attributes)))
        yield a, tuple(values.get(("b", index), a[index]) for index in range(len(attributes)))


def _preference(near: tuple[Fraction, ...], value: Fraction) -> Fraction:
    """How much nearer one of two neighbours is than the other: the least first, where both are worth trying."""
    return abs(abs(near[0] - value) - abs(near[1] - value)) / abs(near[0] - near[1])


def _nearest(attribute: Attribute, value: Fraction) -> tuple[Fraction, ...]:
    """The attribute's values next to a number, the nearer one first; a number among its values alone."""
    if isinstance(attribute.type, Real):
        low, high = attribute.bounds
        value = value if low is None else max(low, value)
        return (value if high is None else min(high, value),)
    assert attribute.values is not None
    ordered = attribute.values if isinstance(attribute.values, range) else sorted(attribute.values)
    place = bisect_left(ordered, value)
    around = [Fraction(number) for number in ordered[max(0, place - 1) : place + 1]]
    around.sort(key=lambda number: abs(number - value))
    return (around[0],) if around[0] == value else tuple(around)


def _people(
    problem: Problem, described: Mapping[str, Mapping[str, Any]], file: str, answer: Answer
) -> dict[tuple[str, int], Fraction]:
    """The real values of both individuals, by individual and attribute."""
    indices = {attribute.name: index for index, attribute in enumerate(problem.domain.attributes)}
    about = described[file]
    people: dict[tuple[str, int], Fraction] = {}
    offsets: dict[int, Fraction] = {}
    for entry in described[about["network"]]["inputs"]:
        text = answer.values.get(entry["name"])
        if "attribute" not in entry or text is None:
            continue
        index, value = indices[entry["attribute"]], Fraction(text)
        match entry["role"]:
            case "offset":
                offsets[index] = value
            case "both":
                people["a", index] = people["b", index] = value
            case who:
                people[who, index] = value
    for who, values in about.get("fixed", {}).items():
        for name, text in values.items():
            people[who, indices[name]] = Fraction(text)
    for index, offset in offsets.items():
        if ("a", index) in people:
            people["b", index] = people["a", index] + offset
    return people
