"""The encoding for ``compile --to forest-job``: the trees of a question as a file that is solved anywhere."""

from __future__ import annotations

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.encoding import Lowered
from fairdsl.backends.leaf_boxes.asked import ask_of, graph_of, refusal_of_any
from fairdsl.backends.leaf_boxes.cuts import Cut
from fairdsl.backends.leaf_boxes.duels import Numbered, numbered_of
from fairdsl.backends.leaf_boxes.job import ForestHead, ForestJobs, PartedAttribute, pack_job
from fairdsl.backends.leaf_boxes.lowering import lower, refusal_of
from fairdsl.backends.leaf_boxes.pair_task import PairsAsked, pairs_asked, question_in
from fairdsl.backends.leaf_boxes.sizes import Sizes, axes_of
from fairdsl.backends.leaf_boxes.task import Task, check_task, task_of
from fairdsl.backends.refining.encoding import JobEncoding, refusal_of_people
from fairdsl.backends.solved import Asked
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import measure_of, narrow


class ForestJob(JobEncoding):
    """Jobs about forests and boosters."""

    name, jobs = "forest-job", ForestJobs()
    options = JobEncoding.options | {"leaf_boxes.scheduler"}

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Shares of questions about pairs."""
        if (refusal := refusal_of_people(problem)) is not None:
            return refusal
        if (refusal := refusal_of(problem)) is not None and (refusal := refusal_of_any(problem)) is not None:
            return refusal
        pair = problem.question
        assert isinstance(pair, Pair), "others are refused"
        if problem.quantity is Quantity.HOLDS:
            return Refusal(why="forest jobs are about shares", span=problem.model.span)
        if any(values.count == 0 for values in narrow(problem.domain, pair.target)):
            return Refusal(why="nobody is asked about", span=pair.span)
        try:
            _written(problem, pair)
        except ValueError as error:
            return Refusal(why=f"as a forest job, {error}", span=problem.model.span)
        return Offer(method="a forest job", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        pair = problem.question
        assert isinstance(pair, Pair), "others are refused"
        task, pairs, cuts = _written(problem, pair)
        names = problem.domain.attributes
        head = ForestHead(
            asked=asked,
            quantity=problem.quantity,
            measure=measure_of(problem, pair),
            unit=problem.unit_in_words,
            attributes=tuple(
                PartedAttribute(
                    name=names[at].name, parts=tuple(names[at].show(part.speaker) for part in cuts[at].parts)
                )
                for at in axes_of(cuts, pair.differ)
            ),
            pairs=pairs,
        )
        return self.one_file(problem, pack_job(task, head))


def _written(problem: Problem, pair: Pair) -> tuple[Task | Numbered, PairsAsked | None, tuple[Cut, ...]]:
    """The task, and who is compared where that is more than everybody by one score; ValueError for what is none."""
    if refusal_of(problem) is None and (task := task_of(lowered := lower(problem, pair))) is not None:
        check_task(task)
        return task, None, lowered.cuts
    if (refusal := refusal_of_any(problem)) is not None:
        raise ValueError(refusal.why)
    graph, asked = graph_of(problem, pair), ask_of(problem, pair)
    numbered, scoring = numbered_of(graph, Sizes.over(graph))
    said = pairs_asked(asked, scoring)
    question_in(numbered, said)
    return numbered, said, asked.cuts
