"""Open the models that the questions need, and close every question into a problem."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.clock import doing
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter
from fairdsl.elaborate import errors
from fairdsl.elaborate.asked import Deciders
from fairdsl.elaborate.binding import hold_models, tell_binding, tell_one_outcome, tell_ranges
from fairdsl.elaborate.few_rows import counted
from fairdsl.elaborate.functions import Function, with_functions
from fairdsl.elaborate.outputs import no_chance, no_score, outputs_of
from fairdsl.elaborate.populations import Populations
from fairdsl.elaborate.rules import with_rules
from fairdsl.elaborate.unconnected import cannot_tell_apart
from fairdsl.ir.agreement import Agreement
from fairdsl.ir.declaration import CallableSource, FileSource
from fairdsl.ir.demand import Confidence, Demanded
from fairdsl.ir.domain import Domain
from fairdsl.ir.model import Deployed, Model, read_attributes
from fairdsl.ir.population import Population
from fairdsl.ir.problem import MetricDifference, Problem
from fairdsl.ir.question import GroupMetric, Individually, Pair, PairUnder, Quantity, Question, ScoreGap, WorstPair
from fairdsl.models.load import load_model
from fairdsl.models.which_file import check_replacement, pruned_from
from fairdsl.semantics.checked import CheckedProperty, CheckedSpec, Demand
from fairdsl.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Elaborated:
    """A demand with its problem; ``refusal`` says what makes the demand meaningless for the model that was opened."""

    property: CheckedProperty
    demand: Demand
    outcomes: tuple[str, ...]
    problem: Problem
    refusal: Diagnostic | None = None
    #: What represents `median` in the demand, where it does.
    median: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Elaboration:
    """Every demand of every property, the models that were opened, and the warnings about them.

    ``populations`` are those that were built; one whose bins are the model's own thresholds is there once a model.
    ``agreements`` are what came of holding models against recorded decisions, by the models' names.
    """

    demands: tuple[Elaborated, ...]
    models: Mapping[str, Model]
    populations: tuple[Population, ...]
    warnings: tuple[Diagnostic, ...]
    agreements: Mapping[str, Agreement] = field(default_factory=dict)


def load_models(
    spec: CheckedSpec,
    overrides: Mapping[str, str],
    *,
    callables: Mapping[str, Function] | None = None,
    only: frozenset[str] | None = None,
) -> tuple[dict[str, Model], tuple[Diagnostic, ...]]:
    """The spec's models by name (all, or ``only`` some), with ``--model NAME=PATH`` in force, and warnings.

    ``callables`` are the Python functions of models, by name.

    Every file was run, and what was read of it held against it, before any engine starts. Raises DiagnosticError with
    everything that is wrong with any of them.
    """
    reporter = Reporter()
    passed_over: set[str] = set()
    for name in overrides:
        if name not in spec.models:
            reporter.report(errors.override_of_nothing(name, tuple(spec.models)))
        elif not isinstance(source := spec.models[name].declaration.source, FileSource):
            takes_function = isinstance(source, CallableSource)
            reporter.report(
                errors.override_of_nothing(name, tuple(spec.models), source.span, takes_function=takes_function)
            )
            # A file was given: that no function was (E0516) would send its giver the wrong way.
            passed_over |= {name} if takes_function else set()
    overrides, functions = spec.of_variants(overrides), spec.of_variants(callables or {})
    declarations = with_functions(spec, functions, reporter)
    models: dict[str, Model] = {}
    labels = {name: label.span for name, label in spec.labels.items()}
    for name, checked in spec.models.items():
        if name in passed_over or (only is not None and name not in only):
            continue
        try:
            replaced = overrides.get(name)
            if replaced is not None and isinstance(checked.declaration.source, FileSource):
                check_replacement(replaced, name, checked.declaration.source.span)
            declaration = declarations.get(name) or with_rules(checked, replaced, labels, reporter)
            function = functions.get(name)
            with doing(f"reading the model `{name}`"):
                model = load_model(
                    declaration, checked.domain, override_path=replaced, function=function, reporter=reporter
                )
            if model.deployed is not None:
                _tell_pruned(model, model.deployed, checked.declaration.source.span, reporter)
            tell_binding(model, checked.declaration, checked.domain, reporter)
            models[name] = model
        except DiagnosticError as error:
            reporter.extend(errors.with_own_label(found, spec.labels) for found in error.diagnostics)
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    return models, tuple(reporter)


def _tell_pruned(model: Model, deployed: Deployed, span: Span, reporter: Reporter) -> None:
    """A network that was cut out of another one says so in its file."""
    made_from = pruned_from(deployed.path)
    if made_from is not None:
        reporter.report(errors.pruned_network(model.name, *made_from, span))


def elaborate(
    spec: CheckedSpec,
    overrides: Mapping[str, str],
    *,
    data: Mapping[str, str] | None = None,
    callables: Mapping[str, Function] | None = None,
    opened: Mapping[str, Model] | None = None,
    hold: bool = True,
) -> Elaboration:
    """Close every question of the spec into a problem: its model is opened, its population built.

    Files in ``overrides`` replace those of models, files in ``data`` those of distributions, by name; ``callables`` are
    Python functions in place of models. ``opened`` are models that :func:`load_models` has given, so that no file is
    opened twice. With ``hold`` models are held against recorded decisions, where the spec names some. Raises
    DiagnosticError with everything that is wrong with any of them.
    """
    reporter = Reporter()
    models: dict[str, Model] = {}
    try:
        asked = frozenset(name for checked in spec.properties for name in checked.models)
        if opened is None:
            models, warnings = load_models(spec, overrides, callables=callables, only=asked)
            reporter.extend(warnings)
        else:
            models = {name: opened[name] for name in spec.models if name in asked}
    except DiagnosticError as error:
        reporter.extend(error.diagnostics)  # what is wrong with the data is said as well
    populations = Populations(spec, data or {}, reporter)
    populations.check_names()
    asked_under = {
        (name, model): each.domain
        for each in spec.properties
        if (name := _population_of(each))
        for model in each.models
    }
    told: set[tuple[str, str]] = set()
    for (name, model_name), domain in asked_under.items():
        with doing(f"reading the data of `{name}`"):
            population = populations.of(name, model_name, models.get(model_name))
        if population is not None and population.sample is not None:
            tell_ranges(domain, population.sample.values, name, told, reporter)
        _confirm_on_rows(models.get(model_name), population, domain, reporter)
    with doing("comparing models with recorded decisions"):
        agreements = hold_models(spec, models, reporter) if hold else {}
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    for checked in spec.properties:
        reporter.extend(_unread(checked, models[checked.model]))
        reporter.extend(_assumed(checked, models[checked.model]))
        reporter.extend(_alike(checked, models[checked.model], populations))
    deciders = Deciders()
    demands = tuple(
        _elaborated(spec, checked, demand, models, populations, deciders)
        for checked in spec.properties
        for demand in checked.demands
    )
    return Elaboration(
        demands=demands,
        models=models,
        populations=populations.built,
        warnings=tuple(reporter),
        agreements=agreements,
    )


def _confirm_on_rows(model: Model | None, population: Population | None, domain: Domain, reporter: Reporter) -> None:
    """Hold what was read of the model's file against the file on the rows behind the population, too.

    A file that decides alike about all of them is warned of.
    """
    if model is None or population is None or population.sample is None:
        return
    from fairdsl.models.confirm import confirm_rows

    try:
        with doing(f"confirming the reading of `{model.name}` on the rows"):
            rows = population.sample.values.keep(range(len(domain.attributes)))
            confirm_rows(model, domain, rows)
            tell_one_outcome(model, rows, population.name, reporter)
    except DiagnosticError as error:
        reporter.extend(error.diagnostics)


def build_populations(
    spec: CheckedSpec, overrides: Mapping[str, str], *, data: Mapping[str, str] | None = None
) -> tuple[tuple[tuple[str | None, Population], ...], tuple[Diagnostic, ...]]:
    """The populations that the spec's properties are asked under, and warnings; without properties all of them.

    Beside each stands the model whose thresholds divide it, None where it is the same for all. Only models whose
    thresholds divide a population are opened. Raises DiagnosticError as :func:`elaborate` does.
    """
    asked = {
        (name, model)
        for checked in spec.properties
        if (name := _population_of(checked)) is not None
        for model in checked.models
    }
    alone = next(iter(spec.models), "") if len(spec.models) == 1 else ""
    pairs = sorted(asked) if spec.properties else [(name, alone) for name in spec.distributions]
    needed = frozenset(model for name, model in pairs if Populations.needs_model(spec.distributions[name]))
    models, warnings = load_models(spec, overrides, only=needed)
    reporter = Reporter(list(warnings))
    populations = Populations(spec, data or {}, reporter)
    populations.check_names()
    for name, model in pairs:
        with doing(f"reading the data of `{name}`"):
            populations.of(name, model, models.get(model))
    if reporter.has_errors:
        raise DiagnosticError(*reporter)
    return populations.by_model, tuple(reporter)


def _population_of(checked: CheckedProperty) -> str | None:
    """The name of the population of a property about groups."""
    for demand in checked.demands:
        if isinstance(demand.question, GroupMetric):
            return demand.question.population
        if demand.under is not None:
            return demand.under
    return None


def _elaborated(
    spec: CheckedSpec,
    checked: CheckedProperty,
    demand: Demand,
    models: Mapping[str, Model],
    populations: Populations,
    deciders: Deciders,
) -> Elaborated:
    question = demand.question
    named = question.models if isinstance(question, Demanded) else ()
    of, *others = named or (demand.of or checked.model,)
    declaration = spec.models[of].declaration
    model, name = models[of], _population_of(checked)
    distribution = _distribution(name, of, model, question, populations)
    refusal: Diagnostic | None = None
    if isinstance(question, GroupMetric):
        model, refusal = deciders.of(question, of, model, demand.span, distribution)
    if isinstance(question, Demanded):
        question, refusal = outputs_of(question, spec, models, demand.span)
    if isinstance(question, Pair):
        refusal = no_score(model, declaration, demand.span) if isinstance(question.demand, ScoreGap) else None
        if refusal is None and question.sure and model.logits is None:
            refusal = no_chance(declaration, model, question.sure[0].span or checked.span)
    if isinstance(question, GroupMetric) and question.excluding_below is not None and name is not None:
        question = counted(question, populations.grouped(name, checked.model, models[checked.model], question))
    problem = Problem(
        name=_file_name(checked.name),
        domain=checked.domain,
        model=model,
        others=tuple(models[each] for each in others),
        question=_as_asked(question, demand),
        quantity=demand.quantity,
        population=distribution,
        threshold=demand.threshold if isinstance(question, GroupMetric) or demand.precision is not None else None,
        precision=demand.precision,
        span=demand.span,
    )
    if demand.less is not None:
        other = demand.less.of or checked.model
        distribution = _distribution(name, other, models[other], demand.less.question, populations)
        decider, late = deciders.of(demand.less.question, other, models[other], demand.span, distribution)
        first = replace(problem, threshold=None)
        second = replace(first, model=decider, question=demand.less.question, population=distribution)
        problem = replace(problem, question=MetricDifference(first=first, second=second, span=demand.span))
        refusal = refusal or late
    return Elaborated(
        property=checked,
        demand=demand,
        outcomes=model.outcomes,
        problem=problem,
        refusal=refusal,
        median=deciders.median(question, of, name),
    )


def _as_asked(
    question: Question | Demanded, demand: Demand
) -> Question | PairUnder | Individually | WorstPair | Demanded:
    """What is asked of a pair, where it is not what a pair alone asks."""
    if not isinstance(question, Pair):
        return question
    if demand.quantity is Quantity.MAX_SCORE_GAP:
        return WorstPair(pair=question, span=question.span)
    if demand.quantity in (Quantity.AFFECTED_RATE, Quantity.REDRAW_DISAGREEMENT):
        return Individually(pair=question, given=demand.given, span=question.span)
    return question if demand.under is None else PairUnder(pair=question, given=demand.given, span=question.span)


def _distribution(
    name: str | None, of: str, model: Model, question: Question | Demanded, populations: Populations
) -> Population | None:
    """The population that a question ``of`` a model is asked under, with the columns that it makes groups of."""
    if name is None:
        return None
    if isinstance(question, GroupMetric):
        return populations.grouped(name, of, model, question)
    return populations.of(name, of, model)


def _file_name(name: str) -> str:
    """The property's name as files can be called: ``gap[sex, 40%]`` is ``gap-sex-40pct``."""
    spelt = re.sub(r"-(?=[0-9])", " minus", name.replace("%", "pct")).replace(".", "point")
    return re.sub(r"[^A-Za-z0-9_]+", "-", spelt).rstrip("-")


def _unread(checked: CheckedProperty, model: Model) -> Iterator[Diagnostic]:
    """Differing attributes that the model never looks at: the property holds of them by construction."""
    question = checked.demands[0].question
    if not isinstance(question, Pair):
        return
    read = read_attributes(model)
    for index in question.differ:
        if index not in read:
            yield errors.never_read(checked.domain.attributes[index].name, model.name, checked.span)


def _assumed(checked: CheckedProperty, model: Model) -> Iterator[Diagnostic]:
    """Raw scores that a question about confidence takes as the logits of a softmax."""
    if model.logits is None or not model.logits.assumed:
        return
    question = checked.demands[0].question
    if isinstance(question, Pair) and question.sure:
        yield errors.softmax_assumed(model.name, question.sure[0].span or checked.span)
    if isinstance(question, Demanded):
        named = {question.models[term.model] for term in question.terms if isinstance(term, Confidence)}
        if model.name in named:
            yield errors.softmax_assumed(model.name, checked.span)


def _alike(checked: CheckedProperty, model: Model, populations: Populations) -> Iterator[Diagnostic]:
    """Groups that a learned distribution makes equal, whatever the model does."""
    question = checked.demands[0].question
    if not isinstance(question, GroupMetric) or question.population is None:
        return
    population = populations.grouped(question.population, checked.model, model, question)
    metrics = [demand.question for demand in checked.demands if isinstance(demand.question, GroupMetric)]
    if population is not None and all(cannot_tell_apart(each, population, model, checked.domain) for each in metrics):
        names = [population.columns[column].name for column in question.across]
        yield errors.groups_alike(model.name, names, population.name, checked.span, population.span)
