"""Logistic regressions and decision trees, trained by scikit-learn and written exactly into the language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproducing.tables import Table, one_hot

__all__ = ["KINDS", "Classifier", "reweighing", "trained"]

KINDS = ("LR", "DT")
#: Numbers reach a regression divided by this power of ten, so that its solver converges; the text holds the quotient.
_SCALE = 100.0


@dataclass(frozen=True, kw_only=True)
class Classifier:
    """What a spec says between `model m : Person -> { no, yes }` and the next declaration."""

    kind: str
    text: str


def trained(kind: str, table: Table, weights: NDArray[np.float64] | None = None, depth: int = 3) -> Classifier:
    """A classifier of this kind over all columns, protected ones too, as the papers train theirs."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    terms, features = one_hot(table, list(table.cells))
    if kind == "LR":
        scales = np.where([" = " in term for term in terms], 1.0, _SCALE)
        fitted = LogisticRegression(max_iter=2000).fit(features / scales, table.label, sample_weight=weights)
        slopes = (fitted.coef_[0] / scales).tolist()
        text = _linear(terms, slopes, float(fitted.intercept_[0]))
    else:
        tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=5, random_state=0)
        text = _tree(terms, tree.fit(features, table.label, sample_weight=weights).tree_)
    return Classifier(kind=kind, text=text)


def _linear(terms: list[str], slopes: list[float], intercept: float) -> str:
    """Weights to nine decimals: that is the model, and everybody measures the same one."""
    added = [
        f"{'-' if slope < 0 else '+'} {abs(slope):.9f} * {f'({term})' if ' = ' in term else term}"
        for term, slope in zip(terms, slopes, strict=True)
    ]
    return f"  score = {intercept:.9f} {' '.join(added)}\n  yes when score > 0\n"


def _tree(terms: list[str], tree: Any) -> str:
    """The score counts the accepting leaves that somebody reaches, which is one or none."""
    accepting = [path for path, accepts in _leaves(terms, tree, 0, ()) if accepts]
    paths = [f"({' and '.join(path)})" if path else "(0 <= 1)" for path in accepting]
    return f"  score = {' + '.join(paths) or '0'}\n  yes when score > 0.5\n"


def _leaves(terms: list[str], tree: Any, node: int, way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    left, right = int(tree.children_left[node]), int(tree.children_right[node])
    if left < 0:
        no, yes = tree.value[node][0] if len(tree.value[node][0]) == 2 else (1.0, 0.0)
        yield way, bool(yes > no)
        return
    term, threshold = terms[tree.feature[node]], float(tree.threshold[node])
    if " = " in term:
        below, above = term.replace(" = ", " != "), term
    else:
        below, above = f"{term} <= {threshold!r}", f"{term} > {threshold!r}"
    yield from _leaves(terms, tree, left, (*way, below))
    yield from _leaves(terms, tree, right, (*way, above))


def reweighing(table: Table) -> NDArray[np.float64]:
    """The weight of each row by Kamiran and Calders: group times label as often as if they were independent."""
    group, label = table.cells[table.shape.protected[0]], table.label
    weights = np.ones(table.size)
    for value in set(group.tolist()):
        for outcome in (0, 1):
            both = (group == value) & (label == outcome)
            if both.any():
                weights[both] = (group == value).mean() * (label == outcome).mean() / both.mean()
    return weights
