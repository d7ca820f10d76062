"""From what solvers print to verdicts: canned answers of every kind, and garbage."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.encoding import Answer, Lowered
from fairdsl.backends.smt import SmtLib, VnnLib
from fairdsl.backends.smt.recover import answer_text
from fairdsl.backends.smt.recover import parse_answer as parse_smt
from fairdsl.backends.smt.vnnlib.answers import parse_answer as parse_vnn
from fairdsl.ir.question import Relaxation
from fairdsl.verdict import Holds, Reason, Unknown, Violated
from tests.builders import ASKED, BOOLEAN, domain, integer, linear, problem, real, score
from tests.drawing import examples

#: The score rises with age and sex: at 49 only sex decides.
PEOPLE = problem(domain(age=integer(0, 99), sex=BOOLEAN), score([1, 1], -50, relation=">="), 1)
SMT = SmtLib().lower(PEOPLE, ASKED)
VNN = VnnLib().lower(PEOPLE, ASKED)
MODEL = "(define-fun x.age () Int 49)\n(define-fun a.sex () Int 1)\n(define-fun b.sex () Int 0)"


@pytest.mark.parametrize(
    ("output", "verdict", "reason"),
    [
        ("unsat\n", Holds, None),
        ("sat\n((x.age 49)\n (a.sex 1)\n (b.sex 0))\n", Violated, None),
        (f"sat\n({MODEL}\n)", Violated, None),
        (f"sat\n(model {MODEL})", Violated, None),
        ("sat\n((x.age (- 49)) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("sat\n((x.age 12) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("sat\n((x.age (+ 40 9)) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("sat\n", Unknown, Reason.REPLAY_FAILED),
        ("sat\n((x.age 49)", Unknown, Reason.MALFORMED),
        ("timeout\n", Unknown, Reason.TIMEOUT),
        ("unknown\n(:reason-unknown incomplete)", Unknown, Reason.INCOMPLETE),
        ("timeout\nunknown\n", Unknown, Reason.TIMEOUT),
        ("unknown (TIMEOUT)\n", Unknown, Reason.TIMEOUT),
        ("unknown (MEMOUT)\n", Unknown, Reason.MEMORY_OUT),
        ("unknown (REQUIRES_FULL_CHECK)\n", Unknown, Reason.INCOMPLETE),
        ("unknown (TIMEOUT)\nunsat\n", Unknown, Reason.MALFORMED),
        ("unsat (TIMEOUT)\n", Unknown, Reason.MALFORMED),
        ("unknown\nunsat\n", Unknown, Reason.MALFORMED),
        ("this is not unsat but a sentence", Unknown, Reason.MALFORMED),
        ("sat\nunsat\n", Unknown, Reason.MALFORMED),
        ("", Unknown, Reason.MALFORMED),
        ("sat\n((x.age (/ 98 2)) (a.sex 1) (b.sex 0))", Violated, None),
        ("sat\n((x.age (/ 97.0 2.0)) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("sat\n((x.age 49.0) (a.sex 1.0) (b.sex (- 0)))", Violated, None),
        ("sat\n((x.age 49.0?) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("sat\n((x.age (/ 49 0)) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("sat\n((x.age 49) (a.sex 7) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        (f"sat\n((x.age {'9' * 5000}) (a.sex 1) (b.sex 0))", Unknown, Reason.REPLAY_FAILED),
        ("(warning: logic)\nunsat\n(error \"no model\")", Holds, None),
    ],
)  # fmt: skip
def test_answers_to_scripts(output: str, verdict: type, reason: Reason | None) -> None:
    encoding = SmtLib()
    (file,) = SMT.files
    found = encoding.recover(PEOPLE, SMT, {file: encoding.answer(output, {})})
    assert isinstance(found, verdict)
    assert getattr(found, "reason", None) is reason


def cases_of(lowered: Lowered) -> tuple[str, ...]:
    return lowered.settled_by[1]


def test_one_version_alone_settles_the_question() -> None:
    encoding, no = VnnLib(), Answer(status="unsat")
    (pair,), split = VNN.settled_by
    assert isinstance(encoding.recover(PEOPLE, VNN, {pair: no}), Holds)
    assert isinstance(encoding.recover(PEOPLE, VNN, dict.fromkeys(split, no)), Holds)
    assert isinstance(encoding.recover(PEOPLE, VNN, dict.fromkeys(split[:-1], no)), Unknown)
    assert isinstance(encoding.recover(PEOPLE, VNN, {}), Unknown)


@pytest.mark.parametrize("age", ["49.0", "4.9e1", "48.6", "49.3", "+49", "49"])
def test_points_near_a_pair_become_the_pair(age: str) -> None:
    """The files are about reals: 48.6 years is not an age, and 49 is looked at."""
    encoding = VnnLib()
    found = [
        encoding.recover(PEOPLE, VNN, {file: encoding.answer(f"sat\n((X_0 {age})\n(Y_0 0.0)\n(Y_1 1))", {})})
        for file in cases_of(VNN)
    ]
    if age == "+49":  # no number of the format, so nothing to replay
        assert all(isinstance(verdict, Unknown) for verdict in found)
        return
    for verdict in found:  # the question is symmetric, so either way round the pair counts
        assert isinstance(verdict, Violated)
        assert verdict.witnesses[0].a.point[0] == verdict.witnesses[0].b.point[0] == 49


def test_a_point_of_version_2() -> None:
    encoding = VnnLib()
    (pair,) = VNN.settled_by[0]
    text = "sat\n((X[0,0] 49.0) (X[0,1] 1.0) (X2[0, 0] 49.0) (X2[0,1] 0.0) (Y[0,0] 0.0))"
    assert isinstance(encoding.recover(PEOPLE, VNN, {pair: encoding.answer(text, {})}), Violated)


@pytest.mark.parametrize("kind", ["real", "float32", "Real"])
def test_the_standard_s_own_notation(kind: str) -> None:
    """A tensor at a time, its elements in row-major order: what the standard of version 2.0 has solvers print."""
    encoding = VnnLib()
    (pair,) = VNN.settled_by[0]
    a, b = f"X {kind} [1,2]\n49\n1.0", f"X2 {kind} [1, 2]\n49.0\n0"
    outputs = f"Y {kind} [1,1]\n0.0\nY2 {kind} [1,1]\n-1.0\n"
    for text in (f"sat\n{a}\n{b}\n{outputs}", f"sat\n\n{b}\n{a}"):
        answer = encoding.answer(text, {})
        assert answer.values["X[0,1]"] == "1.0"
        assert answer.values["X2[0,0]"] == "49.0"
        assert isinstance(encoding.recover(PEOPLE, VNN, {pair: answer}), Violated)
    cut = encoding.answer(f"sat\n{a}\nX2 {kind} [1,2]\n49.0", {})
    assert cut.values == {"X[0,0]": "49", "X[0,1]": "1.0", "X2[0,0]": "49.0"}


def test_elements_of_a_tensor_are_counted_in_its_shape() -> None:
    text = "sat\nX real [2,2]\n1\n2\n3\n4\n5\nsomething else\n6\nY real [0]\n7\nX3 real [999999999,999999999]\n8"
    values = parse_vnn(text).values
    assert values == {"X[0,0]": "1", "X[0,1]": "2", "X[1,0]": "3", "X[1,1]": "4", "X3[0,0]": "8"}


def test_marabou_s_notation() -> None:
    encoding = VnnLib()
    text = "Engine::processInputQuery: done\nsat\n\nInput assignment:\n\tx0 = 49.000000\n\nOutput:\n\ty0 = 0.500000\n"
    for file in cases_of(VNN):
        answer = encoding.answer(text, {})
        assert answer.values == {"X_0": "49.000000"}
        assert isinstance(encoding.recover(PEOPLE, VNN, {file: answer}), Violated)


def test_an_offset_beyond_the_target_is_clipped_as_in_the_network() -> None:
    """The network computes b = min(a + d, 60); a point whose a + d is beyond is about the pair with b = 60."""
    asked = problem(
        domain(pay=real(0, 100), sex=BOOLEAN),
        score([1, 0], -60, relation=">="),
        1,
        relax=(Relaxation(attribute=0, by=Fraction(3)),),
        target=linear({0: 1}, "<=", 60),
    )
    encoding, lowered = VnnLib(), VnnLib().lower(asked, ASKED)
    point = encoding.answer("sat\n((X_0 59.0) (X_1 2.5))", {})
    verdicts = [encoding.recover(asked, lowered, {file: point}) for file in cases_of(lowered)]
    found = [verdict.witnesses[0] for verdict in verdicts if isinstance(verdict, Violated)]
    assert found
    assert all((pair.a.point[0], pair.b.point[0]) == (59, 60) for pair in found)


def test_an_offset_is_added() -> None:
    asked = problem(
        domain(pay=real(0, 100), sex=BOOLEAN),
        score([1, 0], -50, relation=">="),
        1,
        relax=(Relaxation(attribute=0, by=Fraction(3)),),
    )
    encoding, lowered = VnnLib(), VnnLib().lower(asked, ASKED)
    verdicts = [
        encoding.recover(asked, lowered, {file: encoding.answer("sat\n((X_0 48.5) (X_1 2.5))", {})})
        for file in cases_of(lowered)
    ]
    violated = [verdict for verdict in verdicts if isinstance(verdict, Violated)]
    assert violated
    assert violated[0].witnesses[0].b.point[0] - violated[0].witnesses[0].a.point[0] == Fraction("2.5")


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("sat", "sat"),
        ("violated\n", "sat"),
        ("holds\n", "unsat"),
        ("UNSAT\n", "unsat"),
        ("timed-out", "unknown"),
        ("TIMEOUT", "unknown"),
        ("unknown\ntimeout", "unknown"),
        ("timeout\nunsat", "malformed"),
        ("unsat,3.25", "unsat"),
        ("sat, 0.100000\n((X_0 1.0))", "sat"),
        ("unsat, perhaps", "malformed"),
        ("unsat,1\nsat,2", "malformed"),
        ("Result: unsat", "malformed"),
        ("unsat\nsat\n", "malformed"),
        ("error", "malformed"),
    ],
)
def test_statuses_of_verifiers(output: str, status: str) -> None:
    assert parse_vnn(output).status == status


@settings(max_examples=examples(3.3))
@given(st.text(alphabet=st.sampled_from('satunk \n()XY_0123.e-[],|"/;define')))
def test_garbage_is_read_and_never_raises(text: str) -> None:
    for output in (text, f"sat\n{text}", f"sat\n(({text}"):
        for encoding, lowered in ((SmtLib(), SMT), (VnnLib(), VNN)):
            for file in lowered.files:
                if not file.endswith(".onnx"):
                    verdict = encoding.recover(PEOPLE, lowered, {file: encoding.answer(output, {})})
                    assert isinstance(verdict, Holds | Unknown | Violated)
                    if isinstance(verdict, Holds):
                        assert "unsat" in output or "holds" in output


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("sat\n((X_0 1e999))", Violated),  # a number, and of so few pairs all are looked at
        ("sat\n((X_0 1e9999999999))", Unknown),
        ("sat\n((X_0 ....))", Unknown),
        ("sat\n" + 9999 * "(", Unknown),
    ],
)
def test_monstrous_values(text: str, verdict: type) -> None:
    encoding = VnnLib()
    for file in cases_of(VNN):
        assert isinstance(encoding.recover(PEOPLE, VNN, {file: encoding.answer(text, {})}), verdict)
    assert parse_smt(text).status in ("malformed", "sat")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(status="unsat"),
        Answer(status="sat", values={"x.age": "49", "|a.marital status|": "(/ 1 3)", "a.sex": "-1/2"}),
        Answer(status="unknown", detail="timeout"),
        Answer(status="crashed", detail="out of memory"),
    ],
)
def test_own_answers_are_read_back(answer: Answer) -> None:
    again = parse_smt(answer_text(answer))
    assert again.status == ("unknown" if answer.status == "crashed" else answer.status)
    assert again.values == answer.values
