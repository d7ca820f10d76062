"""What is asked of a distribution: formulas for the groups that count, and the joint probabilities of their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod

from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.encode.distribution import lay_distribution
from fairdsl.backends.ssat.encode.model import ends, favourable_literal, require_favourable
from fairdsl.backends.ssat.encode.predicate import predicate_literal
from fairdsl.backends.ssat.engine import Engine, Solution
from fairdsl.backends.ssat.gates import Gates, Literal
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.options import Groups, PbEncoding
from fairdsl.backends.ssat.plain import Plain, Simplifier
from fairdsl.clock import NEVER, Deadline
from fairdsl.ir.metric import Comparison
from fairdsl.ir.model import Model
from fairdsl.ir.population import Population, label_column
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.metrics.joint import Bounds, ByKey, Counted, Joint, Key, key_of
from fairdsl.metrics.rate_cells import labels_rated
from fairdsl.metrics.value import decided, value_of
from fairdsl.verdict import Evidence, Value

#: The cells of the subject's keys.
Cells = tuple[int, ...]


class Excluded:
    """The groups that the question leaves out for their few rows; those of probability 0 are barred anyway."""

    def __init__(self, question: GroupMetric, distribution: Distribution, counts: Mapping[Key, Counted]) -> None:
        network, keys = distribution.subject.network, distribution.subject.keys
        # Rows are counted by group and stratum, whatever their label is.
        labelled = question.metric.rate.reads_label and keys[-1] == label_column(network)
        self.keys = keys[:-1] if labelled else keys
        self._cells = [[key_of(cell) for cell in network.cells[key]] for key in self.keys]
        self._least = 0 if question.excluding is None or not counts else question.excluding.rows or 0
        self._rows: dict[Key, int] = {}
        for key, count in counts.items():
            group = key[: len(self.keys)]
            self._rows[group] = self._rows.get(group, 0) + count.rows

    def __contains__(self, cells: Cells) -> bool:
        group = tuple(values[cell] for values, cell in zip(self._cells, cells, strict=False))
        return self._rows.get(group, 0) < self._least

    def groups(self) -> Iterator[dict[int, int]]:
        """The cells of the keys of each, by the keys' places."""
        if self._least:
            for cells in product(*(range(len(values)) for values in self._cells)):
                if cells in self:
                    yield dict(enumerate(cells))


# ---- A question about a distribution as SSAT instances ----------------------------------------------------
# With the keys chosen outermost, then the distribution's chances, then what the distribution leaves open, the value of
#
# * ``favourable`` is the greatest over the keys of Pr[favourable and asked | keys], with everything open decided in
#   its favour: the inner choices are made for each outcome of the chances by itself;
# * ``unfavourable`` is the greatest of Pr[not favourable, or not asked | keys], with everything open decided against
#   it. So 1 less its value at some keys is the least Pr[favourable and asked] there, and 1 less its greatest value the
#   least of all keys. An innermost universal choice under the first formula would say the same;
# * ``met`` and ``missed`` are the same two for the conditions alone, where some are not part of the distribution.
#
# What is open are alternatives of parts, and thresholds that are known to lie between two numbers. Where nothing is,
# the first two add up to 1 at all keys.


class Formulas:
    """The instances of a distribution.

    ``barred`` are cells of some of the keys, by the keys' places, that are not chosen together; ``sums``
    says how weighted sums become clauses. Instances are made
    when they are asked for; making one raises what :mod:`.encode.model` raises of numbers and sizes.
    """

    def __init__(
        self,
        distribution: Distribution,
        barred: Iterable[Mapping[int, int]] = (),
        sums: PbEncoding = PbEncoding.DIAGRAM,
    ) -> None:
        self.distribution = distribution
        self._gates = Gates(sums)
        self._laid = lay_distribution(self._gates, distribution)
        self.keys = self._laid.keys
        for cells in barred:
            self._gates.require(*(literal for place, cell in cells.items() for literal in self.keys[place].but(cell)))
        bounds = ends(distribution.subject.model)
        #: Whether ``favourable`` and ``unfavourable`` do not add up to 1.
        self.open = self._laid.alternatives or len(bounds) > 1
        self._least, self._most = bounds[0], bounds[-1]
        self._left: dict[tuple[str, tuple[Literal, ...]], Plain] = {}
        self._simplifiers: dict[str, Simplifier] = {}

    def left(self, name: str, assumptions: Sequence[Literal]) -> Plain:
        """What is left of one of the formulas under assumptions; made once, for files and again for their answers."""
        key = (name, tuple(assumptions))
        if key not in self._left:
            if name not in self._simplifiers:
                self._simplifiers[name] = Simplifier(getattr(self, name))
            self._left[key] = self._simplifiers[name].under(assumptions)
        return self._left[key]

    def assumptions(self, cells: Mapping[int, int]) -> tuple[Literal, ...]:
        """The literals that put keys, by their places, at cells."""
        return tuple(literal for place, cell in cells.items() for literal in self.keys[place].at(cell))

    @cached_property
    def favourable(self) -> Instance:
        """Favourable, and what is asked beside it."""
        gates = self._gates.copy()
        require_favourable(gates, self._model, self._laid.columns, True, self._most)
        for literal in self._asked(gates):
            gates.require(literal)
        return gates.instance()

    @cached_property
    def unfavourable(self) -> Instance:
        """Not favourable, or not what is asked beside it."""
        gates = self._gates.copy()
        if self.distribution.asked:
            literal = favourable_literal(gates, self._model, self._laid.columns, self._least)
            gates.require(-literal, *(-each for each in self._asked(gates)))
        else:
            require_favourable(gates, self._model, self._laid.columns, False, self._least)
        return gates.instance()

    @cached_property
    def met(self) -> Instance:
        """The conditions that are asked."""
        gates = self._gates.copy()
        for literal in self._asked(gates):
            gates.require(literal)
        return gates.instance()

    @cached_property
    def missed(self) -> Instance:
        """Some of the conditions that are asked does not hold."""
        gates = self._gates.copy()
        gates.require(*(-literal for literal in self._asked(gates)))
        return gates.instance()

    @property
    def _model(self) -> Model:
        return self.distribution.subject.model

    def _asked(self, gates: Gates) -> list[Literal]:
        return [predicate_literal(gates, predicate, self._laid.columns) for predicate in self.distribution.asked]


# ---- From values of SSAT instances to the joint probabilities of a metric ------------------------
# *Enumerate* asks about every group by itself: for the keys a its joint probabilities are D(a) = Pr[a, conditions],
# which the distribution says (:mod:`fairdsl.backends.ssat.conditioning`), and D(a) times the value of the formula at a.
# Groups that the question leaves out for their few rows are not asked about.
#
# *Learn* asks for the greatest and for the least favourable probability of all groups and lets the solver choose them:
# one instance with existential keys, and its complement. Groups of probability 0, and those that the question leaves
# out, are barred. Every other group lies between the two, which is all that a metric of extremes needs: with the
# extreme groups known by themselves it is as exact as with all.

#: More groups than these are not asked one by one, unless it is asked for.
_ONE_BY_ONE = 256


def groups_of(question: GroupMetric, distribution: Distribution) -> int:
    """How many groups there are, impossible ones among them."""
    return prod(len(distribution.subject.network.cells[column]) for column in question.across)


def learnable(question: GroupMetric, distribution: Distribution) -> str | None:
    """Why the extreme groups do not say enough; None where they do."""
    if question.metric.signed:
        return "groups are compared with a privileged one"
    if not _of_extremes(question, distribution):
        return f"`{question.metric.name}` is about every group"
    if distribution.asked:
        return "a condition is not part of the distribution, so that rates are quotients"
    return None


def _of_extremes(question: GroupMetric, distribution: Distribution) -> bool:
    """Whether only the extreme groups of a stratum decide the number; who else is favoured most they leave open.

    A rate has to be that of one key: a share of decisions, where the label has no values that are taken together.
    """
    metric = question.metric
    of_extremes = (Comparison.GAP, Comparison.RATIO, Comparison.MOST, Comparison.LEAST)
    if metric.comparison not in of_extremes or not metric.rate.of_decisions:
        return False
    return all(len(values) == 1 for values in labels_rated(question, distribution.subject.network))


def learns(question: GroupMetric, distribution: Distribution, groups: Groups | None) -> bool:
    """Whether the solver is to find the extreme groups; ``groups`` is what the user asked for."""
    if learnable(question, distribution) is not None or groups is Groups.ENUMERATE:
        return False
    if groups is Groups.LEARN:
        return True
    return not question.metric.comparison.value.names_groups and groups_of(question, distribution) > _ONE_BY_ONE


def settled(
    question: GroupMetric, threshold: Threshold | None, joint: Joint, population: Population, without: Joint | None
) -> bool:
    """Whether no more has to be known: a metric may be one number where the rates of most groups are not."""
    if decided(question, threshold, joint, population, without=without):
        return True
    value = value_of(question, joint, population, Evidence(backend="", method=""), without=without)
    return isinstance(value, Value) and value.number.exact and all(part.number.exact for part in value.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extremes:
    """What learning finds at one value of the keys that define no groups.

    ``keys`` are those of the groups, ``most`` and ``least`` enclose the greatest and the least of their rates.
    """

    keys: tuple[Key, ...]
    most: Bounds
    least: Bounds


class Inquiry:
    """What is asked about one subject, and the joint probabilities that answers come to: key by key or by the extremes.

    ``counts`` are the rows of data by key, ``sums`` how weighted sums become clauses, ``deadline`` when the embedded
    solver has to end. ``found`` are the extreme groups that answers name, ``extremes`` their rates. ``formulas`` are
    those of the question, where somebody has made them.
    """

    def __init__(
        self,
        question: GroupMetric,
        distribution: Distribution,
        *,
        counts: Mapping[Key, Counted],
        deadline: Deadline = NEVER,
        sums: PbEncoding = PbEncoding.DIAGRAM,
        formulas: Formulas | None = None,
    ) -> None:
        self.question, self.distribution, self.formulas = question, distribution, formulas
        self.found: list[tuple[str, Key]] = []
        self.extremes: list[Extremes] = []
        self._deadline, self._sums = deadline, sums
        self._made: dict[tuple[int, str], Engine] = {}
        self._known: dict[tuple[str, tuple[int, ...]], Bounds] = {}
        self._excluded = Excluded(question, distribution, counts)

    def enumerated(self) -> Joint:
        """Every key by itself, but those of groups that are left out for their rows: nothing rests on their rates."""
        masses = self.distribution.masses
        favourable, total = self._nothing_known(masses)
        asked = set(self.one_by_one())
        for place, (cells, mass) in enumerate(masses.items()):
            if cells in asked:
                favourable.bounds[place], total.bounds[place] = self._at(self._shared(()), cells, mass)
        return Joint(favourable=favourable, total=total)

    def one_by_one(self) -> list[Cells]:
        """The keys whose probabilities the metric rests on, where each is asked about by itself."""
        every = self.distribution.asked
        possible = [cells for cells, mass in self.distribution.masses.items() if mass]
        return [cells for cells in possible if cells not in self._excluded and (every or self._rated(cells))]

    def learned(self) -> Joint:
        """The extreme keys by themselves, and for the others that they lie between."""
        masses = self.distribution.masses
        nothing, total = self._nothing_known(masses)
        favourable = dict(nothing)
        candidates = [
            cells for cells, mass in masses.items() if mass and self._rated(cells) and cells not in self._excluded
        ]
        if not candidates:
            return Joint(favourable=favourable, total=total)
        formulas = self._shared(self._barred())
        for setting in dict.fromkeys(self._setting(cells) for cells in candidates):
            inside = [cells for cells in candidates if self._setting(cells) == setting]
            most, greatest = self._extreme(formulas, "favourable", dict(setting))
            least, smallest = self._extreme(formulas, "unfavourable", dict(setting))
            low, high = 1 - smallest.high, greatest.high
            self.extremes.append(
                Extremes(
                    keys=tuple(map(self.key, inside)),
                    most=Bounds(low=low if formulas.open else greatest.low, high=high),
                    least=Bounds(low=low, high=high if formulas.open else 1 - smallest.low),
                )
            )
            for cells in inside:
                favourable[self.key(cells)] = Bounds(low=masses[cells] * low, high=masses[cells] * high)
            for kind, extreme in (("most", most), ("least", least)):
                if extreme is not None and extreme in inside:
                    key = self.key(extreme)
                    alone, _ = self._at(formulas, extreme, masses[extreme])
                    favourable[key] = favourable[key].met(alone)
                    self.found.append((kind, key))
        return Joint(favourable=favourable, total=total)

    def _shared(self, barred: Iterable[Mapping[int, int]]) -> Formulas:
        """The formulas of the question, which are made once."""
        self.formulas = self.formulas or Formulas(self.distribution, barred, self._sums)
        return self.formulas

    def _nothing_known(self, masses: Mapping[Cells, Fraction]) -> tuple[ByKey, ByKey]:
        """What the distribution alone says."""
        keys = [self.key(cells) for cells in masses]
        open_ = [Bounds(low=Fraction(0), high=mass) for mass in masses.values()]
        known = open_ if self.distribution.asked else [Bounds.exactly(mass) for mass in masses.values()]
        return ByKey(keys, open_), ByKey(keys, known)

    def key(self, cells: Cells) -> Key:
        """What stands for the cells of the keys."""
        network = self.distribution.subject.network
        columns = zip(self.distribution.subject.keys, cells, strict=True)
        return tuple(key_of(network.cells[column][cell]) for column, cell in columns)

    def _rated(self, cells: Cells) -> bool:
        """Whether the metric looks at the rate of this key: some are about one value of the label only."""
        if not self.question.metric.rate.reads_label:
            return True
        label = self.key(cells)[-1]
        return any(label in values for values in labels_rated(self.question, self.distribution.subject.network))

    def _at(self, formulas: Formulas, cells: Cells, mass: Fraction) -> tuple[Bounds, Bounds]:
        """Both joint probabilities of one key."""
        values = self.values_at(formulas, cells)

        def both(above: Bounds, below: Bounds | None) -> Bounds:
            high = mass * above.high
            if below is None:
                return Bounds(low=high if above.low is above.high else mass * above.low, high=high)
            return Bounds(low=mass * (1 - below.high), high=high)

        total = both(values["met"], values.get("missed")) if self.distribution.asked else Bounds.exactly(mass)
        return both(values["favourable"], values.get("unfavourable")), total

    def values_at(self, formulas: Formulas, cells: Cells) -> dict[str, Bounds]:
        """The values of the formulas at one key, by their names; the other end of each only where something is open."""
        names = [name for pair in self._pairs for name in (pair if formulas.open else pair[:1])]
        # Cells that neither the distribution nor the formula tells apart have the same value.
        alike = tuple([key.classes[cell] for key, cell in zip(formulas.keys, cells, strict=True)])
        at: Sequence[Literal] | None = None
        for name in names:
            if (name, alike) not in self._known:
                at = at or formulas.assumptions(dict(enumerate(cells)))
                found = self.solved(formulas, name, at)
                self._known[name, alike] = Bounds(low=found.low, high=found.high)
        return {name: self._known[name, alike] for name in names}

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        """The formulas that are asked of, each with the one that has its other end."""
        conditions = [("met", "missed")] if self.distribution.asked else []
        return [*conditions, ("favourable", "unfavourable")]

    def _extreme(self, formulas: Formulas, name: str, setting: Mapping[int, int]) -> tuple[Cells | None, Solution]:
        """The keys that an instance's value is greatest at, where the solver names them, and what it found."""
        found = self.solved(formulas, name, formulas.assumptions(setting))
        if found.choice is None:
            return None, found
        choice = found.choice
        return tuple(
            setting[place] if place in setting else key.cell_in(choice) for place, key in enumerate(formulas.keys)
        ), found

    def solved(self, formulas: Formulas, name: str, assumptions: Sequence[int]) -> Solution:
        """The value of one of the formulas by the embedded solver; whoever knows it from elsewhere overrides this."""
        engine = self._made.get((id(formulas), name))
        if engine is None:
            instance: Instance = getattr(formulas, name)
            engine = self._made[id(formulas), name] = Engine(instance)
        return engine.solve(assumptions, deadline=self._deadline)

    def _setting(self, cells: Cells) -> tuple[tuple[int, int], ...]:
        """The keys that define no groups (strata, the label), by their places, and their cells."""
        across = self.question.across
        keys = self.distribution.subject.keys
        return tuple((place, cell) for place, cell in enumerate(cells) if keys[place] not in across)

    def _barred(self) -> Iterator[dict[int, int]]:
        """Cells of keys that nobody has, and groups that the question leaves out."""
        places = {key: place for place, key in enumerate(self.distribution.keys)}
        for table in self.distribution.conditioned.left:
            for cells in zip(*(table.numbers == 0).nonzero(), strict=True):
                yield {places[key]: int(cell) for key, cell in zip(table.columns, cells, strict=True)}
        yield from self._excluded.groups()
