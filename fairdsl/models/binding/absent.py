"""People who lack a value, as a model reads them: NaN, or an empty text.

A file's NaN is nothing that exact arithmetic knows. So a number that may be missing is read as two, what it is where
somebody has it (0 elsewhere) and whether it is missing, beside a mark that stands for the NaN (:class:`Absent`). Who
does something with NaN, an imputer or a tree with default directions, takes the mark away and says by :func:`filled`
what the number is then. Everything else passes the mark on, without knowing of it, as it would pass on the NaN; where
one reaches a score or a test, the file makes no decision about those people, and is refused (:func:`check_read`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Member, Relation, Variable
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput
from fairdsl.models import errors, exact
from fairdsl.models.basis import TREE_RELATIONS, Affine, Basis, Pick, add, apply, dense, stack, take
from fairdsl.models.graph import GraphInputs, ImportedGraph
from fairdsl.models.marks import Absent
from fairdsl.source import Span

#: Beyond the ends that an attribute may have, and all numbers that a file reads.
_BEYOND = 2.0**1000
#: Relations that a number below all thresholds meets.


def codes_of_missing(forms: Sequence[Form], domain: Domain) -> tuple[Fraction | None, ...]:
    """For each feature the number that says that it is missing; None where it never is.

    What somebody lacks is read as it stands or not at all (``semantics/models/features.py``).
    """
    found: list[Fraction | None] = []
    for form in forms:
        read = [item.attribute for item, _ in form.terms if isinstance(item, AttributeInput)]
        codes = [code for attribute in read if (code := domain.attributes[attribute].missing) is not None]
        if codes and form != Form.of(AttributeInput(read[0])):
            raise ValueError("a sum of what may be missing is not a feature")
        found.append(codes[0] if codes else None)
    return tuple(found)


def may_lack(given: GraphInputs, forms: Sequence[Form], domain: Domain) -> tuple[int, ...]:
    """The places of the numbers that a file reads and somebody may lack; what is text has a text for it."""
    numbers = [item.dtype.startswith("float") for item in given.inputs for _ in range(item.width)]
    codes = codes_of_missing(forms, domain)
    return tuple(place for place, code in enumerate(codes) if code is not None and numbers[place])


def marked(basis: Basis, inputs: Sequence[Affine], places: Sequence[int]) -> list[Affine]:
    """The inputs with marks at those places, counted over all of them; to be called once, right behind the inputs."""
    if not places:
        return list(inputs)
    count, first = len(places), len(basis.blocks)
    ends = np.cumsum([value.size for value in inputs])
    owners = [int(np.searchsorted(ends, place, side="right")) for place in places]
    present = tuple(
        (owner, place - int(ends[owner]) + inputs[owner].size) for owner, place in zip(owners, places, strict=True)
    )
    basis.input((count,))
    basis.input((count,))
    basis.absent = Absent(tuple(places), present, first, first + 1)
    found = []
    for number, value in enumerate(inputs):
        units = np.full(value.size, -1, dtype=np.int64)
        for mark, (owner, unit) in enumerate(present):
            if owner == number:
                units[unit] = mark
        marks = Affine(value.shape, {first: Pick(units, np.ones(value.size))}, exact.zeros((value.size,)))
        found.append(add(value, marks, basis) if (units >= 0).any() else value)
    return found


def given_forms(graph: ImportedGraph, forms: Sequence[Form], domain: Domain) -> tuple[Form, ...]:
    """What fills the inputs and the units beside them, where ``forms`` are what the spec gives the file."""
    absent = graph.basis.absent
    if absent is None:
        return tuple(forms)
    filling, lacks = list(forms), []
    for place in absent.places:
        ((item, _),) = forms[place].terms
        assert isinstance(item, AttributeInput)
        code = domain.attributes[item.attribute].missing
        assert code is not None
        lacking = Form.of(IndicatorInput(Member(variable=Variable(item.attribute), values=frozenset({code}))))
        filling[place] = forms[place] + lacking.scaled(-code)
        lacks.append(lacking)
    return (*filling, *(Form() for _ in lacks), *lacks)


def filled_in(absent: Absent | None, fed: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a file is fed, [n, numbers], as its inputs and the units beside them have it."""
    if absent is None:
        return fed
    places = list(absent.places)
    lacks = np.isnan(fed[:, places]).astype(np.float64)
    known = fed.copy()
    known[:, places] = np.nan_to_num(fed[:, places])
    return np.concatenate([known, np.zeros_like(lacks), lacks], axis=1)


def marks_of(basis: Basis, value: Affine) -> NDArray[np.bool_]:
    """Which elements are NaN where which number is missing, [elements, numbers that may be]."""
    absent = basis.absent
    if absent is None or absent.nan not in value.parts:
        return np.zeros((value.size, 0 if absent is None else len(absent.places)), dtype=np.bool_)
    return np.asarray(dense(value.parts[absent.nan], len(absent.places)) != 0, dtype=np.bool_)


def lacking(basis: Basis, value: Affine) -> Affine:
    """For each element 1 where it is NaN, and 0 elsewhere."""
    marks = marks_of(basis, value)
    absent = basis.absent
    assert absent is not None
    lacks = basis.units(absent.lacks, (len(absent.places),))
    if (marks.sum(axis=1) <= 1).all():
        return apply(marks.astype(np.float64), lacks, value.shape, basis)
    raise ValueError("a sum of several numbers that may be missing")


def filled(basis: Basis, value: Affine, numbers: Sequence[Fraction]) -> Affine:
    """The value with these ``numbers``, one an element, in the place of NaN.

    ValueError where an element depends on more than the one number that may be missing.
    """
    marks = marks_of(basis, value)
    absent = basis.absent
    if absent is None or not marks.any():
        return value
    parts = {number: part for number, part in value.parts.items() if number != absent.nan}
    without = Affine(value.shape, parts, value.bias)
    steps = np.full(marks.shape, Fraction(0), dtype=object)
    for element in np.flatnonzero(marks.any(axis=1)).tolist():
        place = int(np.argmax(marks[element]))
        if marks[element].sum() > 1 or _units_of(basis, without, element) != {absent.present[place]}:
            raise ValueError("a sum of several numbers of which one may be missing")
        steps[element, place] = numbers[element] - Fraction(value.bias[element])
    lacks = basis.units(absent.lacks, (len(absent.places),))
    return add(without, apply(exact.from_rationals(steps), lacks, value.shape, basis), basis)


def _units_of(basis: Basis, value: Affine, element: int) -> set[tuple[int, int]]:
    """The units that one element depends on."""
    one = take(value, np.array([element]))
    return {
        (number, unit)
        for number, part in one.parts.items()
        for unit in np.flatnonzero(dense(part, basis.width(number))[0]).tolist()
    }


def with_directions(
    basis: Basis,
    features: Affine,
    feature: NDArray[np.int64],
    relation: NDArray[np.int8],
    threshold: NDArray[np.float64],
    met: NDArray[np.bool_],
) -> tuple[Affine, NDArray[np.int64]]:
    """Features without marks, and which of them each node tests, so that what is missing meets the tests ``met``.

    A missing number is one above all thresholds, or one below them: a second feature for the nodes that need it.
    ValueError where no number does it.
    """
    lackable: NDArray[np.bool_] = np.asarray(marks_of(basis, features).any(axis=1))
    if not lackable.any():
        return features, feature
    below = np.isin(relation, [place for place, each in enumerate(TREE_RELATIONS) if each.downwards])
    equal = relation == TREE_RELATIONS.index(Relation.EQ)
    unequal = relation == TREE_RELATIONS.index(Relation.NE)
    tested: NDArray[np.bool_] = np.take(lackable, feature)
    if (tested & ((equal & met) | (unequal & ~met))).any():
        raise ValueError("a test whether a number equals another, which a missing one does")
    high = 2 * Fraction(np.abs(threshold).max()) + 1
    places = np.flatnonzero(lackable)
    above = filled(basis, features, [high] * features.size)
    beneath = filled(basis, take(features, places), [-high] * len(places))
    second = np.full(features.size, -1, dtype=np.int64)
    second[places] = features.size + np.arange(len(places))
    goes_below = np.asarray(tested & ~equal & ~unequal & (below == met))
    return stack([above, beneath], basis), np.where(goes_below, second[feature], feature)


def within_reach(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """What trees compare with. An infinity, which asks whether a number is missing, is beyond all numbers as well."""
    if np.isnan(thresholds).any():
        raise ValueError("compares with NaN")
    return np.clip(thresholds, -_BEYOND, _BEYOND)


def check_read(graph: ImportedGraph, forms: Sequence[Form], domain: Domain, span: Span | None) -> None:
    """Raises DiagnosticError where NaN comes through to a score, a test or a unit."""
    lackable = may_lack(graph, forms, domain)
    absent = graph.basis.absent
    if not lackable:
        return
    if absent is None:
        _refuse(graph, forms, domain, lackable[0], span)
    for value in (*_read(graph.basis), *(output.scores for output in graph.outputs)):
        for mark in np.flatnonzero(marks_of(graph.basis, value).any(axis=0)).tolist():
            _refuse(graph, forms, domain, absent.places[mark], span)


def _read(basis: Basis) -> Iterator[Affine]:
    """What blocks read, and what nodes take for whole numbers; of what is tested the elements that are."""
    for block in basis.blocks:
        if block.argument is not None:
            yield block.argument
        if block.terms is not None:
            yield block.terms.features
        if block.trees is not None:
            yield take(block.trees.features, np.unique(block.trees.feature[block.trees.shape.inner]))
        if block.indicators is not None:
            yield take(block.indicators.features, np.unique([test.feature for test in block.indicators.tests]))
    yield from (whole.value for whole in basis.whole)


def _refuse(graph: ImportedGraph, forms: Sequence[Form], domain: Domain, place: int, span: Span | None) -> NoReturn:
    ((item, _),) = forms[place].terms
    assert isinstance(item, AttributeInput)
    name = domain.attributes[item.attribute].name
    reason = "it computes with the number of people who have none, and of those it decides nothing"
    remedy = "train with an imputer in the pipeline, or trees that take NaN; or declare it without `or missing`"
    raise DiagnosticError(errors.input_not_bound(graph.path, [name], [], reason, span, remedy))
