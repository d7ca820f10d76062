"""Assertions as inequalities between sums: what bounds, samples and scripts are computed from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.vnnlib.read import Expression, List, Query, Word
from fairdsl.source.numbers import read_number

_NUMBER = re.compile(r"-?[0-9]{1,800}(?:\.[0-9]{0,400})?(?:[eE][-+]?[0-9]{1,3})?")
_FORMULA = "a formula has `and`, `or`, relations, `+`, `-`, `*`, decimals, and the declared inputs and outputs"
_LINEAR = "write a sum of numbers times variables: products of variables are not solved here"

Interval = tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class Atom:
    """``sum of terms + constant <= 0``, or ``< 0``."""

    terms: Mapping[str, Fraction]
    constant: Fraction
    strict: bool


@dataclass(frozen=True, slots=True)
class Junction:
    """All of its parts (``every``), or one of them at least."""

    every: bool
    parts: tuple[Formula, ...]


Formula = Atom | Junction
_Sum = tuple[dict[str, Fraction], Fraction]


def formula_of(query: Query) -> Junction:
    """All assertions of a query; DiagnosticError (E0624) for what is not a linear formula over its variables."""
    known = frozenset(name for copy in query.copies for name in (*copy.inputs, *copy.outputs))
    return Junction(True, tuple(_formula(query, part, known) for part in query.assertions))


def _formula(query: Query, part: Expression, known: frozenset[str]) -> Formula:
    match part:
        case List(parts=(Word("and" | "or" as word), _, *_)):
            return Junction(word == "and", tuple(_formula(query, each, known) for each in part.parts[1:]))
        case List(parts=(Word("<=" | ">=" | "<" | ">" | "==" | "!=" as relation), one, other)):
            return _compared(relation, _sum(query, one, known), _sum(query, other, known))
    return query.refuse(part, "this is not a formula of VNN-LIB", _FORMULA)


def _compared(relation: str, one: _Sum, other: _Sum) -> Formula:
    if relation in (">=", ">"):
        return _compared(relation.replace(">", "<"), other, one)
    below, above = _plus(one, other, Fraction(-1)), _plus(other, one, Fraction(-1))
    match relation:
        case "==":
            return Junction(True, (Atom(*below, False), Atom(*above, False)))
        case "!=":
            return Junction(False, (Atom(*below, True), Atom(*above, True)))
    return Atom(*below, relation == "<")


def _sum(query: Query, part: Expression, known: frozenset[str]) -> _Sum:
    match part:
        case Word(text) if text in known:
            return {text: Fraction(1)}, Fraction(0)
        case Word(text) if _NUMBER.fullmatch(text):
            return {}, read_number(text)
        case List(parts=(Word("-"), only)):
            return _plus(({}, Fraction(0)), _sum(query, only, known), Fraction(-1))
        case List(parts=(Word("+" | "-" as word), first, *others)):
            total = _sum(query, first, known)
            for each in others:
                total = _plus(total, _sum(query, each, known), Fraction(1 if word == "+" else -1))
            return total
        case List(parts=(Word("*"), first, *others)):
            product = _sum(query, first, known)
            for each in others:
                product = _times(query, part, product, _sum(query, each, known))
            return product
    return query.refuse(part, "this is neither a number nor declared", _FORMULA)


def _plus(one: _Sum, other: _Sum, factor: Fraction) -> _Sum:
    found = dict(one[0])
    for name, value in other[0].items():
        found[name] = found.get(name, Fraction(0)) + factor * value
    return {name: value for name, value in found.items() if value}, one[1] + factor * other[1]


def _times(query: Query, part: Expression, one: _Sum, other: _Sum) -> _Sum:
    if one[0] and other[0]:
        query.refuse(part, "this is a product of variables", _LINEAR)
    (names, constant), factor = (one, other[1]) if not other[0] else (other, one[1])
    return {name: value * factor for name, value in names.items() if value * factor}, constant * factor


def holds(formula: Formula, values: Mapping[str, Fraction]) -> bool:
    """Whether it is true of these values, exactly."""
    if isinstance(formula, Atom):
        total = sum((factor * values[name] for name, factor in formula.terms.items()), formula.constant)
        return total < 0 or (total == 0 and not formula.strict)
    return (all if formula.every else any)(holds(part, values) for part in formula.parts)


def truth(formula: Formula, ranges: Mapping[str, Interval]) -> bool | None:
    """Whether it is true, or false, wherever each variable lies in its range; None where that is not seen."""
    if isinstance(formula, Atom):
        return _truth(formula, ranges)
    found = [truth(part, ranges) for part in formula.parts]
    if (not formula.every) in found:
        return not formula.every
    return None if None in found else formula.every


def _truth(atom: Atom, ranges: Mapping[str, Interval]) -> bool | None:
    low: Fraction | None = atom.constant
    high: Fraction | None = atom.constant
    for name, factor in atom.terms.items():
        ends = ranges[name] if factor > 0 else ranges[name][::-1]
        low = None if low is None or ends[0] is None else low + factor * ends[0]
        high = None if high is None or ends[1] is None else high + factor * ends[1]
    if high is not None and (high < 0 or (high == 0 and not atom.strict)):
        return True
    if low is not None and (low > 0 or (low == 0 and atom.strict)):
        return False
    return None


def ends_of(formula: Junction, names: Sequence[str]) -> dict[str, Interval]:
    """Between which numbers the assertions keep each variable by itself."""
    ends: dict[str, Interval] = dict.fromkeys(names, (None, None))
    for atom in _always(formula):
        if len(atom.terms) == 1:
            ((name, factor),) = atom.terms.items()
            if name in ends:
                (low, high), bound = ends[name], -atom.constant / factor
                if factor > 0:
                    high = bound if high is None else min(high, bound)
                else:
                    low = bound if low is None else max(low, bound)
                ends[name] = low, high
    return ends


def equal_inputs(formula: Junction, names: Sequence[str]) -> dict[str, str]:
    """Which inputs the assertions hold equal to another one that stands before them, by name."""
    below = {
        tuple(sorted(atom.terms, key=lambda name: -atom.terms[name]))
        for atom in _always(formula)
        if len(atom.terms) == 2 and not atom.constant and not atom.strict and not sum(atom.terms.values())
    }
    place = {name: number for number, name in enumerate(names)}
    return {
        other: one
        for one, other in below
        if (other, one) in below and one in place and other in place and place[one] < place[other]
    }


def _always(formula: Formula) -> Iterator[Atom]:
    """The atoms that have to hold in any case."""
    if isinstance(formula, Atom):
        yield formula
    elif formula.every or len(formula.parts) == 1:
        for part in formula.parts:
            yield from _always(part)


def script_term(formula: Formula, names: Mapping[str, terms.Term]) -> terms.Term:
    """As SMT-LIB."""
    if isinstance(formula, Atom):
        parts = (terms.product(factor, names[name]) for name, factor in formula.terms.items())
        return f"({'<' if formula.strict else '<='} {terms.total(parts, formula.constant)} 0.0)"
    parts_ = [script_term(part, names) for part in formula.parts]
    return terms.conjunction(parts_) if formula.every else terms.disjunction(parts_)
