"""Kernels are compiled in a way of our own, to what numba makes of them in its own way, and to what Python does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import base, errors, event
from numba.core.compiler import Compiler
from numba.core.types.functions import BaseFunction
from numba.np import arrayobj
from numpy.typing import NDArray

from fairdsl.numerics.kernels import compiled
from fairdsl.numerics.kernels.hurry import compiling_much
from fairdsl.numerics.kernels.parts import KernelCompiler
from fairdsl.numerics.kernels.records import by_reference

Integers = NDArray[np.int64]


class _Marks(NamedTuple):
    marks: Integers
    cube: Annotated[NDArray[np.int8], 3]


class _Pile(NamedTuple):
    numbers: Annotated[NDArray[np.float64], 2]
    flags: NDArray[np.bool_]
    inner: _Marks
    scale: float
    steps: int
    strict: bool


by_reference(_Marks, _Pile)


def _of_row(pile, row):  # type: ignore[no-untyped-def]
    """A power, a number that begins as an integer, negative places, a loop that ends early, several results."""
    total, marks = 0, pile.inner.marks
    for column in range(pile.numbers.shape[1]):
        value = pile.numbers[row, column]
        if pile.flags[column]:
            total += value**2
        elif pile.strict:
            total -= value * pile.scale
            continue
        if total > 100.0:
            break
        marks[-1] += column
    return total, marks[-1]


def _whole(of_row: Any) -> Callable[..., Any]:
    def whole(pile, out):  # type: ignore[no-untyped-def]
        best, most, step = -1, -1.0e300, 0
        out[:] = 0.0
        while step < pile.steps:
            row = pile.numbers[step]
            found, mark = of_row(pile, step)
            out[step] = min(found, 3.0) + row[0] / (1.0 + mark)
            pile.inner.cube[1, step % 2, 0] ^= step & ~1
            for upward in (True, False):
                if found > most and upward:
                    best, most = step, found
            step += 1
        return best, most, int(pile.inner.cube[1, 0, 0]) // -3

    return whole


def _in_our_way() -> Any:
    return compiled._compile(_whole(compiled.part(_of_row)), KernelCompiler)


def _in_numbas_way(monkeypatch: pytest.MonkeyPatch) -> Any:
    with monkeypatch.context() as patched:
        patched.setattr(compiled, "_KNOWN", False)
        return _in_our_way()


def test_kernels_compute_what_python_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, numbas, pythons = _in_our_way(), _in_numbas_way(monkeypatch), _whole(_of_row)
    assert ours._compiler.pipeline_class is KernelCompiler
    assert numbas._compiler.pipeline_class is Compiler

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 4), st.booleans())
    def agree(seed: int, rows: int, columns: int, strict: bool) -> None:
        found = []
        for kernel in (pythons, ours, numbas):
            rng = np.random.default_rng(seed)
            numbers, flags = rng.normal(0.0, 8.0, (rows, columns)), rng.random(columns) < 0.5
            marks = _Marks(rng.integers(0, 9, 2), rng.integers(-9, 9, (2, 2, 1)).astype(np.int8))
            pile, out = _Pile(numbers, flags, marks, float(rng.normal()), rows, strict), np.empty(rows)
            result = kernel(pile, out)
            found.append((result, out.tobytes(), marks.marks.tolist(), marks.cube.tolist()))
        assert found[0] == found[1] == found[2]

    agree()


def test_a_record_is_refused_whose_arrays_are_not_what_it_says() -> None:
    ours, marks = _in_our_way(), _Marks(np.zeros(1, dtype=np.int64), np.zeros((2, 2, 1), dtype=np.int8))
    others: list[Any] = [np.zeros((2, 2), dtype=np.float32), np.zeros(2), np.zeros((2, 4))[:, ::2]]
    for numbers in others:
        with pytest.raises(TypeError, match="numbers must be a contiguous array"):
            ours(_Pile(numbers, np.zeros(2, dtype=np.bool_), marks, 1.0, 2, True), np.empty(2))


def test_numba_is_as_it_was_once_something_is_compiled() -> None:
    def steps() -> list[Any]:
        context = base.BaseContext
        found = [context.refresh, context.get_function, context.get_abi_sizeof, BaseFunction.get_call_type]
        return [*found, base._has_loc, arrayobj.make_array, event.start_event, event.end_event, errors.termcolor]

    usual = steps()

    def fail() -> None:
        with compiling_much():
            assert all(step is not before for step, before in zip(steps(), usual, strict=True))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert steps() == usual
