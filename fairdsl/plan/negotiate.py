"""From offers to a plan: quick search first, then the backends that can decide, those whose methods fit best first.

Methods that fit alike (:attr:`fairdsl.backends.contract.Offer.fits`) are asked in registry order, and each but the
first where those before leave the demand open. The rule is fixed and printed by ``--explain-plan``. A weaker answer is
never swapped in silently: where nobody can decide a demand about pairs, whoever finds violations is asked all the same,
and what is not found is unknown, not proved. Where nobody can say anything the demand is refused, with the reason of
the backend that comes nearest.

The proof that is asked for first: the model reads nothing in which the two individuals may differ.

Then it computes both alike, whatever it is, and every pair meets the demand. No engine is needed, and no search before
one. Trees are bound without the nodes that nobody reaches, so a test that decides nothing is not read either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fairdsl.backends.contract import Budget, Capability, Cost, Facts, Observer, Offer, Procedure, Refusal
from fairdsl.backends.encoding import Encoding
from fairdsl.clock import GRACE, Deadline, OutOfTimeError, deadline_in_force, doing, look, until
from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import Elaborated
from fairdsl.ir.alike import apart, computed_alike
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import show_number
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Rows
from fairdsl.ir.problem import MetricDifference, Problem
from fairdsl.ir.question import Pair, Quantity
from fairdsl.numerics.narrow import narrow
from fairdsl.plan import errors
from fairdsl.plan.gate import turned_away, without_layers
from fairdsl.plan.registry import PARTITIONING, Registered, engines
from fairdsl.semantics.checked import Demand
from fairdsl.verdict import Arithmetic, Basis, Evidence, Holds, Refused


class Structure:
    """Proves what follows from what a model reads."""

    name = "structure"
    about = Capability(
        questions=("pairs: same decision, score gap; whoever is compared",),
        quantities=(Quantity.HOLDS.value,),
        models=("every model that reads nothing in which the two may differ; of black boxes files alone",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Ready where the model reads nothing in which the two may differ."""
        if problem.quantity is not Quantity.HOLDS or not computed_alike(problem):
            return Refusal(why="the model reads something in which the two may differ", span=problem.model.span)
        return Offer(
            method="the model reads nothing in which the two may differ", decides=True, fits=2, cost=Cost.COUNT
        )

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Holds:
        """It holds; of the deployed file too where that is known to compute with nothing else."""
        evidence = Evidence(backend=self.name, method="the model reads nothing in which the two may differ")
        facts.so_far = Holds(evidence=evidence)
        if _file_too(problem):
            notes = ("the file computes both individuals alike, rounding included",)
            evidence = replace(evidence, notes=notes, basis=Basis(arithmetic=Arithmetic.DEPLOYED))
        return Holds(evidence=evidence)


def _pair(problem: Problem) -> Pair:
    assert isinstance(problem.question, Pair), "structure was asked what it refuses"
    return problem.question


def _file_too(problem: Problem) -> bool:
    """Whether the deployed file is known to compute with nothing in which the two may differ."""
    pair, model = _pair(problem), problem.model
    if model.deployed is None or pair.sure:
        return False
    if isinstance(model.opaque, BlackBox):  # what is known of it is known of the file
        return True
    # Importing the reader of files is for those that have one.
    from fairdsl.models.float32.decision import analysis_of, attributes_read

    file = analysis_of(model, narrow(problem.domain, pair.target))
    read = None if file is None else attributes_read(file)
    return read is not None and apart(pair).isdisjoint(read)


#: An offer may take one part in so many of the time that is left.
_OFFER_PART = 4
#: What can be proved of a number takes one part in so many of the time, where it is estimated as well.
_ENCLOSING_PARTS = 4
#: What is said of one that took longer.
_LATE = Refusal(why="it did not find out in time whether it can answer")


@dataclass(frozen=True, slots=True)
class Stage:
    """A backend and what it will do, in one of so many ``parts`` of the time that is left."""

    procedure: Procedure
    offer: Offer
    parts: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages in order, and why the other backends have none; ``others`` could decide the demand as well.

    Of them, ``then`` are asked where the last stage leaves it open, in this order. ``unproved`` says why no stage can
    prove anything, where none can; ``notes`` are said beside whatever comes out.
    """

    stages: tuple[Stage, ...]
    passed_over: tuple[tuple[str, str], ...]
    others: tuple[Stage, ...] = ()
    unproved: Unproved | None = None
    notes: tuple[str, ...] = ()
    then: tuple[Stage, ...] = ()

    @property
    def cost(self) -> Cost:
        """What the stage costs that has the last word; searches before it are short."""
        return self.stages[-1].offer.cost


@dataclass(frozen=True, slots=True)
class Unproved:
    """Why nobody can decide a demand: what the nearest backend lacks, and what to write to have an answer, if known."""

    why: str
    instead: str | None = None


def plan_of(item: Elaborated, backend: str | None = None, *, by_partitions: bool = False) -> Plan | Refused:
    """Who answers a demand, or why nobody does; by partitions, one backend answers yes-or-no questions."""
    if item.refusal is not None:
        return Refused(diagnostics=(item.refusal,))
    refused = refusal_of_clauses(item.demand)
    if refused is not None:
        return refused
    if isinstance(item.problem.question, MetricDifference):
        return _of_two(item.problem, item.problem.question, backend)
    first = Structure()
    known = first.offer(item.problem)
    if backend is None and not by_partitions and isinstance(known, Offer):
        others = negotiate(item.problem)
        plan: Plan | Refused = _at_once(Stage(first, known), others)
    elif by_partitions and isinstance(item.problem.question, Demanded):
        return Refused(diagnostics=(errors.nothing_to_partition(item.property.name, item.demand.span),))
    elif by_partitions and item.problem.quantity is Quantity.HOLDS:
        plan = negotiate(item.problem, backend=PARTITIONING, because="`--partition` was asked for")
    else:
        plan = negotiate(item.problem, backend=backend)
    certain = item.demand.certain
    if certain is None or isinstance(plan, Refused):
        return plan
    note = (
        f"`with confidence {show_number(100 * certain)}%` asks for less: a proof, or a pair that is found, is certain"
    )
    return replace(plan, notes=(note,))


def _of_two(problem: Problem, asked: MetricDifference, backend: str | None) -> Plan | Refused:
    """The plan of one metric less another one: both have their own."""
    from fairdsl.plan.difference import Difference  # it carries out the plans that are made here

    plans = [negotiate(each, backend=backend) for each in (asked.first, asked.second)]
    refused = next((plan for plan in plans if isinstance(plan, Refused)), None)
    if refused is not None:
        return refused
    first, second = (plan for plan in plans if isinstance(plan, Plan))
    procedure = Difference(first, second)
    offer = procedure.offer(problem)
    assert isinstance(offer, Offer), "both have a plan"
    return Plan((Stage(procedure, offer),), tuple(dict.fromkeys((*first.passed_over, *second.passed_over))))


def _at_once(stage: Stage, without: Plan | Refused) -> Plan:
    """The plan of a demand that needs no engine, given the plan without that."""
    if isinstance(without, Refused):
        return Plan((stage,), ())
    deciding = [each for each in (*without.stages, *without.others) if each.offer.decides]
    why = f"`{stage.procedure.name}` needs no engine"
    passed_over = [*without.passed_over, *((each.procedure.name, why) for each in (*without.stages, *without.then))]
    return Plan((stage,), tuple(passed_over), tuple(deciding))


def refusal_of_clauses(demand: Demand) -> Refused | None:
    """Demands with clauses that no backend of today treats, whatever the model."""
    if not demand.beyond:
        return None
    clause = " ".join(demand.beyond[0].text.split())
    why = f"no backend treats `{clause}` here, and an answer without it would be one to another question"
    reasons = [(name, f"it does not treat `{clause}`") for name in engines()]
    instead = f"leave out `{clause}`"
    if clause.startswith("under "):
        instead += ", or ask for a share of those it describes, as in `require fair_share >= 95%`"
    elif demand.beyond[0] == demand.span:  # of its metric nothing would be left
        instead = "ask for `fair_share` or `discrimination_rate`"
    elif demand.quantity in (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE):
        instead += ": of rows the share is counted, with the 95% interval of whom they were drawn from beside it"
    return Refused(diagnostics=(errors.no_backend(f"`{clause}`", demand.beyond[0], why, instead, reasons),))


def negotiate(problem: Problem, *, backend: str | None = None, because: str | None = None) -> Plan | Refused:
    """The plan, or the refusal with each backend's reason; ``backend`` forces one, ``because`` says why."""
    offers = {name: _offer(name, registered, problem) for name, registered in engines().items()}
    refusals = {name: offer for name, offer in offers.items() if isinstance(offer, Refusal)}
    passed_over = [(name, refusal.reason) for name, refusal in refusals.items()]
    stages = [offer for offer in offers.values() if isinstance(offer, Stage)]
    if backend is not None:
        forced = tuple(stage for stage in stages if stage.procedure.name == backend)
        if not forced:
            _none_late({backend: refusals[backend]}, problem)
            why = dict(passed_over)[backend]
            return Refused(diagnostics=(errors.backend_refuses(backend, why, problem.span),))
        silent = [
            (stage.procedure.name, because or f"`--backend {backend}` was asked for")
            for stage in stages
            if stage not in forced
        ]
        others = tuple(stage for stage in stages if stage.offer.decides and stage not in forced)
        return Plan(forced, (*passed_over, *silent), others)
    deciding = [stage for stage in stages if stage.offer.decides]
    if not deciding:
        _none_late(refusals, problem)
        nearest = _nearest(refusals, problem)
        if stages:  # a violation is one, and the rest stays unknown
            return Plan(tuple(stages), tuple(passed_over), unproved=nearest)
        what = _described(problem)
        return Refused(diagnostics=(errors.no_backend(what, problem.span, nearest.why, nearest.instead, passed_over),))
    proving = [stage for stage in deciding if not stage.offer.estimates]
    if proving and len(proving) < len(deciding):
        return _beside(proving, next(stage for stage in deciding if stage.offer.estimates), tuple(passed_over))
    best, *then = sorted(deciding, key=lambda stage: -stage.offer.fits)  # in their order where they fit alike
    quick = [stage for stage in stages if not stage.offer.decides]
    if problem.quantity is not Quantity.HOLDS:  # violations that are found bound a share from one side
        why = f"`{best.procedure.name}` counts what it only bounds"
        passed_over.extend((stage.procedure.name, why) for stage in quick)
        quick = []
    return Plan((*quick, best), tuple(passed_over), tuple(then), then=tuple(then))


def _beside(proving: Sequence[Stage], estimating: Stage, passed_over: tuple[tuple[str, str], ...]) -> Plan:
    """First what can be proved of a number, for a part of the time, then an estimate beside it."""
    best = max(proving, key=lambda stage: stage.offer.fits)
    others = tuple(stage for stage in proving if stage is not best)
    silent = tuple((stage.procedure.name, f"`{best.procedure.name}` comes first and decides") for stage in others)
    first = Stage(best.procedure, replace(best.offer, decides=False), parts=_ENCLOSING_PARTS)
    return Plan((first, estimating), (*passed_over, *silent), others)


def _offer(name: str, registered: Registered, problem: Problem) -> Stage | Refusal:
    """What the backend says; one that needs long to find out does not keep the others from answering."""
    refusal = turned_away(registered, problem)
    if refusal is not None:
        return refusal
    offer: Offer | Refusal = _LATE
    procedure = registered.procedure()
    with doing(f"`{name}` looked at `{problem.name}`"):
        by = Deadline.within(deadline_in_force().remaining / _OFFER_PART)
        with until(by, grace=GRACE / _OFFER_PART):
            offer = procedure.offer(problem)
        look()
    return Stage(procedure, offer) if isinstance(offer, Offer) else offer


def _none_late(refusals: Mapping[str, Refusal], problem: Problem) -> None:
    """Where nobody else decides, whoever did not find out in time might: so nothing is known, and nothing refused."""
    late = next((name for name, refusal in refusals.items() if refusal is _LATE), None)
    if late is not None:
        with doing(f"`{late}` looked at `{problem.name}`"):
            raise OutOfTimeError


def _nearest(refusals: Mapping[str, Refusal], problem: Problem) -> Unproved:
    """The reason of the backend that comes nearest to an answer.

    Those that answer other questions are not near at all; of the rest the registry lists the most general last.
    """
    candidates = {name: refusal for name, refusal in refusals.items() if not refusal.other} or dict(refusals)
    name, nearest = list(candidates.items())[-1]
    instead = nearest.instead or next((refusal.instead for refusal in refusals.values() if refusal.instead), None)
    if instead is None and problem.quantity is Quantity.METRIC and not isinstance(problem.population, Rows):
        instead = "write `under` a distribution `empirical from` a table: over its rows every model can be counted"
    # Of a model that only answers they all say the same.
    why = nearest.reason if problem.model.opaque is not None else f"`{name}` comes nearest: {nearest.reason}"
    return Unproved(why, instead)


def _described(problem: Problem) -> str:
    match problem.quantity:
        case Quantity.HOLDS:
            return "this question about pairs" if isinstance(problem.question, Pair) else "this demand"
        case Quantity.FAIR_SHARE | Quantity.DISCRIMINATION_RATE:
            return f"`{problem.quantity.value}` on this domain"
        case Quantity.MAX_SCORE_GAP | Quantity.AFFECTED_RATE | Quantity.REDRAW_DISAGREEMENT:
            return f"`{problem.quantity.value}` on this domain"
        case Quantity.METRIC:
            return "this question about groups"


@dataclass(frozen=True, slots=True)
class Inexpressible:
    """Why files of a format cannot say a demand; ``other``: such files ask questions of another kind."""

    why: Diagnostic
    other: bool = False


def expressible(item: Elaborated, encoding: Encoding) -> Problem | Inexpressible:
    """The problem, or why files of this format cannot say it."""
    if item.refusal is not None or item.demand.beyond:
        plan = plan_of(item)
        if isinstance(plan, Refused):
            return Inexpressible(plan.diagnostics[0])
    lacking = (without_layers(model) for model in item.problem.models)
    offer = next(filter(None, lacking), None) or encoding.offer(item.problem)
    if isinstance(offer, Refusal):
        return Inexpressible(errors.format_refuses(encoding.name, offer.why, item.demand.span), other=offer.other)
    return item.problem
