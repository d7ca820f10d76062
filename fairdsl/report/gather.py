"""From the verdicts on a spec's demands to the report, whoever found them: an engine now, or a solver's answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.backends.contract import unanswered
from fairdsl.diagnostics import Diagnostic
from fairdsl.elaborate import Elaborated, Elaboration
from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real
from fairdsl.ir.population import Population, Rows
from fairdsl.ir.question import GroupMetric
from fairdsl.plan.errors import nobody_compared
from fairdsl.prelude import registered
from fairdsl.report.asked import Asked
from fairdsl.report.hashes import hashed_data, hashed_models, spec_file
from fairdsl.report.headings import taken_over
from fairdsl.report.model import DemandReport, PropertyReport, Report
from fairdsl.report.people import AttributeKind, EdgesFrom, ListedAttribute, ListedDomain, ListedPopulation
from fairdsl.report.ran import Ran
from fairdsl.report.stopped import Stopped
from fairdsl.resources import version
from fairdsl.semantics import CheckedProperty, CheckedSpec
from fairdsl.semantics.checked import Demand
from fairdsl.verdict import Interval, Reason, Restriction, Vacuous, Value, Verdict, cell_of


def domains(spec: CheckedSpec) -> tuple[ListedDomain, ...]:
    """Those of the properties, each once."""
    found = {checked.domain.name: checked.domain for checked in spec.properties}
    return tuple(
        ListedDomain(
            name=name, attributes=tuple(_listed(each, each.name in spec.protected) for each in domain.attributes)
        )
        for name, domain in found.items()
    )


def _listed(attribute: Attribute, protected: bool) -> ListedAttribute:
    known = attribute.known
    values: Restriction
    match known.type:
        case Integer(low=low, high=high):
            kind, values = AttributeKind.INTEGER, Interval(Fraction(low), Fraction(high))
        case Real(low=low, high=high):
            kind, values = AttributeKind.REAL, Interval(low, high)
        case Category() | Boolean() as listed:
            kind = AttributeKind.CATEGORY if isinstance(listed, Category) else AttributeKind.BOOLEAN
            values = tuple(cell_of(known, Fraction(value)) for value in known.values or ())
    missing = attribute.present is not None
    return ListedAttribute(name=attribute.name, kind=kind, values=values, missing=missing, protected=protected)


def populations(spec: CheckedSpec, built: Iterable[Population]) -> tuple[ListedPopulation, ...]:
    """What is in force, each once: where bins are a model's thresholds there may be several of a name."""
    return tuple(dict.fromkeys(_in_force(spec, population) for population in built))


def _in_force(spec: CheckedSpec, population: Population) -> ListedPopulation:
    names = tuple(column.name for column in population.columns)
    sample, edges, how = population.sample, frozenset[tuple[int, int]](), None
    if isinstance(population, Rows):
        origin = EdgesFrom.ROWS
    else:
        edges, how = population.edges, population.how
        origin = EdgesFrom.WRITTEN if population.causal else EdgesFrom.FOUND if population.searched else EdgesFrom.GIVEN
        origin = origin if edges else EdgesFrom.NONE
    return ListedPopulation(
        name=population.name,
        domain=spec.distributions[population.name].domain.name,
        how=how,
        rows=None if sample is None else sample.rows,
        columns=names,
        label=names[-1] if population.has_label else None,
        edges_from=origin,
        edges=tuple((names[parent], names[child]) for parent, child in sorted(edges)),
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a demand came to, and what its verdict says about the spec."""

    report: DemandReport
    findings: tuple[Diagnostic, ...]


class Gathering:
    """What the demands of a spec came to, in whichever order they are answered; reports have them as the spec has.

    Files in ``models`` and ``data`` replaced those of the spec at ``path``, by name. ``warnings`` are those about its
    text; those about its files are the elaboration's.
    """

    def __init__(
        self,
        spec: CheckedSpec,
        elaborated: Elaboration,
        warnings: Sequence[Diagnostic],
        *,
        path: str,
        models: Mapping[str, str],
        data: Mapping[str, str] | None,
        seed: int = 0,
        asked: Asked | None = None,
    ) -> None:
        self._spec, self._items = spec, elaborated.demands
        self._answers: dict[int, _Answer] = {}  # by the places of the demands
        self._header = Report(
            fairdsl=version(),
            audit=spec.title,
            spec=spec_file(spec, path),
            models=hashed_models(spec, elaborated.models, models, elaborated.agreements),
            data=hashed_data(spec, data),
            domains=domains(spec),
            populations=populations(spec, elaborated.populations),
            parameters=spec.parameters,
            seed=seed,
            asked=asked,
            diagnostics=tuple(dict.fromkeys([*warnings, *elaborated.warnings])),
        )

    def add(self, item: Elaborated, verdict: Verdict, seconds: float = 0.0) -> None:
        """What one demand came to, in so many seconds, and what the verdict says beside."""
        answer = replace(_demand_report(item.demand, verdict), median=item.median, seconds=round(seconds, 3))
        findings = verdict.warnings if isinstance(verdict, Value) else ()
        if isinstance(verdict, Vacuous):
            findings = (nobody_compared(item.property.name, item.property.span),)
        place = next(number for number, other in enumerate(self._items) if other is item)
        self._answers[place] = _Answer(answer, findings)

    def report(self, ended: Stopped | None = None, ran: Ran | None = None) -> Report:
        """All that was added; properties without any of it are left out. ``ended``: who ended the run, if somebody;
        ``ran``: how it went."""
        findings = [found for _, answer in sorted(self._answers.items()) for found in answer.findings]
        return replace(
            self._header,
            properties=tuple(self._of(checked, places) for checked, places in self._places() if places),
            diagnostics=tuple(dict.fromkeys([*self._header.diagnostics, *findings])),
            ended=ended,
            run=ran,
        )

    @property
    def open_for(self) -> set[Reason | None]:
        """Why demands are open that were answered."""
        return {answer.report.reason for answer in self._answers.values()}

    def completed(self, checked: CheckedProperty) -> tuple[PropertyReport, tuple[Diagnostic, ...]] | None:
        """The property with what its verdicts say about the spec, once it has them all."""
        places = [number for number, item in enumerate(self._items) if item.property is checked]
        if any(place not in self._answers for place in places):
            return None
        findings = [found for place in places for found in self._answers[place].findings]
        return self._of(checked, places), tuple(dict.fromkeys(findings))

    def _places(self) -> Iterator[tuple[CheckedProperty, list[int]]]:
        """Every property, and where its demands stand that were answered."""
        for checked in self._spec.properties:
            yield checked, [place for place in sorted(self._answers) if self._items[place].property is checked]

    def _of(self, checked: CheckedProperty, places: Sequence[int]) -> PropertyReport:
        return _property_report(checked, (self._answers[place].report for place in places))


def not_read(
    spec: CheckedSpec,
    warnings: Sequence[Diagnostic],
    *,
    path: str,
    seed: int,
    asked: Asked | None = None,
    read: bool = False,
    ended: Stopped | None = None,
) -> Report:
    """The report on a run that ended before its first demand had its turn: every demand is unknown.

    Either somebody ``ended`` it, or the time was up, and ``warnings`` say so; ``read``: models and data were read.
    """
    detail = "nobody was found yet who can answer it" if read else "models and data were not all read yet"
    reason = Reason.TIMEOUT if ended is None else Reason.INTERRUPTED
    return Report(
        fairdsl=version(),
        audit=spec.title,
        spec=spec_file(spec, path),
        seed=seed,
        asked=asked,
        properties=tuple(
            _property_report(
                checked,
                (_demand_report(each, unanswered(each.quantity, reason, detail)) for each in checked.demands),
            )
            for checked in spec.properties
        ),
        diagnostics=tuple(warnings),
        ended=ended,
    )


def _property_report(checked: CheckedProperty, demands: Iterable[DemandReport]) -> PropertyReport:
    """A property with what its demands came to: the one place where reports take over what a spec says of it."""
    return taken_over(PropertyReport, checked, sentence=checked.title or checked.sentence, demands=tuple(demands))


def _demand_report(demand: Demand, verdict: Verdict) -> DemandReport:
    return DemandReport(
        text=demand.text,
        metric=demand.metric,
        definition=_definition(demand),
        quantity=demand.quantity,
        threshold=demand.threshold,
        verdict=verdict,
        span=demand.span,
    )


def _definition(demand: Demand) -> str | None:
    """The expression of a metric that the language does not name."""
    asked = demand.question
    if not isinstance(asked, GroupMetric) or asked.influence or registered(asked.metric.name) is not None:
        return None
    return asked.metric.definition
