"""``portfolio``: several strategies, and a bandit that moves the effort to what pays.

What pays changes in the course of a search: without counterexamples nothing has neighbours, with a few everything has.
So the bandit is Thompson's (Biometrika 25, 1933) with a fading memory (Raj and Kalyani, arXiv 1707.09727). A strategy's
counterexamples in so many evaluations are taken for Poisson counts of an unknown rate with a Gamma prior; before each
turn a rate is drawn from every posterior, and the strategy with the highest one has its turn. Both counts fade, so that
what was long ago counts for little. The prior is hopeful: what was never tried is tried soon. In a domain too large to
be gone through, uniform draws that found nothing are not forgotten before they find something: where one in a million
violates, the next ones are no better than the last, and what is guided gets most of the effort.

Effort is counted in evaluated individuals and not in seconds, so a seed gives one and the same search however fast or
busy a machine is. Where the last bits of scores are other ones (another processor or library), it may be another
search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairdsl.backends.search.ground import Ground
from fairdsl.backends.search.strategy import Proposing, Strategy, Tried

#: What is left of the counts after a turn of any strategy.
_FADING = 0.95
#: Units that uniform draws do not come to the end of.
_MANY = 10**6
#: The prior: so many counterexamples in so many evaluations.
_FINDS, _EVALUATIONS = 1.0, 4.0
#: What a proposed row costs even where it was tried before.
_OVERHEAD = 0.05


def portfolio(ground: Ground, strategies: Sequence[Strategy]) -> Proposing:
    """Give turns to the strategies that fit the problem."""
    arms = [strategy for strategy in strategies if strategy.fits(ground.problem)]
    running = [arm.run(ground) for arm in arms]
    answers: list[Tried | None] = [None for _ in arms]
    finds, costs = np.zeros(len(arms)), np.zeros(len(arms))
    large = ground.space.units is None or ground.space.units > _MANY
    fading = np.array([1.0 if arm.steady and large else _FADING for arm in arms])
    while True:
        rates = ground.rng.gamma(finds + _FINDS) / (costs + _EVALUATIONS)
        ready = np.array([arm.ready(ground) for arm in arms])
        chosen = int(np.argmax(np.where(ready, rates, -1.0)))
        before = ground.evaluator.evaluated
        answer = answers[chosen]
        proposal = next(running[chosen]) if answer is None else running[chosen].send(answer)
        tried = yield proposal
        answers[chosen] = tried
        if tried.new:
            fading[chosen] = _FADING
        finds *= fading
        costs *= fading
        finds[chosen] += tried.new
        costs[chosen] += 1 + ground.evaluator.evaluated - before + _OVERHEAD * len(proposal.rows)
