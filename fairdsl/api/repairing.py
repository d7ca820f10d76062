"""Repairing: a model that is trained again until it discriminates less, or asked about all protected values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import fspath
from typing import TYPE_CHECKING, Any

from fairdsl.api.given import table_path
from fairdsl.api.paths import AnyPath, Numbers, numbers, path_of
from fairdsl.options.commands import Guarantee, Repair, Vote

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.backends.contract import Observer
    from fairdsl.repairing import Guaranteed, Repaired, RepairedRates


def repair(
    spec: AnyPath,
    *,
    train: AnyPath | Any,
    estimator: str | Callable[[], Any],
    output: AnyPath,
    property: str | None = None,  # noqa: A002 - the word of the language
    let: Numbers | None = None,
    recipe: str = Repair.recipe,
    rounds: int = Repair.rounds,
    max_accuracy_loss: float | Fraction = Repair.max_accuracy_loss,
    within: float | Fraction = Repair.within,
    confidence: float | Fraction = Repair.confidence,
    add: float | Fraction = Repair.add,
    seed: int = Repair.seed,
    timeout: float | None = Repair.timeout,
    effort: int | None = Repair.effort,
    observer: Observer | None = None,
) -> Repaired | RepairedRates:
    """Train a model of the spec again, on the rows of a table and on more, until it discriminates less.

    A model replaces the best one so far only if it is shown to discriminate less, and loses no more accuracy than is
    allowed (see docs/repair.md); the first one is trained on the rows alone.

    Args:
        spec: path of the ``.fair`` file. Its model is read from a file, which is the one that is written.
        train: a CSV file, or a DataFrame, with the spec's columns and its label.
        estimator: a function that returns a new estimator with ``fit`` and ``predict``, or ``MODULE:FUNCTION``. Where
            ``train`` is a DataFrame of pandas it learns and decides from such, with the headers of the columns.
        output: folder to make, with the model's file, the added rows and the report.
        property: name of the property, about pairs or about rates of groups; not needed where the spec has one about
            pairs, or none and one about rates.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        recipe: what is tried. For pairs ``portfolio``, ``flipped-copies``, ``pairs``, ``pairs-training-rule`` or
            ``published``; for rates ``portfolio``, ``reweighing`` or ``thresholds``.
        rounds: how often every recipe is tried.
        max_accuracy_loss: what may be lost of the first model's accuracy.
        within: how close an estimate of the rate comes, where it is not exact.
        confidence: of all estimates together.
        add: how many rows a recipe that searches adds in the first round, as a part of those that are trained on.
        seed: of the split, the draws, and estimators without a seed of their own.
        timeout: seconds for the rounds; None is 600, or no limit where there is ``effort``. A run that ends by it is
            not the same twice.
        effort: units of work for measurements and searches, which come to the same again (docs/runs.md); training is
            no part of it.
        observer: hears of progress.

    Returns:
        Every model that was tried, the comparison of the first with the best one, and the report on the new file.

    Raises:
        SpecError: the spec, the table, the estimator, the folder or what is set have mistakes.
    """
    from fairdsl.backends.contract import Silent
    from fairdsl.repairing import Settings, repair_spec
    from fairdsl.source.reading import holding

    own = Repair.naming(
        {
            "recipe": recipe,
            "rounds": rounds,
            "max_accuracy_loss": max_accuracy_loss,
            "within": within,
            "confidence": confidence,
            "add": add,
            "seed": seed,
            "timeout": timeout,
            "effort": effort,
        }
    )
    files: dict[str, bytes] = {}
    rows = table_path(train, "train", files)
    chosen = Settings(
        recipe=own.recipe,
        rounds=own.rounds,
        loss=own.max_accuracy_loss,
        within=own.within,
        confidence=own.confidence,
        share=own.add,
        seed=own.seed,
        timeout=own.timeout,
        effort=own.effort,
    )
    with holding(files):
        return repair_spec(
            path_of(spec, "the spec"),
            property=property,
            let=numbers(let),
            train=rows,
            estimator=estimator,
            output=fspath(output),
            settings=chosen,
            observer=observer or Silent(),
            framed=_framed(train),
        )


def _framed(train: Any) -> Callable[[Any, Sequence[str]], Any] | None:
    """Whoever has a DataFrame of pandas has estimators that learn from such, by the names of its columns."""
    if type(train).__module__.partition(".")[0] != "pandas":
        return None
    return lambda matrix, names: type(train)(matrix, columns=list(names))


def guarantee(
    spec: AnyPath,
    *,
    rows: AnyPath,
    output: AnyPath,
    property: str | None = None,  # noqa: A002 - the word of the language
    let: Numbers | None = None,
    by: Vote | str = Guarantee.by,
    timeout: float = Guarantee.timeout,
    observer: Observer | None = None,
) -> Guaranteed:
    """Write a file that asks the spec's model about a person with all protected values, and so decides alike.

    The property holds of the file by construction, whatever the model computes (see docs/guarantee.md).

    Args:
        spec: path of the ``.fair`` file. Its model is read from an ONNX file.
        rows: a CSV file with the spec's columns and its label, on which the price is measured.
        output: the ONNX file to write.
        property: name of the property; not needed where the spec has one about pairs.
        let: numbers in place of those of the spec's parameters, by name, as ``{"limit": "75%"}``.
        by: whose answer is taken: ``majority`` or ``least-favourable``.
        timeout: seconds for checking the new file.
        observer: hears of progress.

    Returns:
        What was written, both models on the rows, and what ``check`` says of the new file.

    Raises:
        SpecError: the spec, the table or the output have mistakes, or the model cannot be wrapped.
    """
    from fairdsl.backends.contract import Silent
    from fairdsl.repairing import guarantee_spec

    return guarantee_spec(
        path_of(spec, "the spec"),
        property=property,
        let=numbers(let),
        rows=path_of(rows, "`rows`"),
        output=fspath(output),
        settings=Guarantee.naming({"by": by, "timeout": timeout}),
        observer=observer or Silent(),
    )
