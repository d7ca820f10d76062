"""Sampling error: guaranteed coverage, rows counted by the model's own decisions, and two intervals kept apart."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb

import pytest
from builders import linear, score
from group_cases import COLUMNS, EVIDENCE, about, of_rates, people
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Relation, holds
from fairdsl.ir.population import Cell, Factor, Network
from fairdsl.ir.question import Excluding, Threshold
from fairdsl.metrics import Counted, Joint, decided, rows_needed, rows_to_decide, value_of
from fairdsl.metrics.cohorts import Hits
from fairdsl.metrics.sampling import frequency, half_width, sampled_rate
from fairdsl.prelude import metric_named
from fairdsl.replay import rows_counted
from fairdsl.verdict import Judgement, Value, judged

F = Fraction
LEVEL = F(95, 100)


@pytest.mark.parametrize("rates", [1, 6])
@pytest.mark.parametrize("rows", [1, 7, 25])
def test_the_interval_of_a_rate_covers_it_as_often_as_it_says(rows: int, rates: int) -> None:
    intervals = [
        sampled_rate(Hits(rows=rows, hits=(n, n), misses=(rows - n, rows - n)), confidence=LEVEL, rates=rates)
        for n in range(rows + 1)
    ]
    for rate in (F(n, 60) for n in range(61)):
        covered = sum(
            comb(rows, n) * rate**n * (1 - rate) ** (rows - n)
            for n, interval in enumerate(intervals)
            if interval.low <= rate <= interval.high
        )
        assert covered >= 1 - (1 - LEVEL) / rates


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 6), st.integers(0, 3))
def test_open_decisions_widen_the_interval(hits: int, misses: int, open_: int, favoured: int) -> None:
    """Whatever the open rows turn out to be, the interval contains the one that they would give."""
    either = Hits(rows=hits + misses + open_, hits=(hits, hits + open_), misses=(misses, misses + open_))
    wide = sampled_rate(either, confidence=LEVEL, rates=2)
    yes, no = hits + min(favoured, open_), misses + open_ - min(favoured, open_)
    settled = Hits(rows=yes + no, hits=(yes, yes), misses=(no, no))
    narrow = sampled_rate(settled, confidence=LEVEL, rates=2)
    assert wide.low <= narrow.low <= narrow.high <= wide.high
    seen, exactly = frequency(either), frequency(settled)
    if exactly is not None:
        assert seen is not None
        assert seen.low <= exactly.low == exactly.high == F(yes, yes + no) <= seen.high


def test_no_rows_say_nothing() -> None:
    interval = sampled_rate(Hits(), confidence=LEVEL, rates=1)
    assert (interval.low, interval.high) == (0, 1)
    assert frequency(Hits()) is None
    # More confidence than a float can tell from certainty.
    certain = sampled_rate(Hits(rows=9, hits=(4, 4), misses=(5, 5)), confidence=1 - F(1, 10**30), rates=1)
    assert (certain.low, certain.high) == (0, 1)


@given(st.integers(1, 50), st.integers(1, 200).map(lambda n: F(n, 1000)))
def test_rows_needed_for_a_width(rates: int, width: F) -> None:
    rows = rows_needed(width, confidence=LEVEL, rates=rates)
    assert half_width(rows, confidence=LEVEL, rates=rates) <= width * (1 + F(1, 10**9))
    assert rows == 1 or half_width(rows - 1, confidence=LEVEL, rates=rates) > width * (1 - F(1, 10**9))


def test_rows_needed_by_hand() -> None:
    # ln(2 * 4 / 0.05) / (2 * 0.05^2) = 5.0752 / 0.005 = 1015.03...
    assert rows_needed(F(5, 100), confidence=LEVEL, rates=4) == 1016
    with pytest.raises(ValueError, match="between 0 and 1"):
        rows_needed(F(0), confidence=LEVEL)


rows = st.lists(
    st.tuples(st.sampled_from([0, 1, 5]), st.sampled_from([18, 24, 25, 44, 45, 90]), st.integers(-2, 2), st.booleans()),
    min_size=1,
    max_size=30,
)


@given(rows, st.sampled_from(["parity_gap", "odds_gap"]))
def test_rows_are_counted_by_the_model_itself(table: list[tuple[int, int, int, bool]], metric: str) -> None:
    population = people([[race, age, wealth / 2, float(repaid)] for race, age, wealth, repaid in table])
    rule = score([1, F(1, 10), 3], threshold=5)
    question = about(metric, across=(0, 1), given=linear({2: 1}, ">=", F(-1, 2)))
    expected: Counter[tuple[F, ...]] = Counter()
    favoured: Counter[tuple[F, ...]] = Counter()
    for race, age, wealth, repaid in table:
        point = (F(race), F(age), F(wealth, 2), F(repaid))
        if not holds(question.given, lambda variable, point=point: point[variable.attribute]):
            continue
        key = (F(race), F(18 if age < 25 else 25 if age < 45 else 45))
        key += (F(repaid),) if metric == "odds_gap" else ()
        expected[key] += 1
        favoured[key] += race + F(age, 10) + 3 * F(wealth, 2) > 5
    found = rows_counted(question, population, rule)
    # Where no row counts, every key is there with none: nothing at all would mean a law from no rows.
    assert found
    assert {key: count.rows for key, count in found.items() if count.rows} == expected
    assert {key: (count.least, count.most) for key, count in found.items()} == {
        key: (favoured[key], favoured[key]) for key in found
    }


HALF = {(F(0),): (F(1, 2), F(1, 2)), (F(1),): (F(11, 20), F(11, 20)), (F(5),): (F(3, 5), F(3, 5))}
MANY = {
    (F(0),): Counted(rows=4000, least=2000, most=2000),
    (F(1),): Counted(rows=4000, least=2200, most=2200),
    (F(5),): Counted(rows=4000, least=2400, most=2400),
}
FEW = {key: Counted(rows=40, least=count.least // 100, most=count.most // 100) for key, count in MANY.items()}


def with_rows(counts: dict[tuple[F, ...], Counted]) -> Joint:
    exact = of_rates(HALF)
    return Joint(favourable=exact.favourable, total=exact.total, counts=counts)


def test_with_a_confidence_the_wider_interval_is_judged_and_the_other_stays() -> None:
    question = about("parity_gap", confidence=LEVEL)
    at_most = {text: Threshold(relation=Relation.LE, limit=F(text), text=text) for text in ("0.12", "0.2")}
    sure, unsure = (value_of(question, with_rows(counts), people(), EVIDENCE) for counts in (MANY, FEW))
    assert isinstance(sure, Value)
    assert isinstance(unsure, Value)
    for value in (sure, unsure):
        assert value.low == value.high == F(1, 10)
        assert value.sampling is not None
        assert value.sampling.low < F(1, 10) < value.sampling.high
        assert all(rate.low == rate.high and rate.empirical == rate.number for rate in value.rates)
        assert all(rate.sampling and rate.sampling.low < rate.low < rate.sampling.high for rate in value.rates)
        assert value.warnings == ()
    assert judged(sure, at_most["0.2"]) is Judgement.HOLDS
    assert judged(sure, at_most["0.12"]) is Judgement.UNKNOWN
    assert judged(unsure, at_most["0.2"]) is Judgement.UNKNOWN
    # An engine cannot know more of the rows: it may stop where its own part is precise.
    assert decided(question, at_most["0.12"], with_rows(MANY), people())
    plain = value_of(about("parity_gap"), with_rows(FEW), people(), EVIDENCE)
    assert isinstance(plain, Value)
    assert plain.sampling is None
    assert judged(plain, at_most["0.12"]) is Judgement.HOLDS


def test_the_interval_for_the_population_contains_the_rate_under_the_law() -> None:
    """A law with a wrong structure may have a rate that the rows contradict; what is judged allows for both."""
    astray = {key: Counted(rows=4000, least=400, most=400) for key in HALF}
    value = value_of(about("parity_gap", confidence=LEVEL), with_rows(astray), people(), EVIDENCE)
    assert isinstance(value, Value)
    for rate in value.rates:
        assert rate.sampling is not None
        assert rate.sampling.low < F(1, 10) < rate.low <= rate.sampling.high
        assert rate.empirical == Enclosure.exactly(F(1, 10))


def test_a_written_law_has_no_sampling_error() -> None:
    cells = (
        tuple(Cell(low=F(code), high=F(code)) for code in (0, 1, 5)),
        *((Cell(low=None, high=None),) for _ in COLUMNS[1:]),
    )
    factors = tuple(
        Factor(column=column, parents=(), rows={(): (F(1, len(cells[column])),) * len(cells[column])})
        for column in range(len(COLUMNS))
    )
    law = Network(name="written", columns=COLUMNS, cells=cells, factors=factors, has_label=True)
    value = value_of(about("parity_gap", confidence=LEVEL), of_rates(HALF), law, EVIDENCE)
    assert isinstance(value, Value)
    assert value.sampling == value.number == Enclosure.exactly(F(1, 10))
    assert any("no sampling error" in note for note in value.evidence.notes)
    with pytest.raises(ValueError, match="rests on no rows"):
        value_of(about("parity_gap", excluding=Excluding(rows=30)), of_rates(HALF), law, EVIDENCE)


def test_where_no_interval_is_known_a_confidence_is_never_met() -> None:
    question = about("path_specific_gap", confidence=LEVEL)
    value = value_of(question, with_rows(MANY), people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.sampling is None
    anything = Threshold(relation=Relation.LE, limit=F(1), text="100%")
    assert judged(value, anything) is Judgement.UNKNOWN
    rough = of_rates(HALF | {(F(0),): (F(1, 2), F(1, 2) + F(1, 10**7))})
    # More precision would not help, so it is not asked for without end.
    assert decided(question, anything, rough, people())
    assert not decided(question, anything, of_rates(HALF | {(F(0),): (F(1, 3), F(1, 2))}), people())


def test_rows_of_a_population_are_counted_where_the_engine_counts_none() -> None:
    population = people([[race, 30, 0, 1] for race in (0, 1, 5) for _ in range(40)])
    exact = of_rates(HALF)
    question = about("parity_gap", confidence=LEVEL)
    value = value_of(question, Joint(favourable=exact.favourable, total=exact.total), population, EVIDENCE)
    assert isinstance(value, Value)
    # How many rows there are is known, and nothing about decisions.
    assert [(rate.rows, rate.empirical, rate.sampling) for rate in value.rates] == [
        (40, None, Enclosure(low=F(0), high=F(1)))
    ] * 3


def test_predictive_parity_counts_the_favoured() -> None:
    keys = {(race, label): (F(1, 6), F(1, 6)) for race in (F(0), F(1), F(5)) for label in (F(0), F(1))}
    rates = of_rates(keys)
    counts = {key: Counted(rows=50, least=int(10 + 5 * key[1]), most=int(10 + 5 * key[1])) for key in keys}
    value = value_of(
        about("predictive_gap"),
        Joint(favourable=rates.favourable, total=rates.total, counts=counts),
        people(),
        EVIDENCE,
    )
    assert isinstance(value, Value)
    assert [(rate.rows, rate.empirical) for rate in value.rates] == [(25, Enclosure.exactly(F(3, 5)))] * 3


def law_of_rows() -> Network:
    """A network over the columns of the cases that claims to come from rows."""
    cells = (
        tuple(Cell(low=F(code), high=F(code)) for code in (0, 1, 5)),
        *((Cell(low=None, high=None),) for _ in COLUMNS[1:]),
    )
    return Network(name="learned", columns=COLUMNS, cells=cells, factors=(), has_label=True, sample=people().sample)


def test_a_law_that_its_rows_contradict_is_pointed_out() -> None:
    """Trap 16: a network without the edges that matter answered, and nobody saw it."""
    question, law = about("parity_gap"), law_of_rows()
    fitting = value_of(question, with_rows(MANY), law, EVIDENCE)
    astray = value_of(question, with_rows({**MANY, (F(5),): Counted(rows=4000, least=9, most=9)}), law, EVIDENCE)
    assert isinstance(fitting, Value)
    assert isinstance(astray, Value)
    assert fitting.warnings == ()
    [warning] = astray.warnings
    assert (warning.code, warning.notes) == ("W0809", ("race = c: 60% under the distribution, 0.22% in the rows",))
    # A path-specific law is another one than that of the rows.
    paths = value_of(about("path_specific_gap"), with_rows({key: MANY[(F(0),)] for key in MANY}), law, EVIDENCE)
    assert isinstance(paths, Value)
    assert paths.warnings == ()
    assert all(rate.empirical is None for rate in paths.rates)


def test_shares_of_deserving_are_no_favour() -> None:
    keys = {(race, label): (F(race + 1, 9), F(race + 1, 9)) for race in (F(0), F(1), F(5)) for label in (F(0), F(1))}
    value = value_of(about("predictive_gap"), of_rates(keys), people(), EVIDENCE)
    assert isinstance(value, Value)
    assert value.most == value.least == ()


@pytest.mark.parametrize(("metric", "relation", "limit"), [
    ("parity_gap", Relation.LE, "0.12"), ("impact_ratio", Relation.GE, "0.8"),
    ("opportunity_gap", Relation.LE, "0.07"),
])  # fmt: skip
def test_rows_that_would_decide_a_threshold(metric: str, relation: Relation, limit: str) -> None:
    """With so many rows and the same frequencies Hoeffding's intervals, and so the narrower ones, decide it."""
    question = about(metric, confidence=LEVEL)
    threshold = Threshold(relation=relation, limit=F(limit), text=limit)
    labels = ((F(1),), (F(0),)) if metric == "opportunity_gap" else ((),)
    rates = {(*key, *label): rate for key, rate in HALF.items() for label in labels}

    def with_each(rows: int) -> Value:
        counts = {
            key: Counted(rows=rows, least=round(rows * rate[0]), most=round(rows * rate[0]))
            for key, rate in rates.items()
        }
        exact = of_rates(rates)
        value = value_of(
            question, Joint(favourable=exact.favourable, total=exact.total, counts=counts), people(), EVIDENCE
        )
        assert isinstance(value, Value)
        return value

    few = with_each(40)
    assert judged(few, threshold) is Judgement.UNKNOWN
    rows = rows_to_decide(few, metric_named(metric).comparison, threshold)
    assert rows is not None
    assert judged(with_each(rows + 1), threshold) is not Judgement.UNKNOWN
    assert half_width(rows, confidence=LEVEL, rates=3) > half_width(2 * rows, confidence=LEVEL, rates=3)


def test_what_no_rows_decide() -> None:
    value = value_of(about("parity_gap", confidence=LEVEL), with_rows(FEW), people(), EVIDENCE)
    assert isinstance(value, Value)
    on_it = Threshold(relation=Relation.LE, limit=F(1, 10), text="0.1")
    assert rows_to_decide(value, metric_named("parity_gap").comparison, on_it) is None
    assert rows_to_decide(value, metric_named("acceptance_rate").comparison, on_it) is None
    plain = value_of(about("parity_gap"), with_rows(FEW), people(), EVIDENCE)
    assert isinstance(plain, Value)
    at_fifth = Threshold(relation=Relation.LE, limit=F(1, 5), text="0.2")
    assert rows_to_decide(plain, metric_named("parity_gap").comparison, at_fifth) is None
