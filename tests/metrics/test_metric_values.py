"""Values of metrics against their definitions, over random laws that an engine knows only roughly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

import pytest
from group_cases import EVIDENCE, about, ends, joint, of_rates, people
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation
from fairdsl.ir.metric import Metric
from fairdsl.ir.question import Excluding, Threshold
from fairdsl.metrics import Bounds, Counted, Joint, decided, hull_of, most_favoured_groups, value_of
from fairdsl.prelude import metrics
from fairdsl.verdict import Judgement, Reason, Refused, Value, judged
from tests.naive_metrics import ELSEWHERE, NAIVE, Naive, Person, mass

F = Fraction
RACES, AGES, LABELS = (F(0), F(1), F(5)), (F(18), F(25), F(45)), (F(0), F(1))

#: A law by (race, age, label): probabilities of being favoured and of being refused, up to a common factor.
Law = Mapping[tuple[F, F, F], tuple[int, int]]


def laws() -> st.SearchStrategy[Law]:
    keys = list(product(RACES, AGES, LABELS))
    cell = st.tuples(st.integers(0, 4), st.integers(0, 4))
    return st.lists(cell, min_size=len(keys), max_size=len(keys)).map(lambda cells: dict(zip(keys, cells, strict=True)))


def whole(law: Law) -> int:
    return sum(sum(cell) for cell in law.values()) or 1


def people_in(law: Law, race: F, age: F | None, label: F | None = None) -> list[Person]:
    """The individuals of a group, of all ages and labels or of one."""
    return [
        Person(F(count, whole(law)), y, favoured)
        for (r, a, y), counts in law.items()
        for favoured, count in zip((True, False), counts, strict=True)
        if r == race and age in (None, a) and label in (None, y)
    ]


def rough(exact: F, below: int, above: int) -> tuple[F, F]:
    return max(F(0), exact - F(below, 60)), min(F(1), exact + F(above, 60))


def enclosed(law: Law, *, label: bool, age: bool, errors: list[tuple[int, int]]) -> Joint:
    """The joint by race, then age and label where they are asked for; all probabilities known only roughly."""
    keys = [
        (race, *a, *y)
        for race in RACES
        for a in ([(age,) for age in AGES] if age else [()])
        for y in ([(value,) for value in LABELS] if label else [()])
    ]
    favourable, total = {}, {}
    for number, key in enumerate(keys):
        there = people_in(law, key[0], key[1] if age else None, key[-1] if label else None)
        total[key] = rough(mass(there), *(error // 2 for error in errors[(number + 1) % len(errors)]))
        low, high = rough(mass(one for one in there if one.favoured), *errors[number % len(errors)])
        favourable[key] = (low, min(high, total[key][1]))
    return joint(favourable, total)


def defined(naive: Naive, law: Law, privileged: F, *, by_age: bool) -> list[F]:
    """The metric of every age, or of all together; ZeroDivisionError where there is none."""
    ages: tuple[F | None, ...] = AGES if by_age else (None,)
    return [
        naive.of_groups({race: people_in(law, race, age) for race in RACES}, LABELS, F(1), privileged) for age in ages
    ]


HERE = [metric for metric in metrics() if (metric.name, metric.signed) not in ELSEWHERE]


def test_every_metric_is_defined_once_more() -> None:
    assert {(metric.name, metric.signed) for metric in metrics()} == set(NAIVE) | ELSEWHERE


roughness = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4)


#: Of every metric; all of them together see as many laws as a test of one thing does several times over.
FEW = settings(max_examples=max(6, settings.default.max_examples // 5))


@pytest.mark.parametrize("metric", HERE, ids=lambda metric: f"{metric.name}{' signed' * metric.signed}")
@FEW
@given(
    law=laws(),
    errors=roughness,
    relation=st.sampled_from([Relation.LE, Relation.LT, Relation.GE, Relation.GT]),
    twelfths=st.integers(-6, 12),
    privileged=st.sampled_from(RACES),
    by_age=st.booleans(),
)
def test_a_value_contains_its_definition(
    metric: Metric,
    law: Law,
    errors: list[tuple[int, int]],
    relation: Relation,
    twelfths: int,
    privileged: F,
    by_age: bool,
) -> None:
    naive = NAIVE[metric.name, metric.signed]
    clauses = {"given_each": (1,)} if by_age else {}
    question = about(metric.name, **clauses, **({"privileged": (privileged,)} if metric.signed else {}))
    assert question.metric is metric
    limit = Threshold(relation=relation, limit=F(twelfths, 12), text="")
    for widths in (errors, [(0, 0)]):
        value = value_of(question, enclosed(law, label=naive.label, age=by_age, errors=widths), people(), EVIDENCE)
        try:
            numbers = defined(naive, law, privileged, by_age=by_age)
        except ZeroDivisionError:
            # Without any error that is known; where the enclosures are rough it may still be open.
            assert isinstance(value, Refused) or value.reason in (Reason.UNDEFINED, Reason.NOBODY)
            continue
        if isinstance(value, Refused):
            # Everybody else has a rate, and a group among them has none.
            with pytest.raises(ZeroDivisionError):
                [every_rate(rate, law, by_age=by_age) for rate in naive.rates(LABELS, F(1)).values()]
            continue
        if value.reason is Reason.UNDEFINED:
            assert widths is errors
            assert judged(value, limit) in (Judgement.UNKNOWN, Judgement.VIOLATED)
            continue
        spans = [min(numbers), max(numbers)] if naive.worst is None else [naive.worst(numbers)] * 2
        if naive.every:
            rates = [one for rate in naive.rates(LABELS, F(1)).values() for one in every_rate(rate, law, by_age=by_age)]
            spans = [min(rates), max(rates)]
        assert value.low <= spans[0] <= spans[1] <= value.high
        if widths is not errors:
            assert (value.low, value.high) == tuple(spans)
        verdict = judged(value, limit)
        if verdict is Judgement.HOLDS:
            assert all(relation.compares(number, limit.limit) for number in spans)
        elif verdict is Judgement.VIOLATED and not by_age and not naive.every:
            assert not relation.compares(numbers[0], limit.limit)


def every_rate(rate: Callable[[Sequence[Person]], F], law: Law, *, by_age: bool) -> list[F]:
    ages: tuple[F | None, ...] = AGES if by_age else (None,)
    return [rate(people_in(law, race, age)) for race in RACES for age in ages]


@given(laws(), roughness, st.integers(0, 12))
def test_acceptance_rates_are_judged_group_by_group(law: Law, errors: list[tuple[int, int]], twelfths: int) -> None:
    limit = F(twelfths, 12)
    at_least = Threshold(relation=Relation.GE, limit=limit, text="")
    value = value_of(about("acceptance_rate"), enclosed(law, label=False, age=False, errors=errors), people(), EVIDENCE)
    if isinstance(value, Refused):
        assert any(mass(people_in(law, race, None)) == 0 for race in RACES)
        return
    if value.reason is Reason.NOBODY:
        assert all(mass(people_in(law, race, None)) == 0 for race in RACES)
        return
    [acceptance] = NAIVE["acceptance_rate", False].rates(LABELS, None).values()
    rates = every_rate(acceptance, law, by_age=False)
    assert all(part.low <= rate <= part.high for part, rate in zip(value.parts, rates, strict=True))
    verdict = judged(value, at_least)
    assert verdict is not Judgement.HOLDS or min(rates) >= limit
    assert verdict is not Judgement.VIOLATED or min(rates) < limit
    exact = value_of(
        about("acceptance_rate"), enclosed(law, label=False, age=False, errors=[(0, 0)]), people(), EVIDENCE
    )
    assert isinstance(exact, Value)
    assert judged(exact, at_least) is (Judgement.HOLDS if min(rates) >= limit else Judgement.VIOLATED)


HALF = {(F(0),): (F(1, 2), F(1, 2)), (F(1),): (F(3, 4), F(3, 4)), (F(5),): (F(1), F(1))}


def test_trap_19_a_declared_group_without_anybody_is_an_error_and_never_a_number() -> None:
    """Trap 19: an empty group had the rate .5, and 0/0 was 1."""
    empty = of_rates({(F(0),): (F(1, 2), F(1, 2)), (F(1),): (F(3, 4), F(3, 4))})
    refused = value_of(about("parity_gap"), empty, people(), EVIDENCE)
    assert isinstance(refused, Refused)
    [diagnostic] = refused.diagnostics
    assert diagnostic.code == "E0580"
    assert diagnostic.notes == ("race = c: probability 0",)
    listed = value_of(about("parity_gap", excluding=Excluding(rows=None)), empty, people(), EVIDENCE)
    assert ends(listed) == (F(1, 4), F(1, 4))
    assert isinstance(listed, Value)
    assert listed.excluded == ({"race": "c"},)
    assert len(listed.rates) == 2


def test_a_group_that_may_be_empty_leaves_everything_open() -> None:
    exact = of_rates(HALF)
    open_ = joint(
        {key: (each.low, each.high) for key, each in exact.favourable.items()},
        {key: (F(0) if key == (F(5),) else each.low, each.high) for key, each in exact.total.items()},
    )
    value = value_of(about("parity_gap"), open_, people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.reason in (Reason.UNDEFINED, Reason.NOBODY)
    assert (value.rates[2].low, value.rates[2].high) == (0, 1)
    anything = Threshold(relation=Relation.LE, limit=F(1), text="100%")
    assert judged(value, anything) is Judgement.UNKNOWN
    assert not decided(about("parity_gap"), anything, open_, people())


def test_why_it_is_open_whether_there_is_a_number() -> None:
    """Of rates that nothing is known of the engine says why; where no rate can be above 0 nothing else would help."""
    masses = {key: (total.low, total.high) for key, total in of_rates(HALF).total.items()}
    unknown = joint({key: (F(0), mass) for key, (_, mass) in masses.items()}, masses)
    nobody = of_rates({key: (F(0), F(0)) for key in HALF})
    ratio, anything = about("impact_ratio"), Threshold(relation=Relation.LE, limit=F(1), text="100%")
    for reason in (Reason.TIMEOUT, Reason.INTERRUPTED, Reason.INCOMPLETE):
        found = value_of(ratio, unknown, people(), EVIDENCE, reason=reason)
        assert isinstance(found, Value)
        assert (found.reason, found.defined) == (reason, False)
        assert judged(found, anything) is Judgement.UNKNOWN
        none = value_of(ratio, nobody, people(), EVIDENCE, reason=reason)
        assert isinstance(none, Value)
        assert (none.reason, none.defined) == (Reason.UNDEFINED, False)
    assert not decided(ratio, anything, unknown, people())
    with pytest.raises(ValueError, match="defined"):
        Value(number=Enclosure(low=F(0), high=F(1)), evidence=EVIDENCE, reason=Reason.UNDEFINED)


def test_nobody_favoured_makes_a_ratio_undefined() -> None:
    nobody = of_rates({key: (F(0), F(0)) for key in HALF})
    value = value_of(about("impact_ratio"), nobody, people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.reason in (Reason.UNDEFINED, Reason.NOBODY)
    for relation, limit in ((Relation.GE, F(0)), (Relation.LE, F(1)), (Relation.GE, F(4, 5))):
        assert judged(value, Threshold(relation=relation, limit=limit, text="")) is Judgement.UNKNOWN
    assert any("ratio of zeros" in note for note in value.evidence.notes)
    assert decided(about("impact_ratio"), None, nobody, people())


def test_one_group_that_is_left_proves_no_parity() -> None:
    alone = of_rates({(F(0),): (F(1, 2), F(1, 2))})
    value = value_of(about("parity_gap", excluding=Excluding(rows=None)), alone, people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.reason in (Reason.UNDEFINED, Reason.NOBODY)
    assert judged(value, Threshold(relation=Relation.LE, limit=F(1, 20), text="5%")) is Judgement.UNKNOWN
    rate = value_of(about("acceptance_rate", excluding=Excluding(rows=None)), alone, people(), EVIDENCE)
    assert ends(rate) == (F(1, 2), F(1, 2))


def test_small_groups_are_left_out_by_their_rows() -> None:
    counts = {(F(0),): Counted(rows=29, least=3, most=3), (F(1),): Counted(rows=30, least=3, most=3)}
    counts |= {(F(5),): Counted(rows=400, least=3, most=3)}
    exact = Joint(favourable=of_rates(HALF).favourable, total=of_rates(HALF).total, counts=counts)
    value = value_of(about("parity_gap", excluding=Excluding(rows=30)), exact, people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.excluded == ({"race": "a"},)
    assert ends(value) == (F(1, 4), F(1, 4))
    assert value.warnings == ()
    warned = value_of(about("parity_gap"), exact, people(), EVIDENCE)
    assert isinstance(warned, Value)
    [warning] = warned.warnings
    assert (warning.code, warning.notes) == ("W0808", ("race = a: 29 rows",))


def test_most_and_least_favoured_are_marked_where_they_are_compared() -> None:
    value = value_of(about("parity_gap"), of_rates(HALF), people(), EVIDENCE)
    assert isinstance(value, Value)
    assert (value.most, value.least) == ((2,), (0,))
    close = of_rates(HALF | {(F(1),): (F(2, 5), F(1))})
    rough_value = value_of(about("parity_gap"), close, people(), EVIDENCE)
    assert isinstance(rough_value, Value)
    assert (rough_value.most, rough_value.least) == ((1, 2), (0, 1))
    assert most_favoured_groups(about("path_specific_gap"), close, people()) == ((F(1),), (F(5),))


def test_influence_is_the_metric_less_the_metric_without() -> None:
    question = about("impact_ratio", influence=(1,))
    with_, without = of_rates(HALF), of_rates({key: (F(3, 4), F(4, 4)) for key in HALF})
    value = value_of(question, with_, people(), EVIDENCE, without=without)
    # DI is 1/2, and between 3/4 and 1 without: negative where removing it raises the ratio.
    assert ends(value) == (F(-1, 2), F(-1, 4))
    nobody = of_rates({key: (F(0), F(0)) for key in HALF})
    undefined = value_of(question, with_, people(), EVIDENCE, without=nobody)
    assert isinstance(undefined, Value)
    assert undefined.reason is Reason.UNDEFINED
    with pytest.raises(ValueError, match="influence"):
        value_of(question, with_, people(), EVIDENCE)


def test_a_privileged_value_belongs_to_its_bin() -> None:
    rates = {(F(18),): (F(1, 2), F(1, 2)), (F(25),): (F(1, 4), F(1, 4)), (F(45),): (F(3, 4), F(3, 4))}
    question = about("statistical_parity_difference", across=(1,), privileged=(F(30),))
    assert ends(value_of(question, of_rates(rates), people(), EVIDENCE)) == (F(3, 8), F(3, 8))


def test_the_worst_stratum_decides_and_each_is_reported() -> None:
    rates = {(race, age): (F(1, 2), F(1, 2)) for race in RACES for age in AGES} | {(F(0), F(45)): (F(1, 8), F(1, 8))}
    value = value_of(about("impact_ratio", given_each=(1,)), of_rates(rates), people(), EVIDENCE)
    assert ends(value) == (F(1, 4), F(1, 4))
    assert isinstance(value, Value)
    assert [(part.at, part.low) for part in value.parts] == [
        ({"age": "18 .. 24"}, F(1)),
        ({"age": "25 .. 44"}, F(1)),
        ({"age": "45 .. 90"}, F(1, 4)),
    ]
    assert judged(value, Threshold(relation=Relation.GE, limit=F(4, 5), text="80%")) is Judgement.VIOLATED


def test_when_an_engine_may_stop() -> None:
    question = about("parity_gap")
    wide = of_rates(HALF | {(F(0),): (F(1, 2), F(3, 5))})
    at_most = {text: Threshold(relation=Relation.LE, limit=F(text), text=text) for text in ("0.3", "0.45", "0.5")}
    assert decided(question, at_most["0.3"], wide, people())
    assert not decided(question, at_most["0.45"], wide, people())
    assert decided(question, at_most["0.5"], wide, people())
    assert not decided(question, None, wide, people())
    assert decided(question, None, wide, people(), precise=F(1, 10))
    assert decided(question, at_most["0.45"], of_rates(HALF), people())


def test_a_hull_contains_all_of_its_values() -> None:
    values = [
        value_of(about("path_specific_gap"), of_rates(rates), people(), EVIDENCE)
        for rates in (HALF, HALF | {(F(0),): (F(1, 8), F(1, 4))})
    ]
    both = hull_of(value for value in values if isinstance(value, Value))
    assert (both.low, both.high) == (F(1, 2), F(7, 8))
    assert (both.rates[0].low, both.rates[0].high) == (F(1, 8), F(1, 2))


def test_enclosures_of_a_probability() -> None:
    with pytest.raises(ValueError, match="probability"):
        Bounds(low=F(1, 2), high=F(1, 3))
    with pytest.raises(ValueError, match="part of the rows"):
        Counted(rows=2, least=1, most=3)


def test_strata_whose_groups_are_left_out_are_said_and_not_judged() -> None:
    """Who excludes small groups does not ask about ages of which only small groups are left."""
    keys = [(race, age) for race in RACES for age in AGES]
    counts = {key: Counted(rows=3 if key[1] == 18 else 90, least=1, most=1) for key in keys}
    rates = of_rates({(race, age): (F(1, 2) + age / 1000, F(1, 2) + age / 1000) for race, age in keys})
    exact = Joint(favourable=rates.favourable, total=rates.total, counts=counts)
    question = about("parity_gap", given_each=(1,), excluding=Excluding(rows=30))
    value = value_of(question, exact, people(), EVIDENCE)
    assert ends(value) == (0, 0)
    assert isinstance(value, Value)
    assert [part.at for part in value.parts] == [{"age": "25 .. 44"}, {"age": "45 .. 90"}]
    assert len(value.excluded) == 3
    assert any("nothing to compare where age in 18 .. 24" in note for note in value.evidence.notes)
    nobody = Joint(
        favourable=rates.favourable, total=rates.total, counts=dict.fromkeys(keys, Counted(rows=3, least=1, most=1))
    )
    left = value_of(question, nobody, people(), EVIDENCE)
    assert isinstance(left, Value)
    assert left.reason is Reason.NOBODY
    assert judged(left, Threshold(relation=Relation.LE, limit=F(1), text="100%")) is Judgement.VACUOUS


def test_a_privileged_group_that_is_left_out_has_nobody_to_compare_with() -> None:
    counts = {key: Counted(rows=3 if key == (F(1),) else 90, least=1, most=1) for key in HALF}
    exact = Joint(favourable=of_rates(HALF).favourable, total=of_rates(HALF).total, counts=counts)
    question = about("disparate_impact", privileged=(F(1),), excluding=Excluding(rows=30))
    value = value_of(question, exact, people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.reason in (Reason.UNDEFINED, Reason.NOBODY)


def test_a_ratio_to_a_privileged_group_without_favour_is_undefined() -> None:
    value = value_of(
        about("disparate_impact", privileged=(F(0),)), of_rates(HALF | {(F(0),): (F(0), F(0))}), people(), EVIDENCE
    )
    assert isinstance(value, Value)
    assert value.reason in (Reason.UNDEFINED, Reason.NOBODY)
    assert any("quotient by zero" in note for note in value.evidence.notes)


def test_the_mass_is_that_of_what_the_rate_is_of() -> None:
    """A rate of those who repay is a part of those who repay, and one of the favoured a part of the favoured."""
    rates = {(race, label): (F(2 + label, 5), F(3 + label, 5)) for race in RACES for label in LABELS}
    known = of_rates(rates)
    by_label = value_of(about("odds_gap"), known, people(), EVIDENCE)
    assert isinstance(by_label, Value)
    assert {rate.mass for rate in by_label.rates} == {Enclosure.exactly(F(1, 6))}
    favoured = value_of(about("predictive_gap"), known, people(), EVIDENCE)
    assert isinstance(favoured, Value)
    # Pr[favourable, race] is (2 + 3) / 5 of 1/6 at least and (3 + 4) / 5 of it at most.
    assert {rate.mass for rate in favoured.rates} == {Enclosure(low=F(1, 6), high=F(7, 30))}
    plain = value_of(about("acceptance_rate"), of_rates({(race,): (F(0), F(1)) for race in RACES}), people(), EVIDENCE)
    assert isinstance(plain, Value)
    assert {rate.mass for rate in plain.rates} == {Enclosure.exactly(F(1, 3))}
