"""Random values of any type that the codec writes, from its annotations, and damaged documents."""

from __future__ import annotations

import copy
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

from fairdsl.backends.smt.partition.lines import PairLine
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.codec import FILLED, KEYED
from fairdsl.diagnostics.codes import CODES
from fairdsl.ir.enclosure import Enclosure
from fairdsl.repairing.measure import Measured, OnRows, Rate
from fairdsl.repairing.result import Candidate
from fairdsl.repairing.rule import Choice
from fairdsl.source import SourceFile, Span
from fairdsl.verdict import Reason

__all__ = ["damaged", "random_value"]

_TEXTS = ("", "sex", "1/2", "25 .. 44", "größer", 'with "quotes" and \\', "a\nb", "-3/4", "kind", "\x00", "\u2028")
_FRACTIONS = (Fraction(0), Fraction(1), Fraction(1, 3), Fraction(-7, 2), Fraction(10**400, 3), Fraction(1, 10**400))
_SOURCES = ("", "domain D {}", "a\nbc\n\nd", "one\r\ntwo\r\n")
#: Objects that a class refuses are drawn again so often.
_ATTEMPTS = 200


def random_value(kind: Any, random: Random, depth: int = 6) -> Any:
    """A random value of a type; lists are empty below ``depth`` classes."""
    plain = _plain(kind, random)
    if plain is not None:
        return plain()
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        inner = random_value(args[0], random, depth)
        if FILLED in args[1:] and not inner:
            return (random_value(typing.get_args(args[0])[0], random, depth),)
        return tuple(dict(inner).items()) if KEYED in args[1:] else inner
    if origin in (typing.Union, types.UnionType):
        return random_value(random.choice(args), random, depth)
    if origin is Literal:
        return random.choice(args)
    if origin is tuple and args[-1] is not Ellipsis:
        return tuple(random_value(arg, random, depth) for arg in args)
    many = range(random.choice((0, 1, 1, 2)) if depth > 0 else 0)
    if origin is tuple:
        return tuple(random_value(args[0], random, depth) for _ in many)
    if origin is frozenset:
        return frozenset(random_value(args[0], random, depth) for _ in many)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {random_value(args[0], random, depth): random_value(args[1], random, depth) for _ in many}
    if hasattr(kind, "WRITTEN_AS"):
        return kind(random_value(kind.WRITTEN_AS, random, depth))
    assert is_dataclass(kind), kind
    return _object(kind, random, depth - 1)


def _plain(kind: Any, random: Random) -> Any:
    """What draws a value of a type that is not a container."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda: random.choice(list(kind))
    drawn: dict[Any, Any] = {
        type(None): lambda: None,
        None: lambda: None,
        bool: lambda: random.random() < 0.5,
        int: lambda: random.choice((0, 1, 7, -3, 2**60, 10**30)),
        float: lambda: random.choice((0.0, -1.5, 1e308, 5e-324, random.random())),
        str: lambda: random.choice(_TEXTS),
        Fraction: lambda: random.choice(_FRACTIONS),
        Path: lambda: Path(random.choice(("a", "b/c.json"))),
        Span: lambda: _span(random),
        Any: lambda: random.choice((None, 1, "x", [1.5, {"y": False}])),
    }
    return drawn.get(kind)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _object(kind: Any, random: Random, depth: int) -> Any:
    """An object that the class takes."""
    for _ in range(_ATTEMPTS):
        drawn = {
            field.name: random_value(_hints(kind)[field.name], random, depth)
            for field in fields(kind)
            if field.init and field.compare
        }
        for name in _MADE_TO_FIT.get(kind.__name__, ()):
            drawn |= name(drawn, random)
        try:
            return kind(**drawn)
        except ValueError:
            continue
    raise AssertionError(f"no {kind.__name__} was found")


def _code(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    return {"code": random.choice(sorted(CODES))}


def _ordered(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    low, high = sorted((drawn["low"], drawn["high"]))
    return {"low": low, "high": high}


def _probability(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    low, high = sorted(random.choice((Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1))) for _ in range(2))
    return {"number": Enclosure(low=low, high=high)}


def _shares(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    certified, falsified = Fraction(random.randrange(4), 7), Fraction(random.randrange(4), 7)
    return {
        "certified": certified,
        "falsified": falsified,
        "undecided": 1 - certified - falsified,
        "vacuous": certified / 3,
        "float32_certified": random.choice((None, certified / 2)),
    }


def _sample(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    return {"sampled": 300, "unfair": 100, "interval": Enclosure(low=Fraction(1, 3), high=Fraction(2, 3))}


def _names(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    return {"properties": drawn["properties"][:1]}


def _counted(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    return {"rows": 9, "in_target": 7, "unfair": random.randrange(8), "correct": random.randrange(10)}


def _compared(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    more = drawn["after"].correct - drawn["before"].correct
    return {"changed": 9, "gained": max(0, more), "lost": max(0, -more)}


def _repaired(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    rate = Rate(number=Enclosure(low=Fraction(1, 3), high=Fraction(2, 3)))
    rows = OnRows(rows=3, in_target=2, unfair=1, correct=2, decided=(1, 2))
    first = Candidate(round=0, recipe="", added=0, choice=Choice.FIRST, measured=Measured(rate=rate, rows=rows))
    return {"candidates": (first, *(one for one in drawn["candidates"] if not one.kept))}


def _verdict(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    verdict, by = random.choice([(Status.HOLDS, "z3"), (Status.VIOLATED, "sampling"), (Status.UNKNOWN, "bounds")])
    left_out = {
        Status.HOLDS: ("witness", "disagreement", "reason", "detail", "holds_without_units", "pruned_network"),
        Status.VIOLATED: ("disagreement", "reason", "detail", "holds_without_units"),
        Status.UNKNOWN: ("witness",),
    }
    numbers = {"units": 9, "undecided_units": random.randrange(10), "seconds": random.random()}
    pair, reason = PairLine(a={"x": 1}, b={"x": "1/2"}), random.choice(list(Reason))
    said = drawn | numbers | {"verdict": verdict, "by": by, "witness": pair, "reason": reason}
    return said | dict.fromkeys(left_out[verdict])


def _result(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    measured = {name: random.random() for name in ("seconds", "undecided", "falsified")}
    return {"shard": random.randint(1, 3), "shards": 3, "nodes": random.randrange(9)} | measured


def _seconds(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    return {"seconds": random.choice((None, 0.0, random.random()))}


#: Classes whose fields have to fit together, which chance would hardly hit.
_MADE_TO_FIT = {
    "Diagnostic": (_code,),
    "Enclosure": (_ordered,),
    "Rate": (_probability,),
    "Shares": (_shares,),
    "Estimate": (_sample,),
    "Report": (_names,),
    "OnRows": (_counted,),
    "Compared": (_compared,),
    "Repaired": (_repaired,),
    "VerdictLine": (_verdict,),
    "Result": (_result,),
    "AnswerLine": (_seconds,),
}


def _span(random: Random) -> Span:
    text = random.choice(_SOURCES)
    start = random.randint(0, len(text))
    return Span(SourceFile(random.choice(("a.fair", "b.fair")), text), start, random.randint(start, len(text)))


#: What is put in the place of something else.
_WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**40, 1e308, "", "x", "1/2", "1/0", "holds", [], {}, [1], {"kind": "x"}, {"text": "1/2"},
)  # fmt: skip


def damaged(document: Any, random: Random) -> Any:
    """A copy of plain JSON with one thing changed, removed, added, renamed or exchanged."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    owner, key = random.choice(places)
    match random.randrange(6):
        case 0:
            del owner[key]
        case 1 if isinstance(owner, dict):
            owner[random.choice(["extra", "kind", "low_exact", key + "x"])] = copy.deepcopy(random.choice(_WRONG))
        case 2:
            other, at = random.choice(places)
            owner[key], other[at] = copy.deepcopy(other[at]), copy.deepcopy(owner[key])
        case 3 if isinstance(owner[key], str) and owner[key]:
            text = owner[key]
            at = random.randrange(len(text))
            owner[key] = text[:at] + random.choice(["", "0", "/", "Z", "\ud800"]) + text[at + 1 :]
        case 4 if isinstance(owner[key], int | float) and not isinstance(owner[key], bool):
            owner[key] = random.choice([-owner[key], owner[key] + 1, owner[key] / 3, str(owner[key])])
        case _:
            owner[key] = copy.deepcopy(random.choice(_WRONG))
    return document


def _places(document: Any) -> typing.Iterator[tuple[Any, Any]]:
    """Every key and position of a document, with what it is in."""
    members = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(members):
        yield document, key
        if isinstance(value, dict | list):
            yield from _places(value)
