"""The procedure: shares and metrics of groups over the rows of a table, which are decided one by one."""

from __future__ import annotations

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.rows.rates import metric_over_rows, offer_of_metric
from fairdsl.backends.rows.shares import offer_of_share, share_over_rows
from fairdsl.ir.demand import Demanded
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, PairUnder, Quantity
from fairdsl.replay import TimeIsUpError
from fairdsl.verdict import Evidence, Holds, Reason, Unknown, Verdict


class OverRows:
    """Counts the rows of an empirical distribution: those favoured, and those that lie in unfair units."""

    name = "rows"
    about = Capability(
        questions=(
            "under the rows of a table: pairs (same decision; any, each, within, regardless of, among, where)",
            "any formula over decisions and scores of one individual or a pair, of several models",
            "metrics of groups (across, among, for each, label, excluding, privileged, influence)",
        ),
        quantities=(
            Quantity.HOLDS.value,
            Quantity.FAIR_SHARE.value,
            Quantity.DISCRIMINATION_RATE.value,
            "every metric of groups but path_specific_gap",
        ),
        models=("every model that can be evaluated or run",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses questions that are not about rows, groups without bins, and people who cannot be listed."""
        question, population = problem.question, problem.population
        if not isinstance(population, Rows):
            return Refusal(why="it counts the rows of a table", other=True)
        match question:
            case PairUnder() | Demanded():
                return offer_of_share(problem, population)
            case GroupMetric():
                return offer_of_metric(problem, question, population)
        return Refusal(why="it answers shares and metrics `under` the rows of a table", other=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The number of these rows, by everybody who decides them."""
        question, population = problem.question, problem.population
        if not isinstance(population, Rows) or not isinstance(question, PairUnder | GroupMetric | Demanded):
            raise ValueError("rows was asked what it refuses")
        if not isinstance(question, GroupMetric):
            verdict = share_over_rows(problem, population, facts, budget, observer)
            facts.somebody = isinstance(verdict, Holds)  # then every row in question was seen to be one
            return verdict
        try:
            return metric_over_rows(problem, question, population, budget)
        except TimeIsUpError:
            evidence = Evidence(backend=self.name, method="the rows were not all decided")
            detail = "the time ended before every row was decided"
            return Unknown(reason=Reason.TIMEOUT, detail=detail, evidence=evidence)
