"""What verifiers of networks print: a status, and behind `sat` the values of the inputs, in one of three notations.

As VNN-COMP has them, one pair of parentheses a number::

    sat
    ((X_0 0.25)
     (X_1 -1.5e-3)
     (Y_0 0.01))

As the standard of VNN-LIB 2.0 has them, a tensor at a time, its elements in row-major order::

    sat
    X real [1,2]
    0.25
    -0.0015
    Y real [1,1]
    0.01

And as Marabou prints the point of a file of version 1.0::

    sat

    Input assignment:
            x0 = 0.250000
            x1 = -0.001500
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fairdsl.backends.encoding import Answer

__all__ = ["parse_answer"]

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
