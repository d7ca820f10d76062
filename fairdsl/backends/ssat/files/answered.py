"""Answers in the place of the engine: joint probabilities, and the metric.

Every question of an inquiry is looked up by the digest of its instance. Where nothing is left of an instance its value
is known; without an answer it lies between 0 and 1.

Where the extreme groups were asked for, an answer may name its group. What that group's rate is, the embedded engine
is then asked, so a name is never taken on trust; where it does not get through, the name counts for nothing.

Theorem (extremes without names). Let nothing be open, and let the greatest rate of the groups at one value of the
other keys lie in [m, M], the least in [l, L], and all of them in [l, M]. A metric of extremes is symmetric in these
groups, since which of them has which rate changes neither their maximum nor their minimum. So it has the same value
as if one given group had the greatest rate and another given one the least: the metric's enclosure for these rates is
one for the metric. (If one group has both, all rates are equal, and any two groups will do.) Where the rates of some
groups are known exactly, the same holds of the others: if none of the known ones can be the greatest, one of the
others is, whichever. So what is known in part of a single group is forgotten. That is used only for a metric without a
confidence: how many rows a group has is not symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fairdsl.backends.encoding import Answer
from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.engine import Solution, Statistics
from fairdsl.backends.ssat.files.quantities import Asking
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.backends.ssat.questions import Extremes, Formulas, Inquiry, settled
from fairdsl.backends.ssat.solvers.ask import outermost_choice
from fairdsl.clock import Deadline
from fairdsl.ir.population import Population
from fairdsl.ir.problem import Problem
from fairdsl.metrics.joint import Bounds, Joint, Key, columns_of
from fairdsl.metrics.value import value_of
from fairdsl.metrics.words import group_words
from fairdsl.replay import rows_counted
from fairdsl.verdict import Evidence, Reason, Refused, Value

#: Seconds to look what the rate of a group is that an answer names.
_SECONDS = 10.0


class ContradictionError(Exception):
    """Answers that cannot all be right."""


def value_from(
    problem: Problem,
    quantities: Sequence[Mapping[str, Any]],
    answers: Mapping[str, Answer],
    evidence: Evidence,
    sums: PbEncoding,
    askings: Sequence[Asking] = (),
) -> Value | Refused:
    """The metric from the answers, by file, to the files that the manifest's ``quantities`` speak of.

    ``sums`` says how weighted sums became clauses in them, ``askings`` is what they were made of, where that is known.

    Raises ContradictionError where no rates agree with all of them.
    """
    question, population = question_of(problem), problem.population
    assert population is not None, "there is a distribution"
    counts = rows_counted(question, population, problem.model)
    found = []
    evidence = replace(evidence, notes=(*evidence.notes, *_unanswered(quantities, answers)))
    for number, subject in enumerate(subjects_of(problem)):
        own = [each for each in quantities if each["law"] == number]
        until = Deadline.within(_SECONDS)
        distribution, formulas = Distribution(subject) if not askings else askings[number].distribution, None
        if askings and askings[number].learned == any(each["extreme"] for each in own):
            formulas = askings[number].formulas
        inquiry = _Answered(question, distribution, counts=counts, deadline=until, sums=sums, formulas=formulas)
        found.append(inquiry.joints(own, answers))
        notes = (*evidence.notes, *inquiry.notes, *inquiry.named(population))
        evidence = replace(evidence, notes=tuple(dict.fromkeys(notes)))
    plain_, named = ([replace(each[side], counts=counts) for each in found] for side in (0, 1))
    without = named[1] if len(named) > 1 else None
    reason = None
    if not settled(question, problem.threshold, named[0], population, without):
        reason = Reason.INCOMPLETE
    value = value_of(question, named[0], population, evidence, without=without, reason=reason)
    if isinstance(value, Refused) or plain_ == named:
        return value
    # Which group has which rate is known of the first joints only.
    without = plain_[1] if len(plain_) > 1 else None
    groups = value_of(question, plain_[0], population, evidence, without=without, reason=reason)
    if isinstance(groups, Refused):
        return groups
    return replace(
        value, rates=groups.rates, most=groups.most, least=groups.least, evidence=groups.evidence,
        warnings=groups.warnings,
    )  # fmt: skip


def _unanswered(quantities: Sequence[Mapping[str, Any]], answers: Mapping[str, Answer]) -> Iterator[str]:
    """How many files nobody has answered; what was answered and not understood is said where it is read."""
    files = dict.fromkeys(str(each["file"]) for each in quantities if "file" in each)
    silent = [file for file in files if file not in answers or not (answers[file].bounds or answers[file].detail)]
    if len(silent) == 1:
        yield f"`{silent[0]}` has no answer"
    elif silent:
        yield f"{len(silent):,} of {len(files):,} files have no answer, the first is `{silent[0]}`"


class _Answered(Inquiry):
    """An inquiry about which somebody else was asked."""

    def joints(self, quantities: Sequence[Mapping[str, Any]], answers: Mapping[str, Answer]) -> tuple[Joint, Joint]:
        """What is known of every group, and joint probabilities that the metric has the same value of."""
        self.notes: list[str] = []
        self._answers = answers
        self._files = {str(each["instance"]): each for each in quantities if "file" in each}
        self._learned = any(each["extreme"] for each in quantities)
        try:
            if not self._learned:
                joint = self.enumerated()
                return joint, joint
            joint = self._symmetric(self.learned())
            self.found = [each for each in self.found if self._fits(joint, *each)]
            return joint, self._attributed(joint)
        except ValueError as error:  # bounds of a probability whose lower end is above its upper one
            raise ContradictionError from error

    def solved(self, formulas: Formulas, name: str, assumptions: Sequence[int]) -> Solution:
        """The answer to the file of this instance."""
        instance: Instance = getattr(formulas, name)
        left = formulas.left(name, assumptions)
        if left.settled is not None:
            return _solution(left.settled, left.settled, outermost_choice(instance, left, {}))
        quantity = self._files.get(left.digest)
        if quantity is None and self._learned and _one_group(formulas, assumptions):
            return super().solved(formulas, name, assumptions)
        if quantity is None:
            self.notes.append("no file asks about some group: the data, or fairdsl, have changed since")
            return _solution(Fraction(0), left.factor)
        file = str(quantity["file"])
        answer = self._answers.get(file)
        if answer is None or answer.bounds is None:
            if answer is not None and answer.detail:
                self.notes.append(f"`{file}` has no answer: {answer.detail}")
            return _solution(Fraction(0), left.factor)
        low, high = (left.factor * end for end in answer.bounds)
        truths = {int(variable): truth == "true" for variable, truth in answer.values.items()}
        choice = outermost_choice(instance, left, truths) if truths else None
        return _solution(low, high, choice)

    def named(self, population: Population) -> Iterator[str]:
        """The groups that answers name, in words."""
        for kind, key in self.found:
            words = group_words(tuple(zip(columns_of(self.question, population), key, strict=True)), population)
            yield f"{kind} favoured of all groups, found by the solver: {words}"

    def _symmetric(self, joint: Joint) -> Joint:
        """Without what is known in part of groups that answers name."""
        favourable = dict(joint.favourable)
        for extremes in self.extremes:
            for key in extremes.keys:
                if not favourable[key].exact:
                    mass = joint.total[key].high
                    favourable[key] = Bounds(low=mass * extremes.least.low, high=mass * extremes.most.high)
        return replace(joint, favourable=favourable)

    def _attributed(self, joint: Joint) -> Joint:
        """The joint with the extreme rates given to groups that may have them, where none is known to."""
        if self.question.confidence is not None:
            return joint
        rates = {key: self._rate(joint, key) for each in self.extremes for key in each.keys}
        for extremes in self.extremes:
            self._attribute(rates, extremes)
        masses = {key: total.high for key, total in joint.total.items()}
        favourable = dict(joint.favourable)
        for key, rate in rates.items():
            favourable[key] = Bounds(low=masses[key] * rate.low, high=masses[key] * rate.high)
        return replace(joint, favourable=favourable)

    def _fits(self, joint: Joint, kind: str, key: Key) -> bool:
        """Whether a group that is named may be what it is said to be."""
        rate = self._rate(joint, key)
        extremes = next(each for each in self.extremes if key in each.keys)
        return rate.high >= extremes.most.low if kind == "most" else rate.low <= extremes.least.high

    @staticmethod
    def _rate(joint: Joint, key: Key) -> Bounds:
        mass, favourable = joint.total[key].high, joint.favourable[key]
        return Bounds(low=favourable.low / mass, high=favourable.high / mass)

    @staticmethod
    def _attribute(rates: dict[Key, Bounds], extremes: Extremes) -> None:
        most, least, keys = extremes.most, extremes.least, extremes.keys
        highs, lows = [rates[key].high for key in keys], [rates[key].low for key in keys]
        if max(highs) < most.low or max(lows) > most.high or min(lows) > least.high or min(highs) < least.low:
            raise ContradictionError
        taken: Key | None = None
        if max(lows) < most.low:
            taken = next(key for key in keys if rates[key].high >= most.low)
            rates[taken] = Bounds(low=most.low, high=rates[taken].high)
        if min(rates[key].high for key in keys) > least.high:
            free = [key for key in keys if rates[key].low <= least.high and (key != taken or len(keys) == 1)]
            if not free:
                # Only the group with the greatest rate may have the least: then all rates are equal.
                raise ContradictionError
            rates[free[0]] = Bounds(low=rates[free[0]].low, high=least.high)


def _one_group(formulas: Formulas, assumptions: Sequence[int]) -> bool:
    """Whether no key is left to be chosen."""
    fixed = {abs(literal) for literal in assumptions}
    return all(variable in fixed for key in formulas.keys for variable in key.column.below)


def _solution(low: Fraction, high: Fraction, choice: Mapping[int, bool] | None = None) -> Solution:
    return Solution(low=low, high=high, choice=choice, reason=None, statistics=Statistics())
