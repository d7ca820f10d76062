"""The encoding for ``compile --to interval-job``: the lowered task as a file that is solved anywhere."""

from __future__ import annotations

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.encoding import Lowered
from fairdsl.backends.intervals.axes import Axis
from fairdsl.backends.intervals.job import JobHead, SharedAttribute, pack_job
from fairdsl.backends.intervals.jobs import IntervalJobs
from fairdsl.backends.intervals.lowering import lower
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.backends.refining.encoding import JobEncoding, refusal_of_people
from fairdsl.backends.solved import Asked
from fairdsl.ir.domain import Domain
from fairdsl.ir.problem import Problem
from fairdsl.replay import compares_somebody


class IntervalJob(JobEncoding):
    """Jobs for ``fairdsl solve``; their results become a verdict by ``fairdsl recover``."""

    name, jobs = "interval-job", IntervalJobs()
    options = JobEncoding.options | {"intervals.scheduler"}

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Whatever can be lowered to a task."""
        if (refusal := refusal_of_people(problem)) is not None:
            return refusal
        roles = roles_of(problem)
        return roles if isinstance(roles, Refusal) else Offer(method="an interval job", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """One file, named after the property."""
        lowered = lower(problem)
        head = JobHead(
            asked=asked,
            quantity=problem.quantity,
            measure="counting" if lowered.counted else "volume",
            unit=problem.unit_in_words,
            factor=lowered.factor,
            vacuous=lowered.vacuous,
            # Whom z3 would look for cannot be looked for in a job: it has no conditions.
            unsure=lowered.unsure_beside(compares_somebody(problem)),
            attributes=tuple(_shared(axis, problem.domain) for axis in lowered.axes),
        )
        return self.one_file(problem, pack_job(lowered.task, head))


def _shared(axis: Axis, domain: Domain) -> SharedAttribute:
    """What the positions of an axis mean, in the spec's words."""
    if axis.attribute is None:
        return SharedAttribute(name="the differing attributes together", positions=axis.size)
    attribute = domain.attributes[axis.attribute]
    if axis.values is not None:
        return SharedAttribute(
            name=attribute.name,
            positions=axis.size,
            values=tuple(attribute.show(axis.value(p)) for p in range(axis.size)),
        )
    return SharedAttribute(name=attribute.name, positions=axis.size, start=axis.start, step=axis.step, cells=axis.real)
