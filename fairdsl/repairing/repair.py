"""``repair``: from a spec, a table and an estimator to a folder with the better model and the report on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fairdsl.backends.contract import Budget, Observer
from fairdsl.clock import Deadline, Meter, interrupting, metered, phase
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.question import GroupMetric, Pair
from fairdsl.options import Options
from fairdsl.plan.errors import option_unread, unknown_choice
from fairdsl.repairing import errors
from fairdsl.repairing.estimators import factory_of
from fairdsl.repairing.folder import DOCUMENT, REPORT, check_folder, files_of, write_folder
from fairdsl.repairing.parts import divided
from fairdsl.repairing.rates import RATE_RECIPES, RateRounds, RateSubject, RepairedRates, rate_subject_of
from fairdsl.repairing.recipes import RECIPES
from fairdsl.repairing.result import Ending, Repaired, Settings, Split, checked_by
from fairdsl.repairing.run import Rounds
from fairdsl.repairing.subject import Subject, checked_file, subject_of
from fairdsl.report.model import Report
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.source.reading import content_of

#: Seconds that the check of the new file may take, and what is said of the rows to report on.
_CHECK = 60.0


def repair_spec(
    path: str,
    *,
    property: str | None,  # noqa: A002 - the word of the language
    let: Mapping[str, str] | None = None,
    train: str,
    estimator: str | Callable[[], Any],
    output: str,
    settings: Settings,
    observer: Observer,
    framed: Callable[[Any, Sequence[str]], Any] | None = None,
) -> Repaired | RepairedRates:
    """Train the model of the spec at ``path`` again until it discriminates less, and write it to ``output``.

    ``framed`` makes what estimators are given of a matrix and the names of its columns; None: the matrix.

    Raises DiagnosticError for mistakes in the spec, the table, the estimator and the names given.
    """
    check_folder(output)
    budget = Budget.under(settings.options)
    with phase("reading the spec and the rows", budget.deadline):
        spec, findings = front_end(path, let)
        subject = _subject(spec, path, property, train)
        rows, digest = subject.rows(train)
    if isinstance(subject, RateSubject):
        findings = (*findings, *_unread(settings))
    recipes = tuple(RATE_RECIPES if isinstance(subject, RateSubject) else RECIPES)
    if settings.recipe not in recipes:
        raise DiagnosticError(unknown_choice("recipe", settings.recipe, recipes))
    parts = divided(train, subject, rows, settings.seed)
    factory = replace(factory_of(estimator), framed=framed)
    with TemporaryDirectory(prefix="fairdsl-repair-") as scratch:
        rounds: Rounds | RateRounds
        with metered(Meter(settings.effort, budget.deadline.at)):
            with interrupting():
                given = (factory, parts, settings, Path(scratch), budget.of_effort, observer)
                rounds = RateRounds(subject, *given) if isinstance(subject, RateSubject) else Rounds(subject, *given)
            ending = rounds.run()
        pinned = subject.source.sha256 is not None
        report: Report | None = None
        about: tuple[Diagnostic, ...] = ()
        if ending is not Ending.INTERRUPTED and not pinned:
            report, about = checked_file(path, let or {}, subject, rounds.best.file, _check(settings), observer)
        content = content_of(rounds.best.file)
        made: dict[str, Any] = {
            "spec": path,
            "property_name": subject.name,
            "model": subject.declaration.name,
            "outcomes": subject.declaration.outcomes,
            "train": train,
            "train_sha256": digest,
            "estimator": factory.name,
            "settings": settings,
            "split": Split(train=len(parts.fit.rows), choose=len(parts.choose.rows), report=len(parts.report.rows)),
            "compared": rounds.compared(),
            "ending": ending,
            "output": Path(output),
            "file": subject.file_name,
            "sha256": sha256(content).hexdigest(),
            "pinned": pinned,
            "report": report,
            "checked": None if report is None else checked_by(report),
            "diagnostics": tuple(dict.fromkeys([*findings, *about])),
        }
        repaired, beside = _result(subject, rounds, _check(settings), made)
    write_folder(repaired.output, {repaired.file: content, **beside})
    return repaired


#: Options of the rounds and estimates that only repairs of pairs have, and where they are kept.
_OF_PAIRS = {"--rounds": "rounds", "--within": "within", "--confidence": "confidence", "--add": "share"}


def _unread(settings: Settings) -> tuple[Diagnostic, ...]:
    """A warning where such an option is set for a repair of rates."""
    usual = Settings()
    names = [name for name, field in _OF_PAIRS.items() if getattr(settings, field) != getattr(usual, field)]
    run = "repairs rates of groups, each recipe once"
    return (option_unread(names, "repairs of pairs", run),) if names else ()


def _subject(spec: CheckedSpec, path: str, asked: str | None, train: str) -> Subject | RateSubject:
    """What is to be repaired: the property that is named, or the one about pairs, or else the one about rates."""
    of_rates = {each.name: each for each in spec.properties if isinstance(each.demands[0].question, GroupMetric)}
    pairs = any(isinstance(each.demands[0].question, Pair) for each in spec.properties)
    if asked in of_rates:
        return rate_subject_of(spec, of_rates[asked], train)
    if asked is not None or pairs or not of_rates:
        return subject_of(spec, path, asked)
    if len(of_rates) > 1:
        raise DiagnosticError(errors.several_properties(path, tuple(of_rates)))
    return rate_subject_of(spec, next(iter(of_rates.values())), train)


def _result(
    subject: Subject | RateSubject, rounds: Rounds | RateRounds, budget: Budget, made: Mapping[str, Any]
) -> tuple[Repaired | RepairedRates, Mapping[str, str]]:
    """The document, and what is written beside the model."""
    if isinstance(rounds, RateRounds):
        before, after = rounds.reported(budget)
        rates = RepairedRates(candidates=tuple(rounds.candidates), before=before, after=after, **made)
        return rates, {REPORT: f"{rates}\n", DOCUMENT: rates.to_json()}
    assert isinstance(subject, Subject), "rounds are about pairs or about rates"
    repaired = Repaired(candidates=tuple(rounds.candidates), by_the_clock=rounds.by_the_clock, **made)
    return repaired, files_of(repaired, subject, rounds.training)


def _check(settings: Settings) -> Budget:
    """Of the check of the new file, and of the numbers of the rows to report on."""
    run = settings.options.run
    seconds = None if run.timeout is None else min(_CHECK, run.timeout)
    return Budget(
        deadline=Deadline.within(inf if seconds is None else seconds), options=Options(replace(run, timeout=seconds))
    )
