"""The procedure: a verdict from a run of the work-list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from fairdsl.backends.contract import (
    Answering,
    Budget,
    Capability,
    Facts,
    Observer,
    Offer,
    Refusal,
    at_once,
    only_pairs,
)
from fairdsl.backends.smt.attempts import Attempts, Programmed
from fairdsl.backends.smt.cases import widened
from fairdsl.backends.smt.engine import Pool, Workers, solver_name
from fairdsl.backends.smt.gaps import beyond_scores
from fairdsl.backends.smt.options import Partition, SmtOptions
from fairdsl.backends.smt.recover import carried, checked, is_violation, people_in
from fairdsl.backends.smt.rounding import Reach, inside, reach_of, widened_by
from fairdsl.backends.smt.solvers.pool import PoolOf, SolverPool
from fairdsl.backends.smt.ways import UnsplitError
from fairdsl.backends.smt.worklist import Outcome
from fairdsl.backends.worst import refusal_of_worst
from fairdsl.clock import Deadline, now
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap, WorstPair
from fairdsl.numerics.rounding import float_above, float_below
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Evidence,
    Fidelity,
    Holds,
    Reason,
    Unknown,
    Verdict,
    Violated,
    Witness,
    Word,
    worst,
)

#: The part of the time, one in so many, that the question about the deployed file's arithmetic may take first.
_WIDENED_PART = 3
#: Narrower widenings that are tried where that is not proved, for half of the time that the proof took, or so long.
_MARGINS, _MARGIN_SECONDS = 4, 0.5


def refusal(problem: Problem, *, numbers: bool = False) -> Refusal | None:
    """Why satisfiability says nothing about the question, and bounds about ``numbers`` do not; None where they do."""
    question = problem.of_pairs.question
    if (worst := refusal_of_worst(problem)) is not None:
        return worst
    if not isinstance(question, Pair | Demanded):
        return only_pairs(problem)
    if not (numbers or problem.quantity is Quantity.HOLDS):
        return Refusal(why="it says yes or no, and no number", other=True)
    if problem.population is not None:
        return Refusal(why="it has no notion of a distribution", other=True)
    pair = question.pair if isinstance(question, Demanded) else question
    if isinstance(pair.demand, ScoreGap) and problem.model.score_count != 1:
        return Refusal(why="a gap of scores needs a model with one score", span=pair.span)
    if pair.sure and problem.model.logits is None:
        return Refusal(why="the model's confidence needs its probabilities", span=pair.sure[0].span)
    if beyond_scores(problem):
        why = "a probability is compared with more than a number or one other, which no sum of scores says"
        return Refusal(why=why, span=problem.demanded.span)
    for model in problem.models:
        if not model.rational:
            why = f"`{model.name}` has smooth units inside, and its arithmetic is piecewise linear"
            return Refusal(why=why, span=model.span)
    return None


class Smt:
    """Bounds, splitting and z3; decides every question about pairs, given time."""

    name = "smt"
    about = Capability(
        questions=(
            "pairs: same decision, score gap; any, each, within, regardless of, among, when, where",
            "any formula over decisions and scores of one individual, a pair, three or four, of several models",
            "shares of those who meet a formula, or a gap of scores, of one individual or a pair",
            "how far apart the scores of a pair are at most",
        ),
        quantities=(
            Quantity.HOLDS.value,
            Quantity.FAIR_SHARE.value,
            Quantity.DISCRIMINATION_RATE.value,
            Quantity.MAX_SCORE_GAP.value,
        ),
        models=("piecewise-linear networks, trees, linear models and rules, real attributes too",),
    )

    def __init__(self, pool: Callable[[int], Pool] | None = None, solvers: PoolOf = SolverPool) -> None:
        self._pool, self._solvers = pool, solvers

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Ready for every question about pairs that has a yes or a no, and for shares of formulas."""
        if problem.quantity in (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE):
            from fairdsl.backends.smt.shares import refusal_of_shares

            method = "bounds of regions, over boxes of units that are cut"
            return (
                refusal(problem, numbers=True)
                or refusal_of_shares(problem)
                or Offer(method=method, decides=True, fits=0)
            )
        if isinstance(problem.question, WorstPair):
            method = "bounds of regions of pairs, the farthest first"
            return refusal(problem, numbers=True) or Offer(method=method, decides=True)
        return refusal(problem) or Offer(method=f"proof by bounds, linear programs, {solver_name()}", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The verdict; a violation always carries a pair that was replayed."""
        return at_once(self.answering(problem, facts, budget, observer))

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The same by budgets: regions that are settled stay so. In between no process is kept."""
        if isinstance(problem.question, WorstPair):
            from fairdsl.backends.smt.worst import answering_worst

            return (yield from answering_worst(self.name, problem, facts, budget, observer, self.answer))
        if problem.quantity is not Quantity.HOLDS:
            from fairdsl.backends.smt.shares import answering_shares

            return (yield from answering_shares(self.name, problem, facts, budget, observer))
        if budget.options[Partition].size is not None:
            return self._by_partitions(problem, budget, observer)
        known = tuple(witness for witness in facts.witnesses if witness.replay.agrees)
        if known:
            method = "a pair that an earlier stage found"
            return Violated(witnesses=known, evidence=Evidence(backend=self.name, method=method))
        with Attempts(problem, budget, observer, partial(self._workers, budget), self._solvers) as attempts:
            try:
                return (yield from _answering(problem, facts, budget, attempts))
            except UnsplitError:
                outcome = attempts.whole(problem, budget)
                return _verdict(outcome, _evidence(problem, outcome, budget, Programmed()))

    def _workers(self, budget: Budget, jobs: int) -> Pool:
        return Workers(jobs, memory=budget.options[SmtOptions].query_memory) if self._pool is None else self._pool(jobs)

    def _by_partitions(self, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
        """The verdict from those on partitions of the domain."""
        from fairdsl.backends.smt.partition.procedure import by_partitions

        return by_partitions(self.name, problem, budget, observer, self._solvers)


def _answering(problem: Problem, facts: Facts, budget: Budget, attempts: Attempts) -> Answering:
    """A proof of the deployed file where that can be had; else of the exact model, with the margin that it has."""
    started, reach = now(), reach_of(problem, budget.remaining)
    if reach.alike:
        evidence = Evidence(backend=Smt.name, method="it reads nothing in which the two may differ")
        return _proof(Holds(evidence=evidence), reach)
    wide = _Widened(margin=max(reach.slack, default=None))
    if reach.slack and not reach.hopeless:
        wide = _widened(problem, reach.slack, budget.share(_WIDENED_PART), attempts)
    if wide.verdict is not None:
        return wide.verdict
    attempt = attempts.begin(problem, facts, budget)
    while True:
        outcome = attempt.go_on(budget)
        verdict = _verdict(outcome, _evidence(problem, outcome, budget, attempt.programmed))
        if not attempt.waits:
            break
        facts.so_far = verdict
        attempts.rest()
        ended = now()
        budget = yield verdict
        started += now() - ended
    if not isinstance(verdict, Holds):
        return verdict
    proof = _proof(verdict, reach)
    if wide.margin is None:
        return proof
    until = Deadline.within(max(_MARGIN_SECONDS, (now() - started) / 2))
    few = replace(budget, deadline=min(until, budget.deadline))
    return _with_margin(proof, _margin(problem, len(reach.slack), wide.margin, few, attempts), max(reach.slack))


def _widened(problem: Problem, slack: Sequence[Fraction], budget: Budget, attempts: Attempts) -> _Widened:
    """The question of all whose scores are off by ``slack``: a proof, a violation, or how wide no proof can be."""
    wider = widened_by(problem, slack)
    if wider is None:
        return _Widened(margin=max(slack))
    attempt = attempts.begin(wider, Facts(), budget, until_open=True)
    outcome = attempt.go_on(budget)
    met = [*outcome.gaps, *([] if outcome.witness is None else [outcome.witness])]
    pairs = [*outcome.unconfirmed, *map(people_in, met)]
    if outcome.witness is not None:
        found = checked(problem, *pairs[-1])
        if found is not None and is_violation(problem, found):
            evidence = _evidence(problem, outcome, budget, attempt.programmed)
            return _Widened(verdict=Violated(**carried([found]), evidence=evidence))
    elif not outcome.open and not outcome.gaps:
        holds = Holds(evidence=_evidence(problem, outcome, budget, attempt.programmed))
        reach = Reach(covers=f"rounding included: scores may be off by {_shown(max(slack))}")
        return _Widened(verdict=_with_margin(_proof(holds, reach), min(slack), None))
    return _Widened(margin=min((inside(problem, *pair) for pair in pairs), default=max(slack)))


def _margin(problem: Problem, scores: int, most: Fraction, budget: Budget, attempts: Attempts) -> Fraction | None:
    """The widest of a few widenings that is proved too; each pair inside of one says where the next one begins."""
    for _ in range(_MARGINS):
        most = Fraction(float_below(most / 2))
        if most <= 0 or budget.exhausted:
            return None
        found = _widened(problem, [most] * scores, budget, attempts)
        if isinstance(found.verdict, Holds):
            return most
        most = min(most, found.margin or most)
    return None


@dataclass(frozen=True, slots=True)
class _Widened:
    """What the widened question came to: a verdict of the question itself, or a bound of all margins it can have."""

    verdict: Verdict | None = None
    margin: Fraction | None = None


def _proof(verdict: Holds, reach: Reach) -> Holds:
    """The proof with which arithmetic it covers."""
    evidence = verdict.evidence
    if reach.covers is not None:
        basis = replace(evidence.basis, arithmetic=Arithmetic.DEPLOYED)
        evidence = replace(evidence, notes=(*evidence.notes, reach.covers), basis=basis)
    return Holds(evidence=evidence)


def _with_margin(proof: Holds, margin: Fraction | None, slack: Fraction | None) -> Holds:
    """The proof with the margin that was proved; ``slack``: what the file's scores may be off by beyond it."""
    evidence = proof.evidence
    notes = evidence.notes
    if slack is not None:
        known = "" if margin is None else f", and it holds while scores are off by at most {_shown(margin)}"
        notes = (*notes, f"the file's scores may be off by {_shown(slack)}{known}")
    return replace(proof, evidence=replace(evidence, notes=notes, basis=replace(evidence.basis, margin=margin)))


def _shown(size: Fraction) -> str:
    """Two figures, of a bound rounded up."""
    return f"{float_above(size):.2g}"


def _evidence(problem: Problem, outcome: Outcome, budget: Budget, programmed: Programmed) -> Evidence:
    counted = (
        (programmed.cases, "interval bounds and certified LPs"),
        (outcome.by_bounds, "interval bounds"),
        (outcome.by_solver, f"{solver_name()}, seed {budget.seed}"),
    )
    proved = {how: count for count, how in counted if count}
    count = sum(proved.values())
    parts = [f"{count} by {how}" for how, count in proved.items()] if len(proved) > 1 else [*proved]
    method = f"proved: {count} region{'s' * (count != 1)} ({'; '.join(parts)})" if proved else solver_name()
    if programmed.found:
        method = "linear and mixed-integer programs"
    notes = ("within a solver's tolerances, which was to be trusted without proof",) if programmed.trusted else ()
    basis = Basis(word=Word.SOLVER if outcome.by_solver or programmed.trusted else Word.OWN)
    return Evidence(backend=Smt.name, method=method, fidelity=_fidelity(problem), notes=notes, basis=basis)


def _fidelity(problem: Problem) -> Fidelity:
    return Fidelity.WIDENS if widened(problem) else Fidelity.EXACT


def _verdict(outcome: Outcome, evidence: Evidence) -> Verdict:
    """A violation decides; then whatever is open; only then does the property hold."""
    if outcome.witness is not None:
        return Violated(**carried([outcome.witness]), evidence=evidence)
    if outcome.gaps:
        who = "a pair breaks" if isinstance(outcome.gaps[0], Witness) else "what was found breaks"
        detail = f"{who} the demand in exact arithmetic but not in the deployed file's"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, **carried(outcome.gaps))
    if outcome.open:
        return worst(Unknown(reason=reason, detail=detail, evidence=evidence) for reason, detail in outcome.open)
    return Holds(evidence=evidence)
