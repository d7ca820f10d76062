"""The encoding for ``compile --to gap-job``: how far apart the worst two are, as a file that is solved anywhere."""

from __future__ import annotations

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.encoding import Lowered
from fairdsl.backends.refining.encoding import JobEncoding
from fairdsl.backends.solved import Asked
from fairdsl.backends.worst_pairs.job import GapJobs, engine_of, pack_job
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import WorstPair


class GapJob(JobEncoding):
    """Jobs about the largest gap of scores."""

    name, jobs = "gap-job", GapJobs()
    options = JobEncoding.options | {"leaf_boxes.scheduler", "smt.scheduler"}

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Of networks, linear models, trees and ensembles that are written in files."""
        if not isinstance(problem.question, WorstPair):
            return Refusal(why="gap jobs are about `max_score_gap`", other=True)
        if problem.model.opaque is not None:
            return Refusal(why="a model that is only evaluated is not written in a job", span=problem.model.span)
        engine = engine_of(problem)
        return engine if isinstance(engine, Refusal) else Offer(method="a gap job", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        return self.one_file(problem, pack_job(problem, asked))
