"""What is said beside a metric's number: groups without a rate, rates from few rows, and what intervals assume."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.domain import show_number
from fairdsl.ir.numbers import span
from fairdsl.ir.population import Population, Rows
from fairdsl.ir.rate import Each, Fact, Negated, Rate
from fairdsl.metrics.cohorts import Cohort
from fairdsl.metrics.errors import contradicted, empty_groups, few_rows
from fairdsl.metrics.estimated import estimated
from fairdsl.metrics.intervals import Defined
from fairdsl.metrics.joint import Enclosure
from fairdsl.metrics.reading import Reading, Stratum, rests_on_tables
from fairdsl.metrics.sampling import FEW_ROWS, USUAL, frequency, sampled_rate
from fairdsl.metrics.words import group_words
from fairdsl.numerics.binomial import clopper_pearson


def refusal_of(reading: Reading, population: Population) -> Diagnostic | None:
    """Why there is no number: a declared group has no rate.

    Raises ValueError where groups are to be excluded by their rows and the distribution rests on none.
    """
    question = reading.question
    if question.excluding is not None and question.excluding.rows is not None and population.sample is None:
        raise ValueError(f"{population.name} rests on no rows, so none can be counted")
    without = [cohort for cohort in reading.kept if _nobody(cohort, question.metric.rate)]
    if not without:
        return None
    names = tuple(dict.fromkeys(_words(cohort, population) for cohort in without))
    return empty_groups(names, len(reading.cohorts), population.name, question.span)


def _nobody(cohort: Cohort, rate: Rate) -> bool:
    """Whether nobody is in the group. That the model favours nobody of a group is not a mistake of the question."""
    return cohort.of_group.high == 0 or (cohort.defined is Defined.NO and not rate.among_decided)


def warnings_of(reading: Reading, population: Population) -> tuple[Diagnostic, ...]:
    """Rates from few rows, and rates that the rows contradict."""
    return (*_few(reading, population), *_contradicted(reading, population))


def _few(reading: Reading, population: Population) -> Iterator[Diagnostic]:
    """Rates from few rows, where neither a bound on rows nor a confidence says that they were thought of."""
    question = reading.question
    chosen = question.excluding is not None and question.excluding.rows is not None
    if chosen or question.confidence is not None or population.sample is None:
        return
    few = [
        (_words(cohort, population), cohort.counted.rows)
        for cohort in reading.kept
        if cohort.counted is not None and cohort.counted.rows < FEW_ROWS
    ]
    if few:
        names = tuple(f"{name}: {rows} row{'' if rows == 1 else 's'}" for name, rows in few)
        left = clopper_pearson(FEW_ROWS // 2, FEW_ROWS, float(USUAL))
        yield few_rows(names, population.name, FEW_ROWS, left, question.span)


def _contradicted(reading: Reading, population: Population) -> Iterator[Diagnostic]:
    """Rates under a distribution that lie outside the intervals of the rows: a sign that its structure is wrong.

    All intervals together miss some rate of the population in one sample of twenty. Paths are asked about under
    another distribution than that of the rows.
    """
    question = reading.question
    if population.sample is None or isinstance(population, Rows) or question.metric.rate.along_paths:
        return
    found: list[str] = []
    for cohort in reading.kept:
        if cohort.counted is None:
            continue
        seen, rate = frequency(cohort.counted), cohort.rate
        interval = sampled_rate(cohort.counted, confidence=USUAL, rates=len(reading.kept))
        if seen is not None and (rate.high < interval.low or interval.high < rate.low):
            distribution, rows = (_about(each) for each in (rate, seen))
            found.append(f"{_words(cohort, population)}: {distribution} under the distribution, {rows} in the rows")
    if found:
        yield contradicted(found, population.name, question.span)


def _about(share: Enclosure) -> str:
    """How much it is, for a sentence; reports have the exact numbers."""
    return span(*share, between=" to ", percent=True)


def notes_of(reading: Reading, population: Population) -> tuple[str, ...]:
    """What the numbers assume, and why one is none."""
    return (*_undefined(reading, population), *_meaning(reading, population), *_sampling(reading, population))


def _undefined(reading: Reading, population: Population) -> Iterator[str]:
    for stratum in reading.strata:
        if stratum.number.defined is not Defined.YES:
            where = f" where {group_words(stratum.at, population)}" if stratum.at else ""
            yield _why_undefined(reading, stratum) + where


def _why_undefined(reading: Reading, stratum: Stratum) -> str:
    cohorts = [cohort for cohort in reading.kept if cohort.stratum == stratum.at]
    if not stratum.comparable:
        what = "the privileged group or everybody else is" if reading.question.metric.signed else "too many groups are"
        return f"{what} left out, so there is nothing to compare"
    if reading.question.metric.rate.is_mean and any(cohort.rate.low <= 0 for cohort in cohorts):
        return "a mean is not certainly above 0, and a ratio of such is not a number"
    if any(cohort.defined is Defined.NO for cohort in cohorts):
        return _why_no_rate(reading.question.metric.rate)
    if any(cohort.defined is not Defined.YES for cohort in cohorts):
        return "it is not certain that every group has a rate: the probability that one rests on may be 0"
    if stratum.number.defined is Defined.NO and reading.question.metric.signed:
        return "the rate of the privileged group is 0, and a quotient by zero is not a number"
    if stratum.number.defined is Defined.NO:
        return "the rate of every group is 0, and a ratio of zeros is not a number"
    return "it is not certain that any rate is above 0, and a ratio of zeros is not a number"


def _why_no_rate(rate: Rate) -> str:
    """Of a rate among those about whom the model decides in one way."""
    if rate.decides is None and rate.given is Fact.FAVOURABLE:
        return "nobody of some group is favoured, so of its favoured there is no rate"
    if rate.decides is None and rate.given == Negated(Fact.FAVOURABLE):
        return "everybody of some group is favoured, so of its others there is no rate"
    if rate.given is Each.DECISION:
        return "the model decides alike about everybody of some group, so there is no rate of the other decision"
    return "nobody of some group is among those that the rate is given, so there is no such rate"


def _meaning(reading: Reading, population: Population) -> Iterator[str]:
    question = reading.question
    if question.given_each:
        names = " and ".join(population.columns[column].name for column in question.given_each)
        yield f"taken for each value of {names} by itself; the worst decides"
    if question.metric.signed:
        yield "everybody outside the privileged group counts as one group"
    if question.metric.rate.along_paths:
        yield "the graph is taken as the true one: nothing that it leaves out influences two of its nodes"


def _sampling(reading: Reading, population: Population) -> Iterator[str]:
    confidence = reading.question.confidence
    if confidence is None:
        return
    if population.sample is None:
        yield "the distribution is taken as it is written, so there is no sampling error"
        return
    if reading.wide is None:
        yield "no interval is known that covers the sampling error of this number"
        return
    sure = f"with {show_number(confidence * 100)}% confidence"
    level = f"{sure} all rates of the population lie in their sampling intervals"
    draws = "rows are independent draws and the model was fixed before them"
    if rests_on_tables(reading.question):
        yield f"{level} (by the rows behind each table of the distribution), if its structure is right, {draws}"
        return
    yield f"{level} (Clopper and Pearson's, joined with the rate under the distribution), if {draws}"
    if reading.by_pairs:
        yield f"{sure} the number lies in its own (Buehler's bounds for each two groups, and the number itself)"
    yield from _by_tables(reading, population, confidence)


def _by_tables(reading: Reading, population: Population, confidence: Fraction) -> Iterator[str]:
    """What the tables of a distribution from rows say of its own rates, with the same confidence."""
    found = estimated(reading.question, reading.kept, population, confidence)
    if found:
        rates = [cohort.rate for cohort in reading.kept]
        off = max(max(rate.low - wide.low, wide.high - rate.high) for rate, wide in zip(rates, found, strict=True))
        if off < 1:
            within = f"{show_number(Fraction(ceil(off * 10**4), 100))} percentage points"
            yield f"if its structure is right, its own rates are as surely within {within} of the population's"


def _words(cohort: Cohort, population: Population) -> str:
    words = group_words(cohort.group + cohort.stratum + cohort.label, population)
    return (
        words if cohort.decision is None else f"{words}, {'favourable' if cohort.decision else 'unfavourable'} decision"
    )
