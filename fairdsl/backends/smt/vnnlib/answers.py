"""The pairs that the point in a verifier's answer stands for.

A point of the files is a real one: the pair is looked for among the nearest individuals of the domain, and then in a
wider neighbourhood (``nearby``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.vnnlib.nearby import pairs_near
from fairdsl.ir.domain import Attribute, Point, Real
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Interval, ValueSet, narrow
from fairdsl.source.numbers import read_number

#: So many fractional values are tried both ways; the others go to the nearest.
_BOTH_WAYS = 6


def pairs_in(
    problem: Problem, described: Mapping[str, Mapping[str, Any]], file: str, answer: Answer
) -> Iterator[tuple[Point, Point]]:
    """The pairs near the point that the answer gives for the file, the nearest first; none without a point.

    ``described`` is what the manifest says about the file and its network. A value that the answer leaves out
    is free: it becomes the nearest to 0.
    """
    inputs = {entry["name"] for entry in described[described[file]["network"]]["inputs"]}
    if inputs.isdisjoint(answer.values):
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
    point = [people.get(("a", index), Fraction(0)) for index in range(len(attributes))]
    partner = [people.get(("b", index), point[index]) for index in range(len(attributes))]
    yield from pairs_near(problem, tuple(point), tuple(partner))


def _preference(near: tuple[Fraction, ...], value: Fraction) -> Fraction:
    """How much nearer one of two neighbours is than the other: the least first, where both are worth trying."""
    return abs(abs(near[0] - value) - abs(near[1] - value)) / abs(near[0] - near[1])


def _nearest(attribute: Attribute, value: Fraction) -> tuple[Fraction, ...]:
    """The attribute's values next to a number, the nearer one first; a number among its values alone."""
    if isinstance(attribute.type, Real):
        return (_clipped(value, Interval(*attribute.bounds)),)
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
        index, value = indices[entry["attribute"]], read_number(text)
        match entry["role"]:
            case "offset":
                offsets[index] = value
            case "both":
                people["a", index] = people["b", index] = value
            case who:
                people[who, index] = value
    for who, values in about.get("fixed", {}).items():
        for name, text in values.items():
            people[who, indices[name]] = read_number(text)
    # The network clips a + d to what domain and target leave, so b is the clipped value.
    ends = narrow(problem.domain, pair_of(problem).target) if offsets else ()
    for index, offset in offsets.items():
        if ("a", index) in people:
            people["b", index] = _clipped(people["a", index] + offset, ends[index])
    return people


def _clipped(value: Fraction, values: ValueSet) -> Fraction:
    value = value if values.low is None else max(values.low, value)
    return value if values.high is None else min(values.high, value)


# ---- what verifiers print ------------------------------------------------------------------------
#
# What verifiers of networks print: a status, and behind `sat` the values of the inputs, in one of three notations.
#
# As VNN-COMP has them, one pair of parentheses a number::
#
#     sat
#     ((X_0 0.25)
#      (X_1 -1.5e-3)
#      (Y_0 0.01))
#
# As the standard of VNN-LIB 2.0 has them, a tensor at a time, its elements in row-major order::
#
#     sat
#     X real [1,2]
#     0.25
#     -0.0015
#     Y real [1,1]
#     0.01
#
# And as Marabou prints the point of a file of version 1.0::
#
#     sat
#
#     Input assignment:
#             x0 = 0.250000
#             x1 = -0.001500

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
#: The seconds that some tools put behind the status, as the tables of VNN-COMP do.
_SECONDS = re.compile(r",\s*[0-9]{1,12}(?:\.[0-9]{1,12})?\Z")
_VALUE = re.compile(r"\(\s*([XY]\w*(?:\s*\[[\d\s,]{1,40}\])?)\s+(-?[\d.]{1,400}(?:[eE][-+]?\d{1,3})?)\s*\)")
_TENSOR = re.compile(r"([XY]\w{0,40})\s+\w{1,20}\s*\[\s*([0-9]{1,9}(?:\s*,\s*[0-9]{1,9}){0,9})\s*\]\Z")
_ASSIGNED = re.compile(r"x([0-9]{1,9})\s*=\s*(\S{1,400})\Z")
_NUMBER = re.compile(r"-?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,3})?\Z")


def parse_answer(output: str) -> Answer:
    """What a verifier printed; total. The status stands alone on its line; two that differ are not an answer."""
    lines = [line.strip() for line in output.splitlines()]
    stated = [_STATUS[word] for line in lines if (word := _SECONDS.sub("", line.lower())) in _STATUS]
    if not stated:
        return Answer(status="malformed", detail="no line says sat, unsat, unknown or timeout")
    if len({word if word in ("sat", "unsat") else "unknown" for word in stated}) > 1:
        return Answer(status="malformed", detail=f"the output says {' and '.join(dict.fromkeys(stated))}")
    if stated[0] == "timeout":
        return Answer(status="unknown", detail="timeout")
    found = [*_assigned(lines), *_tensors(lines), *_paired(output)] if stated[0] == "sat" else []
    return Answer(status=stated[0], values={name: text for name, text in found if _NUMBER.match(text)})


def _paired(output: str) -> Iterator[tuple[str, str]]:
    """``(X_0 0.25)``, ``(X[0,1] 0.25)``."""
    return (("".join(name.split()), text) for name, text in _VALUE.findall(output))


def _assigned(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """``x0 = 0.25``."""
    return ((f"X_{int(match[1])}", match[2]) for line in lines if (match := _ASSIGNED.match(line)))


def _tensors(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """``X real [1,2]`` and then the elements, a line each; whatever is not a number ends the tensor."""
    name, shape, place = "", [0], 0
    for line in lines:
        if header := _TENSOR.match(line):
            name, shape, place = header[1], [int(size) for size in header[2].split(",")], 0
        elif name and _NUMBER.match(line):
            index = _index(place, shape)
            if index is not None:
                yield f"{name}[{index}]", line
            place += 1
        elif line:
            name = ""


def _index(place: int, shape: list[int]) -> str | None:
    """The indices of an element in row-major order; None beyond the last one."""
    digits = []
    for size in reversed(shape):
        if not size:
            return None
        place, digit = divmod(place, size)
        digits.append(str(digit))
    return None if place else ",".join(reversed(digits))
