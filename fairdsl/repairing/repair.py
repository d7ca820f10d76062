"""``repair``: from a spec, a table and an estimator to a folder with the better model and the report on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fairdsl.backends.contract import Budget, Observer
from fairdsl.clock import Deadline, Meter, interrupting, metered, phase
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.options import Options
from fairdsl.plan.errors import unknown_choice
from fairdsl.repairing import errors
from fairdsl.repairing.estimators import factory_of
from fairdsl.repairing.folder import check_folder, write_folder
from fairdsl.repairing.recipes import RECIPES
from fairdsl.repairing.result import Ending, Repaired, Settings, Split, checked_by
from fairdsl.repairing.run import Parts, Rounds
from fairdsl.repairing.subject import Rows, Subject, checked_file, subject_of
from fairdsl.report.model import Report
from fairdsl.semantics import front_end
from fairdsl.source.reading import content_of

__all__ = ["repair_spec"]

#: One row in so many is for choosing, and as many for the report; each of the two has so many rows at least.
_PART, _LEAST = 5, 10
#: Seconds that the check of the new file may take.
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
) -> Repaired:
    """Train the model of the spec at ``path`` again until it discriminates less, and write it to ``output``.

    Raises DiagnosticError for mistakes in the spec, the table, the estimator and the names given.
    """
    if settings.recipe not in RECIPES:
        raise DiagnosticError(unknown_choice("recipe", settings.recipe, tuple(RECIPES)))
    check_folder(output)
    budget = Budget.under(settings.options)
    with phase("reading the spec and the rows", budget.deadline):
        spec, findings = front_end(path, let)
        subject = subject_of(spec, path, property)
        rows, digest = subject.rows(train)
    parts = _divided(train, subject, rows, settings.seed)
    factory = factory_of(estimator)
    with TemporaryDirectory(prefix="fairdsl-repair-") as scratch:
        with metered(Meter(settings.effort, budget.deadline.at)):
            with interrupting():
                rounds = Rounds(subject, factory, parts, settings, Path(scratch), budget.of_effort, observer)
            ending = rounds.run()
        pinned = subject.source.sha256 is not None
        report: Report | None = None
        about: tuple[Diagnostic, ...] = ()
        if ending is not Ending.INTERRUPTED and not pinned:
            report, about = checked_file(path, let or {}, subject, rounds.best.file, _check(settings), observer)
        repaired = Repaired(
            spec=path,
            property_name=subject.name,
            model=subject.declaration.name,
            outcomes=subject.declaration.outcomes,
            train=train,
            train_sha256=digest,
            estimator=factory.name,
            settings=settings,
            split=Split(train=len(parts.fit), choose=len(parts.choose), report=len(parts.report)),
            candidates=tuple(rounds.candidates),
            compared=rounds.compared(),
            ending=ending,
            by_the_clock=rounds.by_the_clock,
            output=Path(output),
            file=subject.file_name,
            sha256=sha256(content_of(rounds.best.file)).hexdigest(),
            pinned=pinned,
            report=report,
            checked=None if report is None else checked_by(report),
            diagnostics=tuple(dict.fromkeys([*findings, *about])),
        )
        write_folder(repaired, rounds.best.file, subject, rounds.training)
    return repaired


def _divided(path: str, subject: Subject, rows: Rows, seed: int) -> Parts:
    """Three parts of the rows at random; raises DiagnosticError (E0593) where they say too little."""
    order = np.random.default_rng(seed).permutation(len(rows))
    part = len(rows) // _PART
    parts = Parts(fit=rows.at(order[2 * part :]), choose=rows.at(order[:part]), report=rows.at(order[part : 2 * part]))
    outcomes = subject.declaration.outcomes
    counts = np.bincount(parts.fit.outcomes, minlength=len(outcomes))
    listed = [f"{name}: {count:,} rows to train on" for name, count in zip(outcomes, counts.tolist(), strict=True)]
    if part < _LEAST:
        reason = f"it has {len(rows):,}; a fifth of them chooses and a fifth reports, at least {_LEAST} each"
        raise DiagnosticError(errors.rows_too_few(path, reason, ()))
    if np.count_nonzero(counts) < 2:
        reason = "there is nothing to learn from rows with one outcome"
        raise DiagnosticError(errors.rows_too_few(path, reason, listed))
    return parts


def _check(settings: Settings) -> Budget:
    """Of the check of the new file."""
    run = settings.options.run
    seconds = None if run.timeout is None else min(_CHECK, run.timeout)
    return Budget(
        deadline=Deadline.within(inf if seconds is None else seconds), options=Options(replace(run, timeout=seconds))
    )
