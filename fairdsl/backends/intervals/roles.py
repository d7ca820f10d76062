"""What each attribute does in a question: differs, is shared, moves within a relaxation, or plays no part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, prod

import numpy as np

from fairdsl.backends.contract import Refusal, only_pairs
from fairdsl.backends.intervals.network import decision_of, moving_reads
from fairdsl.ir.domain import Attribute, Category
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Predicate, Relation, Who, conjoin, rename, variables
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, SameDecision
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.numerics.restrict import restrict, settle

#: Assignments of the differing attributes that are distinguished at most.
MOST_ASSIGNMENTS = 2**12
#: Comparable pairs of assignments at most, where each has a condition of its own.
_MOST_PAIRS = 2**14
#: Numbers in the tables of contributions at most.
_MOST_ENTRIES = 2**22
#: Values of an attribute at most: positions are 32-bit integers.
_MOST_VALUES = 2**31 - 1
#: Magnitudes up to which no product of two overflows; far beyond any network that was trained.
_LARGEST = 1e140
#: Smaller numbers lose digits in float64.
_SMALLEST = 1e-250
#: Units at most: what a single one is of them must be a float64 number, with room for what it is multiplied with.
_MOST_UNITS = 2**960
#: At most so many positions of a real attribute are distinguished.
_CELLS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The roles of the attributes, by their position in the domain.

    ``sets`` is what domain and target leave of each. ``each`` is what they still ask of an individual and
    ``both`` of a pair. ``shifts`` are relaxed numbers that lie on a line, ``roaming`` those relaxed over all
    their values. ``shared`` take part in the refinement; ``idle`` ones change nothing and count only.
    ``sparse``: not every assignment of the differing attributes is listed. ``own`` is what the individual of a
    unit has to meet beside ``each``, where a share is of those whom a one-sided target names; else None.
    ``anchor`` is what is asked of a pair whose comparisons go beyond that: it says who surely has a partner.
    """

    pair: Pair
    sets: tuple[ValueSet, ...]
    each: Predicate
    both: Predicate
    own: Predicate | None
    anchor: Predicate
    shifts: dict[int, Fraction]
    roaming: tuple[int, ...]
    shared: tuple[int, ...]
    idle: tuple[int, ...]
    fixed: dict[int, Fraction]
    uniform: bool
    sparse: bool
    read: frozenset[int]
    bent: frozenset[int]

    @property
    def individuals(self) -> bool:
        """Whether individuals are counted, not assignments of the shared attributes."""
        return bool(self.pair.relax) or self.own is not None

    @property
    def symmetric(self) -> bool:
        """Whether nothing is asked of the pair as such."""
        return self.both == TRUE


def roles_of(problem: Problem) -> Roles | Refusal:
    """The roles, or the first reason why half-spaces cannot treat the question."""
    pair = problem.question
    if not isinstance(pair, Pair):
        return only_pairs(problem)
    if not isinstance(pair.demand, SameDecision):
        return Refusal(why="it compares decisions, not gaps of scores", span=pair.span, other=True)
    if problem.precision is not None:
        why = "it proves bounds as close as its time allows, and cannot say how close that is"
        return Refusal(why=why, span=problem.precision.span)
    if pair.sure:
        return Refusal(why="it does not ask for the model's confidence", span=pair.sure[0].span)
    rule = problem.model.rule
    if isinstance(rule, ByThreshold) and rule.relation in (Relation.EQ, Relation.NE):
        return Refusal(why="the decision is not a half-line of the score", span=problem.model.span)
    sets = narrow(problem.domain, pair.target)
    inputs = _inputs(problem.model, sets)
    if isinstance(inputs, Refusal):
        return inputs
    read, bent = inputs
    roles = _assigned(problem, pair, sets, read, bent)
    return _refusal(problem, roles) or roles


def _inputs(model: Model, sets: Sequence[ValueSet]) -> tuple[frozenset[int], frozenset[int]] | Refusal:
    """The attributes that the first layer reads, and those among them that it reads through indicators."""
    weighed = model.layers[0].weight.floats.any(axis=0)
    reads = moving_reads(model, sets)
    indicators = np.ones(len(model.inputs), dtype=np.bool_)
    for position, item in enumerate(model.listed):
        if isinstance(item, AttributeInput):
            indicators[position] = False
            reads[position, item.attribute] = True
    compound = np.flatnonzero(weighed & indicators & (reads.sum(axis=1) > 1))
    if compound.size:
        return Refusal(why=_compound(model, int(compound[0])), span=model.span)
    read, bent = reads[weighed].any(axis=0), reads[weighed & indicators].any(axis=0)
    return frozenset(np.flatnonzero(read).tolist()), frozenset(np.flatnonzero(bent).tolist())


def _compound(model: Model, position: int) -> str:
    """What an input on several attributes is: a leaf is one even where each test on the way reads one attribute."""
    if any(position in leaves for leaves in model.one_of):
        return "a leaf of its tree (or list of rules) is a condition on several attributes at once"
    return "the model reads a condition on several attributes at once"


def _assigned(
    problem: Problem, pair: Pair, sets: tuple[ValueSet, ...], read: frozenset[int], bent: frozenset[int]
) -> Roles:
    single = {index: values.low for index, values in enumerate(sets) if values.count == 1 and values.low is not None}
    fixed = {index: value for index, value in single.items() if index not in pair.differ}
    each = _conditions(problem, pair, sets, single)
    relaxed = {entry.attribute: entry.by for entry in pair.relax if entry.attribute not in fixed}
    shifts, roaming = _ways(problem.domain.attributes, sets, relaxed, read, bent)
    counted = problem.quantity is not Quantity.HOLDS
    own = _own(pair, sets, single) if counted else None
    # Whom a relaxed question compares beyond what is in force can only make a certificate harder.
    both = TRUE if pair.relax or own is not None else pair.pair_target
    anchor = pair.pair_target if counted and pair.relax and own is None else TRUE
    conditions = (each, both, anchor, TRUE if own is None else own)
    mentioned = {variable.attribute for condition in conditions for variable in variables(condition)}
    others = [i for i in range(len(sets)) if i not in pair.differ and i not in fixed]
    shared = tuple(i for i in others if i in mentioned or (i in read and i not in roaming))
    uniform = not mentioned & set(pair.differ) and both == anchor == TRUE and own is None
    listed = [values.count for index, values in enumerate(sets) if index in pair.differ]
    return Roles(
        pair=pair,
        sets=sets,
        each=each,
        both=both,
        own=own,
        anchor=anchor,
        shifts=shifts,
        roaming=roaming,
        shared=shared,
        idle=tuple(i for i in others if i not in shared),
        fixed=fixed,
        uniform=uniform,
        sparse=None in listed or prod(count or 0 for count in listed) > MOST_ASSIGNMENTS,
        read=read,
        bent=bent,
    )


def _own(pair: Pair, sets: tuple[ValueSet, ...], single: dict[int, Fraction]) -> Predicate | None:
    """What a one-sided target asks of the one that it names."""
    if pair.one_sided is None:
        return None
    asked = rename(pair.pair_target, {pair.one_sided: Who.EACH})
    return settle(restrict(asked, lambda variable: single.get(variable.attribute)), sets)


def _conditions(problem: Problem, pair: Pair, sets: tuple[ValueSet, ...], single: dict[int, Fraction]) -> Predicate:
    """What ``where`` and target ask beyond the value sets."""
    wanted = conjoin(problem.domain.where, pair.target)
    return settle(restrict(wanted, lambda variable: single.get(variable.attribute)), sets)


def _ways(
    attributes: Sequence[Attribute],
    sets: Sequence[ValueSet],
    relaxed: dict[int, Fraction | None],
    read: frozenset[int],
    bent: frozenset[int],
) -> tuple[dict[int, Fraction], tuple[int, ...]]:
    """How far relaxed attributes that are read move: so far along a line, or over all their values."""
    shifts: dict[int, Fraction] = {}
    roaming = []
    for index, by in relaxed.items():
        if index not in read:
            continue
        whole = isinstance(sets[index], Finite)
        reach = None if by is None else _within(sets[index], Fraction(floor(by)) if whole else by)
        if reach == 0:
            continue
        if reach is None or index in bent or isinstance(attributes[index].type, Category):
            roaming.append(index)
        else:
            shifts[index] = reach
    return shifts, tuple(roaming)


def _within(values: ValueSet, by: Fraction) -> Fraction:
    """No two values are further apart than the ends are."""
    return by if values.low is None or values.high is None else min(by, values.high - values.low)


def _refusal(problem: Problem, roles: Roles) -> Refusal | None:
    reasons = (_unfit(problem, index, roles) for index in range(len(roles.sets)))
    first = next((reason for reason in reasons if reason is not None), None)
    return first or _too_many(problem, roles) or _too_large(problem.model, roles)


def _unfit(problem: Problem, index: int, roles: Roles) -> Refusal | None:
    """Why an attribute's values do not fit its role."""
    attribute, values = problem.domain.attributes[index], roles.sets[index]
    if isinstance(values, Finite):
        if values.count > _MOST_VALUES:
            return Refusal(why=f"`{attribute.name}` has 2^31 values or more", span=attribute.span)
        if index in roles.bent and values.count * _units(problem.model) > _MOST_ENTRIES:
            return Refusal(why=f"`{attribute.name}` has too many values for a table", span=attribute.span)
        return None
    differs = index in roles.pair.differ
    if index in roles.bent:
        return Refusal(why=f"the model reads a condition on the real attribute `{attribute.name}`", span=attribute.span)
    counted = problem.quantity is not Quantity.HOLDS and not differs
    if (values.low is None or values.high is None) and (counted or differs or index not in roles.idle):
        return Refusal(why=f"`{attribute.name}` is unbounded, so it has no uniform measure", span=attribute.span)
    if differs and roles.individuals:
        return Refusal(why=f"`{attribute.name}` is real-valued, so individuals cannot be counted", span=attribute.span)
    return None


def _too_many(problem: Problem, roles: Roles) -> Refusal | None:
    """Why the differing attributes have too many assignments."""
    pair = roles.pair
    counts = [roles.sets[index].count or 0 for index in pair.differ]
    if roles.sparse and not (roles.uniform and pair.mode is Differ.ANY):
        many = f"{prod(counts):,}" if all(counts) else "infinitely many"
        return Refusal(why=f"{many} assignments are compared one by one", span=pair.span)
    if not (roles.symmetric and roles.anchor == TRUE) and prod(counts) ** 2 // 2 > _MOST_PAIRS:
        return Refusal(why=f"{prod(counts) ** 2 // 2:,} pairs each have their own condition", span=pair.span)
    if not roles.sparse and prod(counts) * _units(problem.model) > _MOST_ENTRIES:
        return Refusal(why=f"{prod(counts):,} assignments of a network this wide are too many", span=pair.span)
    if (units := prod(_CELLS if (n := roles.sets[i].count) is None else n for i in roles.shared)) > _MOST_UNITS:
        return Refusal(why=f"one of 2^{units.bit_length() - 1} units is too small a part for float64", span=pair.span)
    return None


def _units(model: Model) -> int:
    """The width of the first layer; a pair of rivals each, where it is the last."""
    width = model.layers[0].width
    return width if len(model.layers) > 1 else max(1, width * (width - 1) // 2)


def _too_large(model: Model, roles: Roles) -> Refusal | None:
    """Why float64 could overflow, or lose numbers: magnitudes through all layers."""
    vanishing = any(_vanishes(array) for layer in model.layers for array in (layer.weight, layer.bias))
    if vanishing or not _bounded(model, roles) or _vanishes(decision_of(model).layer.weight):
        return Refusal(why="numbers this large or small do not fit its floating-point bounds", span=model.span)
    return None


def _bounded(model: Model, roles: Roles) -> bool:
    """Whether all numbers are so small that their products stay finite, the threshold included."""
    if isinstance(model.rule, ByThreshold) and max(abs(model.rule.low), abs(model.rule.high)) > _LARGEST:
        return False
    ends = [abs(end) for values in roles.sets for end in (values.low, values.high) if end is not None]
    reach = max((float(min(end, Fraction(_LARGEST) ** 2)) for end in ends), default=1.0) + 1.0
    with np.errstate(over="ignore"):
        for layer in model.layers:
            reach = float((np.abs(layer.weight.floats).sum(axis=1) * reach + np.abs(layer.bias.floats)).max()) + 1.0
    return reach < _LARGEST


def _vanishes(array: ExactArray) -> bool:
    """Whether some number is so small that its nearest float64 is not within a relative rounding of it."""
    if array.fractions is None:
        return False
    tiny = np.abs(array.floats) < _SMALLEST
    return any(array.fractions[tiny])
