"""An audit of predictions: what was decided, what became of people, and who is protected; no spec, no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairdsl.api.paths import AnyPath, Names, names_of
from fairdsl.options import Run, options_of
from fairdsl.options.commands import Audit
from fairdsl.source.numbers import read_number

if TYPE_CHECKING:
    from fractions import Fraction

    from fairdsl.auditing import Audited
    from fairdsl.auditing.audit import Wanted
    from fairdsl.backends.contract import Budget, Observer


def audit(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    scores: Any = None,
    threshold: float | Fraction | None = None,
    positive: object | None = None,
    positive_label: object | None = None,
    privileged: Mapping[str, object] | object | None = None,
    metrics: Names = (),
    confidence: float | Fraction = Audit.confidence,
    conditions: int = Audit.conditions,
    smallest: int = Audit.smallest,
    bins: int = Audit.bins,
    timeout: float = Audit.timeout,
    observer: Observer | None = None,
) -> Audited:
    """Compare groups by what was decided about them, and by what became of them, with intervals; no spec, no model.

    Arrays are lists, arrays of numpy, or Series of pandas, polars or Arrow, a value a row.

    Args:
        y_true: what became of people, or what would have been right; None where nobody knows.
        y_pred: what was decided about them; None where ``scores`` and ``threshold`` decide.
        sensitive_features: who is protected: a column, or a table of columns. Numbers with more than eight values are
            cut into groups of one size.
        scores: what the decisions were made by: how often people of a score deserve it is compared as well.
        threshold: from which score on the decision is favourable.
        positive: the favourable value of ``y_pred``, and the deserving one of ``y_true`` where it has it; by default 1,
            true, or yes, and of a name that says a bad outcome, as ``default`` does, the other value.
        positive_label: the deserving value of ``y_true``, where it is another one.
        privileged: the group that everybody else is compared with, ``{"sex": "male"}``, or the value of a single
            column: for the metrics of AIF360.
        metrics: the names of the metrics, or ``"all"``; by default all that these arrays define are computed, and a few
            of them printed.
        confidence: how sure the intervals are.
        conditions: how many columns make a subgroup, at most.
        smallest: groups of fewer rows are left out.
        bins: groups that a column of numbers is cut into.
        timeout: seconds that it may take; what is not reached by then has no number.
        observer: hears of progress.

    Returns:
        The numbers with their intervals, who is treated worst, which groups are small, and the ``spec`` that says the
        same. It prints as a page.

    Raises:
        SpecError: what is given is not a column (E0680), or it is not clear what it means (E0681).
    """
    from fairdsl.auditing import audit_arrays
    from fairdsl.backends.contract import Silent

    settings = _settings(confidence, conditions, smallest, bins, timeout)
    wanted = _wanted(settings, threshold, (positive, positive_label), privileged, metrics)
    budget = _budget(settings)
    return audit_arrays(y_true, y_pred, sensitive_features, scores, wanted, budget, observer or Silent())


def audit_table(
    data: AnyPath | Any,
    *,
    protected: Names,
    prediction: str | None = None,
    label: str | None = None,
    scores: str | None = None,
    threshold: float | Fraction | None = None,
    positive: object | None = None,
    positive_label: object | None = None,
    privileged: Mapping[str, object] | object | None = None,
    metrics: Names = (),
    confidence: float | Fraction = Audit.confidence,
    conditions: int = Audit.conditions,
    smallest: int = Audit.smallest,
    bins: int = Audit.bins,
    timeout: float = Audit.timeout,
    observer: Observer | None = None,
) -> Audited:
    """The same of a table, by the names of its columns: ``data`` is a CSV or Parquet file, or a DataFrame.

    ``protected`` are the columns that say who is, ``prediction`` what was decided, ``label`` what became of people,
    ``scores`` what the decisions were made by. All else is as of :func:`audit`.
    """
    from fairdsl.auditing import audit_table as audited
    from fairdsl.backends.contract import Silent

    settings = _settings(confidence, conditions, smallest, bins, timeout)
    wanted = _wanted(settings, threshold, (positive, positive_label), privileged, metrics)
    parts = {"prediction": prediction, "label": label, "scores": scores}
    return audited(data, parts, names_of(protected), wanted, _budget(settings), observer or Silent())


def _settings(confidence: float | Fraction, conditions: int, smallest: int, bins: int, timeout: float) -> Audit:
    given = {"confidence": confidence, "conditions": conditions, "smallest": smallest, "bins": bins, "timeout": timeout}
    return Audit.naming(given)


def _budget(settings: Audit) -> Budget:
    from fairdsl.backends.contract import Budget
    from fairdsl.plan.registry import sections

    return Budget.under(options_of(Run(timeout=settings.timeout), None, sections()))


def _wanted(
    settings: Audit, threshold: object, positive: tuple[object, object], privileged: Any, metrics: Names
) -> Wanted:
    from fairdsl.auditing.audit import Wanted

    try:
        # Floats are meant as they are written: 0.1 is one in ten.
        from_ = None if threshold is None else read_number(str(threshold))
    except ValueError:
        raise ValueError(f"`threshold` is a number, as 0.5 is, not {threshold!r}") from None
    favourable, deserving = positive
    return Wanted(
        positive=favourable,
        positive_label=deserving,
        threshold=from_,
        privileged=privileged,
        metrics=names_of(metrics),
        settings=settings,
    )
