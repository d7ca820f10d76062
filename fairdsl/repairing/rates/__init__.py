"""``repair`` for rates of groups: by the weights of rows, and by a threshold for each group.

``subject`` says what is asked over the rows of the table; ``weights`` and ``thresholds`` are the two recipes; ``run``
tries them, ``result`` is what comes of it.
"""

from fairdsl.repairing.rates.result import RepairedRates
from fairdsl.repairing.rates.run import RATE_RECIPES, RateRounds
from fairdsl.repairing.rates.subject import RateSubject, rate_subject_of

__all__ = ["RATE_RECIPES", "RateRounds", "RateSubject", "RepairedRates", "rate_subject_of"]
