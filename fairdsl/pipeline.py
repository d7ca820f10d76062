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
from fairdsl.clock import phase
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import Elaborated, Function, elaborate
from fairdsl.plan import Plan, cross_checked, execute, in_turn, plan_of, prepare
from fairdsl.plan.choices import check_backend, check_partition, check_properties, unread
from fairdsl.plan.errors import nothing_to_check
from fairdsl.report.gather import Gathering
from fairdsl.report.listener import Deaf, Listener
from fairdsl.report.model import Report
from fairdsl.semantics import front_end
from fairdsl.verdict import Ended, Evidence, Reason, Refused, Shares, Unknown, Verdict

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
    Raises DiagnosticError for mistakes in the spec, its files and the options.
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
    with phase("reading models and data", budget.deadline):
        elaborated = elaborate(spec, models, data=data, callables=callables, hold=hold)
    by_partitions = partition.size is not None
    with phase("planning", budget.deadline):
        planned = [(demand, plan_of(demand, backend, by_partitions=by_partitions)) for demand in elaborated.demands]
        check_partition(path, partition, elaborated)
    plans = [plan for _, plan in planned if isinstance(plan, Plan)]
    warnings = (*warnings, *unread(budget.options, plans))
    gathering = Gathering(spec, elaborated, warnings, path=path, models=models, data=data, seed=budget.seed)
    listener = listener or Deaf()
    listener.begun(gathering.report(), [checked.name for checked in spec.properties])
    waiting, interrupted = len(plans), False
    for demand, plan in in_turn(planned):
        if isinstance(plan, Plan) and not interrupted:
            budget = budget.extended(prepare(plan, observer))
        started = time.monotonic()
        verdict = _answer(demand, plan, None if interrupted else budget.share(max(waiting, 1)), observer)
        gathering.add(demand, verdict, time.monotonic() - started)
        waiting -= isinstance(plan, Plan)  # refusals take no time
        interrupted = interrupted or _interrupted(verdict)
        if (completed := gathering.completed(demand.property)) is not None:
            listener.answered(*completed)
    return gathering.report()


def _interrupted(verdict: Verdict) -> bool:
    """Whether the user ended it: then what comes after it is not asked any more."""
    if isinstance(verdict, Shares | Unknown) and verdict.reason is Reason.INTERRUPTED:
        return True
    coverage = None if isinstance(verdict, Refused) else verdict.evidence.coverage
    return coverage is not None and coverage.ended is Ended.INTERRUPTED


def _answer(item: Elaborated, plan: Plan | Refused, budget: Budget | None, observer: Observer) -> Verdict:
    """One demand, from plan to verdict; without a budget it is not asked."""
    if isinstance(plan, Refused):
        return plan
    if budget is None:
        evidence = Evidence(backend=plan.stages[-1].procedure.name, method="")
        return Unknown(reason=Reason.INTERRUPTED, detail="its turn had not come yet", evidence=evidence)
    observer.progress(item.property.name, None, item.demand.text)
    answered_by = cross_checked if budget.options.run.cross_check else execute
    return answered_by(plan, item.problem, budget, observer)
