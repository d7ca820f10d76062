"""The sentences of the terminal report: numbers against thresholds, reasons, and what verdicts rest on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from fairdsl.ir.decimals import ROUNDED, decimal, decimals
from fairdsl.ir.domain import show_number
from fairdsl.ir.enclosure import Enclosed
from fairdsl.ir.metric import Comparison
from fairdsl.ir.numbers import Towards, nearest, shown, span
from fairdsl.ir.question import metric_words
from fairdsl.ir.reading import Reading
from fairdsl.prelude import SHARES
from fairdsl.report.model import DemandReport
from fairdsl.report.people import ListedAttribute
from fairdsl.source.names import value_text
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Cell,
    Estimate,
    Estimated,
    Fidelity,
    Interval,
    Judgement,
    Reason,
    Region,
    Restriction,
    Shares,
    Value,
    Word,
)
from fairdsl.verdict.claims import in_words

#: Groups that a line names at most.
_NAMED = 3
#: Where shares lie.
_WHOLE = Fraction(0), Fraction(1)

#: Figures of scores, and of the ends of regions.
_FIGURES = 6

REASONS = {
    Reason.TIMEOUT: "the time ran out; a longer `--timeout` may decide it",
    Reason.EFFORT: "the effort was spent; more `--effort` may decide it",
    Reason.INTERRUPTED: "it was interrupted; what was found until then stands",
    Reason.MEMORY_OUT: "the memory ran out",
    Reason.INCOMPLETE: "what was run cannot decide it",
    Reason.NUMERIC_GAP: "exact arithmetic and the deployed float32 file disagree, "
    "so the model has a tie that rounding decides; neither verdict would hold in both",
    Reason.REPLAY_FAILED: "a pair was found that the original model does not confirm",
    Reason.MALFORMED: "the solver's answer was not understood",
    Reason.ENGINE_CRASHED: "the solver stopped without an answer",
    Reason.CONTRADICTION: "two backends contradict each other, so one of them is wrong",
    Reason.UNDEFINED: "there is, or may be, no such number",
}

#: What others say where their solvers were run by somebody else, whose options these are not.
_EXTERNAL = {
    Reason.TIMEOUT: "the solver's time ran out; more of it may decide it",
    Reason.MEMORY_OUT: "the solver's memory ran out",
}


def because(reason: Reason, *, external: bool = False) -> str:
    """Why something is unknown; ``external``: solvers that others ran were to say it."""
    return _EXTERNAL.get(reason, REASONS[reason]) if external else REASONS[reason]


def outcome(demand: DemandReport) -> str:
    """What came out, beside what was required: ``fair share 96% >= 95%``."""
    if demand.value is None:
        return asked(demand)
    metric, said, limit = metric_words(demand.metric), known(demand, demand.value), demand.threshold
    if limit is None:
        return f"{metric} {said}"
    exact = demand.value.exact
    # Of several numbers the one that is shown need not be the one that breaks the threshold.
    if exact is not None and demand.judgement is Judgement.HOLDS:
        return f"{metric} {said} {limit.relation.value} {limit.text}"
    if (
        exact is not None
        and demand.judgement is Judgement.VIOLATED
        and limit.relation.negated.compares(exact, limit.limit)
    ):
        return f"{metric} {said} {limit.relation.negated.value} {limit.text}"
    return f"{metric} {said}, required {limit.relation.value} {limit.text}"


def asked(demand: DemandReport) -> str:
    """The demand without its verb."""
    return demand.text.removeprefix("require ").removeprefix("measure ").strip()


def known(demand: DemandReport, value: Interval) -> str:
    """A demand's number, or whom it names."""
    limit = None if demand.threshold is None else demand.threshold.limit
    percent = in_percent(demand)
    if demand.groups is not None and demand.comparison is not None and not demand.comparison.value.compares:
        said = _of_groups(percent, demand.comparison, value, demand.groups, limit)
    else:
        parts = () if demand.groups is None else demand.groups.parts
        said = _several(value, parts, percent, limit) or number(value, percent, limit)
    if demand.estimated_with is not None:
        return f"estimated {said}, with {shown(demand.estimated_with, percent=True)} confidence"
    return said


def in_percent(demand: DemandReport) -> bool:
    """Whether its numbers are written in percent: shares are, and whatever is required in percent."""
    limit, comparison = demand.threshold, demand.comparison
    mean = demand.definition is not None and "rate(" not in demand.definition  # of a score, which may be any number
    is_rate = demand.metric in SHARES or (comparison is not None and not comparison.value.compares and not mean)
    return is_rate or (limit is not None and limit.text.endswith("%"))


def _of_groups(percent: bool, comparison: Comparison, value: Interval, groups: Value, limit: Fraction | None) -> str:
    """The spread of the rates, or who has the highest or lowest."""
    if not comparison.value.names_groups:
        if value.exact is not None:
            return number(value, percent)
        return _several(value, groups.rates, percent, limit) or f"from {between(value, percent=percent)}"
    places = groups.most if comparison is Comparison.MOST else groups.least
    found = [groups.rates[place].group for place in sorted(places)]
    names = [group_words(group) for group in found[:_NAMED]]
    more = [f"{len(found) - _NAMED} more"] if len(found) > _NAMED else []
    return f"{' or '.join([*names, *more])} ({number(value, percent)})"


def _several(value: Interval, numbers: Sequence[Enclosed], percent: bool, limit: Fraction | None) -> str:
    """From the least to the greatest of several numbers that are known, each written as by itself; else empty."""
    ends = sorted(each.low for each in numbers)
    if value.exact is not None or not ends or (value.low, value.high) != (ends[0], ends[-1]):
        return ""
    if any(each.low != each.high for each in numbers):
        return ""
    low, high = (number(Interval(end, end), percent, limit) for end in (ends[0], ends[-1]))
    return f"from {low} to {high}"


def group_words(group: Mapping[str, Cell]) -> str:
    """A group as a condition: ``sex = female and age in 25 .. 44``."""
    return " and ".join(_equals(name, value) for name, value in group.items()) or "everybody"


#: Bins as they are written (``fairdsl.metrics.words``); categories may be called `>50K`, or `either .. or`.
_NUMBER = r"-?[0-9][0-9./e+-]*"
_FROM_TO, _ENDS = re.compile(rf"{_NUMBER} \.\. {_NUMBER}"), re.compile(rf"[<>]=? {_NUMBER}( and <=? {_NUMBER})?")


def _equals(name: str, value: Cell) -> str:
    if isinstance(value, str) and _FROM_TO.fullmatch(value):
        return f"{name} in {value}"
    if isinstance(value, str) and _ENDS.fullmatch(value):
        return " and ".join(f"{name} {part}" for part in value.split(" and "))
    return f"{name} = {_one_value(value)}"


def between(value: Interval, *, percent: bool = True) -> str:
    """Both ends, rounded outward: ``14% to 55.01%``; of a share, whose ends are known whatever is not."""
    low, high = (end if known is None else known for known, end in zip((value.low, value.high), _WHOLE, strict=True))
    return span(low, high, between=" to ", percent=percent)


def number(value: Interval, percent: bool, limit: Fraction | None = None) -> str:
    """The number or its bounds, rounded outward."""
    marks = (Fraction(0), Fraction(1), *(() if limit is None else (limit,)))
    match value:
        case Interval(low=Fraction() as low, high=Fraction() as high):
            said = span(low, high, between=" and ", percent=percent, landmarks=marks)
            return said if low == high else f"between {said}"
        case Interval(low=Fraction() as low):
            return f"at least {shown(low, percent=percent, towards=Towards.DOWN, landmarks=marks)}"
        case Interval(high=Fraction() as high):
            return f"at most {shown(high, percent=percent, towards=Towards.UP, landmarks=marks)}"
    return "not known"


def basis(demand: DemandReport) -> str:
    """``exact, smt, 1.9 s``: whose claim it is and what it took."""
    if demand.backend is None or demand.arithmetic is None:
        return ""
    return f"{demand.arithmetic.value}, {demand.backend}, {_seconds(demand.seconds)}"


def _seconds(seconds: float) -> str:
    if seconds < 0.1:
        return "under 0.1 s"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"


def rests_on(demand: DemandReport) -> str:
    """The method, what was approximated, and what the replays said."""
    parts = [demand.method or "", *demand.notes, _rounding(demand), _word(demand)]
    parts.append(_approximation(demand))
    if demand.witnesses or demand.breaches:
        parts.append(replayed(demand))
    return "; ".join(part for part in parts if part)


def _rounding(demand: DemandReport) -> str:
    """What an answer in exact arithmetic does not cover: how the file rounds that it is about."""
    basis, decided = demand.basis, demand.judgement not in (Judgement.UNKNOWN, Judgement.REFUSED, Judgement.VACUOUS)
    counted = demand.shares is not None and demand.shares.float32_certified is not None
    if basis is None or not decided or demand.witnesses or demand.breaches or counted or demand.by_decider:
        return ""
    if basis.reading is None and all(other.reading is None for other in basis.others):
        return ""
    exact = basis.arithmetic is Arithmetic.EXACT
    return "about exact arithmetic, not about the file's float32 rounding" if exact else ""


def _word(demand: DemandReport) -> str:
    """Whose word an answer rests on, where nothing was checked here."""
    match demand.basis:
        case Basis(word=Word.SOLVER) if demand.judgement is not Judgement.UNKNOWN:
            return "the solver is taken at its word"
        case Basis(claims=claims) if claims:
            return in_words(claims)
    return ""


def replayed(demand: DemandReport) -> str:
    """How the pairs were held against the original model."""
    if demand.breaches:
        asked = any(each.asked for each in demand.breaches)
        deployed = any(each.float32 is not None for each in demand.breaches)
        where = "put to it again, each individual alone" if asked else "replayed on the original models, exactly"
        return f"everybody who is shown {where}" + (" and in float32" if deployed and not asked else "")
    if demand.arithmetic is Arithmetic.ANSWERS or any(witness.replay.asked for witness in demand.witnesses):
        return "every pair put to the original model again, each individual alone"
    deployed = any(witness.replay.float32_decisions for witness in demand.witnesses)
    return "every pair replayed on the original model, in exact arithmetic" + (" and in float32" if deployed else "")


def _approximation(demand: DemandReport) -> str:
    """What an approximation means for this verdict. A pair that was found and replayed needs no excuse."""
    match demand.fidelity, demand.judgement:
        case Fidelity.WIDENS, Judgement.HOLDS:
            return "over-approximation: what holds of it holds of the model"
        case Fidelity.WIDENS, Judgement.UNKNOWN:
            return "over-approximation: violations may be spurious"
        case Fidelity.NARROWS, Judgement.UNKNOWN:
            return "it looked at a part of the behaviours only"
    return ""


def beyond_rows(estimate: Estimate, *, counted: bool = True) -> str:
    """What a share that was counted over rows, or over some of them, says of those whom the rows were drawn from."""
    if not counted:
        return (
            f"estimated {shown(estimate.value, percent=True)} ({_interval(estimate)}), from {estimate.sampled:,} rows"
            " in random order, for whom the rows were drawn from, if they are a random sample; an estimate, no proof"
        )
    return (
        f"{_interval(estimate)} for whom the {estimate.sampled:,} rows were drawn from, "
        "if they are a random sample; of the rows themselves the share is counted"
    )


def _interval(estimate: Estimate) -> str:
    return f"{shown(estimate.confidence, percent=True)} interval {span(*estimate.interval, percent=True)}"


def estimated(estimate: Estimate, demand: DemandReport) -> str:
    """``fair share 96.6% (95% interval 96.5% .. 96.7%, ...)``: it says itself that it proves nothing."""
    asked = unit = stand = rest = ""
    if estimate.rest is not None:
        rest = f" of the {shown(estimate.rest, percent=True, towards=Towards.UP)} that no box decides"
    if isinstance(demand.verdict, Shares) and demand.value is not None:
        low_end, high_end = demand.value.low, demand.value.high
        if (low_end or 0) > estimate.value or (high_end is not None and high_end < estimate.value):
            stand = ", and the proved bounds stand"  # a sample is off so far now and then
    if isinstance(demand.verdict, Estimated):
        within = demand.verdict.within
        asked = "" if within is None else f"; within {shown(within, percent=True)} was asked for"
        unit = f"; one unit is {demand.verdict.unit}"
    return (
        f"{metric_words(demand.metric)} {shown(estimate.value, percent=True)} ({_interval(estimate)}, from"
        f" {estimate.sampled:,} sampled units{rest}{asked}; an estimate, no proof{stand}{unit})"
    )


def region(where: Region) -> str:
    """A region as a condition that a spec could have: ``age in 17 .. 25 and job in { clerk, driver }``."""
    return region_words(where.restricted) or "everywhere"


def region_words(restricted: Mapping[str, Restriction]) -> str:
    """What is restricted, as a condition; nothing of the whole domain."""
    return " and ".join(_restriction(*entry) for entry in restricted.items())


def _restriction(name: str, values: Restriction) -> str:
    listed = [_one_value(value) for value in (values if isinstance(values, tuple) else (values.low, values.high))]
    if len(set(listed)) == 1:
        return f"{name} = {listed[0]}"
    return f"{name} in {{ {', '.join(listed)} }}" if isinstance(values, tuple) else f"{name} in {' .. '.join(listed)}"


def _one_value(value: Cell | None) -> str:
    """Names that are not words of the language stand in quotes; reals have six figures, marked where they have more."""
    if isinstance(value, Fraction):
        text = _one_score(value)
        return text if text == show_number(value) else ROUNDED + text
    text = "" if value is None else cell(value)
    return value_text(text) if isinstance(value, str) else text


def amounts(where: Region) -> tuple[str, str, str]:
    """How much of the whole a region is, and what of the whole is falsified and undecided in it."""
    proved = Towards.DOWN if where.undecided else Towards.NEAREST
    return (
        shown(where.share, percent=True),
        shown(where.falsified, percent=True, towards=proved),
        shown(where.undecided, percent=True, towards=Towards.UP),
    )


def cell(value: Cell) -> str:
    """A value of an attribute as the spec would write it, reals as decimals."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return decimal(value) if isinstance(value, Fraction) else str(value) or '""'


def cells(a: Cell, b: Cell) -> tuple[str, str]:
    """The values of two individuals, told apart where they differ."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        first, second = decimals((a, b))
        return first, second
    return cell(a), cell(b)


def scores(a: tuple[Fraction, ...], b: tuple[Fraction, ...], error: Fraction = Fraction(0)) -> tuple[str, str]:
    """The scores of two individuals, each as :func:`score` writes them, with more figures where those are the same."""
    texts = score(a, error), score(b, error)
    for figures in range(_FIGURES + 1, 18):
        if texts[0] != texts[1] or a == b or error:
            break
        first, second = (", ".join(f"{nearest(value):.{figures}g}" for value in each) for each in (a, b))
        texts = first, second
    return texts


def confirmed(reading: Reading) -> str:
    """How far what was read of a model's file was held against it."""
    people = f"{reading.individuals:,} individual{'' if reading.individuals == 1 else 's'}"
    within = "within float32's error bounds" if reading.bounded else "no bound of its rounding is known: within 1e-4"
    return f"reading confirmed on {people} ({within})"


def score(scores: tuple[Fraction, ...], error: Fraction = Fraction(0)) -> str:
    """Scores with six figures, or as many as are certain; those that are exact as written have all of theirs."""
    return ", ".join(_enclosed_score(value, error) if error else _one_score(value) for value in scores)


def _one_score(value: Fraction) -> str:
    exact = show_number(value)
    if len(exact) <= 10 and "/" not in exact:
        return exact
    return f"{nearest(value):.{_FIGURES}g}"


def _enclosed_score(value: Fraction, error: Fraction) -> str:
    """The figures that every number within the error has, rounded; both ends where they share none."""
    ends = nearest(value - error), nearest(value + error)
    for figures in range(_FIGURES, 0, -1):
        low, high = (f"{end:.{figures}g}" for end in ends)
        if low == high:
            return low
    return f"{ends[0]:.1g} .. {ends[1]:.1g}"


#: Values of an attribute that are listed at most.
_VALUES = 12


def values_in_words(attribute: ListedAttribute) -> str:
    """All its values, in words."""
    if isinstance(attribute.values, Interval):
        low, high = (None if end is None else cell(end) for end in (attribute.values.low, attribute.values.high))
        return f"{'without end' if low is None else low} .. {'without end' if high is None else high}"
    more = len(attribute.values) - _VALUES
    return ", ".join([*map(cell, attribute.values[:_VALUES]), *([f"and {more:,} more"] if more > 0 else [])])
