"""The encoding for ``compile --to population-job``: people of a distribution as a file that is solved anywhere."""

from __future__ import annotations

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.encoding import Lowered
from fairdsl.backends.rates.closed import Closed
from fairdsl.backends.rates.job import PopulationJobs, pack_job
from fairdsl.backends.rates.people import domain_of, people_of
from fairdsl.backends.rates.shares import refusal_of_share
from fairdsl.backends.refining.encoding import JobEncoding
from fairdsl.backends.solved import Asked
from fairdsl.ir.population import Network, Rows
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.metrics.estimated import sampling_bound


class PopulationJob(JobEncoding):
    """Jobs about shares of people of a distribution."""

    name, jobs = "population-job", PopulationJobs()
    options = JobEncoding.options | {"rates.scheduler"}

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Shares under a distribution of models that are written in files."""
        if isinstance(problem.population, Rows):
            why = "rows are judged one by one, which `check` does in one run: learn a distribution from them for a job"
            return Refusal(why=why, span=problem.span)
        if problem.quantity is Quantity.REDRAW_DISAGREEMENT:
            return Refusal(why="jobs are about shares, and who is drawn again is a number", span=problem.span)
        if (refusal := refusal_of_share(problem)) is not None:
            return refusal
        if problem.model.opaque is not None:
            return Refusal(why="a model that is only evaluated is not written in a job", span=problem.model.span)
        law = problem.population
        assert isinstance(law, Network), "others are refused"
        if any(factor.normal and not law.complete(factor) for factor in law.factors):
            return Refusal(why="a normal distribution has no mass for some of its parents", span=law.span)
        return Offer(method="a population job", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        law = problem.population
        assert isinstance(law, Network), "others are refused"
        closed = Closed(people=people_of(problem), beside=domain_of(problem), bound=sampling_bound(law))
        return self.one_file(
            problem, pack_job(closed, asked=asked, quantity=problem.quantity, unit=problem.unit_in_words)
        )
