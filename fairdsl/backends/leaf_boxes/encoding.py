"""The encoding for ``compile --to forest-job``: the trees of a question as a file that is solved anywhere."""

from __future__ import annotations

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.encoding import Lowered
from fairdsl.backends.leaf_boxes.job import ForestHead, ForestJobs, PartedAttribute, pack_job
from fairdsl.backends.leaf_boxes.lowering import lower, refusal_of
from fairdsl.backends.leaf_boxes.procedure import is_counted
from fairdsl.backends.leaf_boxes.task import Task, check_task, task_of
from fairdsl.backends.refining.encoding import JobEncoding, refusal_of_people
from fairdsl.backends.solved import Asked
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import narrow

__all__ = ["ForestJob"]


class ForestJob(JobEncoding):
    """Jobs about forests and boosters."""

    name, jobs = "forest-job", ForestJobs()
    options = JobEncoding.options | {"leaf_boxes.scheduler"}

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Shares of equal decisions of trees whose sum decides."""
        pair = problem.question
        if (refusal := refusal_of_people(problem) or refusal_of(problem)) is not None:
            return refusal
        if problem.quantity is Quantity.HOLDS:
            return Refusal(why="forest jobs are about shares", span=problem.model.span)
        assert isinstance(pair, Pair), "others are refused"
        if any(values.count == 0 for values in narrow(problem.domain, pair.target)):
            return Refusal(why="nobody is asked about", span=pair.span)
        try:
            self._task(problem, pair)
        except ValueError as error:
            return Refusal(why=f"as a forest job, {error}", span=problem.model.span)
        return Offer(method="a forest job", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        pair = problem.question
        assert isinstance(pair, Pair), "others are refused"
        lowered, names = lower(problem, pair), problem.domain.attributes
        task = self._task(problem, pair)
        head = ForestHead(
            asked=asked,
            quantity=problem.quantity,
            measure="counting" if is_counted(problem, pair) else "volume",
            unit=problem.unit_in_words,
            attributes=tuple(
                PartedAttribute(
                    name=names[at].name, parts=tuple(names[at].show(part.speaker) for part in lowered.cuts[at].parts)
                )
                for at in task.attributes.tolist()
            ),
        )
        return self.one_file(problem, pack_job(task, head))

    def _task(self, problem: Problem, pair: Pair) -> Task:
        """The task; ValueError for what is none."""
        if (task := task_of(lower(problem, pair))) is None:
            raise ValueError("one sum of values decides, and every pair that differs is compared: here not")
        check_task(task)
        return task
