"""Values of metrics against thresholds: every part has to meet it, and what is not a number meets nothing."""

from __future__ import annotations

from fairdsl.ir.question import Threshold
from fairdsl.verdict.evidence import Reason
from fairdsl.verdict.judge import Judgement, combine, judge
from fairdsl.verdict.named import Named
from fairdsl.verdict.rates import Part
from fairdsl.verdict.verdict import Value


def judged(value: Value, threshold: Threshold) -> Judgement:
    """What a required threshold comes to.

    The comparison with the ends of an interval is the rule of docs/semantics.md, section 4 (see
    :mod:`fairdsl.metrics.intervals`). With a confidence the interval that covers sampling error is judged; where
    none is known, the answer is unknown. People who were drawn show that there is a number. Where several decide
    the rows, it is theirs if they agree.
    """
    if value.reason is Reason.NOBODY:
        return Judgement.VACUOUS
    if value.alternatives:
        found = {judged(each, threshold) for each in value.alternatives}
        return found.pop() if len(found) == 1 else Judgement.UNKNOWN
    whole = Part(
        at=Named(),
        number=value.number,
        sampling=value.sampling,
        defined=value.defined,
        drawn=value.drawn,
    )
    parts = [_judged(part, value.confidence is not None, threshold) for part in value.parts or (whole,)]
    return combine(parts if value.defined or value.drawn is not None else [*parts, Judgement.UNKNOWN])


def _judged(part: Part, with_confidence: bool, threshold: Threshold) -> Judgement:
    if not part.defined and part.drawn is None:
        return Judgement.UNKNOWN
    number = part.sampling if with_confidence else part.number
    return Judgement.UNKNOWN if number is None else judge(number, threshold.relation, threshold.limit)
