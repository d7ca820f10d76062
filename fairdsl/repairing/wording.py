"""A repair in words: what was tried, what became of it, and what the file is like."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from fairdsl.ir.numbers import Towards, shown, span
from fairdsl.repairing.measure import OnRows, Rate
from fairdsl.repairing.result import (
    ROWS_CONFIDENCE,
    Candidate,
    CheckedDemand,
    Compared,
    Ending,
    Made,
    Repaired,
    interval_of,
)
from fairdsl.repairing.rule import Choice
from fairdsl.report.words import number
from fairdsl.verdict import Judgement

if TYPE_CHECKING:
    from fairdsl.repairing.guarantee import Guaranteed
    from fairdsl.repairing.rates.result import RepairedRates

CHOICES = {
    Choice.FIRST: "the first",
    Choice.FAIRER: "better",
    Choice.AS_FAIR: "as fair, better on the rows",
    Choice.NOT_MEASURED: "not measured: the time ended",
    Choice.INACCURATE: "not taken: less accurate than allowed",
    Choice.UNFAIR_ROWS: "not taken: unfair to more of the rows",
    Choice.ONE_OUTCOME: "not taken: one outcome for everybody",
    Choice.NOT_FAIRER: "not taken: not fairer",
    Choice.NOT_TOLD_APART: "not taken: not shown to be fairer",
    Choice.FAILED: "failed",
}

ENDINGS = {
    Ending.ROUNDS: "as many rounds as asked for",
    Ending.NOTHING_LEFT: "nobody is treated unfairly any more, in the domain or in the rows",
    Ending.NOTHING_TO_ADD: "no recipe has anything to add",
    Ending.TIME: "the time is up",
    Ending.EFFORT: "the effort was spent",
    Ending.INTERRUPTED: "interrupted; the best model until then is written, and was not checked",
}


def summary(repaired: Repaired) -> Iterator[str]:
    """Lines of text, none of which names a place on this machine or a time."""
    yield from heading(repaired)
    yield f"    {'round':<7}{'recipe':<21}{'added':>7}  {'over the domain':<24}{'of rows':>8}{'accuracy':>10}"
    for candidate in repaired.candidates:
        yield from _candidate(candidate)
    yield ""
    yield from _outcome(repaired)
    yield from on_new_rows(repaired, repaired.best.differing)
    yield row("ended", ENDINGS[repaired.ending])
    if repaired.by_the_clock:
        yield row("", "some of it by the clock, so another run may come to something else")
    yield from verdicts(repaired)


def heading(repaired: Made) -> Iterator[str]:
    """What is trained by whom, and on which rows."""
    yield f"{repaired.property_name}   {repaired.model} by {repaired.estimator}, seed {repaired.settings.seed}"
    split = repaired.split
    parts = f"{split.train:,} to train on, {split.choose:,} to choose by, {split.report:,} to report on"
    yield row("rows", f"{parts}, of `{repaired.train}`")
    yield ""


def on_new_rows(repaired: Repaired | RepairedRates, differing: int, meant: str = "the estimator does") -> Iterator[str]:
    """Accuracy and decisions on the rows to report on, and how many rows the file decides as is ``meant``."""
    before, after = repaired.compared.before, repaired.compared.after
    changed = f"; {repaired.compared.changed:,} of {after.rows:,} decisions changed" if repaired.improved else ""
    yield row("accuracy", change(repaired, _right(before), _right(after)) + changed)
    if repaired.improved:
        loss = f"{shown(100 * repaired.settings.loss)} points"
        yield row("", f"{points(repaired.compared)}: {_LOSS[repaired.accuracy].format(loss)}")
    for outcome, name in enumerate(repaired.outcomes):
        was, now = (percent(rows.decided[outcome], rows.rows) for rows in (before, after))
        yield row("decided" if outcome == 0 else "", f"{name} {change(repaired, was, now)}")
    compared = "all" if not differing else f"all but {differing:,}"
    yield row("file", f"`{repaired.file}` decides {compared} of {repaired.split.choose:,} rows as {meant}")


def row(name: str, text: str) -> str:
    """A line of a report: what it is about, and the text."""
    return f"    {name:<11}{text}".rstrip()


def _candidate(candidate: Candidate) -> Iterator[str]:
    head = f"    {candidate.round:<7}{candidate.recipe or 'none':<21}{candidate.added:>7,}  "
    found = candidate.measured
    if found is None:
        yield f"{head}{CHOICES[candidate.choice]}: {candidate.detail}"
        return
    rate = "unknown" if found.rate is None else rate_in_words(found.rate)
    rows = percent(found.rows.unfair, found.rows.in_target)
    accuracy = percent(found.rows.correct, found.rows.rows)
    yield f"{head}{rate:<24}{rows:>8}{accuracy:>10}  {CHOICES[candidate.choice]}"


def rate_in_words(rate: Rate) -> str:
    """``0.64257%``, or ``0.61% .. 0.68%`` where it is not known exactly."""
    return span(*rate.number, percent=True)


def percent(count: int, whole: int) -> str:
    """A share of rows."""
    return shown(Fraction(count, whole), percent=True) if whole else "-"


def _outcome(repaired: Repaired) -> Iterator[str]:
    before, after = repaired.compared.before, repaired.compared.after
    first, best = repaired.rates
    if repaired.improved:
        kept = repaired.best
        yield row("best", f"round {kept.round}, {kept.recipe}: {kept.added:,} rows added")
    else:
        yield row("best", "no candidate improved on the original model")
    sure = (
        "" if first.exact and best.exact else f" ({shown(repaired.settings.confidence, percent=True)} for all of them)"
    )
    rates = change(repaired, rate_in_words(first), rate_in_words(best))
    yield row("domain", f"{rates} of the units are unfair{sure}{_less(repaired)}")
    confidence = shown(ROWS_CONFIDENCE, percent=True)
    unfair = change(repaired, _unfair(before), _unfair(after))
    yield row("new rows", f"{unfair} of those asked about are unfair ({confidence} each)")


def change(repaired: Repaired | RepairedRates, was: str, now: str) -> str:
    """``8.25% -> 0%``; the number alone where the first model is the one that is kept."""
    return f"{was} -> {now}" if repaired.improved else was


def _less(repaired: Repaired) -> str:
    reduction = repaired.reduction
    if not repaired.improved or reduction is None or reduction <= 0:
        return ""
    at_least = "" if all(rate.exact for rate in repaired.rates) else "at least "
    return f": {at_least}{shown(reduction, percent=True, towards=Towards.DOWN)} less"


def _unfair(rows: OnRows) -> str:
    return with_interval(rows.unfair, rows.in_target)


#: What an accuracy on new rows says of the loss that is allowed.
_LOSS = {
    Judgement.HOLDS: "no more than {} are lost",
    Judgement.UNKNOWN: "a loss of more than {} cannot be excluded",
    Judgement.VIOLATED: "more than {} are lost",
}


def points(compared: Compared) -> str:
    """By how much the accuracy changed, with the interval for whom the rows were drawn from."""
    change = compared.correct_change
    if change is None:
        return "no row"
    low, high = floor(1000 * (change.low or 0)) / 10, ceil(1000 * (change.high or 0)) / 10
    now = 100 * (compared.gained - compared.lost) / compared.after.rows
    return f"{now:+.2f} points [{low:+.1f}, {high:+.1f}]"


def _right(rows: OnRows) -> str:
    return with_interval(rows.correct, rows.rows)


def with_interval(count: int, whole: int) -> str:
    """A share of rows, with the interval for whom they were drawn from."""
    interval = interval_of(count, whole)
    if interval is None:
        return "no row"
    low, high = interval.low or Fraction(0), Fraction(1) if interval.high is None else interval.high
    return f"{percent(count, whole)} [{span(low, high, between=', ', percent=True)}]"


def verdicts(repaired: Made | Guaranteed) -> Iterator[str]:
    """What ``check`` says of the new file, or why it was not asked."""
    if repaired.pinned:
        yield row("verdict", "not checked: the spec names another file by its digest; for this one write there")
        yield row("", f'sha256 "{repaired.sha256}"')
    elif repaired.checked is None:
        said = [finding.title for finding in repaired.diagnostics if finding.code.startswith("E")]
        yield row("verdict", f"not checked: {said[0]}" if said else "not checked")
    else:
        heading = "verdict"
        for checked in repaired.checked:
            for demand in checked.demands:
                yield row(heading, f"{checked.name}: {demand.judgement.value}   {demand_in_words(demand)}")
                heading = ""


def demand_in_words(demand: CheckedDemand) -> str:
    """The demand as the spec writes it, and its number."""
    text, value = demand.text, demand.value
    if value is None or value.low is None or value.high is None:
        return text
    return f"{text}   {number(value, demand.percent)}"
