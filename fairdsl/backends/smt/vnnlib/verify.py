"""A VNN-LIB query answered as the standard asks of a solver, over real numbers.

    query, networks --bounds--> unsat, or units without a case --samples--> sat --z3, on what is left--> sat or unsat

The box of the inputs is what the assertions say of each by itself. Bounds over it are rounded outwards
(:mod:`fairdsl.numerics.bounds`), so a unit that they settle is settled, and z3 is told the others' bounds as well: it
works in exact arithmetic on the numbers of the files. A point of `sat` is evaluated again, exactly, before it is one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import ClassVar

import numpy as np

from fairdsl.backends.contract import Budget
from fairdsl.backends.smt import terms
from fairdsl.backends.smt.engine import answer_of_z3, solver_name
from fairdsl.backends.smt.recover import number
from fairdsl.backends.smt.terms import Term
from fairdsl.backends.smt.vnnlib.errors import networks_not_given, not_vnnlib
from fairdsl.backends.smt.vnnlib.formula import (
    Interval,
    Junction,
    ends_of,
    equal_inputs,
    formula_of,
    holds,
    script_term,
    truth,
)
from fairdsl.backends.smt.vnnlib.read import Copy, Query, read_declared
from fairdsl.backends.smt.vnnlib.script import decimal
from fairdsl.codec import Document
from fairdsl.diagnostics import DiagnosticError
from fairdsl.models.onnx_network import Network, read_network
from fairdsl.numerics.bounds import LayerBounds, float_layers, outward, preactivation_bounds
from fairdsl.source.reading import content_of, named_in

#: Points that are tried before a solver is asked.
_POINTS = 4096
#: What stands for the end of an input without one, where points are drawn.
_FAR = 100.0
#: Bits after the point of inputs that are tried in the place of the solver's own, which may be no decimals.
_BITS = (8, 23, 52)


class Satisfiability(Enum):
    """The words of the standard."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"
    TIMED_OUT = "timed-out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A tensor and its numbers."""

    #: As the query calls it.
    name: str
    #: Its shape, as the query has it; None in version 1.0, where each number is a variable.
    shape: str | None
    #: Its elements, in row-major order, as decimals.
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified(Document):
    """What became of a query."""

    SCHEMA: ClassVar[str] = "fairdsl.verified/1"

    #: The query's file.
    query: Path
    #: The answer.
    status: Satisfiability
    #: Who answered, or why nobody did.
    detail: str
    #: Of `sat`: the inputs and outputs, in the order in which they are declared.
    assignment: tuple[Assigned, ...] = ()
    #: Of `sat`: whether the assertions hold of what onnxruntime computes at that point; None where it does not run.
    in_onnxruntime: bool | None = None
    #: How long it took.
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Declared:
    """A network of the query, with its file and what is known of its numbers."""

    copy: Copy
    network: Network
    bounds: tuple[LayerBounds, ...]


def verify_query(path: Path, networks: Mapping[str, str], budget: Budget) -> Verified:
    """Answer the query in a file, whose ``networks`` are files by the names that it declares.

    DiagnosticError for a query or a file that is not read here, for networks that are missing, or one too many.
    """
    began = time.monotonic()
    query = read_declared(content_of(path).decode("utf-8", "replace"), str(path))
    files = _files(query, networks)
    formula = formula_of(query)
    ends = ends_of(formula, [name for copy in query.copies for name in copy.inputs])
    read = {file: read_network(file) for file in dict.fromkeys(files.values())}
    declared = [_declared(query, copy, read[files[copy.name]], ends) for copy in query.copies]
    status, detail, inputs = _answer(formula, declared, ends, budget)
    if inputs is None:
        seconds = round(time.monotonic() - began, 3)
        return Verified(query=path, status=status, detail=detail, seconds=seconds)
    values = _evaluated(declared, inputs)
    return Verified(
        query=path,
        status=status,
        detail=detail,
        assignment=tuple(_assigned(declared, values)),
        in_onnxruntime=_deployed(formula, declared, inputs),
        seconds=round(time.monotonic() - began, 3),
    )


def _files(query: Query, networks: Mapping[str, str]) -> dict[str, str]:
    """The file of each declared network; as many as there are networks without an `equal-to`, neither more nor less."""
    own = [copy.name for copy in query.copies if copy.like is None]
    if own == [""]:  # version 1.0 names none
        if len(networks) > 1 or (not networks and query.network is None):
            raise DiagnosticError(networks_not_given(query.source.path, ["f"], list(networks)))
        file = next(iter(networks.values()), None)
        return {"": named_in(query.source.path, query.network or "") if file is None else file}
    if set(own) != set(networks):
        raise DiagnosticError(networks_not_given(query.source.path, own, list(networks)))
    return {copy.name: networks[copy.like or copy.name] for copy in query.copies}


def _declared(query: Query, copy: Copy, network: Network, ends: Mapping[str, Interval]) -> _Declared:
    if (len(copy.inputs), len(copy.outputs)) != (network.inputs, network.outputs):
        what = f"its network `{network.path}` has {network.inputs} inputs and {network.outputs} outputs"
        raise DiagnosticError(not_vnnlib(query.source.path, what, None, "declare as many as the network has"))
    box = [outward(*ends[name]) for name in copy.inputs]
    low, high = (np.array([[each[end] for each in box]]) for end in (0, 1))
    empty = (low > high).any()
    return _Declared(copy, network, () if empty else preactivation_bounds(float_layers(network), low, high))


def _answer(
    formula: Junction, declared: Sequence[_Declared], ends: Mapping[str, Interval], budget: Budget
) -> tuple[Satisfiability, str, dict[str, Fraction] | None]:
    """The answer, who gave it, and the inputs of `sat`."""
    if any(low is not None and high is not None and low > high for low, high in ends.values()):
        return Satisfiability.UNSAT, "no input satisfies the assertions about inputs", None
    ranges = dict(ends)
    for each in declared:
        found = each.bounds[-1]
        ranges |= {
            name: (_finite(low), _finite(high))
            for name, low, high in zip(each.copy.outputs, found.low[0], found.high[0], strict=True)
        }
    if truth(formula, ranges) is False:
        return Satisfiability.UNSAT, "bounds, rounded outwards", None
    for inputs in _drawn(formula, declared, ends, budget):
        return Satisfiability.SAT, "a point that was drawn, evaluated exactly", inputs
    answer = answer_of_z3(_script(formula, declared), budget)
    match answer.status:
        case "unsat":
            return Satisfiability.UNSAT, solver_name(), None
        case "sat":
            for inputs in _near(_inputs(declared, ends, answer.values)):
                if holds(formula, _evaluated(declared, inputs)):
                    short = all(value.denominator & (value.denominator - 1) == 0 for value in inputs.values())
                    rounded = "" if short else "; its decimals are rounded, for the point has none that end"
                    return Satisfiability.SAT, f"{solver_name()}, evaluated exactly{rounded}", inputs
            return Satisfiability.UNKNOWN, "the point of the solver does not satisfy the query", None
    if budget.exhausted or "timeout" in answer.detail or "canceled" in answer.detail:
        return Satisfiability.TIMED_OUT, "the time was up", None
    return Satisfiability.UNKNOWN, answer.detail or answer.status, None


def _finite(value: float) -> Fraction | None:
    return Fraction(float(value)) if isfinite(value) else None


def _drawn(
    formula: Junction, declared: Sequence[_Declared], ends: Mapping[str, Interval], budget: Budget
) -> Iterator[dict[str, Fraction]]:
    """Points that satisfy the query: of those drawn all over the box, and at its corners, as far as floats see them."""
    rng = np.random.default_rng(budget.seed)
    columns = {}
    for name, (low, high) in ends.items():
        least = float(low) if low is not None else (-_FAR if high is None else float(high) - _FAR)
        most = float(high) if high is not None else least + _FAR
        inside = rng.uniform(least, max(least, most), _POINTS)
        columns[name] = np.where(rng.random(_POINTS) < 1 / 4, rng.choice([least, most], _POINTS), inside)
    for name, like in equal_inputs(formula, list(ends)).items():
        columns[name] = columns[like]
    for each in declared:
        points = np.column_stack([columns[name] for name in each.copy.inputs])
        columns |= dict(zip(each.copy.outputs, each.network.near(points).T, strict=True))
    for place in np.flatnonzero(_seen(formula, columns))[:16]:
        inputs = {name: _within(Fraction(float(columns[name][place])), ends[name]) for name in ends}
        if holds(formula, _evaluated(declared, inputs)):
            yield inputs


def _seen(
    formula: Junction, columns: Mapping[str, np.ndarray[tuple[int], np.dtype[np.float64]]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """At which points it is true as floats come out."""
    found = np.full(_POINTS, formula.every)
    for part in formula.parts:
        if isinstance(part, Junction):
            true = _seen(part, columns)
        else:
            total = np.full(_POINTS, float(part.constant))
            for name, factor in part.terms.items():
                total = total + float(factor) * columns[name]
            true = total <= 0
        found = found & true if formula.every else found | true
    return found


def _within(value: Fraction, ends: Interval) -> Fraction:
    low, high = ends
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def _evaluated(declared: Sequence[_Declared], inputs: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """All variables, exactly."""
    values = dict(inputs)
    for each in declared:
        outputs = each.network.at([inputs[name] for name in each.copy.inputs])
        values |= dict(zip(each.copy.outputs, outputs, strict=True))
    return values


def _inputs(
    declared: Sequence[_Declared], ends: Mapping[str, Interval], values: Mapping[str, str]
) -> dict[str, Fraction]:
    """What the solver says of the inputs; one that it says nothing of may be anything in its range."""
    plain = {name.strip("|"): number(value) for name, value in values.items()}
    names = [name for each in declared for name in each.copy.inputs]
    return {name: plain.get(name, _within(Fraction(0), ends[name])) for name in names}


def _near(inputs: Mapping[str, Fraction]) -> Iterator[dict[str, Fraction]]:
    """The point with shorter numbers, which have finite decimals, and at last as it is."""
    for bits in _BITS:
        yield {name: Fraction(round(value * 2**bits), 2**bits) for name, value in inputs.items()}
    yield dict(inputs)


def _deployed(formula: Junction, declared: Sequence[_Declared], inputs: Mapping[str, Fraction]) -> bool | None:
    """Whether the query is true of what onnxruntime computes at the point next to it."""
    values = dict(inputs)
    for each in declared:
        outputs = each.network.run([float(inputs[name]) for name in each.copy.inputs])
        if outputs is None or len(outputs) != len(each.copy.outputs) or not all(map(isfinite, outputs)):
            return None
        values |= {name: Fraction(value) for name, value in zip(each.copy.outputs, outputs, strict=True)}
    return holds(formula, values)


def _assigned(declared: Sequence[_Declared], values: Mapping[str, Fraction]) -> Iterator[Assigned]:
    def shown(names: Sequence[str]) -> tuple[str, ...]:
        return tuple(decimal(values[name], up=False) for name in names)

    for each in declared:
        if not each.copy.tensors:
            for name in (*each.copy.inputs, *each.copy.outputs):
                yield Assigned(name=name, shape=None, values=shown([name]))
            continue
        for (name, shape), names in zip(each.copy.tensors, (each.copy.inputs, each.copy.outputs), strict=True):
            yield Assigned(name=name, shape=shape, values=shown(names))


# ---- the script ------------------------------------------------------------------------------------


def _script(formula: Junction, declared: Sequence[_Declared]) -> str:
    """The query for z3: a unit that bounds settle is a sum, or nothing; of the others their bounds are told."""
    names = {name: terms.symbol(name) for each in declared for name in (*each.copy.inputs, *each.copy.outputs)}
    lines = ["(set-logic QF_LRA)"]
    for place, each in enumerate(declared):
        lines += [f"(declare-const {names[name]} Real)" for name in each.copy.inputs]
        lines += _defined(each, names, f"n{place}")
    lines.append(f"(assert {script_term(formula, names)})")
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def _defined(each: _Declared, names: Mapping[str, Term], prefix: str) -> Iterator[str]:
    """Each unit, layer by layer."""
    current: list[Term | None] = [names[name] for name in each.copy.inputs]
    *hidden, last = zip(each.network.layers, each.bounds, strict=True)
    for depth, (layer, bounds) in enumerate(hidden):
        following: list[Term | None] = []
        for unit in range(layer.width):
            value = _sum(layer.weight.exact[unit], layer.bias.exact[unit], current)
            low, high, slope = float(bounds.low[0, unit]), float(bounds.high[0, unit]), layer.slope.exact[unit]
            name = f"{prefix}.{depth}.{unit}"
            if high <= 0 and slope == 0:
                following.append(None)
                continue
            following.append(name)
            if low >= 0 or slope == 1:
                yield f"(define-fun {name} () Real {value})"
            elif high <= 0:
                yield f"(define-fun {name} () Real {terms.product(Fraction(slope), value)})"
            else:
                yield from _unsettled(name, value, Fraction(slope), (_finite(low), _finite(high)))
        current = following
    layer, _ = last
    for unit, name in enumerate(each.copy.outputs):
        yield f"(define-fun {names[name]} () Real {_sum(layer.weight.exact[unit], layer.bias.exact[unit], current)})"


def _unsettled(name: str, value: Term, slope: Fraction, ends: Interval) -> Iterator[str]:
    yield f"(define-fun {name}.in () Real {value})"
    below = terms.product(slope, f"{name}.in") if slope else "0.0"
    yield f"(define-fun {name} () Real (ite (>= {name}.in 0.0) {name}.in {below}))"
    relations: Sequence[tuple[str, Fraction | None]] = ((">=", ends[0]), ("<=", ends[1]))
    for relation, end in relations:
        if end is not None:
            yield f"(assert ({relation} {name}.in {terms.rational(end)}))"


def _sum(weights: Sequence[Fraction], constant: Fraction, values: Sequence[Term | None]) -> Term:
    product: Callable[[Fraction, Term], Term] = terms.product
    parts = (product(Fraction(w), term) for w, term in zip(weights, values, strict=True) if w and term is not None)
    return terms.total(parts, Fraction(constant))
