"""Specs about black boxes on a small domain, and what is true of them, by the definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

Person = tuple[str, int, bool, int]
Function = Callable[[Mapping[str, Any]], Any]

_SPEC = """\
fair 1
domain Applicant {{
  sex    : category {{ female, male }}
  age    : integer 0 .. {oldest}
  member : boolean
  level  : integer 0 .. 3
}}
protected {protected}
model approve : Applicant -> {{ no, yes }}
  from {source}
  {decision}
property fair {{
  compare a, b : Applicant
  {clauses}
}}
"""


def spec(folder: Path, source: str, decision: str, clauses: str, *, oldest: int = 15) -> Path:
    """A spec with one model and one property, in a file of the folder."""
    path = folder / "audit.fair"
    protected = "sex, member" if "member" in clauses else "sex"
    text = _SPEC.format(source=source, decision=decision, clauses=clauses, oldest=oldest, protected=protected)
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Question:
    """Clauses of a property, the same as a relation between two people, and what the two share (None: ``relax``)."""

    clauses: str
    comparable: Callable[[Person, Person], bool]
    shared: tuple[int, ...] | None


def _alike(a: Person, b: Person, *places: int) -> bool:
    return all(a[place] == b[place] for place in range(4) if place not in places)


QUESTIONS = (
    Question("differ in sex\n require same decision", lambda a, b: a[0] != b[0] and _alike(a, b, 0), (1, 2, 3)),
    Question(
        "differ in any sex, member\n among age > 3\n require same decision",
        lambda a, b: _alike(a, b, 0, 2) and (a[0], a[2]) != (b[0], b[2]) and a[1] > 3,
        (1, 3),
    ),
    Question(
        "differ in sex\n within 1 in age\n require same decision",
        lambda a, b: a[0] != b[0] and _alike(a, b, 0, 1) and abs(a[1] - b[1]) <= 1,
        None,
    ),
)


def everybody(oldest: int = 15) -> list[Person]:
    return list(product(("female", "male"), range(oldest + 1), (False, True), range(4)))


def violations(question: Question, decision: Mapping[Person, int]) -> set[frozenset[Person]]:
    """All pairs that are comparable and decided differently."""
    return {
        frozenset({a, b})
        for a, b in product(decision, decision)
        if question.comparable(a, b) and decision[a] != decision[b]
    }


def units(question: Question, pairs: Iterable[frozenset[Person]]) -> set[object]:
    """What the two of each pair share, or the pair itself."""
    if question.shared is None:
        return set(pairs)
    return {tuple(min(pair)[place] for place in question.shared) for pair in pairs}


def person(cells: Mapping[str, Any], who: str) -> Person:
    """One of the two individuals of a row of the table of counterexamples."""
    found = [cells.get(f"b.{name}", cells[name]) if who == "b" else cells[name] for name in _NAMES]
    return found[0], found[1], found[2], found[3]


_NAMES = ("sex", "age", "member", "level")
