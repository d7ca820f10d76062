"""Metrics of groups, estimated: people are drawn from the distribution until an interval is close enough.

Every decision is exact, as far as it can be. What an engine encloses comes first (a stage of its own) and is shown
beside; drawing only begins where the enclosure does not say what is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Answering, Budget, Cost, Facts, Observer, Offer, Refusal
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Quantity
from fairdsl.numerics.exact import UNDECIDED
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.threads import one_blas_thread
from fairdsl.verdict import Arithmetic, Basis, Draw, Evidence, Reason, Unknown, Value, Verdict

if TYPE_CHECKING:
    from fairdsl.backends.sampling.people import Crowd, People
    from fairdsl.ir.exact_rows import ExactRows
    from fairdsl.metrics import Counted, Key
    from fairdsl.metrics.subject import Subject

__all__ = ["answering_metric", "offer_of_metric"]

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: People of a batch, and those after whom nobody is expected to be in question, if nobody was.
_BATCH, _BARREN = 1 << 15, 1 << 20
#: A sample that tells how many decisions stay open.
_TELLING = 1 << 12


def offer_of_metric(problem: Problem, question: GroupMetric) -> Offer | Refusal:
    """Refuses where no estimate was asked for, rows, which are counted, and what cannot be drawn."""
    if problem.quantity is not Quantity.METRIC or problem.precision is None:
        return Refusal(
            why="an estimate is not a proof: it is made where one is asked for",
            other=True,
            instead="write `within 1%` behind the metric: people are drawn from the distribution then",
        )
    if not isinstance(problem.population, Network):
        return Refusal(why="the population is rows of a table, which are counted", span=question.span)
    if question.metric.rate.is_mean:
        return Refusal(why="means of scores are no rates: they are taken over the rows of a table", span=question.span)
    if problem.model.favourable is None:
        return Refusal(why="the model has no favourable outcome", span=problem.model.span)
    if question.baseline == MOST_FAVOURED:
        return Refusal(why="a draw would have to choose the baseline, the group favoured most", span=question.span)
    for column in question.influence:
        attribute = problem.domain.attributes[column]
        if None in attribute.bounds:
            return Refusal(why=f"`{attribute.name}` has no end: nothing is uniform on all of it", span=attribute.span)
    from fairdsl.backends.sampling.people import OpenInsideError, People

    for subject in _subjects(problem, question):
        try:
            people = People(subject, np.random.default_rng(0))
        except OpenInsideError as error:
            return Refusal(why=str(error), span=error.attribute.span)
        if people.set_from_outside and people.may_lose and not _alone(subject, people):
            why = "combinations of parents without rows leave open who meets the conditions"
            return Refusal(why=why, span=question.span)
    return Offer(method=f"draws people from `{problem.population.name}`", decides=True, cost=Cost.PROOF, estimates=True)


def _alone(subject: Subject, people: People) -> bool:
    """Whether groups are all that is asked about, so that whoever is lost belongs to one for certain."""
    return subject.condition == TRUE and set(subject.keys) == set(people.set_from_outside)


def _subjects(problem: Problem, question: GroupMetric) -> tuple[Subject, ...]:
    """The question under the distribution, along paths with its baseline and, of an influence, the one without it."""
    from fairdsl.metrics.subject import subject_of, with_baseline, without_influence

    own = subject_of(problem)
    if question.metric.rate.along_paths:
        assert isinstance(question.baseline, tuple)
        own = with_baseline(own, dict(zip(question.across, question.baseline, strict=True)), question.allowed)
    return (own, without_influence(own, question.influence)) if question.influence else (own,)


def answering_metric(
    problem: Problem, question: GroupMetric, facts: Facts, budget: Budget, observer: Observer
) -> Answering:
    """What is enclosed, if it is close enough; else the first look at a sample that is, or the last in time."""
    from fairdsl.backends.sampling.looks import looks
    from fairdsl.clock import until
    from fairdsl.metrics.drawn import hopeless, settled

    if problem.precision is None:
        raise ValueError("sampling was asked what it refuses")
    precision, threshold = problem.precision, problem.threshold
    drawing = _Drawing(problem, question, facts.enclosed, budget.seed)
    if drawing.enclosure is not None and settled(drawing.enclosure, precision, threshold):
        return drawing.enclosure
    # No size is large enough whatever the groups are: the looks go on until the interval is close enough.
    for look in looks(replace(precision, within=None)):
        while (sample := drawing.smaller_than(look.size)) is not None:
            if sample.barren:
                return drawing.so_far(Reason.INCOMPLETE)
            if budget.exhausted:
                budget = yield drawing.so_far(Reason.TIMEOUT)
            with until(budget.deadline):
                sample.grow(look.size - sample.size)
            observer.progress("sampling", None, f"{sample.size:,} people drawn")
        seen = drawing.read(Fraction(look.confidence))
        facts.so_far = drawing.so_far(Reason.TIMEOUT)
        if settled(seen, precision, threshold):
            return replace(seen, reason=None)
        if look.size >= _TELLING and hopeless(seen, precision):
            break
    return drawing.so_far(Reason.INCOMPLETE)


class _Drawing:
    """The samples of a question, and what was read off at the last look."""

    def __init__(self, problem: Problem, question: GroupMetric, known: Verdict | None, seed: int) -> None:
        from fairdsl.metrics.drawn import Beside

        assert isinstance(problem.population, Network), "rows are counted"
        assert problem.precision is not None, "an estimate is asked for"
        self._precision, self._name, self._known = problem.precision, problem.population.name, known
        #: What is proved of the number, if anything is.
        self.enclosure = known if isinstance(known, Value) else None
        self._beside = Beside(question=question, population=problem.population, enclosure=self.enclosure)
        self._samples = [
            _Sample(problem, subject, np.random.default_rng([seed, number]))
            for number, subject in enumerate(_subjects(problem, question))
        ]
        self._seen: Value | None = None

    def smaller_than(self, size: int) -> _Sample | None:
        """A sample that is smaller."""
        return next((sample for sample in self._samples if sample.size < size), None)

    def read(self, each: Fraction) -> Value:
        """What the samples say, with this confidence for each of their intervals."""
        draw = Draw(people=sum(sample.size for sample in self._samples), within=self._precision.within)
        counts = [sample.counts for sample in self._samples]
        found = self._beside.read(counts, draw, each, self._precision.confidence)
        self._seen = replace(found, evidence=self._evidence())
        return self._seen

    def so_far(self, reason: Reason) -> Value | Unknown:
        """What is known where there is this reason not to know more."""
        known = self.enclosure if self._seen is None else self._seen
        if known is not None:
            return replace(known, reason=reason)
        detail = "the time ended before the first look at the sample"
        if any(sample.barren for sample in self._samples):
            detail = f"of {self._samples[0].candidates:,} people none is in question"
        return Unknown(reason=reason, detail=detail, evidence=self._evidence())

    def _evidence(self) -> Evidence:
        both = ((sample.size, sample.candidates) for sample in self._samples)
        people, candidates = (sum(each) for each in zip(*both, strict=True))
        method = f"{people:,} people drawn from `{self._name}` ({candidates:,} candidates), {self._samples[0].how}"
        notes: tuple[str, ...] = ()
        if isinstance(self._known, Value | Unknown):
            own = self._known.evidence
            notes = (f"enclosed by `{own.backend}`: {own.method}", *own.notes)
        return Evidence(backend="sampling", method=method, notes=notes, basis=Basis(arithmetic=Arithmetic.ESTIMATE))


class _Sample:
    """The people who were drawn so far from one distribution, by key: those who meet the conditions."""

    def __init__(self, problem: Problem, subject: Subject, rng: np.random.Generator) -> None:
        from fairdsl.backends.sampling.people import People
        from fairdsl.backends.units import settling
        from fairdsl.metrics import key_of

        network = subject.network
        self._people, self._subject = People(subject, rng), subject
        self._settled, self._favourable = settling(problem.model), problem.model.favourable
        self._reads = [subject.copies.get(column, column) for column in range(len(problem.domain.attributes))]
        self._sizes = tuple(len(network.cells[column]) for column in subject.keys)
        self._keys = list(product(*([key_of(cell) for cell in network.cells[column]] for column in subject.keys)))
        self._found = np.zeros((3, len(self._keys)), dtype=np.int64)
        #: How they are judged, in words for reports.
        asked = isinstance(problem.model.opaque, BlackBox)
        self.how = "each judged by the model's own answers" if asked else "each judged exactly"
        self.candidates = self.size = 0

    @property
    def barren(self) -> bool:
        """Whether many were drawn, and nobody is in question."""
        return not self.size and self.candidates >= _BARREN

    @property
    def counts(self) -> Mapping[Key, Counted]:
        """How many there are of each key, and how many of them are favoured at least and at most."""
        from fairdsl.metrics import Counted

        numbers = self._found.T.tolist()
        return {
            key: Counted(rows=rows, least=least, most=most)
            for key, (rows, least, most) in zip(self._keys, numbers, strict=True)
        }

    def grow(self, wanted: int) -> None:
        """One batch more, of which the first ``wanted`` that are in question are kept at most."""
        share = (self.size + 1) / (self.candidates + 1)
        count = min(_BATCH, max(64, int(wanted / share * 1.02) + 1))
        with one_blas_thread():
            crowd = self._people.draw(count)
            kept = np.flatnonzero(self._in_question(crowd))
            self.candidates += count if len(kept) <= wanted else int(kept[wanted - 1]) + 1
            self._count(crowd, kept[:wanted])

    def _in_question(self, crowd: Crowd) -> Booleans:
        """Those who exist and meet the conditions, which no value within open cells changes."""
        met = mask(self._subject.condition, {Who.EACH: crowd.values[0]})
        return met if self._people.set_from_outside else met & ~crowd.lost

    def _count(self, crowd: Crowd, kept: Integers) -> None:
        certain, possible = np.ones(len(kept), dtype=np.bool_), np.zeros(len(kept), dtype=np.bool_)
        for values in crowd.values:
            decisions = self._decided(values.at(kept).keep(self._reads))
            certain &= decisions == self._favourable
            possible |= (decisions == self._favourable) | (decisions == UNDECIDED)
        lost = crowd.lost[kept]
        certain, possible = certain & ~lost, possible | lost
        cells = crowd.cells[kept][:, list(self._subject.keys)]
        places = np.ravel_multi_index(tuple(cells.T), self._sizes) if self._sizes else np.zeros(len(kept), np.int64)
        for row, counted in enumerate((np.ones(len(kept), dtype=np.bool_), certain, possible)):
            self._found[row] += np.bincount(places[counted], minlength=len(self._keys))
        self.size += len(kept)

    def _decided(self, people: ExactRows) -> Integers:
        """Decisions of people; each different individual is asked about once."""
        distinct, which = people.distinct()
        return self._settled(distinct).decisions[which]
