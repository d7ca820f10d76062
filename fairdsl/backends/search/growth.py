"""A box around one candidate, grown for as long as nearly all that is added violates.

This is the *pasting* of the patient rule induction method (PRIM; Friedman and Fisher, *Bump hunting in high-dimensional
data*, Statistics and Computing 9, 1999), begun at a single candidate: sides are moved outwards one after the other, a
number's by steps that double until one fails and are halved from there on, a name's by one more value. What a move
adds, a slab, is sampled (or tried in full where it is small), and taken if enough of it seems to violate. So each slab
meets the aim by itself, and boxes grow along the directions in which a violation stays one. At last outermost layers of
numbers that do not meet the aim by themselves are taken away again, which is PRIM's *peeling*.

A sample of a slab may flatter it, and many slabs are looked at: what share of a box violates is measured afterwards,
by a sample of its own (:mod:`.shares`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget
from fairdsl.backends.search.boxes import Box, Names, Span
from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.sampling import Column

FloatArray = NDArray[np.float64]

#: The part of a slab that has to violate, and the candidates of it that are tried at most.
AIM = 0.9
_TRIED = 64
#: Reals are moved by this part of their range first, by no less than the second, and by no more than so many ranges
#: (where there is no range, of their size).
_FIRST, _LEAST, _MOST = 1 / 64, 1 / 1024, 2**20


@dataclass(slots=True)
class _Face:
    """One side of a box that may be moved: a number's end (-1 or 1), or a name's value to be added (0)."""

    position: int
    direction: int
    value: float
    step: float
    failed: bool = False


def grown(ground: Ground, start: Sequence[float], barred: Sequence[Box], budget: Budget) -> Box:
    """The box that grows around a candidate without meeting those that are ``barred``, as far as the time allows."""
    box = Box.around(start, ground.space.columns)
    faces = list(_faces(ground.space.columns, start))
    while faces and not budget.exhausted:
        left = []
        for face in faces:
            moved = _moved(box, face, ground.space.columns[face.position])
            if moved is None:
                continue
            wider, slab = moved
            taken = not any(wider.meets(other) for other in barred) and _violating(ground, slab) >= AIM
            if taken:
                box = wider
            if _goes_on(face, ground.space.columns[face.position], taken=taken):
                left.append(face)
        faces = left
    return _peeled(ground, start, box, budget)


def _peeled(ground: Ground, start: Sequence[float], box: Box, budget: Budget) -> Box:
    """The box without outermost layers that do not meet the aim: a wide slab may have brought them along."""
    for position, column in enumerate(ground.space.columns):
        step = 1.0 if column.whole else _LEAST * _length(column, start[position])
        for direction in (-1, 1):
            while (parts := _split(box, position, direction, step, start[position], column)) is not None:
                inner, layer = parts
                if budget.exhausted or _violating(ground, layer) >= AIM:
                    break
                box = inner
    return box


def _split(box: Box, position: int, direction: int, step: float, kept: float, column: Column) -> tuple[Box, Box] | None:
    """What is left without the outermost layer of a side, and the layer; None where that would take the start along."""
    side = box.sides[position]
    if not isinstance(side, Span):
        return None
    if direction < 0:
        edge = side.low + step
        inner = Span(edge, side.high)
        layer = Span(side.low, edge - 1 if column.whole else float(np.nextafter(edge, -np.inf)))
    else:
        edge = side.high - step
        inner = Span(side.low, edge)
        layer = Span(edge + 1 if column.whole else float(np.nextafter(edge, np.inf)), side.high)
    inside = inner.low <= kept <= inner.high
    return (box.with_side(position, inner), box.with_side(position, layer)) if inside else None


def _faces(columns: Sequence[Column], start: Sequence[float]) -> Iterator[_Face]:
    for position, (column, value) in enumerate(zip(columns, start, strict=True)):
        if column.ordered:
            step = 1.0 if column.whole else _FIRST * _length(column, value)
            yield from (_Face(position, direction, value, step) for direction in (-1, 1))
        elif column.listed is not None:
            yield from (_Face(position, 0, other, 0.0) for other in column.listed.tolist() if other != value)


def _length(column: Column, value: float) -> float:
    return column.high - column.low if np.isfinite(column.high - column.low) else max(1.0, abs(value))


def _moved(box: Box, face: _Face, column: Column) -> tuple[Box, Box] | None:
    """The wider box and what it adds; None where the side is at its end."""
    side = box.sides[face.position]
    match side:
        case Names(chosen):
            wider = box.with_side(face.position, Names(tuple(sorted((*chosen, face.value)))))
            return wider, box.with_side(face.position, Names((face.value,)))
        case Span(low, high) if face.direction < 0:
            beyond = max(column.low, low - face.step)
            added = Span(beyond, low - 1 if column.whole else float(np.nextafter(low, -np.inf)))
            outer = Span(beyond, high)
        case Span(low, high):
            beyond = min(column.high, high + face.step)
            added = Span(high + 1 if column.whole else float(np.nextafter(high, np.inf)), beyond)
            outer = Span(low, beyond)
    if added.low > added.high:
        return None
    return box.with_side(face.position, outer), box.with_side(face.position, added)


def _goes_on(face: _Face, column: Column, *, taken: bool) -> bool:
    """Whether the face may be moved again, with its next step."""
    if not face.direction:
        return False
    if taken:
        face.step *= 1 if face.failed else 2
        return face.step <= _MOST * _length(column, face.value)
    face.failed = True
    face.step = face.step // 2 if column.whole else face.step / 2
    return face.step >= (1.0 if column.whole else _LEAST * _length(column, face.value))


def _violating(ground: Ground, slab: Box) -> float:
    """The part of the slab's candidates that seem to violate, of those in which there is anybody; without any none."""
    rows = slab.some(ground.space.columns, _TRIED, ground.rng)
    if not len(rows):
        return 0.0
    measured = ground.measure(rows)
    present = int(measured.valid.any(axis=1).sum())
    pairs = ground.pairs(measured, ground.promising(measured))
    return len(np.unique(pairs.owners)) / present if present else 0.0
