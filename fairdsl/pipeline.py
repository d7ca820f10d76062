"""The pipeline: a spec's text becomes a report. Read this page first.

    text --front_end--> checked spec --elaborate--> problems
         --plan_of--> plans --in_turn, execute--> verdicts --gather--> report

Each arrow is one package; each takes plain data and returns plain data. Mistakes in the spec are collected
across phases and raised together; a demand that nobody can answer is a verdict (refused), not a mistake.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.smt.options import Partition
from fairdsl.clock import is_out_of_time, phase, received, winding_down
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import Elaborated, Elaboration, Function, elaborate
from fairdsl.plan import Plan, cross_checked, execute, in_turn, plan_of, prepare
from fairdsl.plan.choices import check_backend, check_partition, check_properties, unread
from fairdsl.plan.ended import is_interrupted, unanswered
from fairdsl.plan.errors import nothing_to_check
from fairdsl.report.asked import asked_of
from fairdsl.report.gather import Gathering, not_read
from fairdsl.report.listener import Deaf, Listener
from fairdsl.report.model import Report
from fairdsl.report.stopped import Stopped, who_stopped
from fairdsl.semantics import front_end
from fairdsl.verdict import Reason, Refused, Verdict

__all__ = ["verify"]


def verify(
    path: str,
    *,
    models: Mapping[str, str],
    data: Mapping[str, str],
    callables: Mapping[str, Function] | None = None,
    budget: Budget,
    properties: Sequence[str],
    observer: Observer,
    listener: Listener | None = None,
    hold: bool = True,
) -> Report:
    """Check every property of the spec (or only those named) and report.

    Files in ``models`` and ``data`` replace those of models and distributions, by name; ``callables`` are models that
    are Python functions; ``budget`` has what is set for the run. Cheap demands have their turn first
    (:func:`fairdsl.plan.in_turn`), time that a demand leaves over goes to those after it, and ``listener`` hears of
    each property once it is complete. With ``hold`` models are held against the decisions that were recorded of them.
    Ended by Ctrl-C, or in a command by SIGTERM, it reports what is known, once the spec is read. Raises DiagnosticError
    for mistakes in the spec, its files and the options.
    """
    backend, partition = budget.options.run.backend, budget.options[Partition]
    check_backend(budget.options)
    for section in budget.options.sections:
        section.ready()
    with phase("reading the spec", budget.deadline):
        spec, warnings = front_end(path)
    check_properties(properties, spec)
    if not spec.properties:
        raise DiagnosticError(nothing_to_check(path))
    spec = spec.restricted_to(properties)
    asked = asked_of(budget.options, models, data, properties)
    listener = listener or Deaf()
    elaborated: Elaboration | None = None
    planned: _Planned | None = None
    try:
        with phase("reading models and data", budget.deadline):
            elaborated = elaborate(spec, models, data=data, callables=callables, hold=hold)
            check_partition(path, partition, elaborated)
        with phase("planning", budget.deadline):
            planned = _planned(elaborated, backend, by_partitions=partition.size is not None)
    except KeyboardInterrupt:
        if planned is None:
            read = elaborated is not None
            return not_read(spec, warnings, path=path, seed=budget.seed, asked=asked, read=read, ended=who_stopped())
    except DiagnosticError as error:
        if not is_out_of_time(error.diagnostics):
            raise
        findings = [*warnings, *error.diagnostics]
        return not_read(spec, findings, path=path, seed=budget.seed, asked=asked, read=elaborated is not None)
    assert elaborated is not None, "it was interrupted otherwise"
    assert planned is not None, "it was interrupted otherwise"
    warnings = (*warnings, *unread(budget.options, [plan for _, plan in planned if isinstance(plan, Plan)]))
    gathering = Gathering(
        spec, elaborated, warnings, path=path, models=models, data=data, seed=budget.seed, asked=asked
    )
    listener.begun(gathering.report(), [checked.name for checked in spec.properties])
    ended = _answer_all(planned, gathering, budget, observer, listener)
    return gathering.report(ended)


_Planned = Sequence[tuple[Elaborated, Plan | Refused]]


def _planned(elaborated: Elaboration, backend: str | None, *, by_partitions: bool) -> _Planned:
    return [(demand, plan_of(demand, backend, by_partitions=by_partitions)) for demand in elaborated.demands]


def _answer_all(
    planned: _Planned, gathering: Gathering, budget: Budget, observer: Observer, listener: Listener
) -> Stopped | None:
    """Every demand in its turn; who ended it before its end, if somebody did: what comes after that is not asked."""
    waiting, ended = sum(isinstance(plan, Plan) for _, plan in planned), None
    for demand, plan in in_turn(planned):
        started = time.monotonic()
        if isinstance(plan, Refused):
            verdict: Verdict = plan
        elif ended is not None:
            detail = "its turn had not come yet"
            verdict = unanswered(demand.problem.quantity, Reason.INTERRUPTED, detail, backend=_last(plan))
        else:
            verdict, seconds = _answer(demand, plan, budget, waiting, observer)
            budget, started = budget.extended(seconds), started + seconds
            waiting -= 1
            if is_interrupted(verdict) or received() is not None:
                ended = who_stopped()
        gathering.add(demand, verdict, time.monotonic() - started)
        if (completed := gathering.completed(demand.property)) is not None:
            listener.answered(*completed)
    return ended


def _answer(item: Elaborated, plan: Plan, budget: Budget, waiting: int, observer: Observer) -> tuple[Verdict, float]:
    """One of ``waiting`` demands, from plan to verdict, and the seconds that were spent on what counts for nobody."""
    verdict: Verdict | None = None
    seconds = 0.0
    try:
        with winding_down():
            seconds = prepare(plan, observer)
            observer.progress(item.property.name, None, item.demand.text)
            answered_by = cross_checked if budget.options.run.cross_check else execute
            verdict = answered_by(plan, item.problem, budget.extended(seconds).share(waiting), observer)
    except KeyboardInterrupt:  # a verdict that is there is kept
        pass
    if verdict is None:
        detail = "it was ended before anything was known"
        verdict = unanswered(item.problem.quantity, Reason.INTERRUPTED, detail, backend=_last(plan))
    return verdict, seconds


def _last(plan: Plan) -> str:
    return plan.stages[-1].procedure.name
