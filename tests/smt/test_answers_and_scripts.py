"""An output belongs to the script that it names, and to no other one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairdsl.backends.smt import SmtLib
from fairdsl.backends.smt.script import whole_script
from fairdsl.backends.smt.terms import echo, echoed
from fairdsl.verdict import Holds, Reason, Unknown, Violated
from tests.builders import ASKED, BOOLEAN, domain, integer, problem, score
from tests.smt.second_solver import print_by_cvc5

FAIR = problem(domain(age=integer(0, 99), sex=BOOLEAN), score([1, 0], -50, relation=">="), 1)
UNFAIR = problem(domain(age=integer(0, 99), sex=BOOLEAN), score([1, 1], -50, relation=">="), 1)


def test_the_mark_is_of_everything_else_in_the_script() -> None:
    scripts = [whole_script(FAIR), whole_script(UNFAIR), whole_script(replace(FAIR, name="q"))]
    marks = [echo(script) for script in scripts]
    assert len(set(marks)) == 3
    assert None not in marks
    assert echo(whole_script(FAIR)) == marks[0]
    assert echo("(check-sat)") is None


def test_cvc5_prints_it_before_its_status() -> None:
    text = whole_script(FAIR)
    printed = print_by_cvc5(text)
    assert printed.splitlines()[1] == "unsat"
    assert echoed(printed) == {echo(text)}


@pytest.mark.parametrize("quoted", ["{}", '"{}"', ' "{}" '])
def test_an_output_for_another_script_is_none(quoted: str) -> None:
    """The answer to an earlier, fair version of the model is at hand under the very same name."""
    encoding = SmtLib()
    lowered = encoding.lower(UNFAIR, ASKED)
    ((name, about),) = lowered.described.items()
    own, other = (quoted.format(echo(whole_script(one))) for one in (UNFAIR, FAIR))
    for said, kind in ((own, Holds), ("", Holds), (other, Unknown), (f"{own}\n{other}", Unknown)):
        verdict = encoding.recover(UNFAIR, lowered, {name: encoding.answer(f"{said}\nunsat\n", about)})
        assert isinstance(verdict, kind)
        if isinstance(verdict, Unknown):
            assert verdict.reason is Reason.MALFORMED
            assert "another script" in verdict.detail
    point = "sat\n((x.age 49) (a.sex 1) (b.sex 0))"
    assert isinstance(encoding.recover(UNFAIR, lowered, {name: encoding.answer(f"{own}\n{point}", about)}), Violated)
