"""Counting libraries against the definition; skipped where they are not installed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from solver_instances import by_definition, shaped

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.plain import plain
from fairdsl.backends.ssat.solvers import adapters, available, external_value, solver_of
from fairdsl.backends.ssat.solvers.libraries import count, weigh
from fairdsl.backends.ssat.solvers.sdd import evaluate
from fairdsl.backends.ssat.writing import below
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Reason
from tests.drawing import examples

#: The counter takes some milliseconds each.
SOME = settings(max_examples=examples(1), deadline=None)
MANY = settings(max_examples=examples(3.3), deadline=None)

#: Worth 208290324 / 10^9, as a decision tree of three levels came to be.
PREFIX = tuple(
    Bound(each, Quantifier.RANDOM, Fraction(chance, 1000)) for each, chance in enumerate((292, 531, 917, 3), start=1)
)
SMALL = Instance(variables=4, prefix=PREFIX, clauses=((1, 2), (-1, 3), (2, -3, 4)))


def left(draw: st.DrawFn, blocks: str, solver: str) -> Instance:
    """A plain instance that the solver answers."""
    instance = plain(shaped(draw, blocks)).instance
    assume(instance.clauses and solver_of(solver).adapter.unfit(instance) is None)
    return instance


@SOME
@given(st.data(), st.sampled_from(["R", "RE"]))
def test_exact_counts(data: st.DataObject, blocks: str) -> None:
    pytest.importorskip("pyganak")
    instance = left(data.draw, blocks, "pyganak")
    assert count(instance).value == by_definition(instance)


@SOME
@given(st.data(), st.sampled_from(["R", "RE"]))
def test_weights_are_right_to_double_precision(data: st.DataObject, blocks: str) -> None:
    pytest.importorskip("pyganak")
    instance = left(data.draw, blocks, "pyganak-double")
    value = weigh(instance).value
    found = solver_of("pyganak-double").adapter.read(f"value {value.numerator}/{value.denominator}\n", instance)
    assert found is not None
    assert found.low <= by_definition(instance) <= found.high
    assert found.high - found.low < Fraction(1, 10**11)


@MANY
@given(st.data(), st.sampled_from(["R", "RE", "ER", "ERE", "AR", "ARE"]))
def test_diagrams(data: st.DataObject, blocks: str) -> None:
    pytest.importorskip("pysdd")
    instance = left(data.draw, blocks, "pysdd")
    found = evaluate(instance)
    assert found.value == by_definition(instance)
    assert (found.choice is not None) == instance.prefix[0].quantifier.value.startswith("e")
    if found.choice is not None:
        assert set(found.choice) == {bound.variable for bound in next(instance.blocks)[1]}
        assert by_definition(instance, dict(found.choice)) == found.value


@pytest.mark.parametrize(
    ("solver", "package"), [("pyganak", "pyganak"), ("pyganak-double", "pyganak"), ("pysdd", "pysdd")]
)
def test_in_a_process_of_its_own(solver: str, package: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(package)
    assert solver in available()
    found = external_value(SMALL, solver, 60)
    value = by_definition(SMALL)
    assert found.reason is None
    assert found.low <= value <= found.high
    assert found.exact == (solver != "pyganak-double")
    if solver == "pyganak-double":
        assert "to double precision" in found.detail
    assert capfd.readouterr().out == ""  # Ganak prints


@pytest.mark.parametrize("solver", ["pyganak", "pyganak-double", "pysdd"])
def test_a_process_is_ended_at_its_deadline(solver: str) -> None:
    pytest.importorskip({"pysdd": "pysdd"}.get(solver, "pyganak"))
    found = external_value(SMALL, solver, 0.01)
    assert (found.low, found.high, found.reason) == (0, 1, Reason.TIMEOUT)


def test_a_diagram_says_what_to_choose() -> None:
    pytest.importorskip("pysdd")
    # 1 and 2 are settled before, 3 and 4 by the diagram; 5 is in no clause.
    prefix = (
        *(Bound(each, Quantifier.EXISTS) for each in (2, 3, 4, 5)),
        *(Bound(each + 5, Quantifier.RANDOM, Fraction(each, 10)) for each in (1, 2, 3)),
    )
    clauses = ((-1,), (1, 2), (3, 6), (-3, 7), (4, 3, 6), (-4, 8))
    instance = Instance(variables=8, prefix=prefix, clauses=clauses)
    found = external_value(instance, "pysdd", 60)
    assert found.exact
    assert found.low == by_definition(instance) == Fraction(1, 5)
    assert found.choice == {1: False, 2: True, 3: True, 4: False, 5: False}


@pytest.mark.parametrize(
    "output", ["", "value 1/0\n", "value 1/2", "value 3/2\n", "value 1/2\nnoise\n", "value -1/2\n"]
)
def test_other_output_is_no_value(output: str) -> None:
    for adapter in (each for each in adapters.ADAPTERS if each.package is not None):
        assert adapter.read(output, SMALL) is None


@pytest.mark.parametrize(
    ("solver", "blocks"), [("pyganak", "ER"), ("pyganak", "RER"), ("pysdd", "RER"), ("pysdd", "E")]
)
def test_other_prefixes_are_refused(solver: str, blocks: str) -> None:
    pytest.importorskip(solver)
    prefix = []
    for letter in blocks:
        first = len(prefix) + 1
        chance = Fraction(1, 3) if letter == "R" else None
        prefix += [Bound(each, Quantifier(letter.lower()), chance) for each in (first, first + 1)]
    clauses = tuple((2 * block + 1, 2 * block + 2) for block in range(len(blocks)))
    instance = Instance(variables=len(prefix), prefix=tuple(prefix), clauses=clauses)
    with pytest.raises(DiagnosticError, match="E0652"):
        external_value(instance, solver, 20)


@pytest.mark.parametrize(("package", "solver"), [("pyganak", "pyganak"), ("pysdd", "pysdd")])
def test_a_library_that_is_missing(package: str, solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    absent: Callable[[str], bool] = lambda name: name != package  # noqa: E731
    monkeypatch.setattr(adapters, "installed", absent)
    assert solver not in available()
    with pytest.raises(DiagnosticError, match="E0650") as raised:
        solver_of(solver)
    assert "fairdsl[counting]" in str(raised.value.diagnostics[0].help)


@pytest.mark.parametrize("limit", range(1, 17))
def test_a_number_below_a_limit(limit: int) -> None:
    bits = (1, 2, 3, 4)
    clauses = below(bits, limit, unless=9)
    for truths in product((False, True), repeat=4):
        number = sum(truth << place for place, truth in enumerate(truths))
        holds = all(any(truths[abs(each) - 1] == (each > 0) for each in clause if each != 9) for clause in clauses)
        assert holds == (number < limit)
    assert all(9 in clause for clause in clauses)
