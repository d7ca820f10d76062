"""Random general demands as texts of specs, each with its meaning written down a second time, in plain Python.

Nothing of the package is used: a model, a condition and a demand are pairs of a text and a function of individuals,
which are dictionaries. What a property means is a loop over everybody (docs/semantics.md, sections 2 and 3).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import product
from random import Random

Person = Mapping[str, object]
People = Mapping[str, Person]

RELATIONS: dict[str, Callable[[object, object], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
VALUES: dict[str, list[object]] = {
    "x": [0, 1, 2],
    "y": [0, 1, 2, 3],
    "job": ["clerk", "nurse", "cook"],
    "sex": ["f", "m"],
}
DOMAIN = """\
domain P {
  x   : integer 0 .. 2
  y   : integer 0 .. 3
  job : category { clerk, nurse, cook }
  sex : category { f, m }
}
"""


#: A score, a probability or an attribute, with whose it is.
_NAMED = re.compile(r"\w+\.(?:score|probability)\(\w+\)|\b[a-d]\.\w+")


@dataclass(frozen=True)
class Model:
    """A model: its declaration, and what it gives."""

    name: str
    text: str
    outcomes: tuple[str, ...]
    decide: Callable[[Person], str]
    score: Callable[[Person], Fraction] | None
    #: The probability that the rule compares; None where it compares none.
    chance: Callable[[Person], Fraction] | None = None
    #: Whether scores are not fractions, so that engines only ever enclose them.
    curved: bool = False

    def confidence(self, one: Person) -> Fraction:
        """The probability of the decision that is taken: of two outcomes the first is the one of low scores."""
        assert self.chance is not None
        chance = self.chance(one)
        return chance if self.decide(one) == self.outcomes[1] else 1 - chance


@dataclass(frozen=True)
class Said:
    """A condition, demand or term, as a text and as a function."""

    text: str
    of: Callable[[People], object]


@dataclass(frozen=True)
class Case:
    """A property, and all that decides what it comes to."""

    names: tuple[str, ...]
    models: tuple[Model, ...]
    differ: tuple[str, ...]
    mode: str
    relax: Mapping[str, int | None]
    targets: tuple[Said, ...]  # asked of everybody alone
    ordered: tuple[Said, ...]  # asked of the pair
    premises: tuple[Said, ...]
    demand: Said
    sure: tuple[Said, ...] = ()

    def spec(self, *requires: str, under: str = "", law: str = "") -> str:
        """The spec, with these lines for the demands; asked ``under`` the distribution of that name, of a table or as
        the lines of a ``law`` say.
        """
        models = "\n".join(model.text for model in self.models)
        lines = [f"compare {', '.join(self.names)} : P"]
        if self.differ:
            mode = f"{self.mode} " if len(self.differ) > 1 else ""
            lines.append(f"differ in {mode}{', '.join(self.differ)}")
        lines += [
            f"regardless of {name}" if by is None else f"within {by} in {name}" for name, by in self.relax.items()
        ]
        lines += [f"among {said.text}" for said in (*self.targets, *self.ordered, *self.premises)]
        lines += [f"when {said.text}" for said in self.sure]
        lines += [f"under {under}"] if under else []
        lines += [f"require {require}" for require in requires]
        body = "\n".join(f"  {line}" for line in lines)
        law = law or f'  empirical from "{under}.csv"\n'
        rows = f"distribution {under} over P\n{law}" if under else ""
        return f"{DOMAIN}protected sex\n{rows}{models}\nproperty p {{\n{body}\n}}\n"

    def tuples(self) -> list[People]:
        """Everybody that the property compares, models left aside."""
        everybody = [dict(zip(VALUES, values, strict=True)) for values in product(*VALUES.values())]
        inside = [one for one in everybody if all(said.of({"": one}) for said in self.targets)]
        if len(self.names) == 1:
            return [{self.names[0]: one} for one in inside]
        found: list[People] = [{self.names[0]: one} for one in inside]
        for name in self.names[1:]:
            found = [
                {**people, name: one}
                for people, one in product(found, inside)
                if all(self._comparable(earlier, one) for earlier in people.values())
            ]
        return [people for people in found if all(said.of(people) for said in self.ordered)]

    def _comparable(self, a: Person, b: Person) -> bool:
        apart = [a[name] != b[name] for name in self.differ]
        if not (all(apart) if self.mode == "each" else any(apart)):
            return False
        for name in VALUES:
            if name in self.differ:
                continue
            if name not in self.relax:
                if a[name] != b[name]:
                    return False
            elif (by := self.relax[name]) is not None and abs(a[name] - b[name]) > by:  # type: ignore[operator]
                return False
        return True

    @cached_property
    def asked(self) -> list[People]:
        """Those of whom the premise is true, and of whom models are as sure as is asked."""
        asked = (*self.premises, *self.sure)
        return [people for people in self.tuples() if all(said.of(people) for said in asked)]

    def share(self) -> Fraction | None:
        """The share of units in question that no tuple breaks; None where there is no unit in question."""
        asked, unfair = self.judged_units
        return Fraction(len(asked) - len(unfair), len(asked)) if asked else None

    def share_under(self, chance: Callable[[Person], Fraction]) -> Fraction | None:
        """The share of the mass of those in question that lies in fair units; None where they have none."""
        asked, unfair = self.judged_units
        fair, total = Fraction(0), Fraction(0)
        for values in product(*VALUES.values()):
            one = dict(zip(VALUES, values, strict=True))
            if all(said.of({"": one}) for said in self.targets) and self.unit_of(one) in asked:
                total += chance(one)
                fair += chance(one) if self.unit_of(one) not in unfair else 0
        return fair / total if total else None

    @cached_property
    def judged_units(self) -> tuple[set[object], set[object]]:
        """The units in question, and the unfair ones of them."""
        asked, unfair = set[object](), set[object]()
        for people in self.asked:
            for unit in map(self.unit_of, self._ends(people)):
                asked.add(unit)
                if not self.demand.of(people):
                    unfair.add(unit)
        return asked, unfair

    def unit_of(self, one: Person) -> object:
        """The unit that an individual lies in."""
        if len(self.names) == 1 or self.relax or self._named is not None:
            return tuple(one.values())
        return tuple(value for name, value in one.items() if name not in self.differ)

    def _ends(self, people: People) -> list[Person]:
        """Whose units a tuple is in."""
        return [people[name] for name in self.names if self._named in (None, name)]

    @property
    def _named(self) -> str | None:
        """Of several the one whom conditions name without the others."""
        if len(self.names) == 1:
            return None
        said = [*self.ordered, *self.premises]
        named = {name for each in said for name in self.names if f"{name}." in each.text or f"({name})" in each.text}
        return named.pop() if len(named) == 1 else None


def case(
    random: Random,
    scored: Callable[[str, Random], Model] | None = None,
    *,
    alone: float = 0.35,
    names: tuple[str, ...] = (),
) -> Case:
    """A random property; ``scored`` draws the two models with a score, ``alone`` is how often it is about one.

    ``names`` says instead who it is about.
    """
    names = names or (("a",) if random.random() < alone else ("a", "b"))
    draw = scored or _scored
    models = (draw("old", random), draw("new", random), _graded("grade", random))
    differ: tuple[str, ...] = ()
    relax: dict[str, int | None] = {}
    if len(names) > 1:
        # An attribute in which so many differ has as many values.
        some = ["sex", "job", "x", "y"] if len(names) == 2 else ["job", "x", "y"] if len(names) == 3 else ["y"]
        differ = tuple(random.sample(some, random.choice([1, 1, 2]) if len(names) < 4 else 1))
        for name in ("x", "y"):
            if name not in differ and random.random() < 0.25 / (len(names) - 1):
                relax[name] = random.choice([None, 1]) if len(names) == 2 else 1
    targets = (_about_all(random),) if random.random() < 0.3 else ()
    ordered = (_attributes(random, names),) if len(names) > 1 and random.random() < 0.4 else ()
    premises = (_output(random, names, models),) if random.random() < 0.3 else ()
    return Case(
        names, models, differ, random.choice(["any", "each"]), relax, targets, ordered, premises,
        _formula(random, names, models, 2), _sure(random, names, models),
    )  # fmt: skip


# ---- distributions -----------------------------------------------------------------------------


def law(random: Random) -> tuple[str, Callable[[Person], Fraction]]:
    """A random distribution: its lines, and how probable somebody is."""
    if random.random() < 0.2:
        size = math.prod(len(values) for values in VALUES.values())
        return "  uniform\n", lambda one: Fraction(1, size)
    lines: list[str] = []
    tables: dict[tuple[str, object], dict[object, Fraction]] = {}
    for name, values in VALUES.items():
        parent = random.choice([None, "sex"]) if name != "sex" else None
        for given in VALUES[parent] if parent else [None]:
            parts = [random.choice([0, 1, 2, 3]) for _ in values]
            parts[random.randrange(len(parts))] = 0
            parts[random.randrange(len(parts))] += 20 - sum(parts)
            table = {value: Fraction(part, 20) for value, part in zip(values, parts, strict=True)}
            tables[name, given] = table
            entries = ", ".join(f"{value} : {float(chance)}" for value, chance in table.items())
            lines.append(f"  {name} : table {{ {entries} }}{'' if given is None else f' given {parent} = {given}'}")

    def chance(one: Person) -> Fraction:
        of = [tables[name, None if (name, None) in tables else one["sex"]][one[name]] for name in VALUES]
        return math.prod(of, start=Fraction(1))

    return "\n".join(lines) + "\n", chance


# ---- models ------------------------------------------------------------------------------------


def _scored(name: str, random: Random) -> Model:
    weights = {key: Fraction(random.randint(-4, 4), random.choice([1, 1, 2, 5])) for key in ("x", "y")}
    bonus, sexed = Fraction(random.randint(-3, 3)), Fraction(random.choice([0, 0, 1, -1, 2]))
    job = random.choice(VALUES["job"])
    constant = Fraction(random.randint(-4, 4))

    def score(one: Person) -> Fraction:
        total = constant + sum(weight * one[key] for key, weight in weights.items())  # type: ignore[operator]
        return total + (bonus if one["job"] == job else 0) + (sexed if one["sex"] == "m" else 0)

    terms = [f"{_number(weight)} * {key}" for key, weight in weights.items()]
    terms += [f"{_number(bonus)} * (job = {job})", f"{_number(sexed)} * (sex = m)", _number(constant)]
    return ruled(name, f"score = {' + '.join(terms)}", score, random)


def ruled(
    name: str, source: str, score: Callable[[Person], Fraction], random: Random, *, by_chance: float = 0.4
) -> Model:
    """A model that grants above a score of 0, or from it on; ``by_chance``, how often, by the logistic of its score."""
    relation = random.choice([">", ">="])
    rule, limit, chance = "score", Fraction(0), None
    if random.random() < by_chance:
        level = random.choice([Fraction(1, 2), Fraction(3, 10), Fraction(9, 10)])
        rule, limit = "probability", _logarithm(level / (1 - level))

        def chance(one: Person) -> Fraction:
            return logistic(score(one))

    shown = "0" if chance is None else f"{level * 100}%"
    text = f"model {name} : P -> {{ reject < grant }}\n  {source}\n  grant when {rule} {relation} {shown}\n"

    def decide(one: Person) -> str:
        return "grant" if RELATIONS[relation](score(one), limit) else "reject"

    return Model(name, text, ("reject", "grant"), decide, score, chance)


@cache
def logistic(score: Fraction) -> Fraction:
    """``1 / (1 + exp(-score))``, to 40 digits: sums that are nearer to 0 have come out of equal terms."""
    with localcontext() as context:
        context.prec = 60
        odds = (-(Decimal(score.numerator) / score.denominator)).exp()
        return Fraction(round(1 / (1 + odds), 40))


def _logarithm(number: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        return Fraction(round((Decimal(number.numerator) / number.denominator).ln(), 40))


def _graded(name: str, random: Random) -> Model:
    least, job = random.randint(0, 3), random.choice(VALUES["job"])
    first, then = random.sample(["low", "mid", "high"], 2)
    last = random.choice(["low", "mid", "high"])
    text = (
        f"model {name} : P -> {{ low < mid < high }}\n  first {first} when y > {least}\n"
        f"  then {then} when job = {job} and sex = f\n  otherwise {last}\n"
    )

    def decide(one: Person) -> str:
        if one["y"] > least:  # type: ignore[operator]
            return first
        return then if one["job"] == job and one["sex"] == "f" else last

    return Model(name, text, ("low", "mid", "high"), decide, None)


def _number(value: Fraction) -> str:
    whole = value * 10
    return str(value.numerator) if value.denominator == 1 else f"{'-' if value < 0 else ''}{abs(whole) / 10 + 0.0:.1f}"


# ---- conditions --------------------------------------------------------------------------------


def _about_all(random: Random) -> Said:
    """A condition on everybody by itself; the function is given the individual under the empty name."""
    if random.random() < 0.5:
        least = random.randint(0, 1)
        return Said(f"y > {least}", lambda people: people[""]["y"] > least)  # type: ignore[operator]
    job = random.choice(VALUES["job"])
    return Said(f"job != {job}", lambda people: people[""]["job"] != job)


def _attributes(random: Random, names: tuple[str, ...]) -> Said:
    """A condition on the attributes of the pair, or of one of it."""
    relation, who = random.choice(["<=", ">=", "<"]), random.choice(names)
    kind = random.randrange(3)
    if kind == 0 and len(names) > 1:
        key = random.choice(["x", "y"])
        one, other = names[-2:]
        return Said(f"{one}.{key} {relation} {other}.{key}", lambda p: RELATIONS[relation](p[one][key], p[other][key]))
    if kind == 1:
        return Said(f"{who}.sex = f", lambda p: p[who]["sex"] == "f")
    limit = random.randint(1, 2)
    return Said(f"{who}.y {relation} {limit}", lambda p: RELATIONS[relation](p[who]["y"], limit))


def _output(random: Random, names: tuple[str, ...], models: tuple[Model, ...]) -> Said:
    """A comparison of what models give."""
    kind, who = random.randrange(4), random.choice(names)
    other = names[-1] if who == names[0] else names[0]
    relation = random.choice(list(RELATIONS))
    model = random.choice(models)
    if kind == 0:
        outcome = random.choice(model.outcomes)

        def ranked(p: People) -> bool:
            return RELATIONS[relation](model.outcomes.index(model.decide(p[who])), model.outcomes.index(outcome))

        return Said(f"{model.name}({who}) {relation} {outcome}", ranked)
    if kind == 1:
        second = model if model.score is None else random.choice(models[:2])

        def compared(p: People) -> bool:
            ranks = [each.outcomes.index(each.decide(p[name])) for each, name in ((model, who), (second, other))]
            return RELATIONS[relation](*ranks)

        return Said(f"{model.name}({who}) {relation} {second.name}({other})", compared)
    if kind == 2:
        listed = random.sample(model.outcomes, random.randint(1, len(model.outcomes)))
        return Said(f"{model.name}({who}) in {{ {', '.join(listed)} }}", lambda p: model.decide(p[who]) in listed)
    left, right = _sum(random, names, models), _sum(random, names, models)
    while {*_NAMED.findall(left.text)} & {*_NAMED.findall(right.text)}:
        # What stands on both sides may cancel, and then names nobody.
        right = _sum(random, names, models)
    return Said(f"{left.text} {relation} {right.text}", lambda p: RELATIONS[relation](left.of(p), right.of(p)))


def _sure(random: Random, names: tuple[str, ...], models: tuple[Model, ...]) -> tuple[Said, ...]:
    """How sure a model has to be of its decision, of one or of both."""
    known = [model for model in models if model.chance is not None]
    if not known or random.random() < 0.6:
        return ()
    said: list[Said] = []
    for who in random.sample(names, random.randint(1, len(names))):
        model, relation = random.choice(known), random.choice([">", ">="])
        level = random.choice([Fraction(7, 10), Fraction(95, 100)])
        said.append(_surely(model, who, relation, level))
    return tuple(said)


def _surely(model: Model, who: str, relation: str, level: Fraction) -> Said:
    text = f"{model.name}.confidence({who}) {relation} {level * 100}%"
    return Said(text, lambda p: RELATIONS[relation](model.confidence(p[who]), level))


def _sum(random: Random, names: tuple[str, ...], models: tuple[Model, ...]) -> Said:
    parts = [_term(random, names, models) for _ in range(random.choice([1, 1, 2]))]
    factors = [random.choice([1, 1, 2, 3]) for _ in parts]
    text = " + ".join(
        part.text if factor == 1 else f"{factor} * {part.text}" for factor, part in zip(factors, parts, strict=True)
    )
    constant = random.choice([0, 0, 1, 2])
    return Said(
        f"{text} + {constant}" if constant else text,
        lambda p: constant + sum(f * part.of(p) for f, part in zip(factors, parts, strict=True)),  # type: ignore[operator]
    )


def _term(random: Random, names: tuple[str, ...], models: tuple[Model, ...]) -> Said:
    kind, who, model = random.randrange(4), random.choice(names), random.choice(models[:2])
    scored, chance = model.score, model.chance
    assert scored is not None
    if chance is not None and random.random() < 0.4:
        other = next((each for each in models if each is not model and each.chance is not None), model)
        against, last = other.chance, names[-1]
        assert against is not None
        if kind <= 1 and (other is not model or last != who):
            text = f"abs({model.name}.probability({who}) - {other.name}.probability({last}))"
            return Said(f"10 * {text}", lambda p: 10 * abs(chance(p[who]) - against(p[last])))
        return Said(f"{model.name}.probability({who})", lambda p: chance(p[who]))
    if kind <= 1:
        return Said(f"{model.name}.score({who})", lambda p: scored(p[who]))
    if kind == 2:
        key = random.choice(["x", "y"])
        return Said(f"{who}.{key}", lambda p: p[who][key])
    first, last = names[0], names[-1]
    if random.random() < 0.5:
        key = random.choice(["x", "y"])
        if first != last:
            return Said(f"abs(a.{key} - b.{key})", lambda p: abs(p["a"][key] - p["b"][key]))  # type: ignore[operator]
        return Said(f"abs(a.{key} - 1)", lambda p: abs(p["a"][key] - 1))  # type: ignore[operator]
    second = random.choice(models[:2]).score
    other = next(each for each in models if each.score is second)
    assert second is not None
    return Said(
        f"abs({model.name}.score({first}) - {other.name}.score({last}))",
        lambda p: abs(scored(p[first]) - second(p[last])),
    )


def _formula(random: Random, names: tuple[str, ...], models: tuple[Model, ...], depth: int) -> Said:
    kind = random.randrange(6) if depth else 0
    if kind <= 2:
        return _output(random, names, models)
    if kind == 3:
        part = _formula(random, names, models, depth - 1)
        return Said(f"not ({part.text})", lambda p: not part.of(p))
    parts = [
        _formula(random, names, models, depth - 1),
        _attributes(random, names) if random.random() < 0.3 else _formula(random, names, models, depth - 1),
    ]
    word, joined = ("and", all) if kind == 4 else ("or", any)
    return Said(f" {word} ".join(f"({part.text})" for part in parts), lambda p: joined(part.of(p) for part in parts))
