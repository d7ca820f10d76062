"""From joint probabilities to the verdict about a metric, with its rates, and whether an engine may stop.

Two kinds of error stay apart. ``low`` and ``high`` enclose the metric under the distribution, and only an engine's
precision makes them differ. Where ``with confidence`` is asked for, ``sampling`` is the metric over wider rates: each
contains the enclosure under the distribution and the interval of :func:`fairdsl.metrics.sampling.sampled_rate` for the
rows, so that what is judged holds under the distribution and, with that probability, of the population that the rows
were drawn from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.metric import ACCEPTANCE
from fairdsl.ir.population import Population
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.metrics.counts import rows_of
from fairdsl.metrics.findings import notes_of, refusal_of, warnings_of
from fairdsl.metrics.intervals import Defined, Range
from fairdsl.metrics.joint import Bounds, Joint, key_at
from fairdsl.metrics.reading import Listed, Reading, read
from fairdsl.metrics.sampling import frequency
from fairdsl.metrics.words import Names
from fairdsl.verdict import Evidence, Judgement, Named, Part, Rate, Reason, Refused, Value, judged

#: Numbers that an engine knows to this width are precise enough where no threshold asks for more.
PRECISE = Fraction(1, 10**6)

_ZERO, _ONE = Fraction(0), Fraction(1)
#: The frequency in rows of which no decision is known.
_OPEN = Bounds(low=_ZERO, high=_ONE)


def value_of(
    question: GroupMetric,
    joint: Joint,
    population: Population,
    evidence: Evidence,
    *,
    without: Joint | None = None,
    reason: Reason | None = None,
) -> Value | Refused:
    """The metric of a joint. Refused where a declared group has no rate and the question does not exclude it.

    ``without`` is the joint under the distribution in which the columns of ``influence`` are drawn uniformly: the value
    is then the metric less the metric without. ``reason`` says why the interval is not narrower, where the engine
    stopped early; so it says why it is open whether there is a number, unless there certainly is none.
    """
    if not joint.counts and population.sample is not None:
        joint = replace(joint, counts=rows_of(question, population))
    return _value_of(question, joint, population, evidence, without, reason)


def _value_of(
    question: GroupMetric,
    joint: Joint,
    population: Population,
    evidence: Evidence,
    without: Joint | None,
    reason: Reason | None,
) -> Value | Refused:
    """The same of a joint whose rows are counted, or do not matter."""
    question = _by_keys(question, population)
    reading = read(question, joint, population)
    refusal = refusal_of(reading, population)
    if reading.about_nobody:
        return Value(
            number=_OPEN,
            evidence=evidence,
            excluded=_excluded(reading, Names(population)),
            confidence=question.confidence,
            defined=False,
            reason=Reason.NOBODY,
        )
    if refusal is not None:
        return Refused(diagnostics=(refusal,))
    if notes := notes_of(reading, population):
        evidence = replace(evidence, notes=(*evidence.notes, *notes))
    number, warnings = _number_of(reading, population, without, evidence, reason), warnings_of(reading, population)
    return replace(number, warnings=warnings) if warnings else number


def value_of_draws(
    question: GroupMetric, joint: Joint, population: Population, *, without: Joint | None, left_out: Collection[Listed]
) -> Value:
    """The metric of people who were drawn: its bounds are the share among them, ``sampling`` is what that says."""
    question = replace(_by_keys(question, population), excluding=None)
    reading = read(question, joint, population, beside=left_out)
    return _number_of(reading, population, without, _NOBODY, None)


def _number_of(
    reading: Reading, population: Population, without: Joint | None, evidence: Evidence, reason: Reason | None
) -> Value:
    """The number, and what it was read from."""
    question, names = reading.question, Names(population)
    if question.influence:
        number, sampled, parts = _influence(reading, without, population, names)
    else:
        number, sampled, parts = reading.number, reading.sampled, _parts(reading, names)
    whole = _part(Named(), number, sampled)
    defined = whole.defined and all(part.defined for part in parts)
    if not defined and (reason is None or number.defined is Defined.NO):
        reason = Reason.UNDEFINED
    most, least = reading.extremes
    return Value(
        number=whole.number,
        evidence=evidence,
        rates=_rates(reading, names),
        most=most,
        least=least,
        excluded=_excluded(reading, names),
        sampling=whole.sampling,
        confidence=question.confidence,
        parts=parts,
        defined=defined,
        reason=reason,
    )


def _excluded(reading: Reading, names: Names) -> tuple[Named, ...]:
    listed = (names(cohort.group + cohort.stratum + cohort.label) for cohort in reading.excluded)
    return tuple(dict.fromkeys(listed))


def decided(
    question: GroupMetric,
    threshold: Threshold | None,
    joint: Joint,
    population: Population,
    *,
    without: Joint | None = None,
    precise: Fraction = PRECISE,
    value: Value | Refused | None = None,
) -> bool:
    """Whether a more precise joint would change nothing that is asked for.

    So it is where the threshold is met or missed, where all is exact, where a group has no rate whatever the
    engine finds out, or where every number is known to the width ``precise`` and no threshold asks for more. Of
    sampling error it knows what the counts of the joint say; more precision does not make it smaller. ``value`` is
    what :func:`value_of` makes of the same joints, where somebody has it already.
    """
    joints = (joint,) if without is None else (joint, without)
    if all(bounds.exact for each in joints for of in (each.favourable, each.total) for bounds in of.values()):
        return True
    by_rows = question.excluding is not None and question.excluding.rows is not None
    if by_rows and not joint.counts:
        joint = replace(joint, counts=rows_of(question, population))
    if value is None:
        value = _value_of(question, joint, population, _NOBODY, without, None)
    if isinstance(value, Refused):
        return True
    if threshold is not None and judged(value, threshold) is not Judgement.UNKNOWN:
        return True
    if threshold is not None and question.confidence is None:
        return False
    numbers = [rate.number for rate in value.rates]
    if not question.metric.is_span:  # there the value is the span of all rates, which is not an error
        numbers.append(value.number)
    elif question.influence:
        numbers += [part.number for part in value.parts]
    return value.defined and all(_close(low, high, precise) for low, high in numbers)


def _close(low: Fraction, high: Fraction, width: Fraction) -> bool:
    """Whether two numbers are at most so far apart: in whole numbers, for fractions are brought to least terms."""
    (least, under), (most, over), (part, of) = (each.as_integer_ratio() for each in (low, high, width))
    return (most * under - least * over) * of <= part * under * over


_NOBODY = Evidence(backend="", method="")


def most_favoured_groups(
    question: GroupMetric, joint: Joint, population: Population
) -> tuple[tuple[Fraction, ...], ...]:
    """The groups that may be favoured most under a joint: what the baseline ``most_favoured`` may stand for.

    ``joint`` is of the distribution itself and its keys those of the acceptance rates of the question.
    """
    plain = replace(question, metric=ACCEPTANCE, allowed=frozenset(), baseline=None)
    counted = joint if joint.counts else replace(joint, counts=rows_of(plain, population))
    reading = read(plain, counted, population)
    most, _ = reading.extremes
    return tuple(dict.fromkeys(tuple(value for _, value in reading.kept[place].group) for place in most))


def _by_keys(question: GroupMetric, population: Population) -> GroupMetric:
    """The privileged group by the keys of its cells; a value in no cell is left as it is, and nobody's."""
    if question.privileged is None:
        return question
    columns = zip(question.across, question.privileged, strict=True)
    keys = [(key_at(population, column, value), value) for column, value in columns]
    return replace(question, privileged=tuple(value if key is None else key for key, value in keys))


def _influence(
    reading: Reading, without: Joint | None, population: Population, names: Names
) -> tuple[Range, Range | None, tuple[Part, ...]]:
    """Q under the distribution less Q without, and with sampling error; the same groups are left out of both.

    Of the rates of all groups it is that of each group, from the least to the greatest.
    """
    if without is None:
        raise ValueError("influence is a difference, and the joint without it is missing")
    question = reading.question
    listed = {(cohort.group, cohort.stratum, cohort.case) for cohort in reading.excluded}
    other = read(replace(question, excluding=None), without, population, beside=listed)
    if question.metric.is_span:
        parts = tuple(
            _part(at, _less(one, rest), None if wide is None or less is None else _less(wide, less))
            for (at, one, wide), (_, rest, less) in zip(_each(reading, names), _each(other, names), strict=True)
        )
        return _span(parts), _sampled_span(parts), parts
    sampled = None
    if reading.sampled is not None and other.sampled is not None:
        sampled = _less(reading.sampled, other.sampled)
    return _less(reading.number, other.number), sampled, ()


def _span(parts: Sequence[Part]) -> Range:
    """From the least to the greatest of the groups; no number where none is left."""
    if not parts:
        return Range(low=Fraction(0), high=None, defined=Defined.NO)
    defined = Defined.YES if parts and all(part.defined for part in parts) else Defined.PERHAPS
    low, high = (
        pick(ends) for pick, ends in ((min, [p.number.low for p in parts]), (max, [p.number.high for p in parts]))
    )
    return Range(low=low, high=high, defined=defined)


def _sampled_span(parts: Sequence[Part]) -> Range | None:
    found = [part.sampling for part in parts if part.sampling is not None]
    if not found or len(found) < len(parts):
        return None
    return Range(low=min(low for low, _ in found), high=max(high for _, high in found))


def _less(whole: Range, rest: Range) -> Range:
    among = {whole.defined, rest.defined}
    defined = next(state for state in (Defined.NO, Defined.PERHAPS, Defined.YES) if state in among)
    if whole.high is None or rest.high is None:
        return Range(low=_ZERO, high=None, defined=Defined.NO if defined is Defined.NO else Defined.PERHAPS)
    return Range(low=whole.low - rest.high, high=whole.high - rest.low, defined=defined)


def _part(at: Named, number: Range, sampled: Range | None) -> Part:
    """A number as a part of a value; without a sense where it is, or may be, undefined."""
    high = number.high
    if number.defined is not Defined.YES or high is None:
        return Part(at=at, number=_OPEN, defined=False)
    sampling = None if sampled is None or sampled.high is None else Enclosure(low=sampled.low, high=sampled.high)
    return Part(at=at, number=Enclosure(low=number.low, high=high), sampling=sampling)


def _parts(reading: Reading, names: Names) -> tuple[Part, ...]:
    """The numbers that each have to meet a threshold: the rates of all groups, or a metric for each value given."""
    if reading.question.metric.is_span:
        return tuple(_part(*found) for found in _each(reading, names))
    if not reading.question.given_each:
        return ()
    return tuple(_part(names(stratum.at), stratum.number, stratum.sampled) for stratum in reading.compared)


def _each(reading: Reading, names: Names) -> Iterator[tuple[Named, Range, Range | None]]:
    """The rate of every group, and with sampling error."""
    for place, cohort in enumerate(reading.kept):
        wide = None if reading.wide is None else reading.wide[place]
        yield (
            names(cohort.group + cohort.stratum),
            Range(low=cohort.rate.low, high=cohort.rate.high, defined=cohort.defined),
            None if wide is None else Range(low=wide.low, high=wide.high),
        )


def _decision(favourable: bool | None) -> dict[str, str]:
    """The decision that is given; its name has a space, which no attribute's has."""
    return {} if favourable is None else {"model decision": "favourable" if favourable else "unfavourable"}


def _rates(reading: Reading, names: Names) -> tuple[Rate, ...]:
    rates: list[Rate] = []
    for place, cohort in enumerate(reading.kept):
        # Rows say how often somebody was favoured, and nothing of what would be along some paths only.
        counted = None if reading.question.metric.rate.along_paths else cohort.counted
        seen = None if counted is None else frequency(counted)
        wide = None if reading.wide is None else reading.wide[place]
        rates.append(
            Rate(
                group=names(cohort.group),
                given=names(cohort.stratum + cohort.label) | _decision(cohort.decision),
                number=cohort.rate,
                mass=cohort.mass,
                rows=None if counted is None else counted.rows,
                mean=reading.question.metric.rate.is_mean,
                empirical=None if seen == _OPEN else seen,
                sampling=wide,
            )
        )
    return tuple(rates)
