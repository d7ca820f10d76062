"""Estimated shares: sizes from the precision, intervals that cover, nothing certified, one answer a seed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.intervals import Intervals
from fairdsl.backends.sampling import Sampling
from fairdsl.backends.sampling.draw import Sample
from fairdsl.backends.sampling.looks import looks, most_needed
from fairdsl.backends.units import units_of
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Precision, Quantity, SameDecision, Threshold
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.verdict import Estimate, Estimated, Judgement, Reason, Unknown, Vacuous, judge, share_value
from tests.builders import BOOLEAN, category, domain, integer, linear, problem, real, score
from tests.drawing import examples
from tests.oracle import truth
from tests.strategies import problems

F = Fraction
PEOPLE = domain(sex=BOOLEAN, age=integer(0, 19), job=category(0, 3, 5))
LEAN = score([5, 2, 1], F(-35, 2))


def asked(within: object = "1/10", confidence: object = "19/20", **changes: object) -> Problem:
    precision = Precision(within=None if within is None else F(within), confidence=F(confidence))  # type: ignore[arg-type]
    found = problem(PEOPLE, LEAN, 0, quantity=Quantity.DISCRIMINATION_RATE)
    return replace(found, precision=precision, **changes)  # type: ignore[arg-type]


def answered(question: Problem, seed: int = 0, seconds: float = 30.0) -> Estimated:
    verdict = Sampling().answer(question, Facts(), Budget.of(seconds, seed=seed), Silent())
    assert isinstance(verdict, Estimated)
    return verdict


@pytest.mark.parametrize("confidence", ["1/2", "19/20", "999999/1000000"])
@pytest.mark.parametrize("within", [None, "2/5", "1/20", "1/1000"])
def test_all_looks_together_have_the_confidence(within: str | None, confidence: str) -> None:
    precision = Precision(within=None if within is None else F(within), confidence=F(confidence))
    schedule = list(looks(precision))
    assert sum(1 - F(look.confidence) for look in schedule) <= 1 - precision.confidence
    assert [look.size for look in schedule] == sorted({look.size for look in schedule})
    assert schedule[-1].size <= most_needed(precision)
    if within is not None:
        assert schedule[-1].size == most_needed(precision)


@pytest.mark.parametrize("within", ["2/5", "1/5", "1/10", "1/20"])
def test_the_last_look_is_always_close_enough(within: str) -> None:
    """Whatever the sample says: Hoeffding's inequality, checked for every number of unfair units."""
    precision = Precision(within=F(within), confidence=F(19, 20))
    last = list(looks(precision))[-1]
    for hits in range(0, last.size + 1, max(1, last.size // 60)):
        low, high = clopper_pearson(hits, last.size, last.confidence)
        assert max(high - F(hits, last.size), F(hits, last.size) - low) <= precision.within
    if precision.within < F(1, 5):
        low, high = clopper_pearson(last.size // 8, last.size // 4, last.confidence)
        assert high - low > 2 * precision.within


def test_the_size_follows_from_the_precision() -> None:
    """A distance of 0.1 % takes at most ln(80) / (2 * 10^-6) units, about 2.2 million; fewer where few are unfair."""
    assert 2_190_000 < most_needed(Precision(within=F(1, 1000), confidence=F(19, 20))) < 2_192_000
    rare = domain(sex=BOOLEAN, age=integer(0, 999), job=category(0, 3, 5))
    question = replace(asked("1/1000"), domain=rare)
    found = answered(question)
    assert found.estimate.sampled < 200_000
    assert max(
        found.estimate.interval.high - found.estimate.value, found.estimate.value - found.estimate.interval.low
    ) <= F(1, 1000)
    assert found.estimate.interval.low <= truth_of(found) <= found.estimate.interval.high


def truth_of(found: Estimated) -> Fraction:
    """The share of the question with a thousand ages, counted by hand: 5 more than a threshold of 35 / 2."""
    fair = [(2 * age + job > F(35, 2)) == (5 + 2 * age + job > F(35, 2)) for age in range(1000) for job in (0, 3, 5)]
    assert found.estimate.confidence == F(19, 20)
    return F(sum(fair), len(fair))


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 100 samples with a confidence of 80 % at most a fifth miss, although each is looked at again and again."""
    share = F(1) - truth(asked()).fair_share
    missed = 0
    for seed in range(100):
        estimate = answered(asked("1/20", "4/5"), seed).estimate
        low, high = estimate.interval.complement
        missed += not low <= share <= high
    assert missed <= 20


@settings(max_examples=examples(0.7))
@given(problems())
def test_the_truth_lies_in_the_interval(drawn: Problem) -> None:
    question = replace(
        drawn,
        question=replace(drawn.question, demand=SameDecision()),  # type: ignore[arg-type]
        quantity=Quantity.FAIR_SHARE,
        precision=Precision(within=F(1, 10), confidence=F(10**8 - 1, 10**8)),
    )
    assert isinstance(Sampling().offer(question), Offer)
    known = truth(question)
    # Where nobody is in question, all of the time is taken to look for somebody.
    verdict = Sampling().answer(question, Facts(), Budget.of(20.0 if known.total else 0.5), Silent())
    if not known.total:
        assert isinstance(verdict, Unknown | Vacuous)
        return
    assert isinstance(verdict, Estimated)
    assert verdict.estimate.interval.low <= known.fair_share <= verdict.estimate.interval.high
    assert verdict.reason is None
    assert all((w.a.point, w.b.point) in known.violations for w in verdict.witnesses)


def test_units_of_the_target_are_drawn_alike() -> None:
    """A candidate that holds nobody is drawn again: as many are, as the condition leaves out."""
    cut = units_of(
        problem(domain(sex=BOOLEAN, x=real(0, 4), n=integer(0, 3), where=linear({1: 1, 2: 1}, "<", 4)), LEAN, 0)
    )
    assert not isinstance(cut, Refusal)
    halves = Sample(cut, 0)
    while halves.size < 4000:
        halves.grow(4000 - halves.size)
    assert halves.size == 4000
    # n = 0 .. 3 leave 4, 3, 2 and 1 of 4: ten of sixteen candidates are kept.
    assert abs(halves.size / halves.candidates - 10 / 16) < 0.03


def test_the_seed_decides() -> None:
    assert answered(asked("1/50"), 3) == answered(asked("1/50"), 3)
    assert answered(asked("1/50"), 3).estimate != answered(asked("1/50"), 4).estimate


def test_a_threshold_ends_the_sample_as_soon_as_it_is_clear() -> None:
    share = F(1) - truth(asked()).fair_share
    far = Threshold(relation=Relation.LE, limit=share + F(1, 4), text="")
    near = Threshold(relation=Relation.LE, limit=share + F(1, 200), text="")
    quick, slow = (answered(asked(None, threshold=threshold)) for threshold in (far, near))
    assert quick.estimate.sampled == 1024 < slow.estimate.sampled
    for found, threshold in ((quick, far), (slow, near)):
        rate = share_value(found.estimate.interval, Quantity.DISCRIMINATION_RATE)
        assert judge(rate, threshold.relation, threshold.limit) is Judgement.HOLDS
        assert found.reason is None


def test_an_estimate_is_made_only_where_one_is_asked_for() -> None:
    exact = replace(asked(), precision=None)
    refused = Sampling().offer(exact)
    assert isinstance(refused, Refusal)
    assert "an estimate is not a proof" in refused.why
    whole = Sampling().offer(replace(asked(), quantity=Quantity.HOLDS))
    assert isinstance(whole, Refusal)
    assert "everybody" in whole.why
    # Bounds of unknown width are not an answer to a demand for precision.
    assert isinstance(Intervals().offer(asked()), Refusal)
    assert isinstance(Intervals().offer(exact), Offer)
    enormous = Sampling().offer(asked("1/1000000"))
    assert isinstance(enormous, Refusal)
    assert "units; its limit is 2^32" in enormous.why


def test_there_is_no_estimate_without_an_interval() -> None:
    with pytest.raises(TypeError):
        Estimate(sampled=10, unfair=1, confidence=F(19, 20))  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="misses"):
        Estimate(sampled=10, unfair=1, interval=Enclosure(low=F(95, 100), high=F(1)), confidence=F(19, 20))


def test_without_time_there_is_no_estimate_or_a_wider_one() -> None:
    verdict = Sampling().answer(asked(), Facts(), Budget.of(0.0), Silent())
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.TIMEOUT
    for seconds in (0.2, 0.5, 1.0, 2.0):
        budget = Budget.of(seconds)
        verdict = Sampling().answer(asked("1/5000"), Facts(), budget, Silent())
        if isinstance(verdict, Estimated):
            break
    assert isinstance(verdict, Estimated)
    assert verdict.reason is Reason.TIMEOUT
    assert verdict.estimate.interval.high - verdict.estimate.interval.low > F(1, 5000)
    # Only at the sizes that were fixed before is the interval read off.
    schedule = [look.size for look in looks(Precision(within=F(1, 5000), confidence=F(19, 20)))]
    assert verdict.estimate.sampled in schedule


def test_nobody_to_draw() -> None:
    empty = domain(sex=BOOLEAN, age=integer(0, 9), where=linear({1: 1}, ">", 20))
    verdict = Sampling().answer(replace(asked(), domain=empty), Facts(), Budget.of(1.0), Silent())
    assert isinstance(verdict, Vacuous)
