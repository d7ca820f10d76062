"""The pipeline: a spec's text becomes a report. Read this page first.

    text --front_end--> checked spec --elaborate--> problems
         --shared--> plans --in_turn, work--> verdicts --gather--> report

Each arrow is one package; each takes plain data and returns plain data. Mistakes in the spec are collected
across phases and raised together; a demand that nobody can answer is a verdict (refused), not a mistake.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fairdsl.backends.contract import Budget, Observer, Preparation, unanswered
from fairdsl.backends.smt.options import Partition
from fairdsl.clock import Deadline, Meter, is_out_of_time, meter_in_force, metered, phase, received, winding_down
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import Elaborated, Elaboration, Function, elaborate
from fairdsl.ir.model import Model
from fairdsl.plan import Plan, Shared, Work, cross_checked, in_turn, preparations, shared
from fairdsl.plan.choices import check_backend, check_partition, check_properties, unread
from fairdsl.plan.ended import as_interrupted, as_out_of_effort, is_interrupted
from fairdsl.plan.errors import nothing_to_check
from fairdsl.report.asked import asked_of
from fairdsl.report.gather import Gathering, not_read
from fairdsl.report.judging import judged_demand
from fairdsl.report.listener import Deaf, Listener
from fairdsl.report.model import Report
from fairdsl.report.ran import ran_of, what_ended
from fairdsl.report.stopped import Stopped, who_stopped
from fairdsl.semantics import front_end
from fairdsl.verdict import Judgement, Reason, Refused, Verdict

#: Seconds that are not worth another turn. Of an effort every unit is worth one, for turns are free there.
_LEFT = 0.1
#: What has to be done once on a machine is waited for before turns until one part in so many of the time is over.
_PARTS = 2


def verify(
    path: str,
    *,
    models: Mapping[str, str],
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str],
    callables: Mapping[str, Function] | None = None,
    budget: Budget,
    properties: Sequence[str],
    observer: Observer,
    listener: Listener | None = None,
    opened: Mapping[str, Model] | None = None,
    hold: bool = True,
) -> Report:
    """Check every property of the spec (or only those named) and report.

    Files in ``models`` and ``data`` replace those of models and distributions, by name; ``callables`` are models that
    are Python functions; ``opened`` are models that somebody has at hand, so that none is read; ``budget`` has what is
    set for the run. Cheap demands have their turn first
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
        spec, warnings = front_end(path, let)
    check_properties(properties, spec)
    if not spec.properties:
        raise DiagnosticError(nothing_to_check(path))
    spec = spec.restricted_to(properties)
    asked = asked_of(budget.options, models, data, properties, let)
    listener = listener or Deaf()
    elaborated: Elaboration | None = None
    planned: Sequence[Shared] | None = None
    try:
        with phase("reading models and data", budget.deadline):
            elaborated = elaborate(spec, models, data=data, callables=callables, opened=opened, hold=hold)
            check_partition(path, partition, elaborated)
        with phase("planning", budget.deadline):
            planned = shared(elaborated.demands, backend, by_partitions=partition.size is not None)
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
    warnings = (*warnings, *unread(budget.options, [each.plan for each in planned if isinstance(each.plan, Plan)]))
    gathering = Gathering(
        spec, elaborated, warnings, path=path, models=models, data=data, seed=budget.seed, asked=asked
    )
    listener.begun(gathering.report(), [checked.name for checked in spec.properties])
    meter = Meter(budget.options.run.effort, budget.deadline.at)
    with metered(meter):
        ended = _answer_all(planned, gathering, budget.of_effort, observer, listener)
    return gathering.report(ended, ran_of(budget.options, meter, what_ended(meter, gathering.open_for, ended)))


@dataclass(eq=False)
class _Asked:
    """Demands that ask one quantity, the work on it, and what came of it."""

    shared: Shared
    work: Work | None = None
    verdict: Verdict | None = None
    seconds: float = 0.0

    @property
    def preparations(self) -> list[Preparation]:
        """What its engines have to do once on a machine."""
        plan = self.shared.plan
        return preparations(plan, self.shared.problem) if isinstance(plan, Plan) else []

    def may_go_on(self, seconds: float) -> bool:
        """Whether so many seconds more may change what is open."""
        return self.work is not None and self.work.may_go_on(seconds)


def _answer_all(
    planned: Sequence[Shared], gathering: Gathering, budget: Budget, observer: Observer, listener: Listener
) -> Stopped | None:
    """Every demand in its turn, then those that are open as long as there is time, the most promising first.

    Who ended it before its end, if somebody did: what comes after that is not asked.
    """
    asked = [_Asked(each) for each in in_turn(planned)]
    waiting, ended = sum(isinstance(each.shared.plan, Plan) for each in asked), None
    for each in asked:
        for preparation in each.preparations:
            preparation.begin(observer)
    # One moment for all of them: waited for anew by each, what never gets ready would leave hardly any time.
    waited = budget.share(_PARTS).deadline
    try:
        for each in asked:
            if isinstance(each.shared.plan, Refused):
                each.verdict = each.shared.plan
            elif ended is not None:
                _not_asked(each, each.shared.plan)
            else:
                _answer(each, each.shared.plan, budget, waiting, waited, observer)
                waiting -= 1
                ended = _ended(each)
            if not each.may_go_on(budget.remaining):
                _tell(each, gathering, listener)
        open_ = [each for each in asked if each.work is not None]
        least = _LEFT if meter_in_force() is None else 0.0
        able = list(open_)
        while ended is None and (left := budget.remaining) > least:
            able = [each for each in able if each.may_go_on(left)]
            if not able:
                break
            best = max(able, key=lambda each: each.work.known if each.work is not None else 0.0)
            assert isinstance(best.shared.plan, Plan), "it was asked"
            # Half of the time, so that none of the others waits in vain for one that never ends.
            _answer(best, best.shared.plan, budget, min(2, len(able)), waited, observer)
            ended = _ended(best)
            if budget.remaining == left:  # less than its smallest piece of work is left
                able.remove(best)
        for each in open_:
            _tell(each, gathering, listener)
    finally:
        for each in asked:
            _close(each)
    return ended


def _tell(each: _Asked, gathering: Gathering, listener: Listener) -> None:
    """The verdict is the last one: it is reported, with the properties that are complete by it."""
    assert each.verdict is not None, "it had its turn"
    _close(each)
    if (meter := meter_in_force()) is not None and not meter.late:
        each.verdict = as_out_of_effort(each.verdict)
    for demand in each.shared.demands:
        gathering.add(demand, each.verdict, each.seconds)
    for checked in dict.fromkeys(demand.property for demand in each.shared.demands):
        if (completed := gathering.completed(checked)) is not None:
            listener.answered(*completed)


def _close(each: _Asked) -> None:
    if each.work is not None:
        each.work.close()
    each.work = None


def _ended(each: _Asked) -> Stopped | None:
    assert each.verdict is not None, "it had its turn"
    return who_stopped() if is_interrupted(each.verdict) or received() is not None else None


def _not_asked(each: _Asked, plan: Plan) -> None:
    detail = "its turn had not come yet"
    each.verdict = unanswered(each.shared.problem.quantity, Reason.INTERRUPTED, detail, backend=_last(plan))


def _answer(each: _Asked, plan: Plan, budget: Budget, parts: int, waited: Deadline, observer: Observer) -> None:
    """A turn of one of so many parts of the time that is left.

    What has to be done once on a machine is waited for before, for all who come after need it as well, but not
    beyond ``waited``, for others of the plan do without.
    """
    item, problem = each.shared.demands[0], each.shared.problem
    began, verdict = time.monotonic(), None
    try:
        with winding_down():
            for preparation in each.preparations:
                if not budget.exhausted:  # nobody would use it any more
                    preparation.ready(observer, waited)
            observer.progress(item.property.name, None, item.demand.text)
            turn = budget.share(parts)
            if budget.options.run.cross_check:
                verdict = cross_checked(plan, problem, turn, observer)
            else:
                each.work = each.work or Work(plan, problem, _enough(each.shared.demands))
                verdict = each.work.go_on(turn, observer)
    except KeyboardInterrupt:  # a verdict that is there is kept
        pass
    each.seconds += time.monotonic() - began
    if verdict is not None:
        each.verdict = verdict
    elif each.verdict is not None:
        each.verdict = as_interrupted(each.verdict)
    else:
        detail = "it was ended before anything was known"
        each.verdict = unanswered(problem.quantity, Reason.INTERRUPTED, detail, backend=_last(plan))


def _enough(demands: Sequence[Elaborated]) -> Callable[[Verdict], bool] | None:
    """Whether bounds decide every demand; None where one only measures, of which nothing is known too well."""
    asked = [each.demand for each in demands]
    if any(each.threshold is None for each in asked):
        return None

    def decided(verdict: Verdict) -> bool:
        found = (judged_demand(verdict, each.comparison, each.quantity, each.threshold).judgement for each in asked)
        return all(judgement in (Judgement.HOLDS, Judgement.VIOLATED) for judgement in found)

    return decided


def _last(plan: Plan) -> str:
    return plan.stages[-1].procedure.name
