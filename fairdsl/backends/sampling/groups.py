"""Metrics of groups, estimated: people are drawn from the distribution until an interval is close enough.

Every decision is exact, as far as it can be. What an engine encloses comes first (a stage of its own) and is shown
beside; drawing only begins where the enclosure does not say what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, count, product
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Answering, Budget, Cost, Facts, Observer, Offer, Refusal
from fairdsl.backends.groups import question_of
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Quantity
from fairdsl.numerics.predicates import mask
from fairdsl.numerics.threads import one_blas_thread
from fairdsl.verdict import Arithmetic, Basis, Draw, Evidence, Reason, Unknown, Value, Verdict

if TYPE_CHECKING:
    from fairdsl.backends.sampling.looks import Look
    from fairdsl.backends.sampling.people import Crowd, People
    from fairdsl.backends.sampling.tallies import Tally
    from fairdsl.metrics import Key
    from fairdsl.metrics.drawn import Seen
    from fairdsl.metrics.subject import Subject

Booleans = NDArray[np.bool_]
Integers = NDArray[np.int64]

#: People of a batch, and those after whom nobody is expected to be in question, if nobody was.
_BATCH, _BARREN = 1 << 15, 1 << 20
#: A sample that tells how many decisions stay open.
_TELLING = 1 << 12
#: People in question who are drawn for each who is judged, at most: rare groups are waited for no longer.
_WAITING = 8


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
        from fairdsl.backends.sampling.tallies import span_of_scores

        if span_of_scores(problem.model, problem.domain.attributes) is None:
            why = "nothing bounds the score, and a few people of whom none is drawn could change its mean at will"
            return Refusal(why=why, span=problem.model.span)
    elif problem.model.favourable is None:
        return Refusal(why="the model has no favourable outcome", span=problem.model.span)
    from fairdsl.backends.sampling.people import OpenInsideError, People

    for subject in chain(*_subjects(problem, question).values()):
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


def _subjects(problem: Problem, question: GroupMetric) -> Mapping[Key, tuple[Subject, ...]]:
    """What is drawn from, by the baseline along paths (none elsewhere); of an influence also that without it.

    Every group may be the one that is favoured most.
    """
    from fairdsl.metrics import key_of
    from fairdsl.metrics.subject import subject_of, with_baseline, without_influence

    own = subject_of(problem)
    cells = (own.network.cells[column] for column in question.across)
    baselines: Iterable[Key] = [()]
    if question.metric.rate.along_paths:
        every = product(*([key_of(cell) for cell in each] for each in cells))
        baselines = [question.baseline] if isinstance(question.baseline, tuple) else every
    found: dict[Key, tuple[Subject, ...]] = {}
    for baseline in baselines:
        values = dict(zip(question.across, baseline, strict=False))
        one = with_baseline(own, values, question.allowed) if values else own
        found[baseline] = (one, without_influence(one, question)) if question.influence else (one,)
    return found


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
        return replace(drawing.enclosure, reason=None)
    # No size is large enough whatever the groups are: the looks go on until the interval is close enough.
    for look in looks(replace(precision, within=None)):
        while (sample := drawing.smaller_than(look)) is not None:
            if sample.barren:
                return drawing.so_far(Reason.INCOMPLETE)
            if budget.exhausted:
                budget = yield drawing.so_far(Reason.TIMEOUT)
            with until(budget.deadline):
                sample.grow(look.size)
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
        from fairdsl.metrics.subject import subject_of

        assert isinstance(problem.population, Network), "rows are counted"
        assert problem.precision is not None, "an estimate is asked for"
        self._precision, self._name, self._known = problem.precision, problem.population.name, known
        #: What is proved of the number, if anything is.
        self.enclosure = known if isinstance(known, Value) else None
        self._beside = Beside(question=question, population=problem.population, enclosure=self.enclosure)
        number = count()

        def sample(subject: Subject) -> _Sample:
            return _Sample(problem, subject, _apart(question), np.random.default_rng([seed, next(number)]))

        self._by_baseline = {
            baseline: [sample(subject) for subject in subjects]
            for baseline, subjects in _subjects(problem, question).items()
        }
        #: Whoever may be favoured most is known by people as they are.
        self._own: _Sample | None = None
        if question.baseline == MOST_FAVOURED:
            self._own = sample(subject_of(problem))
        self._left, self._seen_at = list(self._by_baseline), 0
        self._seen: Value | None = None

    @property
    def _samples(self) -> list[_Sample]:
        """All that were begun."""
        all_ = [*([] if self._own is None else [self._own]), *chain(*self._by_baseline.values())]
        return [sample for sample in all_ if sample.candidates] or all_[:1]

    def smaller_than(self, look: Look) -> _Sample | None:
        """A sample that is smaller, of those that matter."""
        if self._own is not None and self._own.lacks(look.size):
            return self._own
        if self._own is not None and self._seen_at < look.size:
            sure = (1 + Fraction(look.confidence)) / 2
            most = self._beside.most_favoured(self._own.seen, sure)
            self._left = [baseline for baseline in self._left if baseline in most] or self._left
            self._seen_at = look.size
        samples = chain(*(self._by_baseline[baseline] for baseline in self._left))
        return next((sample for sample in samples if sample.lacks(look.size)), None)

    def read(self, each: Fraction) -> Value:
        """What the samples say, with this confidence for all of their intervals."""
        draw = Draw(people=sum(sample.size for sample in self._samples), within=self._precision.within)
        if (
            self._own is not None
        ):  # who is favoured most has half of what may be missed, each group its part of the rest
            each = 1 - (1 - each) / (2 * len(self._by_baseline))
        seen = [[sample.seen for sample in self._by_baseline[baseline]] for baseline in self._left]
        found = self._beside.read(seen, draw, each, self._precision.confidence)
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


def _apart(question: GroupMetric) -> tuple[int, ...]:
    """The columns whose values each have an equal part of the people who are judged.

    Hits are binomial given how many of a cohort were judged, whoever chose these by their keys: so every group may have
    as many, where each cohort is part of one. Groups that are taken together, or listed by their size, stay as they
    come.
    """
    if question.excluding is not None or question.metric.comparison.value.signed:
        return ()
    return (*question.across, *question.given_each)


class _Sample:
    """The people who were drawn so far from one distribution, by key: those who meet the conditions.

    Those with the same values of the columns ``apart`` are a part of it; each part is as large, as far as it is not too
    rare.
    """

    def __init__(self, problem: Problem, subject: Subject, apart: Sequence[int], rng: np.random.Generator) -> None:
        from fairdsl.backends.sampling.people import People

        network = subject.network
        self._people, self._subject = People(subject, rng), subject
        self._reads = [subject.copies.get(column, column) for column in range(len(problem.domain.attributes))]
        self._sizes = tuple(len(network.cells[column]) for column in subject.keys)
        self._keys = subject.listed
        self._tally = _tally(problem, len(self._keys))
        places = [subject.keys.index(column) for column in apart]
        parts: dict[Key, int] = {}
        #: Of each key the part to which its people belong; of each part how many there are.
        self._part = np.array([parts.setdefault(tuple(key[at] for at in places), len(parts)) for key in self._keys])
        self._held = np.zeros(len(parts), dtype=np.int64)
        #: How they are judged, in words for reports.
        asked = isinstance(problem.model.opaque, BlackBox)
        self.how = "each judged by the model's own answers" if asked else "each judged exactly"
        self.candidates = self.size = self._met = 0

    @property
    def barren(self) -> bool:
        """Whether many were drawn, and nobody is in question."""
        return not self.size and self.candidates >= _BARREN

    @property
    def seen(self) -> Seen:
        """What was counted of each key."""
        return self._tally.found(self._keys)

    def lacks(self, size: int) -> bool:
        """Whether a look at so many has to wait for more."""
        return self.size < size and (len(self._held) == 1 or self._met < _WAITING * size)

    def grow(self, size: int) -> None:
        """One batch more for a look at so many people, of whom no part has more than an equal one."""
        share = (self.size + 1) / (self.candidates + 1)
        count = min(_BATCH, max(64, int((size - self.size) / share * 1.02) + 1))
        with one_blas_thread():
            crowd = self._people.draw(count)
            met = np.flatnonzero(self._in_question(crowd))
            places = self._places(crowd, met)
            parts, room = self._part[places], ceil(size / len(self._held)) - self._held
            wanted = [np.flatnonzero(parts == part)[: room[part]] for part in np.unique(parts)]
            chosen = np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *wanted]))[: size - self.size]
            # Whoever comes behind the last one of a look was not needed.
            last = chosen[-1] if self.size + len(chosen) == size else None
            self.candidates += count if last is None else int(met[last]) + 1
            self._met += len(met) if last is None else int(last) + 1
            self._held += np.bincount(parts[chosen], minlength=len(self._held))
            self._tally.add(crowd, met[chosen], places[chosen], self._reads)
            self.size += len(chosen)

    def _in_question(self, crowd: Crowd) -> Booleans:
        """Those who exist and meet the conditions, which no value within open cells changes."""
        met = mask(self._subject.condition, {Who.EACH: crowd.values[0]})
        return met if self._people.set_from_outside else met & ~crowd.lost

    def _places(self, crowd: Crowd, people: Integers) -> Integers:
        """The places of these people's keys."""
        cells = crowd.cells[people][:, list(self._subject.keys)]
        places = np.ravel_multi_index(tuple(cells.T), self._sizes) if self._sizes else np.zeros(len(people), np.int64)
        return np.asarray(places, dtype=np.int64)


def _tally(problem: Problem, keys: int) -> Tally:
    from fairdsl.backends.sampling.tallies import Favoured, Scores, span_of_scores

    if not question_of(problem).metric.rate.is_mean:
        return Favoured(problem.model, keys)
    span = span_of_scores(problem.model, problem.domain.attributes)
    assert span is not None, "checked by the offer"
    return Scores(problem.model, keys, span)
