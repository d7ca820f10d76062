"""Random tables as somebody might write them, and what is true of them: read and counted a second time, by definition.

Nothing here is shared with the package: a cell is read sign by sign and digit by digit, and every rate is a count.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

__all__ = ["Case", "Person", "case", "number", "written"]

Person = dict[str, Fraction]
Test = Callable[[Person], bool]

_COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}
#: What is not a number of a table, however Python or a spreadsheet reads it.
NOT_NUMBERS = (
    "nan",
    "inf",
    "-Infinity",
    "1_0",
    "0x1",
    "1/2",
    "\u0663",
    "\uff10",
    "",
    "0,5",
    "1e999999999",
    "0." + "1" * 4400,
    "½",
)


@dataclass(frozen=True)
class Case:
    """A spec, a table, and what is true: rows and rate of each property's groups, rows in the target and fair share.

    Where cells are ``wrong``, by column how many rows have each text that is not a value, there are no rates.
    """

    spec: str
    table: str
    rates: dict[str, dict[str, tuple[int, Fraction]]]
    fair: tuple[int, Fraction] | None
    wrong: dict[str, dict[str, int]]


def number(text: str) -> Fraction:
    """A decimal with an optional sign, point and exponent, one character after the other."""
    sign, value, scale, behind, place = 1, 0, 0, False, 0
    while place < len(text) and text[place] not in "eE":
        character = text[place]
        if character in "+-":
            sign = -1 if character == "-" else 1
        elif character == ".":
            behind = True
        else:
            value, scale = 10 * value + "0123456789".index(character), scale + behind
        place += 1
    power = 0
    if place < len(text):
        negative, digits = text[place + 1] == "-", text[place + 1 :].lstrip("+-")
        for character in digits:
            power = 10 * power + "0123456789".index(character)
        power = -power if negative else power
    power -= scale
    return Fraction(sign * value * 10**power) if power >= 0 else Fraction(sign * value, 10**-power)


def written(value: Fraction, places: int, rng: Random) -> str:
    """One of the ways to write a multiple of a power of ten."""
    units = int(value * 10**places)
    text = f"{units // 10**places}.{units % 10**places:0{places}d}" if places else str(units)
    match rng.randrange(8):
        case 0:
            return f"{units}e-{places}"
        case 1:
            return f"+{text}"
        case 2 if places:
            return f"{text}000"
        case 3 if text.startswith("0."):
            return text[1:]
        case 4:
            return f"0{text}"
        case 5:
            return f"{units}0E-{places + 1:03d}"
        case 6 if not places:
            return f"{text}."
        case _:
            return text


@dataclass(frozen=True)
class Jobs:
    """A category: its names, the codes that are written (None: positions), and whether cells may be codes."""

    names: tuple[str, ...]
    codes: tuple[int, ...] | None
    by_code: bool

    def declared(self) -> str:
        """The type, as a spec writes it."""
        if self.codes is None:
            return ", ".join(f'"{name}"' for name in self.names)
        return ", ".join(f'"{name}" = {code}' for name, code in zip(self.names, self.codes, strict=True))

    def code(self, place: int) -> str:
        """The code of a value."""
        return str(place if self.codes is None else self.codes[place])


JOBS = (
    Jobs(("clerk", "typist; part-time", "the boss"), None, by_code=True),
    Jobs(("clerk", "typist, part-time", "boss"), (4, 7, 1), by_code=True),
    Jobs(("1", "2", "3"), None, by_code=False),
    Jobs(("none", "1", "2"), (9, 2, 1), by_code=False),
    Jobs(("1", "2", "boss"), (1, 2, 3), by_code=True),
)


def case(seed: int) -> Case:
    """A random table with its questions."""
    rng = Random(seed)
    places = rng.choice((1, 1, 2, 3, 17))
    # With 17 places neighbours have one float64 between them, or none.
    values = [Fraction(10**16 * (places == 17) + step, 10**places) for step in range(min(10**places, 12))]
    edge = rng.choice(values[1:])
    jobs = rng.choice(JOBS)
    by_code = jobs.by_code and rng.random() < 0.5
    people: list[Person] = []
    cells: list[dict[str, str]] = []
    for _ in range(rng.randrange(1, 24)):
        place = rng.randrange(3)
        person = {"sex": Fraction(rng.randrange(2)), "rate": rng.choice(values), "cap": rng.choice(values)}
        row = {name: written(person[name], places, rng) for name in ("rate", "cap")}
        assert all(number(row[name]) == person[name] for name in row)
        row["job"] = jobs.code(place) if by_code else jobs.names[place]
        people.append(person | {"job": Fraction(place)})
        cells.append(row | {"sex": "fm"[int(person["sex"])]})
    wrong = _spoil(rng, cells, jobs, by_code=by_code) if rng.random() < 0.3 else {}
    rule, accepts = _rule(rng, values, edge)
    condition, given = _condition(rng, values)
    relation = rng.choice(("<", "<=", ">", ">="))
    return Case(
        spec=_spec(jobs, _decimal(edge), rule, condition, relation),
        table=_table(rng, cells),
        rates=_expected(people, edge, accepts, given, _COMPARE[relation]),
        fair=_fair(people, accepts, given),
        wrong=wrong,
    )


def _spec(jobs: Jobs, edge: str, rule: str, condition: str, relation: str) -> str:
    return f"""domain P {{
  sex  : category {{ f, m }}
  rate : real 0 .. 1 bins at {edge}
  cap  : real 0 .. 1
  job  : category {{ {jobs.declared()} }}
}}
domain Q {{
  sex  : category {{ f, m }}
  rate : real 0 .. 1 bins by model
}}
protected sex, rate, job
model m : P -> {{ no, ok }}
{rule}
  favourable ok
model n : Q -> {{ no, ok }}
  ok when rate {relation} {edge}
  favourable ok
distribution rows over P
  empirical from "rows.csv"
distribution counted over Q
  independent given sex
  from "rows.csv"
property all {{ model m across sex under rows excluding groups of probability 0 measure acceptance_rate }}
property some {{
  model m across sex under rows among {condition} excluding groups of probability 0 measure acceptance_rate
}}
property bins {{ model m across rate under rows excluding groups of probability 0 measure acceptance_rate }}
property jobs {{ model m across job under rows excluding groups of probability 0 measure acceptance_rate }}
property law {{ model n across sex under counted excluding groups of probability 0 measure acceptance_rate }}
property pairs {{ model m compare a, b : P differ in sex under rows among {condition} measure fair_share }}
"""


def _rule(rng: Random, values: Sequence[Fraction], edge: Fraction) -> tuple[str, Test]:
    """A model's clauses, and whom it accepts."""
    relation, other = rng.choice(tuple(_COMPARE)), rng.choice(values)
    compares = _COMPARE[relation]
    match rng.randrange(5):
        case 0:
            return f"  ok when rate {relation} {_decimal(edge)}", lambda p: compares(p["rate"], edge)
        case 1:
            listed = f"{{ {_decimal(edge)}, {_decimal(other)} }}"
            return f"  ok when rate in {listed} or sex = m", lambda p: p["rate"] in (edge, other) or p["sex"] == 1
        case 2:
            rule = f"  ok when rate {relation} cap - {_decimal(other)} and sex = f"
            return rule, lambda p: compares(p["rate"], p["cap"] - other) and p["sex"] == 0
        case 3:
            rule = f"  score = 3 * rate - cap - {_decimal(other)}\n  ok when score >= 0"
            return rule, lambda p: 3 * p["rate"] - p["cap"] >= other
        case _:
            rule = f"  score = 0.7 * rate - 0.1 * cap\n  ok when score > {_decimal(edge)}"
            return rule, lambda p: Fraction(7, 10) * p["rate"] - Fraction(1, 10) * p["cap"] > edge


def _condition(rng: Random, values: Sequence[Fraction]) -> tuple[str, Test]:
    one, other, relation = rng.choice(values[1:]), rng.choice(values), rng.choice(tuple(_COMPARE))
    compares = _COMPARE[relation]
    if rng.random() < 0.5:
        return f"rate {relation} {_decimal(one)}", lambda p: compares(p["rate"], one)
    text = f"(rate = {_decimal(one)} or cap {relation} {_decimal(other)})"
    return text, lambda p: p["rate"] == one or compares(p["cap"], other)


def _expected(
    people: Sequence[Person], edge: Fraction, accepts: Test, given: Test, compares: Callable[[Fraction, Fraction], bool]
) -> dict[str, dict[str, tuple[int, Fraction]]]:
    def sex(person: Person) -> str:
        return "fm"[int(person["sex"])]

    return {
        "all": _rates(people, accepts, sex),
        "some": _rates([person for person in people if given(person)], accepts, sex),
        "bins": _rates(people, accepts, lambda person: "above" if person["rate"] >= edge else "below"),
        "jobs": _rates(people, accepts, lambda person: str(person["job"])),
        "law": _rates(people, lambda person: compares(person["rate"], edge), sex),
    }


def _rates(people: Iterable[Person], accepts: Test, group: Callable[[Person], str]) -> dict[str, tuple[int, Fraction]]:
    """Of each group how many rows it has, and how often they are accepted."""
    found: dict[str, list[bool]] = {}
    for person in people:
        found.setdefault(group(person), []).append(accepts(person))
    return {name: (len(each), Fraction(sum(each), len(each))) for name, each in found.items()}


def _fair(people: Sequence[Person], accepts: Test, given: Test) -> tuple[int, Fraction] | None:
    """How many rows are in the target, and for how many sex does not decide; None where there are none."""
    among = [person for person in people if given(person)]
    alike = [accepts(p | {"sex": Fraction(0)}) == accepts(p | {"sex": Fraction(1)}) for p in among]
    return (len(among), Fraction(sum(alike), len(among))) if among else None


def _spoil(rng: Random, cells: list[dict[str, str]], jobs: Jobs, *, by_code: bool) -> dict[str, dict[str, int]]:
    """Make some cells something else than values; what they are now, with how many rows have each."""
    kinds: list[tuple[str, Sequence[str]]] = [(name, NOT_NUMBERS) for name in ("rate", "cap")]
    kinds.append(("job", ("director", "")))
    if jobs.by_code and not by_code and len(cells) > 1 and jobs.names[0] != "1":
        kinds.append(("job", (jobs.code(0), jobs.code(2))))
    elif not jobs.by_code:
        kinds.append(("job", ("0", "9")))
    name, texts = rng.choice(kinds)
    kept = 1 if name == "job" else 0  # a column of codes alone would be read as such
    for row in rng.sample(range(kept, len(cells)), min(len(cells) - kept, rng.randrange(1, 4))):
        cells[row][name] = rng.choice(texts)
    found: dict[str, int] = {}
    for row in cells:
        if row[name] in texts:
            found[row[name]] = found.get(row[name], 0) + 1
    return {name: found} if found else {}


def _table(rng: Random, cells: Sequence[dict[str, str]]) -> str:
    """The rows as a program or a person may save them."""
    columns = ["sex", "rate", "cap", "job", "remark"]
    rng.shuffle(columns)
    text = io.StringIO(newline="")
    quoting = rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))
    ends = rng.choice(("\n", "\r\n"))
    writer = csv.writer(text, delimiter=rng.choice(",,;\t|"), quoting=quoting, lineterminator=ends)
    writer.writerow(columns)
    for row in cells:
        remark = rng.choice(("", 'says "no"', "two\nlines", "a; b, c | d\te", "0.1"))
        writer.writerow([(row | {"remark": remark})[name] for name in columns])
        if rng.random() < 0.05:
            text.write(ends)
    return rng.choice(("", "\ufeff")) + text.getvalue()


def _decimal(value: Fraction) -> str:
    places = len(str(value.denominator))
    return f"{int(value)}.{int(value % 1 * 10**places):0{places}d}"
