"""Missing values against their definition (docs/semantics.md), which knows no codes: people are dictionaries with None.

Conditions are drawn as texts with what they mean beside, in the logic of three values. Every registered engine of pairs
meets the same questions, so one that forgot what is missing would be found here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import pytest

from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.domain import Category, Domain, Point
from fairdsl.semantics.front_end import front_end
from fairdsl.verdict import Unknown
from tests.agreement.engines import ENGINES, ask, disagreement
from tests.drawing import examples
from tests.oracle import Truth

Person = dict[str, object]
#: True, false, or neither, of somebody who lacks what is asked for.
Said = bool | None


@dataclass(frozen=True)
class Condition:
    text: str
    of: Callable[[Person], Said]


NUMBERS = {"income": (0, 3), "debt": (1, 3)}
DOMAIN = """
domain Person {
  sex : category { f, m }
  income : integer 0 .. 3 or missing bins at 2
  debt : integer 1 .. 3 or missing
  job : category { clerk, nurse } or missing
}
protected sex, job, income
"""
EVERYBODY: list[Person] = [
    dict(zip(("sex", "income", "debt", "job"), values, strict=True))
    for values in product(("f", "m"), (0, 1, 2, 3, None), (1, 2, 3, None), ("clerk", "nurse", None))
]
RELATIONS: dict[str, Callable[[object, object], bool]] = {
    "=": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<=": lambda x, y: x <= y,  # type: ignore[operator]
    ">": lambda x, y: x > y,  # type: ignore[operator]
}


def atom(random: Random) -> Condition:
    """A comparison, of which nothing is known where something is missing; or the question whether it is."""
    kind = random.choice(["number", "sum", "job", "sex", "missing", "within"])
    relation = random.choice(list(RELATIONS))
    compares = RELATIONS[relation]
    name = random.choice(list(NUMBERS))
    if kind == "number":
        value = random.randint(0, 3)
        return Condition(f"{name} {relation} {value}", lambda p: None if p[name] is None else compares(p[name], value))
    if kind == "sum":
        other = "debt" if name == "income" else "income"
        return Condition(
            f"{name} {relation} 2 * {other} - 1",
            lambda p: None if None in (p[name], p[other]) else compares(p[name], 2 * p[other] - 1),  # type: ignore[operator]
        )
    if kind == "within":
        return Condition(f"{name} in {{ 1, 2 .. 3 }}", lambda p: None if p[name] is None else p[name] in (1, 2, 3))
    if kind == "missing":
        name = random.choice(["income", "debt", "job"])
        return Condition(f"{name} is missing", lambda p: p[name] is None)
    value_of = {"job": ["clerk", "nurse"], "sex": ["f", "m"]}[kind]
    word, equal = random.choice(value_of), random.choice(["=", "!="])
    return Condition(
        f"{kind} {equal} {word}", lambda p: None if p[kind] is None else (p[kind] == word) == (equal == "=")
    )


def condition(random: Random, depth: int) -> Condition:
    if depth == 0 or random.random() < 0.2:
        return atom(random)
    if random.random() < 0.3:
        inner = condition(random, depth - 1)

        def negated(person: Person) -> Said:
            truth = inner.of(person)
            return None if truth is None else not truth

        return Condition(f"not ({inner.text})", negated)
    parts = [condition(random, depth - 1) for _ in range(2)]
    word, settling = random.choice([("and", False), ("or", True)])

    def joined(person: Person) -> Said:
        truths = [part.of(person) for part in parts]
        return settling if settling in truths else None if None in truths else not settling

    return Condition(f" {word} ".join(f"({part.text})" for part in parts), joined)


@dataclass(frozen=True)
class Case:
    spec: str
    decides: Callable[[Person], bool]
    target: Condition
    differ: tuple[str, ...]
    within: int | None
    everybody: Sequence[Person]

    def comparable(self, a: Person, b: Person) -> bool:
        if all(a[name] == b[name] for name in self.differ):
            return False
        return all(a[name] == b[name] or self.near(name, a[name], b[name]) for name in a if name not in self.differ)

    def near(self, name: str, x: object, y: object) -> bool:
        if self.within is None or name != "income" or None in (x, y):
            return False
        return abs(x - y) <= self.within  # type: ignore[operator]

    def truth(self, domain: Domain) -> Truth:
        """All that the definition says, with people as the engines name them."""
        asked = [person for person in self.everybody if self.target.of(person)]
        code = {id(person): coded(person, domain) for person in asked}
        pairs = [(a, b) for a in asked for b in asked if self.comparable(a, b)]
        bad = [(a, b) for a, b in pairs if self.decides(a) != self.decides(b)]
        shared = [name for name in asked[0] if self.within is not None or name not in self.differ] if asked else []

        def unit(person: Person) -> tuple[object, ...]:
            return tuple(person[name] for name in shared)

        units, compared = {unit(a) for a in asked}, {unit(a) for a, _ in pairs}
        unfair = {unit(a) for a, _ in bad}
        return Truth(
            [(code[id(a)], code[id(b)]) for a, b in bad],
            total=len(compared),
            fair=len(compared - unfair),
            vacuous=len(units - compared),
            unfair=frozenset(code[id(a)] for a in asked if unit(a) in unfair),
            asked=frozenset(code[id(a)] for a in asked if unit(a) in compared),
        )


def coded(person: Person, domain: Domain) -> Point:
    """The numbers that engines have for somebody."""
    found = []
    for attribute in domain.attributes:
        value = person[attribute.name]
        names = {one.name: one.code for one in attribute.type.values} if isinstance(attribute.type, Category) else {}
        code = attribute.missing if value is None else Fraction(names[value] if names else value)  # type: ignore
        found.append(code)
    return tuple(found)


def drawn(seed: int) -> Case:
    random = Random(seed)
    rules = [condition(random, random.randint(0, 2)) for _ in range(random.randint(1, 3))]
    outcomes = [random.random() < 0.5 for _ in rules]
    target = condition(random, random.randint(0, 2)) if random.random() < 0.6 else Condition("", lambda _: True)
    differ = random.choice([("sex",), ("job",), ("sex", "job"), ("income",)])
    within = random.choice([1, 2, 3]) if "income" not in differ and random.random() < 0.4 else None
    lines = [
        f"  {'then' if place else 'first'} {'yes' if outcome else 'no'} when {rule.text}"
        for place, (rule, outcome) in enumerate(zip(rules, outcomes, strict=True))
    ]
    clauses = [f"differ in {'any ' if len(differ) > 1 else ''}{', '.join(differ)}"]
    clauses += [f"within {within} in income"] if within else []
    clauses += [f"among {target.text}"] if target.text else []
    last = not outcomes[-1]
    spec = DOMAIN + "\n".join(
        [
            "model approve : Person -> { no, yes }",
            *lines,
            f"  otherwise {'yes' if last else 'no'}",
            "  favourable yes",
            "property one {",
            "  compare a, b : Person",
            *clauses,
            "  require same decision",
            "  measure fair_share",
            "}",
        ]
    )

    def decides(person: Person) -> bool:
        return next((outcome for rule, outcome in zip(rules, outcomes, strict=True) if rule.of(person)), last)

    return Case(spec, decides, target, differ, within, EVERYBODY)


def agrees(case: Case, path: Path) -> int:
    """How many engines answered the questions of a case, all of them rightly."""
    path.write_text(case.spec)
    try:
        spec, _ = front_end(str(path))
    except DiagnosticError as refused:
        found = {finding.code for finding in refused.diagnostics if finding.code.startswith("E")}
        if not found <= {"E0408", "E0409"} or ("E0409" in found and any(map(case.target.of, EVERYBODY))):
            raise
        return 0  # nobody is compared with anybody, and that is seen
    answered = 0
    for item in elaborate(spec, {}).demands:
        truth = case.truth(item.problem.domain)
        for engine in ENGINES:
            verdict = ask(engine, item.problem)
            if verdict is not None and not isinstance(verdict, Unknown):
                wrong = disagreement(item.problem, verdict, truth)
                assert wrong is None, f"{engine.name}: {wrong}\n{case.spec}"
                answered += 1
    return answered


def refused(spec: str, path: Path) -> set[str]:
    """The codes of what is wrong with a spec."""
    path.write_text(spec)
    try:
        front_end(str(path))
    except DiagnosticError as found:
        return {finding.code for finding in found.diagnostics if finding.code.startswith("E")}
    return set()


def test_a_derived_condition_that_is_open_of_somebody_is_refused(tmp_path: Path) -> None:
    opened = 0
    for seed in range(examples(2)):
        drawn = condition(Random(seed), 2)
        domain = DOMAIN.replace("}\nprotected", f"  derived d = {drawn.text}\n}}\nprotected")
        if any(drawn.of(person) is None for person in EVERYBODY):
            assert "E0302" in refused(domain, tmp_path / "spec.fair"), drawn.text
            opened += 1
    assert opened
    for told in ("income >= 2 and not income is missing", "income >= 2 or income is missing", "sex = f"):
        assert (
            refused(DOMAIN.replace("}\nprotected", f"  derived d = {told}\n}}\nprotected"), tmp_path / "s.fair")
            == set()
        )


@pytest.mark.parametrize(
    "text",
    [
        "income - income < 3",
        "0 * income + debt > 1",
        "income <= income",
        "abs(debt - income) >= debt",
        "income * 0 in { 0 }",
    ],
)
def test_a_missing_value_that_cancels_out_is_refused_wherever_it_stands(text: str, tmp_path: Path) -> None:
    rule = f"model m : Person -> {{ no, yes }}\n  yes when {text}\n"
    weighed = f"model m : Person -> {{ no, yes }}\n  score = 2 * ({text})\n  yes when score > 1\n"
    among = "property p {\n  compare a, b : Person\n  differ in sex\n  among TEXT\n  require same decision\n}\n"
    owned = among.replace("TEXT", text.replace("income", "a.income").replace("debt", "b.debt"))
    plain = "model m : Person -> { no, yes }\n  yes when sex = f\n"
    for rest in (
        rule,
        weighed,
        plain + among.replace("TEXT", text),
        plain + owned,
        f"condition c = {text}\n" + plain + among.replace("TEXT", "c"),
    ):
        assert refused(DOMAIN + rest, tmp_path / "spec.fair") == {"E0302"}, rest
    summed = DOMAIN + "model m : Person -> { no, yes }\n  score = income - income\n  yes when score > 1\n"
    assert refused(summed, tmp_path / "spec.fair") == {"E0302"}


def test_every_engine_agrees_with_the_definition(tmp_path: Path) -> None:
    assert sum(agrees(drawn(seed), tmp_path / "spec.fair") for seed in range(examples(0.6))) > 0


@pytest.mark.slow
def test_every_engine_agrees_on_a_thousand_specs(tmp_path: Path) -> None:
    assert sum(agrees(drawn(seed), tmp_path / "spec.fair") for seed in range(1000)) > 1000
