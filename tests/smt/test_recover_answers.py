"""From what solvers print to verdicts: canned answers of every kind, and garbage."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Answer, Lowered
from fairdsl.backends.smt import SmtLib, VnnLib
from fairdsl.backends.smt.recover import answer_text
from fairdsl.backends.smt.recover import parse_answer as parse_smt
from fairdsl.backends.smt.vnnlib.answers import parse_answer as parse_vnn
from fairdsl.ir.question import Relaxation
from fairdsl.verdict import Holds, Reason, Unknown, Violated
from tests.builders import ASKED, BOOLEAN, domain, integer, problem, real, score

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
        ("this is not unsat but a sentence", Unknown, Reason.MALFORMED),
        ("sat\nunsat\n", Unknown, Reason.MALFORMED),
        ("", Unknown, Reason.MALFORMED),
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
    """The files are about reals: 48.6 years is no age, and 49 is looked at."""
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
        assert verdict.witnesses[0].a[0] == verdict.witnesses[0].b[0] == 49


def test_a_point_of_version_2() -> None:
    encoding = VnnLib()
    (pair,) = VNN.settled_by[0]
    text = "sat\n((X[0,0] 49.0) (X[0,1] 1.0) (X2[0, 0] 49.0) (X2[0,1] 0.0) (Y[0,0] 0.0))"
    assert isinstance(encoding.recover(PEOPLE, VNN, {pair: encoding.answer(text, {})}), Violated)


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
    assert violated[0].witnesses[0].b[0] - violated[0].witnesses[0].a[0] == Fraction("2.5")


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("sat", "sat"),
        ("violated\n", "sat"),
        ("holds\n", "unsat"),
        ("UNSAT\n", "unsat"),
        ("timed-out", "unknown"),
        ("Result: unsat", "malformed"),
        ("unsat\nsat\n", "malformed"),
        ("error", "malformed"),
    ],
)
def test_statuses_of_verifiers(output: str, status: str) -> None:
    assert parse_vnn(output).status == status


@settings(max_examples=200)
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
    "text", ["sat\n((X_0 1e999))", "sat\n((X_0 1e9999999999))", "sat\n((X_0 ....))", "sat\n" + 9999 * "("]
)
def test_monstrous_values(text: str) -> None:
    encoding = VnnLib()
    for file in cases_of(VNN):
        assert isinstance(encoding.recover(PEOPLE, VNN, {file: encoding.answer(text, {})}), Unknown)
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
