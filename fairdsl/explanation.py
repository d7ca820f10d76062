"""What a spec means and who would answer it, in words: the answers of ``explain``, ``plans``, ``capabilities``.

Models and backends are imported where they are needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from fairdsl.clock import NEVER, Deadline, phase
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.declaration import FileSource, ModelDeclaration
from fairdsl.ir.domain import show_number
from fairdsl.ir.question import GroupMetric
from fairdsl.ir.rows_needed import NoRows
from fairdsl.options import Options
from fairdsl.report.explained import (
    Capabilities,
    Capability,
    DemandRows,
    DemandSizes,
    ExplainedModel,
    ExplainedPopulation,
    ExplainedProperty,
    Explanation,
    PlannedDemand,
    Plans,
)
from fairdsl.report.headings import taken_over
from fairdsl.semantics import CheckedProperty, CheckedSpec, front_end

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.elaborate import Elaborated
    from fairdsl.ir.population import Population
    from fairdsl.plan import Plan, Shared

    #: A population with the model whose thresholds divide it, if one does.
    _Built = tuple[str | None, Population]


def explain_spec(
    path: str,
    *,
    population: bool = False,
    rows: tuple[Fraction, Fraction] | None = None,
    sizes: Fraction | None = None,
    models: Mapping[str, str] | None = None,
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str] | None = None,
    deadline: Deadline = NEVER,
) -> Explanation:
    """Every property of the spec at ``path``, and how the files of its models are connected with it.

    With ``population`` the populations in force, which opens their data.

    With ``rows``, an error and a confidence, it is said how many rows each metric needs for them, and which error
    those at hand leave. With ``sizes``, a confidence, what each would be with more or fewer rows, which opens the
    models and decides the rows. ``models`` and ``data`` are files that replace the spec's, by name. Models that are not
    opened by the ``deadline`` are said not to be known. Raises DiagnosticError for mistakes in the spec and in the
    files that are opened, and for populations that are not there in time.
    """
    with phase("reading the spec", deadline):
        spec, warnings = front_end(path, let)
    built: tuple[_Built, ...] = ()
    if population or rows is not None:
        from fairdsl.elaborate import build_populations

        with phase("reading the data", deadline):
            built, about_files = build_populations(spec, models or {}, data=data or {})
        warnings = tuple(dict.fromkeys((*warnings, *about_files)))
    by_size: Mapping[str, tuple[DemandSizes, ...]] = {}
    if sizes is not None:
        from fairdsl.sample_sizes import demand_sizes

        with phase("deciding the rows", deadline):
            by_size = demand_sizes(spec, models or {}, data or {}, sizes, deadline)
    return Explanation(
        properties=tuple(
            taken_over(
                ExplainedProperty,
                checked,
                sentence="\n".join(checked.sentences),
                formula="\n".join(checked.formulas),
                rows=() if rows is None else tuple(_rows(checked, built, rows)),
                sizes=by_size.get(checked.name, ()),
            )
            for checked in spec.properties
        ),
        models=tuple(_models(spec, models or {}, deadline)),
        populations=_described(built) if population else (),
        parameters=spec.parameters,
        diagnostics=warnings,
    )


def _models(spec: CheckedSpec, overrides: Mapping[str, str], deadline: Deadline) -> Iterator[ExplainedModel]:
    """The models that have a file; one that cannot be opened is said to be so, and the spec is explained."""
    from fairdsl.elaborate import load_models

    for name, checked in spec.models.items():
        source, recorded = checked.declaration.source, _recorded(checked.declaration)
        if not isinstance(source, FileSource):
            if recorded is not None:
                yield ExplainedModel(name=name, recorded=recorded)
            continue
        path = overrides.get(name, source.path)
        replaced = {name: path} if name in overrides else {}
        try:
            with phase("reading it", deadline):
                loaded, _ = load_models(spec, replaced, only=frozenset({name}))
        except DiagnosticError as error:
            first = error.diagnostics[0]
            problem = f"not known: {first.title} ({first.code})"
            yield ExplainedModel(name=name, path=path, problem=problem, recorded=recorded)
        else:
            yield ExplainedModel(name=name, path=path, binding=loaded[name].binding, recorded=recorded)


def _recorded(declaration: ModelDeclaration) -> str | None:
    """The clause `agrees with`, which is in force whenever the model is opened."""
    recorded = declaration.recorded
    if recorded is None:
        return None
    rows = "all rows" if recorded.share == 1 else f"at least {show_number(100 * recorded.share)}% of the rows"
    return f"agrees with column `{recorded.column}` of {recorded.path} on {rows}, ties aside"


def _described(built: Sequence[_Built]) -> tuple[ExplainedPopulation, ...]:
    """The populations in words; files of one that there are several of go by the model as well."""
    from fairdsl.populations import described

    times = Counter(one.name for _, one in built)
    return tuple(
        ExplainedPopulation(
            name=one.name,
            lines=tuple(described(one)),
            model=model,
            saving=partial(_files, one, f"{one.name}.{model}" if times[one.name] > 1 else one.name),
        )
        for model, one in built
    )


def _rows(checked: CheckedProperty, built: Sequence[_Built], asked: tuple[Fraction, Fraction]) -> Iterator[DemandRows]:
    """What each demand needs of its population, which may be another one for another model."""
    from fairdsl.metrics import needed

    error, confidence = asked
    for demand in checked.demands:
        question = demand.question
        if isinstance(question, GroupMetric):
            under = next(
                population
                for model, population in built
                if population.name == question.population and model in (None, checked.model)
            )
            yield DemandRows(demand=demand.text, need=needed(question, under, error=error, confidence=confidence))
        else:
            yield DemandRows(demand=demand.text, need=NoRows.PAIRS)


def _files(population: Population, name: str) -> tuple[tuple[str, str], ...]:
    """What a population is saved as: JSON and, where it can say it, BIF of a network; CSV of rows."""
    from fairdsl.ir.population import Network
    from fairdsl.populations import as_bif, saved

    if not isinstance(population, Network):
        return ((f"{name}.csv", saved(population)),)
    files: tuple[tuple[str, str], ...] = ((f"{name}.json", saved(population)),)
    with suppress(ValueError):  # a normal distribution, or an approximation
        files += ((f"{name}.bif", as_bif(population)),)
    return files


def explain_plans(
    path: str,
    models: Mapping[str, str],
    options: Options,
    *,
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str] | None = None,
    properties: Sequence[str] = (),
) -> Plans:
    """The plan of every demand, or of those of these ``properties``; opens models and data, asks no backend to work."""
    from fairdsl.backends.smt.options import Partition
    from fairdsl.elaborate import elaborate
    from fairdsl.plan import in_turn, shared
    from fairdsl.plan.choices import check_backend, check_partition, check_properties
    from fairdsl.verdict import Refused

    check_backend(options)
    by_partitions = options[Partition].size is not None
    spec, _ = front_end(path, let)
    check_properties(properties, spec)
    elaborated = elaborate(spec.restricted_to(properties), models, data=data)
    check_partition(path, options[Partition], elaborated)
    demands = elaborated.demands
    planned = shared(demands, options.run.backend, by_partitions=by_partitions)
    asked = [each for each in in_turn(planned) if not isinstance(each.plan, Refused)]
    places = {id(item): each for each in planned for item in each.demands}
    return Plans(demands=tuple(_plan_text(item, places[id(item)], asked) for item in demands))


def _plan_text(item: Elaborated, own: Shared, asked: Sequence[Shared]) -> PlannedDemand:
    """A plan in words; ``asked`` are those that have one, in the order of their turns."""
    from fairdsl.verdict import Refused

    plan = own.plan
    if isinstance(plan, Refused):
        reasons = tuple(note for refusal in plan.diagnostics for note in _refused(refusal))
        return PlannedDemand(property=item.property.name, demand=item.demand.text, stages=(), reasons=reasons)
    return PlannedDemand(
        property=item.property.name,
        demand=item.demand.text,
        stages=tuple(_stages(plan)),
        reasons=tuple(f"{name}: not used, {why}" for name, why in plan.passed_over),
        turn=next(number for number, other in enumerate(asked, start=1) if other is own),
        cost=plan.cost.in_words,
    )


def _stages(plan: Plan) -> Iterator[str]:
    """Who is asked, in order, and when those are who come after one that may decide."""
    for stage in plan.stages:
        yield f"{stage.procedure.name}: {stage.offer.method}"
    for before, stage in pairwise((plan.stages[-1], *plan.then)):
        yield f"{stage.procedure.name}: {stage.offer.method}; asked where `{before.procedure.name}` leaves it open"


def _refused(refusal: Diagnostic) -> Iterator[str]:
    """What is refused, why, what to write, and what each backend says."""
    yield refusal.title
    yield from (f"{key}: {text}" for key, text in (("why", refusal.why), ("instead", refusal.help)) if text)
    yield from (*refusal.notes, *refusal.details)


def all_capabilities() -> Capabilities:
    """One row a backend, from the backends themselves."""
    from fairdsl.backends.formats import formats_of
    from fairdsl.plan.registry import procedures

    return Capabilities(
        backends=tuple(
            Capability(
                backend=procedure.name,
                questions=procedure.about.questions,
                quantities=procedure.about.quantities,
                models=procedure.about.models,
                formats=formats_of(procedure.name),
            )
            for procedure in procedures()
        )
    )
