"""The procedure: canned answers become the right verdicts, and special questions the right ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt import Smt, SmtLib
from fairdsl.backends.smt.engine import Job
from fairdsl.backends.smt.solvers.chain import Chained, Status
from fairdsl.clock import Deadline
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.metric import ACCEPTANCE
from fairdsl.ir.model import ByHighest, ByThreshold, Layer
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, GroupMetric, Quantity, Relaxation, ScoreGap
from fairdsl.verdict import Fidelity, Holds, Reason, Unknown, Vacuous, Verdict, Violated
from tests.agreement.engines import KEPT, about_somebody
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, model, problem, real, score
from tests.solvers import InProcess


class Canned:
    """A pool that answers what the test says."""

    def __init__(self, reply: Callable[[Job], Answer]) -> None:
        self._reply = reply
        self._ready: list[tuple[Hashable, Answer]] = []

    def start(self, job: Job) -> None:
        self._ready.append((job.key, self._reply(job)))

    def finished(self, until: Deadline) -> list[tuple[Hashable, Answer]]:
        ready, self._ready = self._ready, []
        return ready

    def close(self) -> None:
        pass


def answer(asked: Problem, seconds: float = 20.0, facts: Facts | None = None) -> Verdict:
    return Smt(lambda jobs: KEPT).answer(asked, facts or Facts(), Budget.of(seconds), Silent())


def canned(asked: Problem, **reply: object) -> Verdict:
    backend = Smt(lambda jobs: Canned(lambda job: Answer(**reply)))
    return backend.answer(asked, Facts(), Budget.of(5.0), Silent())


PEOPLE = domain(age=integer(0, 9), sex=BOOLEAN)
#: Violated for age 1 only; bounds do not tell.
TIED = problem(PEOPLE, model(layer([[1, 1], [1, 1]], [0, -1]), layer([[1, -2]], ["-1/2"], 1), attributes=2), 1)


def test_canned_unsat_is_a_proof() -> None:
    assert isinstance(canned(TIED, status="unsat"), Holds)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"status": "malformed"}, Reason.MALFORMED),
        ({"status": "crashed", "detail": "ended with code -11"}, Reason.ENGINE_CRASHED),
        ({"status": "crashed", "detail": "out of memory"}, Reason.MEMORY_OUT),
        ({"status": "unknown", "detail": "timeout"}, Reason.TIMEOUT),
        ({"status": "unknown", "detail": "canceled"}, Reason.INCOMPLETE),
        ({"status": "sat", "values": {"x.age": "many"}}, Reason.MALFORMED),
        ({"status": "sat", "values": {"x.age": "9", "a.sex": "0", "b.sex": "1"}}, Reason.REPLAY_FAILED),
        ({"status": "sat", "values": {"x.age": "0", "a.sex": "1", "b.sex": "1"}}, Reason.REPLAY_FAILED),
        ({"status": "sat", "values": {"x.age": "99", "a.sex": "1", "b.sex": "0"}}, Reason.REPLAY_FAILED),
    ],
)
def test_canned_answers_that_decide_nothing(reply: dict[str, object], reason: Reason) -> None:
    """No witness without a replay; whatever a solver says, the verdict is not wrong."""
    verdict = canned(TIED, **reply)
    assert isinstance(verdict, Unknown)
    assert verdict.reason is reason


def test_canned_sat_is_replayed() -> None:
    verdict = canned(TIED, status="sat", values={"x.age": "0", "a.sex": "1", "b.sex": "0"})
    assert isinstance(verdict, Violated)
    assert verdict.witnesses[0].replay.agrees


def test_facts_are_used() -> None:
    facts = Facts()
    assert isinstance(answer(TIED, facts=facts), Violated)
    assert isinstance(answer(TIED, seconds=0.0, facts=facts), Violated)
    assert isinstance(answer(TIED, seconds=0.0), Unknown)


def test_several_workers_agree_with_one() -> None:
    rng = np.random.default_rng(3)
    weights = [[int(v) for v in row] for row in rng.integers(-4, 5, size=(8, 5))]
    network = model(layer(weights, [1] * 8), layer([[1, -1] * 4], ["-1/2"], 1), attributes=5)
    people = domain(**{f"x{i}": integer(-3, 9) for i in range(4)}, sex=BOOLEAN)
    verdicts = [
        Smt().answer(problem(people, network, 4), Facts(), Budget.of(30, jobs=jobs), Silent()) for jobs in (1, 2)
    ]
    assert type(verdicts[0]) is type(verdicts[1])


def hard_problem() -> Problem:
    rng = np.random.default_rng(0)

    def random_layer(inputs: int, outputs: int, slope: float) -> Layer:
        return Layer(
            weight=ExactArray.from_floats(rng.normal(size=(outputs, inputs)).astype(np.float32)),
            bias=ExactArray.from_floats(rng.normal(size=outputs).astype(np.float32)),
            slope=ExactArray.from_floats(np.full(outputs, slope)),
        )

    network = model(random_layer(20, 80, 0), random_layer(80, 60, 0), random_layer(60, 1, 1), attributes=20)
    people = domain(**{f"x{i}": integer(0, 50) for i in range(20)})
    # A decision that nobody on record has, so that nothing is found quickly, and nothing proved either.
    rule = replace(
        network, rule=ByThreshold(relation=Relation.GT, low=Fraction(900), high=Fraction(900), granted=1, otherwise=0)
    )
    return problem(people, rule, 0)


class Silenced(InProcess):
    """Solver processes that decide nothing."""

    def start(self, key, task) -> None:
        unknown = Chained(status=Status.UNKNOWN, by="milp", reason=Reason.TIMEOUT)
        self._ready.append((key, unknown, 0.0))


def test_the_deadline_is_kept() -> None:
    started = time.monotonic()
    # Linear programs would find a violation; z3 alone does not.
    verdict = Smt(solvers=Silenced).answer(hard_problem(), Facts(), Budget.of(1.0), Silent())
    assert time.monotonic() - started < 2.5
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.TIMEOUT


def test_refusals_say_why() -> None:
    shares = replace(TIED, quantity=Quantity.FAIR_SHARE)
    group = replace(TIED, question=GroupMetric(metric=ACCEPTANCE, across=(1,), population=None))
    for asked, words in ((shares, ("shares", "no number")), (group, ("pairs of individuals", "pairs of individuals"))):
        for backend, word in zip((Smt(), SmtLib()), words, strict=True):
            offer = backend.offer(asked)
            assert isinstance(offer, Refusal)
            assert word in offer.why


def test_ties_of_several_outcomes_go_to_the_lowest_index() -> None:
    rows = layer([[0, 1], [0, 1], [0, 0]], [0, 0, 0], 1)
    three = replace(model(rows, attributes=2), outcomes=("p", "q", "r"), rule=ByHighest())
    # sex 0: all three tie, p wins; sex 1: p and q tie, p wins.
    assert isinstance(answer(problem(domain(age=integer(0, 3), sex=BOOLEAN), three, 1)), Holds)
    leaning = replace(three, layers=(layer([[0, 1], [0, 2], [0, 0]], [0, 0, 0], 1),))
    assert isinstance(answer(problem(domain(age=integer(0, 3), sex=BOOLEAN), leaning, 1)), Violated)


@pytest.mark.parametrize(("relation", "limit", "expected"), [("<=", 3, Holds), ("<", 3, Violated), ("<=", 2, Violated)])
def test_score_gaps_keep_their_strictness(relation: str, limit: int, expected: type) -> None:
    demand = ScoreGap(relation=Relation(relation), limit=Fraction(limit))
    assert isinstance(answer(problem(PEOPLE, score([1, 3]), 1, demand=demand)), expected)


def test_an_enclosed_threshold_never_gives_a_false_verdict() -> None:
    """A score inside the enclosure decides nothing; one outside is decided."""
    rule = ByThreshold(relation=Relation.GE, low=Fraction(9, 10), high=Fraction(11, 10), granted=1, otherwise=0)
    inside = replace(score([0, 1]), rule=rule)
    verdict = answer(problem(PEOPLE, inside, 1))
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.REPLAY_FAILED
    outside = answer(problem(PEOPLE, replace(score([0, 2]), rule=rule), 1))
    assert isinstance(outside, Violated)
    assert outside.evidence.fidelity is Fidelity.WIDENS
    assert isinstance(answer(problem(PEOPLE, replace(score([0, "1/2"]), rule=rule), 1)), Holds)


def test_an_ordered_pair_is_not_exchanged() -> None:
    only_a_old = linear({0: 1}, ">=", 5, who=Who.A)
    relax = (Relaxation(attribute=0, by=None),)
    asked = problem(PEOPLE, score([1, 0], -5, ">="), 1, relax=relax, pair_target=only_a_old)
    assert isinstance(answer(asked), Violated)
    both_old = linear({0: 1}, ">=", 5, who=Who.B)
    held = replace(asked, question=replace(asked.question, target=linear({0: 1}, ">=", 5), pair_target=both_old))
    assert isinstance(answer(held), Holds)


def test_reals_are_rounded_and_checked_again() -> None:
    people = domain(income=real("1/10", "7/10"), sex=BOOLEAN)
    verdict = answer(problem(people, score([3, 1], "-3/2"), 1))
    assert isinstance(verdict, Violated)
    income = verdict.witnesses[0].a.point[0]
    assert Fraction(float(np.float32(float(income)))) == income
    # A single rational that no float equals: the exact pair is the witness of a model without a file.
    third = problem(domain(income=real("1/3", "1/3"), sex=BOOLEAN), score([3, 1], -1), 1)
    assert isinstance(answer(third), Violated)
    assert isinstance(answer(problem(domain(income=real("1/3", 1), sex=BOOLEAN), score([3, 1], -1, ">="), 1)), Holds)


def test_unbounded_reals() -> None:
    people = domain(wealth=real(), debt=real(0), sex=BOOLEAN)
    assert isinstance(answer(problem(people, score([1, -1, 1]), 2)), Violated)
    unread = score([0, 0, 1], 5)
    assert isinstance(answer(problem(people, unread, 2)), Holds)


def test_symbolic_protected_values() -> None:
    """Too many pairs of values for one case each: all of them take part nevertheless."""
    people = domain(age=integer(0, 200), income=integer(0, 3), job=category(0, 4))
    peak = model(layer([[1, 0, 0], [1, 0, 0]], [-100, -101]), layer([[1, -2, 0][:2]], ["-1/2"], 1), attributes=3)
    found = answer(problem(people, peak, 0))
    assert isinstance(found, Violated)
    assert 101 in (found.witnesses[0].a.point[0], found.witnesses[0].b.point[0])
    flat = model(layer([[0, 1, 1]], [-1]), layer([[1]], ["-1/2"], 1), attributes=3)
    assert isinstance(answer(problem(people, flat, 0)), Holds)
    both = problem(people, peak, 0, 2, mode=Differ.EACH)
    assert isinstance(answer(both), Violated)


def test_nothing_to_compare_is_vacuous() -> None:
    asked = problem(PEOPLE, score([1, 1]), 1, target=linear({1: 1}, "=", 1))
    assert isinstance(about_somebody(asked, answer(asked)), Vacuous)


def test_bounds_that_meet_a_tie_do_not_settle_it() -> None:
    """A gap of exactly 0 is not below 0, and the bounds of a constant score are exact."""
    demand = ScoreGap(relation=Relation.LT, limit=Fraction(0))
    assert isinstance(answer(problem(PEOPLE, score([0, 0]), 1, demand=demand)), Violated)


def test_units_that_are_stable_below_zero_keep_their_slope() -> None:
    """Never positive, and still not dead: a tenth of it reaches the score, half of that is too little."""
    leaky = model(layer([[0, 1], [1, -1]], [-5, 0], "1/10"), layer([[1, 0]], ["9/20"], 1), attributes=2)
    assert isinstance(answer(problem(PEOPLE, leaky, 1)), Violated)
    lower = model(layer([[0, 1], [1, -1]], [-5, 0], "1/10"), layer([[1, 0]], ["11/20"], 1), attributes=2)
    assert isinstance(answer(problem(PEOPLE, lower, 1)), Holds)
    bent = model(layer([[1, 1], [0, 1]], [-5, -5], "1/10"), layer([[1, 1]], ["1/20"], 1), attributes=2)
    assert isinstance(answer(problem(PEOPLE, bent, 1)), Violated)


def test_without_time_not_even_bounds_are_waited_for() -> None:
    found = answer(TIED, seconds=-1.0)
    assert isinstance(found, Unknown)
    assert found.reason is Reason.TIMEOUT


def test_what_the_time_ran_out_of_is_asked_again() -> None:
    """With another budget; what was settled before stays so, and between the two no process is kept."""
    asked, pools = list[str](), list[Canned]()

    def reply(job: Job) -> Answer:
        asked.append(job.text)
        return Answer(status="unsat") if len(asked) > 1 else Answer(status="unknown", detail="timeout")

    def pool(_: int) -> Canned:
        pools.append(Canned(reply))
        return pools[-1]

    answering = Smt(pool).answering(TIED, Facts(), Budget.of(60.0), Silent())
    first = next(answering)
    assert isinstance(first, Unknown)
    assert first.reason is Reason.TIMEOUT
    with pytest.raises(StopIteration) as ended:
        answering.send(Budget.of(60.0))
    assert isinstance(ended.value.value, Holds)
    assert [asked.count(text) for text in dict.fromkeys(asked)] == [2, *([1] * (len(asked) - 2))]
    assert len(pools) == 2


def test_cases_that_there_was_no_time_to_bound_are_bounded_later() -> None:
    """None of them is taken for settled."""
    answering = Smt(lambda _: Canned(lambda job: Answer(status="unsat"))).answering(
        TIED, Facts(), Budget.of(0.0), Silent()
    )
    first = next(answering)
    assert isinstance(first, Unknown)
    assert first.reason is Reason.TIMEOUT
    with pytest.raises(StopIteration) as ended:
        answering.send(Budget.of(60.0))
    assert isinstance(ended.value.value, Holds)
