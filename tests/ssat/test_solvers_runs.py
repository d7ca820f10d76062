"""Other solvers' answers, crashes and silences, with programs that stand in for them."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from solver_instances import SMALL, by_definition, shaped
from stand_in import BEHAVIOURS, install

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.plain import plain
from fairdsl.backends.ssat.solvers import external_value
from fairdsl.backends.ssat.solvers.adapters import ADAPTERS, FLOAT, SEVEN_DIGITS, widened
from fairdsl.diagnostics import DiagnosticError
from fairdsl.verdict import Reason
from tests.drawing import examples

#: A few real processes each, so few examples.
FEW = settings(max_examples=examples(0.25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
ABC, SHARP = ADAPTERS[:2]
E, A, R = Quantifier.EXISTS, Quantifier.FORALL, Quantifier.RANDOM


@pytest.mark.parametrize("solver", ["ssatABC", "SharpSSAT"])
def test_an_answer_is_widened_by_its_digits(tmp_path: Path, solver: str) -> None:
    found = external_value(SMALL, str(install(tmp_path, solver)), 20)
    assert found.low < Fraction(3, 5) < found.high
    assert found.high - found.low >= 2 * Fraction(3, 5) / 10**6
    assert found.high - found.low < 4 * Fraction(3, 5) / 10**6
    assert found.reason is None
    assert not found.exact
    assert solver in found.detail


def test_ssat_abc_names_its_choice(tmp_path: Path) -> None:
    # Renumbered for the solver (2 is fixed), and led back.
    prefix = (Bound(2, E), Bound(5, E), Bound(7, R, Fraction(3, 10)), Bound(9, R, Fraction(3, 5)))
    instance = Instance(variables=9, prefix=prefix, clauses=((-2,), (5, 7), (-5, 9)))
    found = external_value(instance, str(install(tmp_path, "ssatABC")), 20)
    assert found.choice == {1: False, 2: False, 3: False, 4: False, 5: True, 6: False, 8: False}
    assert external_value(instance, str(install(tmp_path, "SharpSSAT")), 20).choice is None


def test_float32_probabilities_are_allowed_for(tmp_path: Path) -> None:
    # What is left of 1 is a few units of float32, so that the value printed is wrong in its first digit.
    prefix = tuple(Bound(each, R, 1 - Fraction(each, 10**7)) for each in (1, 2))
    instance = Instance(variables=2, prefix=prefix, clauses=((-1, -2),))
    found = external_value(instance, str(install(tmp_path, "SharpSSAT")), 20)
    value = by_definition(instance)
    assert found.low <= value <= found.high
    assert value * Fraction(105, 100) < (found.low + found.high) / 2
    assert found.high - found.low <= 2 * 2 * 4 * FLOAT


def test_trap_22_duplicates_silence_and_crashes_are_no_numbers(tmp_path: Path) -> None:
    """Solvers that answer duplicated clauses wrongly are given none, and no answer is not a value."""
    clauses = ((1, -2), (3, -1), (1, -2), (-2, 1), (1, 1, -2), (2, -2, 3))
    prefix = (Bound(1, E), Bound(2, R, Fraction(3, 4)), Bound(3, R, Fraction(9, 10)))
    instance = Instance(variables=3, prefix=prefix, clauses=clauses)
    for solver in ("ssatABC", "SharpSSAT"):
        found = external_value(instance, str(install(tmp_path, solver)), 20)
        assert found.low <= Fraction(9, 10) <= found.high  # the stand-ins halve what they find repeated
        given = (tmp_path / "seen" / "file").read_text().splitlines()
        assert given == ["p cnf 3 2", "e 1 0", "r 0.75 2 0", "r 0.9 3 0", "1 -2 0", "-1 3 0"]
        for behaviour in ("silent", "abort"):
            found = external_value(instance, str(install(tmp_path, solver, behaviour)), 20)
            assert (found.low, found.high, found.choice) == (0, 1, None)
            assert found.reason in (Reason.MALFORMED, Reason.ENGINE_CRASHED)


@pytest.mark.parametrize("solver", ["ssatABC", "SharpSSAT"])
@pytest.mark.parametrize(
    ("behaviour", "reason", "words"),
    [
        ("silent", Reason.MALFORMED, "neither a value nor bounds"),
        ("abort", Reason.ENGINE_CRASHED, "SIGABRT"),
        ("segfault", Reason.ENGINE_CRASHED, "SIGSEGV"),
        ("shell134", Reason.ENGINE_CRASHED, "SIGABRT: assertion failed"),
        ("hang", Reason.TIMEOUT, "longer"),
        ("nan", Reason.MALFORMED, "neither"),
        ("above", Reason.MALFORMED, "neither"),
        ("twice", Reason.MALFORMED, "neither"),
        ("flood", Reason.MALFORMED, "too much"),
    ],
)
def test_what_is_no_answer(tmp_path: Path, solver: str, behaviour: str, reason: Reason, words: str) -> None:
    assert behaviour in BEHAVIOURS
    seconds = 1.5 if behaviour == "hang" else 20
    found = external_value(SMALL, str(install(tmp_path, solver, behaviour)), seconds)
    assert (found.low, found.high, found.reason) == (0, 1, reason)
    assert words in found.detail


def test_only_bounds_are_bounds(tmp_path: Path) -> None:
    found = external_value(SMALL, str(install(tmp_path, "ssatABC", "bounds")), 20)
    assert Fraction(24, 100) < found.low < Fraction(1, 4)
    assert Fraction(3, 4) < found.high < Fraction(76, 100)
    assert found.reason is Reason.INCOMPLETE
    assert found.choice is None


@pytest.mark.parametrize("behaviour", ["hang", "orphan"])
def test_nothing_is_left_running(tmp_path: Path, behaviour: str) -> None:
    external_value(SMALL, str(install(tmp_path, "SharpSSAT", behaviour)), 1.5)
    child = int((tmp_path / "seen" / "child").read_text())
    for _ in range(50):
        if not _runs(child):
            return
        time.sleep(0.1)
    raise AssertionError("a child of the solver is still running")


def _runs(process: int) -> bool:
    """Whether the process is there and no zombie that waits for somebody to take note."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_it_runs_in_a_folder_that_is_gone_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    external_value(SMALL, str(install(tmp_path, "SharpSSAT")), 20)
    folder, *arguments = (tmp_path / "seen" / "arguments").read_text().splitlines()
    assert arguments == ["-s", "-p", "instance.sdimacs"]
    assert not Path(folder).exists()
    assert list(here.iterdir()) == []


def test_sharp_ssat_is_told_of_universal_variables(tmp_path: Path) -> None:
    prefix = (Bound(1, A), Bound(2, R, Fraction(3, 10)), Bound(3, R, Fraction(3, 5)))
    instance = Instance(variables=3, prefix=prefix, clauses=((1, 2), (-1, 3)))
    found = external_value(instance, str(install(tmp_path, "SharpSSAT")), 20)
    assert found.low <= Fraction(3, 10) <= found.high
    assert "-u" in (tmp_path / "seen" / "arguments").read_text().split()


@pytest.mark.parametrize("blocks", ["RER", "A", "AR", "E", "ERER", "EAR"])
def test_ssat_abc_is_not_asked_what_it_gets_wrong(tmp_path: Path, blocks: str) -> None:
    prefix: list[Bound] = []
    clauses: list[tuple[int, ...]] = []
    for letter in blocks:
        first = len(prefix) + 1
        quantifier = Quantifier(letter.lower())
        prefix += [Bound(each, quantifier, Fraction(1, 2) if letter == "R" else None) for each in (first, first + 1)]
        clauses += [(first, first + 1)]
    instance = Instance(variables=len(prefix), prefix=tuple(prefix), clauses=tuple(clauses))
    with pytest.raises(DiagnosticError, match="E0652"):
        external_value(instance, str(install(tmp_path, "ssatABC")), 20)
    assert not (tmp_path / "seen").exists()


def test_chances_alone_are_asked_with_a_choice_within(tmp_path: Path) -> None:
    prefix = (Bound(1, R, Fraction(1, 4)), Bound(2, R, Fraction(1, 3)))
    found = external_value(
        Instance(variables=2, prefix=prefix, clauses=((1, 2),)), str(install(tmp_path, "ssatABC")), 20
    )
    assert found.low < Fraction(1, 2) < found.high
    assert (tmp_path / "seen" / "file").read_text().splitlines()[3] == "e 3 0"


@pytest.mark.parametrize(
    ("clauses", "value"),
    [
        ((), 1),
        (((),), 0),
        (((1,), (-1,)), 0),
        (((2,),), Fraction(3, 10)),
        (((1, -1),), 1),
        (((1,), (2,), (-3,)), Fraction(3, 25)),
    ],
)
def test_what_is_settled_needs_no_solver(tmp_path: Path, clauses: tuple[tuple[int, ...], ...], value: Fraction) -> None:
    instance = Instance(variables=3, prefix=SMALL.prefix, clauses=clauses)
    found = external_value(instance, str(install(tmp_path, "ssatABC", "segfault")), 20)
    assert found.exact
    assert found.low == value
    assert not (tmp_path / "seen").exists()


def test_tiny_probabilities_are_rounded_and_allowed_for(tmp_path: Path) -> None:
    prefix = (Bound(1, R, Fraction(1, 10**30)), Bound(2, R, Fraction(1, 10**18)))
    instance = Instance(variables=2, prefix=prefix, clauses=((1, 2),))
    found = external_value(instance, str(install(tmp_path, "ssatABC", "segfault")), 20)
    assert found.low <= by_definition(instance) <= found.high < Fraction(1, 10**15)
    assert not found.exact
    # A factor that was settled before scales what rounding moved.
    prefix = (*prefix, Bound(3, R, Fraction(1, 8)))
    scaled = external_value(
        Instance(variables=3, prefix=prefix, clauses=((1, 2), (3,))),
        str(install(tmp_path, "ssatABC", "segfault")),
        20,
    )
    assert scaled.high == found.high / 8


@FEW
@given(st.data(), st.sampled_from(["R", "ER", "RE", "ERE"]))
def test_ssat_abc_against_the_definition(tmp_path: Path, data: st.DataObject, blocks: str) -> None:
    instance = shaped(data.draw, blocks)
    assume(ABC.unfit(plain(instance).instance) is None)
    found = external_value(instance, str(install(tmp_path, "ssatABC")), 20)
    assert found.reason is None
    value = by_definition(instance)
    assert found.low <= value <= found.high
    if found.choice is not None:
        assert by_definition(instance, dict(found.choice)) >= found.low


@FEW
@given(st.data(), st.sampled_from(["R", "ER", "RER", "AR", "EAR", "RAE"]))
def test_sharp_ssat_against_the_definition(tmp_path: Path, data: st.DataObject, blocks: str) -> None:
    instance = shaped(data.draw, blocks)
    found = external_value(instance, str(install(tmp_path, "SharpSSAT")), 20)
    assert found.reason is None
    assert found.low <= by_definition(instance) <= found.high


def test_numbers_that_cannot_be_probabilities() -> None:
    half = Fraction(1, 2)
    assert widened(-half, half, SMALL, unit=FLOAT, relative=SEVEN_DIGITS) is None
    assert widened(half, half / 2, SMALL, unit=FLOAT, relative=SEVEN_DIGITS) is None
    above = widened(*[Fraction(10000003, 10**7)] * 2, SMALL, unit=FLOAT, relative=SEVEN_DIGITS)
    assert above is not None  # 1 as seven digits may print it
    assert above.high == 1


def test_answers_as_they_were_seen() -> None:
    """Lines of real runs; with `-q` SharpSSAT prints none."""
    assert SHARP.read("", SMALL) is None
    found = SHARP.read("Solving x\n# satisfying probability = 0.3099474\nTime: 0.1\n", SMALL)
    assert found is not None
    assert found.low <= Fraction("0.309947332") <= found.high
    found = ABC.read("\n==== Solving results ====\n\n  > Satisfying probability: 6.000000e-01\n", SMALL)
    assert found is not None
    assert found.low < Fraction(3, 5) < found.high
    assert ABC.read("  > Best upper bound: 1.000000e+00\n", SMALL) is None
