"""What a spec and its models come to: verdicts, findings, explanations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairdsl.api.given import given, held_against_estimators
from fairdsl.api.paths import AnyPath, Names, Numbers, by_name, functions, names_of, numbers, path_of
from fairdsl.options import Given, Run, options_of
from fairdsl.source.numbers import read_number

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.backends.contract import Observer
    from fairdsl.builder import Spec
    from fairdsl.clock import Deadline
    from fairdsl.diagnostics import Diagnostic
    from fairdsl.ir.agreement import Agreement
    from fairdsl.report.explained import Capabilities, Explanation, Plans
    from fairdsl.report.findings import Findings
    from fairdsl.report.listener import Listener
    from fairdsl.report.model import Report
    from fairdsl.second_opinions import Solver
    from fairdsl.semantics import CheckedSpec

#: Seconds for second opinions where no limit is set.
_SECOND_OPINIONS = 60.0


def check(
    spec: AnyPath | Spec,
    *,
    models: Mapping[str, AnyPath | Any] | None = None,
    let: Numbers | None = None,
    data: Mapping[str, AnyPath | Any] | None = None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
    timeout: float | None = None,
    effort: int | None = None,
    seed: int = 0,
    jobs: int | None = None,
    memory: int = 2 << 30,
    backend: str | None = None,
    cross_check: bool = False,
    properties: Names | None = None,
    options: Given | None = None,
    also: Names | None = None,
    bundles: AnyPath = "contradictions",
    observer: Observer | None = None,
    listener: Listener | None = None,
) -> Report:
    """Verify every property of the spec at ``spec`` and report.

    Args:
        spec: path of the ``.fair`` file, its text, or a spec that was built in Python (``fairdsl.builder``).
        models: what replaces the files of the spec, by model name: paths, fitted estimators of scikit-learn (which are
            held against their ``predict`` on ``data``), sessions of onnxruntime, ONNX models, or functions. A
            ``sha256`` in the spec still binds.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        data: what replaces the files of distributions, by name: paths, DataFrames of pandas or polars, Arrow tables, or
            dictionaries of columns.
        callables: Python functions that decide, by model name; see docs/python.md. Of a function violations are found;
            without any its verdict is unknown.
        timeout: time limit in seconds for the whole run, shared among its demands; by default 60, or none where effort
            is given.
        effort: limit on what engines count (boxes, individuals, solvers' steps) instead of time: the same effort and
            seed give the same report on any machine; see docs/runs.md.
        seed: random seed; the same seed gives the same witnesses.
        jobs: number of processes; all cores by default.
        memory: total memory limit for interval refinement and subset sums, in bytes.
        backend: let only this backend answer (see :func:`capabilities`).
        cross_check: ask every other backend that can decide a demand, too; where two contradict each other, the
            verdict is unknown.
        properties: names of the properties to check; all by default.
        options: what is set for single backends, by section and name, as ``{"smt": {"trust_milp": True}}``; all of
            them are listed in docs/options.md.
        also: solvers of others to ask afterwards, for as long again as ``timeout``, or 60 seconds: `cvc5`, `marabou`,
            `pyganak` and others, or templates `NAME=COMMAND {file}`; see docs/solver-files.md.
        bundles: where a folder is left for each verdict that one of them contradicts.
        observer: hears of progress.
        listener: hears of each property as soon as all its demands have verdicts, the cheap ones first.

    Returns:
        The report: a verdict, evidence and witnesses for each demand. Refused demands are part of it.

    Raises:
        SpecError: the spec, or a file that it names, has mistakes; an option has another name, or does not take
            its value.
        ValueError: `also` names a solver that nobody knows, or a template that cannot be read.
    """
    from fairdsl.backends.contract import Budget, Silent
    from fairdsl.pipeline import verify
    from fairdsl.plan.registry import sections

    run = Run(
        timeout=timeout, effort=effort, seed=seed, jobs=jobs, memory=memory, backend=backend, cross_check=cross_check
    )
    budget = Budget.under(options_of(run, options, sections()))
    named = names_of(also)
    solvers: tuple[Solver, ...] = ()
    if named:
        from fairdsl.second_opinions import solvers_of

        solvers = solvers_of(named)
    what = given(spec, models, data, callables)
    if solvers and what.callables:
        raise ValueError("`also` asks solvers that read files, and a Python function is none: leave out one of them")
    with what.held():
        held = held_against_estimators(what, numbers(let), budget.deadline) if what.estimators else ()
        report = verify(
            what.spec,
            models=what.models,
            let=numbers(let),
            data=what.data,
            callables=what.callables,
            budget=budget,
            properties=names_of(properties),
            observer=observer or Silent(),
            listener=listener,
        )
        if solvers and report.ended is None:
            from fairdsl.second_opinions import with_opinions

            report = with_opinions(
                report,
                solvers,
                named,
                models=what.models,
                let=numbers(let),
                data=what.data,
                seconds=run.limit if timeout is not None else _SECOND_OPINIONS,
                bundles=fspath(bundles),
                observer=observer or Silent(),
            )
    # Holding the estimators against their files reads the spec again, and finds the same in it.
    return replace(report, diagnostics=tuple(dict.fromkeys((*report.diagnostics, *held)))) if held else report


def lint(
    spec: AnyPath,
    *,
    files: bool = False,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
    timeout: float | None = None,
) -> Findings:
    """Everything that is wrong or doubtful about a spec, without asking any backend.

    With ``files`` the models are opened too: width, names and operators are compared with the domain, and functions in
    ``callables`` are called. It takes at most ``timeout`` seconds (None: as long as it takes).
    Never raises for mistakes in the spec; they are what it returns.
    """
    from fairdsl.clock import Deadline
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.report.findings import Findings

    path = path_of(spec, "the spec")
    try:
        given = functions(callables, models)
        found = _findings(path, files, by_name(models), numbers(let), given, Deadline.after(timeout))
    except DiagnosticError as error:
        found = error.diagnostics
    return Findings(specs=(path,), diagnostics=tuple(dict.fromkeys(found)))


def _findings(
    path: str,
    files: bool,
    models: Mapping[str, str],
    let: Mapping[str, str],
    callables: Mapping[str, Callable[[Any], Any]],
    deadline: Deadline,
) -> tuple[Diagnostic, ...]:
    """What is to be said of a spec and its files; DiagnosticError for mistakes after which there is no going on."""
    from fairdsl.clock import phase
    from fairdsl.diagnostics import Reporter
    from fairdsl.semantics import front_end

    with phase("reading the spec", deadline):
        checked, warnings = front_end(path, let)
    if not files:
        return (*warnings, *missing_files(checked, models), *refused_early(checked))
    with phase("reading models and data", deadline):
        from fairdsl.elaborate import elaborate, hold_models, load_models
        from fairdsl.plan import plan_of
        from fairdsl.verdict import Refused

        # All models are opened here, also those that only metrics of groups, or no property, speak of.
        loaded, about_models = load_models(checked, models, callables=callables)
        elaboration = elaborate(checked, models, callables=callables, opened=loaded)
        others = Reporter()
        hold_models(checked, {name: loaded[name] for name in loaded.keys() - elaboration.models.keys()}, others)
        plans = [plan_of(item) for item in elaboration.demands]
        refusals = (finding for plan in plans if isinstance(plan, Refused) for finding in plan.diagnostics)
        return (*warnings, *about_models, *elaboration.warnings, *others, *refusals)


def missing_files(checked: CheckedSpec, replaced: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Files that a check would open and that are not there; ``replaced`` are models whose files do not count."""
    from fairdsl.ir.declaration import FileSource, Recorded
    from fairdsl.semantics.errors import no_such_file

    models = [(name, model.declaration) for name, model in checked.models.items()]
    sources = [each.source for each in checked.distributions.values()]
    named = [
        *((each.source, "model", "--model") for name, each in models if name not in replaced),
        *((each.recorded, "data", None) for _, each in models),
        *((source, "data", "--data") for source in sources),
    ]
    return tuple(
        no_such_file(file.path, what, file.span, instead)
        for file, what, instead in named
        if isinstance(file, FileSource | Recorded) and not Path(file.path).exists()
    )


def refused_early(checked: CheckedSpec) -> tuple[Diagnostic, ...]:
    """What `check` would refuse, as far as that is seen without opening a file.

    That are clauses that no backend treats, and what is asked of the scores and probabilities of models in the spec.
    """
    from fairdsl.ir.declaration import CallableSource, FileSource
    from fairdsl.ir.question import Pair, SameDecision

    found: list[Diagnostic] = []
    demands = [(each, demand) for each in checked.properties for demand in each.demands]
    if any(demand.beyond for _, demand in demands):
        from fairdsl.plan.negotiate import refusal_of_clauses

        refused = (refusal_of_clauses(demand) for _, demand in demands)
        found += [finding for one in refused if one is not None for finding in one.diagnostics]
    scored = tuple(
        dict.fromkeys(
            each
            for each, demand in demands
            if not isinstance(checked.models[each.model].declaration.source, FileSource | CallableSource)
            and isinstance(demand.question, Pair)
            and (demand.question.sure or not isinstance(demand.question.demand, SameDecision))
            and not demand.under
        )
    )
    if scored:
        from fairdsl.elaborate import elaborate

        items = elaborate(replace(checked, properties=scored), {}, hold=False).demands
        found += [item.refusal for item in items if item.refusal is not None]
    return tuple(found)


def agreement(
    spec: AnyPath,
    *,
    data: AnyPath,
    column: str,
    model: str | None = None,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
    share: float | Fraction = 1,
    timeout: float | None = None,
) -> Agreement:
    """Hold a model against recorded decisions: on how many rows of a table it decides, or scores, as was recorded.

    Args:
        spec: path of the ``.fair`` file.
        data: a CSV file with the spec's columns and the recorded one.
        column: the column with the decisions: names of outcomes, the file's labels, or numbers that the model gives.
        model: name of the model; not needed where the spec has one.
        models: files that replace those of the spec, by model name.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        callables: Python functions that decide, by model name.
        share: how many of the rows have to agree, ties aside; all by default.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        The agreement; its ``findings`` are an error where too few rows agree, and a warning where inputs, codes or
        outcomes in another order would do better.

    Raises:
        SpecError: the spec, the model's file or the table have mistakes.
        ValueError: there is no one model of this name, or no such share.
    """
    from fractions import Fraction

    from fairdsl.clock import Deadline, phase
    from fairdsl.elaborate import load_models
    from fairdsl.ir.declaration import Recorded
    from fairdsl.recorded_decisions import held_against
    from fairdsl.semantics import front_end

    # A float is meant as it is written: 0.99 is 99 in a hundred.
    asked = share if isinstance(share, Fraction) else read_number(str(share))
    if not 0 < asked <= 1:
        raise ValueError("`share` lies above 0 and is at most 1")
    deadline = Deadline.after(timeout)
    with phase("reading the spec", deadline):
        checked, warnings = front_end(path_of(spec, "the spec"), numbers(let))
    name = next(iter(checked.models)) if model is None and len(checked.models) == 1 else model
    if name is None or name not in checked.models:
        raise ValueError(f"the models of the spec are: {', '.join(checked.models) or 'none'}")
    given = functions(callables, models)
    with phase("reading the model", deadline):
        loaded, about_file = load_models(checked, by_name(models), callables=given, only=frozenset({name}))
    declaration, domain = checked.models[name].declaration, checked.models[name].domain
    recorded = Recorded(column=column, path=fspath(data), sha256=None, share=asked, span=declaration.span)
    with phase("comparing the model with the recorded decisions", deadline):
        found = held_against(loaded[name], declaration, domain, recorded)
    return replace(found, findings=tuple(dict.fromkeys((*warnings, *about_file, *found.findings))))


def explain(
    spec: AnyPath,
    *,
    population: bool = False,
    error: float | Fraction | None = None,
    confidence: float | Fraction = 0.95,
    sample_sizes: bool = False,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    data: Mapping[str, AnyPath] | None = None,
    timeout: float | None = None,
) -> Explanation:
    """Each property of the spec as an English sentence and as a formula, with every clause in force.

    With ``population`` the populations in force too, which opens their data; files in ``models`` and ``data`` replace
    those of the spec, by the names of models and distributions. With ``error`` the rows that each metric of groups
    under data needs for such an error of its rates, with ``confidence``, and the error of the rows at hand. With
    ``sample_sizes`` the interval that each of them would have with an eighth of the rows to four times as many, at the
    rates of those at hand, which opens the models; with the confidence that its line asks for, or ``confidence``. It
    takes at most ``timeout`` seconds (None: as long as it takes); a model that was not opened by then is said not to be
    known.
    """

    from fairdsl.clock import Deadline
    from fairdsl.explanation import explain_spec

    # Floats are meant as they are written: 0.95 is 19 in 20.
    wanted, sure = (None if number is None else read_number(str(number)) for number in (error, confidence))
    if sure is None or not 0 < sure < 1 or (wanted is not None and not 0 < wanted < 1):
        raise ValueError("`error` and `confidence` lie between 0 and 1")
    rows = None if wanted is None else (wanted, sure)
    return explain_spec(
        path_of(spec, "the spec"),
        population=population,
        rows=rows,
        sizes=sure if sample_sizes else None,
        models=by_name(models),
        let=numbers(let),
        data=by_name(data),
        deadline=Deadline.after(timeout),
    )


def plans(
    spec: AnyPath,
    *,
    models: Mapping[str, AnyPath] | None = None,
    let: Numbers | None = None,
    data: Mapping[str, AnyPath] | None = None,
    properties: Names | None = None,
    backend: str | None = None,
    options: Given | None = None,
    timeout: float | None = None,
) -> Plans:
    """Who would answer each demand of the spec, or of some properties, in which stages, and why not the others."""
    from fairdsl.clock import Deadline, phase
    from fairdsl.explanation import explain_plans
    from fairdsl.plan.registry import sections

    given = options_of(Run(backend=backend), options, sections())
    with phase("planning", Deadline.after(timeout)):
        return explain_plans(
            path_of(spec, "the spec"),
            by_name(models),
            given,
            let=numbers(let),
            data=by_name(data),
            properties=names_of(properties),
        )


def capabilities() -> Capabilities:
    """What each backend answers and which files it writes."""
    from fairdsl.explanation import all_capabilities

    return all_capabilities()
