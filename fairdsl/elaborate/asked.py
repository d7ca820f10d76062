"""The model as a rate asks about it: which of its outcomes, or which bound of its score, is the yes that is counted.

Engines compute the probability of the favourable outcome. A rate about another outcome, or about ``score > 50``, is
that of a model whose favourable outcome is the one that is asked about: same scores, another yes.

``score > median``: the median of the model's scores over all rows of a population, exactly.

The scoring rates of New York's Local Law 144 count who scores above it. It is one of the scores, or the mean of two, so
how each row compares with it is a matter of exact numbers: floats with error bounds leave the few rows that may be in
the middle, and those are computed exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import assert_never

import numpy as np

from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import errors
from fairdsl.elaborate.outputs import no_one_score
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import show_number
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.opaque import Access
from fairdsl.ir.population import Population
from fairdsl.ir.question import GroupMetric, Question
from fairdsl.ir.rate import Decides, OutcomeIn, ScoreIs
from fairdsl.source import Span


def has_exact_scores(model: Model) -> bool:
    """Whether its scores are fractions, and so known exactly."""
    return model.access is Access.LAYERS and model.rational


def median_score(model: Model, rows: ExactRows) -> Fraction:
    """The middle score of the rows; of an even number of rows the mean of the two in the middle."""
    from fairdsl.numerics.evaluate import BatchEvaluator
    from fairdsl.numerics.exact import exact_scores

    distinct, where = rows.distinct()
    scores, bounds = BatchEvaluator(model).scores(distinct)
    low, high = np.nextafter(scores[:, 0] - bounds[:, 0], -np.inf), np.nextafter(scores[:, 0] + bounds[:, 0], np.inf)
    low, high = np.where(np.isnan(low), -np.inf, low)[where], np.where(np.isnan(high), np.inf, high)[where]
    ranks = ((len(rows) - 1) // 2, len(rows) // 2)
    # The score of rank k lies between the lows and the highs of rank k; whoever lies below the first is below it.
    least, most = np.sort(low)[ranks[0]], np.sort(high)[ranks[1]]
    below = int((high < least).sum())
    middle = np.flatnonzero((high >= least) & (low <= most))
    points, place = rows.at(middle).distinct()
    exact: list[Fraction] = [exact_scores(model, point)[0] for point in points.points()]
    ordered = sorted(exact[each] for each in place.tolist())
    half: Fraction = (ordered[ranks[0] - below] + ordered[ranks[1] - below]) / 2
    return half


@dataclass(frozen=True, slots=True)
class Deciders:
    """The models as rates ask about them, each made once, so that it is run once."""

    _made: dict[tuple[str, Decides], Model] = field(default_factory=dict)
    #: The median scores, by the names of model and population.
    _medians: dict[tuple[str, str], Fraction] = field(default_factory=dict)

    def of(
        self, question: GroupMetric, name: str, model: Model, span: Span, distribution: Population | None
    ) -> tuple[Model, Diagnostic | None]:
        """The model ``name`` as the metric's rate asks about it, or why it cannot be asked so."""
        decides = question.metric.rate.decides
        if question.metric.rate.is_mean:
            return model, no_one_score(model, span)
        if decides is None and model.favourable is None and not question.metric.rate.about_favourable:
            decides = OutcomeIn(frozenset({0}))  # a rate of the label alone, whatever is decided
        if decides is None:
            return model, None
        if isinstance(decides, ScoreIs):
            if (refusal := no_one_score(model, span)) is not None:
                return model, refusal
            if decides.limit is None:
                sample = None if distribution is None else distribution.sample
                if distribution is None or sample is None or not (sample.rows and has_exact_scores(model)):
                    return model, errors.no_median(model.name, span, rows=sample is not None and sample.rows > 0)
                key = name, distribution.name
                if key not in self._medians:
                    self._medians[key] = median_score(model, sample.values)
                decides = replace(decides, limit=self._medians[key])
        return self._made.setdefault((name, decides), _deciding(model, decides)), None

    def median(self, question: Question | Demanded, name: str, distribution: str | None) -> Fraction | None:
        """What `median` stands for in a question that speaks of it."""
        decides = question.metric.rate.decides if isinstance(question, GroupMetric) else None
        if distribution is None or not isinstance(decides, ScoreIs) or decides.limit is not None:
            return None
        return self._medians.get((name, distribution))


def _deciding(model: Model, decides: Decides) -> Model:
    """The model whose favourable outcome is the yes that is asked about; of ``score > 50`` it has a single score."""
    match decides:
        case OutcomeIn(outcomes=outcomes):
            first, *beside = sorted(outcomes)
            return replace(model, favourable=first, beside=frozenset(beside))
        case ScoreIs(relation=relation, limit=limit):
            assert limit is not None, "a median was put in"
            deployed = model.deployed
            if deployed is not None:
                deployed = replace(deployed, relation=relation, threshold=limit, granted=1, otherwise=0)
            return replace(
                model,
                outcomes=tuple(f"score {each.value} {show_number(limit)}" for each in (relation.negated, relation)),
                rule=ByThreshold(relation=relation, low=limit, high=limit, granted=1, otherwise=0),
                favourable=1,
                deployed=deployed,
            )
    assert_never(decides)
