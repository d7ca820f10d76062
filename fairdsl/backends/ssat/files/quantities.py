"""The numbers that a metric is made of: what an inquiry asks of a solver, written down instead of answered.

Every one is the value of a formula (:mod:`fairdsl.backends.ssat.questions`) with all keys fixed, or, where the extreme
groups are asked for, with the keys fixed that define no groups. It is ``factor`` times the value of an instance in
the normal form of :mod:`fairdsl.backends.ssat.plain`; with nothing left of the instance it is known. The
digest of an instance names it: answers are to the instance that has it, and to no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import chain, count
from typing import Any

from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.solved import Asked
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.engine import Solution, Statistics
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.options import Groups, PbEncoding
from fairdsl.backends.ssat.plain import Plain
from fairdsl.backends.ssat.questions import Cells, Formulas, Inquiry, learns
from fairdsl.ir.domain import show_number
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import key_of
from fairdsl.metrics.rate_cells import quotient_of
from fairdsl.metrics.subject import Subject
from fairdsl.metrics.words import condition, group_words
from fairdsl.replay import rows_counted
from fairdsl.source.numbers import digits_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """The value of ``formula`` with keys at ``cells`` (by their places; a missing one is chosen by the solver).

    ``known_as`` are the names of the formula's variables.
    """

    formula: str
    cells: Mapping[int, int]
    left: Plain
    known_as: Mapping[int, str]

    @property
    def names(self) -> dict[int, str]:
        """Those of the variables of the normal form."""
        numbered = enumerate(self.left.numbers, start=1)
        return {new: self.known_as[old] for new, old in numbered if old in self.known_as}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked about one subject.

    ``learned``: the extreme groups. ``masses`` are Pr[key, conditions in the distribution] by the cells of the keys.
    ``places`` has the place among ``quantities`` by formula and what the cells of all keys are alike in, where every
    group is asked by itself. ``open``: the distribution leaves something open, so that the two
    formulas do not add up to 1; ``asked``: some condition is part of the formulas. ``formulas`` of the ``distribution``
    are None where nothing was asked.
    """

    distribution: Distribution
    formulas: Formulas | None
    learned: bool
    quantities: tuple[Quantity, ...]
    masses: Mapping[Cells, Fraction]
    places: Mapping[tuple[str, Cells], int]
    open: bool
    asked: bool

    def place(self, formula: str, cells: Cells) -> int | None:
        """Which of the quantities is the value of a formula at cells of all keys."""
        return None if self.formulas is None else self.places.get((formula, _alike(self.formulas, cells)))


def asked_of(
    problem: Problem, groups: Groups | None, sums: PbEncoding, distributions: Sequence[Distribution] = ()
) -> tuple[Asking, ...]:
    """What there is to be asked, by distribution; raises what making formulas raises of numbers and sizes.

    ``distributions`` are those of the question, where somebody has made them.
    """
    question, population = question_of(problem), problem.population
    assert population is not None, "there is a distribution"
    counts = rows_counted(question, population, problem.model)
    found = []
    for distribution in distributions or map(Distribution, subjects_of(problem)):
        inquiry = _Recorded(question, distribution, counts=counts, sums=sums)
        found.append(inquiry.asking(learns(question, distribution, groups)))
    return tuple(found)


class _Recorded(Inquiry):
    """Notes what is asked, and answers that nothing is known."""

    def asking(self, learned: bool) -> Asking:
        """Everything that is asked, in the order in which it is."""
        self._learned = learned
        self._recorded: list[Quantity] = []
        self._places: dict[tuple[str, tuple[int, ...]], int] = {}
        if learned:
            self.learned()
        else:
            for cells in self.one_by_one():
                self.values_at(self._shared(()), cells)
        masses = self.distribution.masses
        return Asking(
            distribution=self.distribution,
            formulas=self.formulas,
            learned=learned,
            quantities=tuple(self._recorded),
            masses=masses,
            places=self._places,
            open=self.formulas is not None and self.formulas.open,
            asked=bool(self.distribution.asked),
        )

    def solved(self, formulas: Formulas, name: str, assumptions: Sequence[int]) -> Solution:
        """Unknown."""
        instance: Instance = getattr(formulas, name)
        left = formulas.left(name, assumptions)
        truths = {abs(literal): literal > 0 for literal in assumptions}
        subject = self.distribution.subject
        cells = {
            place: key.cell_in(truths)
            for place, key in enumerate(formulas.keys)
            if not (self._learned and subject.keys[place] in self.question.across)
        }
        if not self._learned:
            self._places[name, _alike(formulas, tuple(cells.values()))] = len(self._recorded)
        self._recorded.append(Quantity(formula=name, cells=cells, left=left, known_as=instance.names))
        # Without a reason, so that it is taken for all groups that nothing tells apart.
        return Solution(low=Fraction(0), high=Fraction(1), choice=None, reason=None, statistics=Statistics())


def _alike(formulas: Formulas, cells: Cells) -> tuple[int, ...]:
    """The same for cells that nothing tells apart."""
    return tuple(key.classes[cell] for key, cell in zip(formulas.keys, cells, strict=True))


# --------------------------------------------------------------------------------------------------
# What files and their manifest say: which number each is, and how numbers become the metric.

_DISTRIBUTIONS = ("the distribution", "the distribution without the influence")
#: The longest name of a group in a file's name.
_LONGEST = 80
_FORMULAS = {
    "favourable": "",
    "unfavourable": "not",
    "met": "met",
    "missed": "missed",
}


def ratio(number: Fraction) -> str:
    """All digits: ``3/5``, ``1``."""
    above = digits_of(number.numerator)
    return above if number.denominator == 1 else f"{above}/{digits_of(number.denominator)}"


def words_at(subject: Subject, cells: Mapping[int, int], population: Network) -> str:
    """Keys at cells, by their places, as the spec would write it."""
    return group_words(tuple(_assigned(subject, cells)), population)


def _assigned(subject: Subject, cells: Mapping[int, int]) -> Iterator[tuple[int, Fraction]]:
    for place, cell in sorted(cells.items()):
        column = subject.keys[place]
        yield column, key_of(subject.network.cells[column][cell])


def slugs_of(subject: Subject, place: int, population: Network) -> tuple[str, ...]:
    """For file names, a word for each cell of a key: no two of them the same, whatever a file system takes as that."""
    column, found = subject.keys[place], dict[str, None]()
    for cell in subject.network.cells[column]:
        words = re.sub(r"[^A-Za-z0-9]+", "-", condition(column, key_of(cell), population)).strip("-").casefold()
        numbered = (f"{words}-{number}" for number in count(2))
        found[next(word for word in chain([words], numbered) if word not in found)] = None
    return tuple(found)


def without_words(question: GroupMetric, population: Network) -> str:
    """Whose influence a distribution is without, as a part of a file's name, with the ranges that are stated."""
    stated = {each.column: f"-{show_number(each.low)}-{show_number(each.high)}" for each in question.drawn_from}
    words = "-".join(f"{population.columns[at].name}{stated.get(at, '')}" for at in question.influence)
    return words.replace("/", "-over-")


def name_of(slugs: Sequence[str], quantity: Quantity, *, without: str, learned: bool) -> str:
    """A part of a file's name that says which number it is: ``sex-female_age-25-44``.

    ``slugs`` are those of its cells, ``without`` whose influence its distribution is without. Within a property a name
    is that of one instance.
    """
    kind = {"favourable": "most", "unfavourable": "least"}[quantity.formula] if learned else _FORMULAS[quantity.formula]
    group = "_".join(slugs)
    if len(group) > _LONGEST:
        group = f"{group[:_LONGEST]}-{sha256(group.encode()).hexdigest()[:8]}"
    parts = [group, kind, f"without-{without}" if without else ""]
    return ".".join(filter(None, parts)) or "everybody"


def meaning(subject: Subject, quantity: Quantity, population: Network, asking: Asking, outcome: str) -> str:
    """What the value is, in a sentence."""
    conditions = " and meets the conditions that the distribution does not take in" if asking.asked else ""
    favoured = f"`{outcome}`{conditions}"
    where = words_at(subject, quantity.cells, population)
    if asking.learned:
        among = "of all groups" + (f" with {where}" if quantity.cells else "")
        if quantity.formula == "favourable":
            return f"the greatest probability {among} that somebody gets {favoured}"
        return f"the greatest probability {among} that somebody does not get {favoured}: 1 less it is the least rate"
    event = {
        "favourable": f"gets {favoured}" + (", with all that is open decided in favour" if asking.open else ""),
        "unfavourable": f"does not get {favoured}, with all that is open decided against",
        "met": "meets the conditions that the distribution does not take in",
        "missed": "does not meet all conditions that the distribution does not take in",
    }[quantity.formula]
    return f"the probability that somebody with {where} {event}"


def comments(asked: Asked, means: str, factor: Fraction, form: str, *, extreme: bool) -> tuple[str, ...]:
    """The first lines of a file."""
    lines = [
        f"{asked.spec}, property {asked.property}",
        *(" ".join(asked.sentence.split()),) * bool(asked.sentence),
        f"model {asked.model}",
        f"the number: {means}",
    ]
    if factor != 1:
        lines.append(f"the number is {ratio(factor)} times what this file comes to")
    return (*lines, *(_CHOSEN,) * extreme, *_FORMS[form])


_CHOSEN = "e, outermost: the group, chosen so that the value is greatest"
_FORMS = {
    "sdimacs": (
        "r: the random variables of the distribution",
        "e, innermost: what follows from these, or is left open by the distribution",
    ),
    "mcc": ("the weighted count of the models that differ in the shown variables: the random ones",),
    "dimacs": (
        "the count of the models that differ in the shown variables, over the numbers `out_of` of manifest.json",
        "shown are the random variables, and bits that count what each of their values weighs",
    ),
}


def combined(
    question: GroupMetric,
    subjects: Sequence[Subject],
    askings: Sequence[Asking],
    names: Sequence[Sequence[str]],
    population: Network,
) -> dict[str, Any]:
    """How numbers become the metric; ``names`` are those of the quantities, distribution by distribution."""
    value = question.metric.formula()
    if question.given_each:
        value = f"for each value of what is given, of which the worst counts: {value}"
    distributions = [
        {
            "law": _DISTRIBUTIONS[distribution],
            "groups": list(_extremes(subject, asking, own, population) if asking.learned
                           else _groups(subject, asking, own, population)),
        }
        for distribution, (subject, asking, own) in enumerate(zip(subjects, askings, names, strict=True))
    ]  # fmt: skip
    value = (
        f"value under {_DISTRIBUTIONS[0]} less value under {_DISTRIBUTIONS[1]}, where value = {value}"
        if len(distributions) > 1
        else value
    )
    return {
        "metric": question.metric.name,
        "value": value,
        "rate": f"p = {quotient_of(question, population)}",
        "laws": distributions,
    }


def _groups(subject: Subject, asking: Asking, names: Sequence[str], population: Network) -> Iterator[dict[str, Any]]:
    """Joint probabilities as products; two ends where something is open."""
    for cells, mass in asking.masses.items():
        entry = {"group": words_at(subject, dict(enumerate(cells)), population), "mass": ratio(mass)}
        if mass and asking.place("favourable", cells) is not None:
            entry |= {"favourable": _joint(asking, names, cells, "favourable", "unfavourable")}
            entry |= {"total": _joint(asking, names, cells, "met", "missed") if asking.asked else "mass"}
        yield entry


def _joint(asking: Asking, names: Sequence[str], cells: Cells, best: str, worst: str) -> str:
    places = [asking.place(each, cells) for each in (best, worst)]
    above, below = (None if place is None else names[place] for place in places)
    return f"from mass * (1 - {below}) to mass * {above}" if asking.open else f"mass * {above}"


def _extremes(subject: Subject, asking: Asking, names: Sequence[str], population: Network) -> Iterator[dict[str, Any]]:
    """The rates of the extreme groups: two quantities each."""
    for most, least in zip(range(0, len(names), 2), range(1, len(names), 2), strict=True):
        cells = asking.quantities[most].cells
        yield {
            "group": f"the extreme ones with {words_at(subject, cells, population)}" if cells else "the extreme ones",
            "max(favourable / total)": names[most],
            "min(favourable / total)": f"1 - {names[least]}",
        }
