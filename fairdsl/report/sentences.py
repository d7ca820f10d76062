"""Verdicts in plain sentences, for people who read no specs."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.ir.expr import Relation
from fairdsl.ir.question import metric_words
from fairdsl.report.model import DemandReport
from fairdsl.report.words import asked, known
from fairdsl.verdict import Judgement


def plain(demand: DemandReport) -> str:
    """The verdict in one sentence, for people who read no specs: what came out, and what was required."""
    match demand.judgement:
        case Judgement.REFUSED:
            return f"`{asked(demand)}` was not answered."
        case Judgement.VACUOUS:
            return f"There is nobody whom `{asked(demand)}` is about, so it would be true of any model."
    if demand.value is None:
        return _plain_of_pairs(demand)
    metric, limit = metric_words(demand.metric), demand.threshold
    if limit is None and demand.comparison is not None and demand.comparison.value.names_groups:
        return f"{metric.capitalize()}: {known(demand, demand.value)}."
    said = f"The {metric} {'is' if demand.value.low is not None else 'is known to be'} {known(demand, demand.value)}"
    if limit is None:
        return f"{said}; nothing is required of it."
    wanted = f"{_RELATIONS[limit.relation]} {limit.text} is required"
    match demand.judgement:
        case Judgement.HOLDS:
            return f"{said}, and {wanted}."
        case Judgement.VIOLATED:
            return f"{said}, but {wanted}."
    return f"{said}; {wanted}, and whether it is met is open."


_RELATIONS = {
    Relation.GE: "at least",
    Relation.LE: "at most",
    Relation.GT: "more than",
    Relation.LT: "less than",
    Relation.EQ: "exactly",
    Relation.NE: "anything but",
}


def _plain_of_pairs(demand: DemandReport) -> str:
    """What is said of pairs, where there is no number."""
    wanted = asked(demand)
    if demand.judgement is Judgement.HOLDS:
        whom = "everybody" if demand.metric == "demand" else "every pair of individuals"
        return f"`{wanted}` is true of {whom} in question."
    if demand.judgement is Judgement.MEASURED:
        return f"`{wanted}` was measured."
    if demand.judgement is Judgement.VIOLATED and demand.breaches:
        shown_here = demand.breaches[0]
        if len(shown_here.individuals) == 1:
            alone = _listed([f"`{one.model}` gives `{one.decision}`" for one in shown_here.given])
            return f"`{wanted}` is broken: to `{shown_here.individuals[0].name}`, who is shown, {alone}."
        made = [f"`{one.model}` gives `{one.decision}` to `{one.individual}`" for one in shown_here.given]
        many = {2: "two", 3: "three", 4: "four"}[len(shown_here.individuals)]
        return f"`{wanted}` is broken: of the {many} who are shown, {_listed(made)}."
    if demand.judgement is Judgement.UNKNOWN or not demand.witnesses:
        return f"Whether `{wanted}` is true of everybody in question is open."
    pair = demand.witnesses[0]
    names, (a, b) = pair.differing, (pair.replay.decision_a, pair.replay.decision_b)
    differ = f"who differ in {_listed(names)} alone" if names else "who are alike"
    came = f"one gets `{a}` and the other `{b}`" if a != b else f"both get `{a}`, with other scores"
    return f"`{wanted}` is broken: of two individuals {differ}, {came}."


def _listed(names: Sequence[str]) -> str:
    """``sex, age and race``."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
