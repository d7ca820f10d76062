"""Tree ensembles of ai.onnx.ml: each leaf an indicator of the tests on the way to it, the votes its weights.

Meaning: the sum of the votes of the leaves that an individual reaches, one of every tree, in real arithmetic on the
stored numbers. How a class comes from it follows onnxruntime: of two classes all votes go to one entry, and
the second class is chosen where the sum exceeds 1/2 if no vote is negative, and where it exceeds 0 otherwise; of
three and more the highest sum decides, the first one in a tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.models import exact
from fairdsl.models.basis import Affine, apply, scale, take
from fairdsl.models.onnx_import.arithmetic import negative, plus
from fairdsl.models.onnx_import.tree_nodes import finite, read_trees, read_votes
from fairdsl.models.onnx_import.values import Handlers, NodeCall, UnreadableError, Value
from fairdsl.models.onnx_import.written import Columns, above, classes, columns_of, highest, pair, written

_ML = "ai.onnx.ml"
_OPEN = "some class may get no vote at all, and then the file does not say which class is chosen"


class _Voting(Enum):
    """Whether the leaves that an individual reaches vote for a class or target."""

    ALWAYS = "whichever leaves are reached"
    SOMETIMES = "depending on the leaves"
    NEVER = "by no leaf"


@dataclass(frozen=True, slots=True)
class _Votes:
    """Sums over trees: ``sums`` is [1, columns], 0 where nothing votes; ``voting`` says for each column when.

    ``negative``: whether some vote is negative. ``trees``: their number.
    """

    sums: Affine
    voting: tuple[_Voting, ...]
    negative: bool
    trees: int

    @property
    def threshold(self) -> Fraction:
        """What the sum of the one class that is voted for has to exceed."""
        return Fraction(0) if self.negative else Fraction(1, 2)

    @property
    def always(self) -> bool:
        """Whether every column has votes for every individual."""
        return all(voting is _Voting.ALWAYS for voting in self.voting)


def tree_classifier(call: NodeCall) -> list[Value]:
    """Both outputs of a TreeEnsembleClassifier: the label and the scores after their transformation."""
    labels = classes(call, "classlabels_int64s")
    if len(labels) < 2:
        raise UnreadableError("it does not choose among two or more classes")
    votes = _votes(call, "class", len(labels))
    base = _numbers(call, "base_values")
    if len(base) not in ((0, 1, 2) if len(labels) == 2 else (0, len(labels))):
        raise UnreadableError(f"it has {len(base)} base values for {len(labels)} classes")
    if len(labels) > 2:
        return _of_several(call, votes, base, labels)
    first, second = votes.voting
    if (base and first is _Voting.SOMETIMES) or second is _Voting.SOMETIMES:
        raise UnreadableError(_OPEN)
    if second is _Voting.NEVER:
        return _of_one_sum(call, votes, base, labels)
    return _of_two_sums(call, votes, base, labels)


def _of_one_sum(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Two classes: all votes are for the first entry, and count for the second class."""
    total = _with_base(call, _column(votes.sums, 0), base[:1])
    label = above(call, total, votes.threshold, labels)
    if len(base) == 2:  # the runtime takes both entries for sums, and the second one has no votes
        both = pair(call, total, Affine.constant(np.zeros((1, 1))))
        return [label, written(call, both, Columns.SEVERAL)]
    return [label, written(call, total, Columns.SIGNS if votes.negative else Columns.SHARES)]


def _of_two_sums(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Two classes with votes for the second entry: the sum of the second one decides alone.

    Where the first entry has votes as well the threshold is 0, and the classes are 0 and 1 whatever numbers they
    have in the file. Two base values make the sum of the first entry that of the second.
    """
    alone = votes.voting[0] is _Voting.NEVER
    first, second = _column(votes.sums, 0), _column(votes.sums, 1)
    if alone and len(base) == 2:
        raise UnreadableError("it votes for the second class, and its base values replace these votes")
    if len(base) == 2:
        second = _with_base(call, first, base[1:])
        first = negative(second)
    elif not alone:
        first = _with_base(call, first, base)
    named = alone or isinstance(labels[0], str)
    label = above(call, second, votes.threshold if alone else Fraction(0), labels if named else (0, 1))
    shares = not (alone or base or votes.negative)
    return [label, written(call, pair(call, first, second), Columns.SEVERAL, shares=shares)]


def _of_several(call: NodeCall, votes: _Votes, base: Sequence[Fraction], labels: tuple[int | str, ...]) -> list[Value]:
    """Three classes and more: the highest sum among those that have votes or a base value, the first in a tie."""
    if not base and _Voting.SOMETIMES in votes.voting:
        raise UnreadableError(_OPEN)
    sums = _with_base(call, votes.sums, base)
    candidates = [i for i, voting in enumerate(votes.voting) if base or voting is _Voting.ALWAYS]
    label = highest(call, take(sums, np.array([candidates])), tuple(labels[i] for i in candidates))
    return [label, written(call, sums, Columns.SEVERAL, shares=not (base or votes.negative))]


def _tree_regressor(call: NodeCall) -> Value:
    columns = int(call.attribute("n_targets", 1))
    if columns < 1:
        raise UnreadableError(f"it has {columns} targets")
    votes = _votes(call, "target", columns)
    base = _numbers(call, "base_values")
    if base and (len(base) != columns or not (columns == 1 or votes.always)):
        raise UnreadableError("its base values do not belong to targets that every individual gets a sum for")
    sums = votes.sums
    match call.attribute("aggregate_function", "SUM"):
        case "SUM":
            pass
        case "AVERAGE":
            share = np.full(columns, Fraction(1, votes.trees), dtype=object)
            sums = scale(sums, exact.from_rationals(share))
        case other:
            raise UnreadableError(f"it takes the {other} of its trees, and only sums and averages are sums of leaves")
    sums = _with_base(call, sums, base)
    return written(call, sums, columns_of(sums))


def _column(sums: Affine, column: int) -> Affine:
    return take(sums, np.array([[column]]))


def _with_base(call: NodeCall, sums: Affine, base: Sequence[Fraction]) -> Affine:
    if not base:
        return sums
    return plus(call, sums, Affine.constant(exact.from_rationals(np.array([list(base)], dtype=object))))


def _votes(call: NodeCall, prefix: str, columns: int) -> _Votes:
    """The sums of the votes under ``class_`` or ``target_``, by column."""
    value = call.affine(0)
    read = read_trees(call, value)
    sums, voted, weights = read_votes(call, prefix, columns, read)
    if columns == 1 and not voted.all():
        raise UnreadableError("some leaf has no vote")
    if not call.basis.early(value):
        raise UnreadableError(
            "its trees test numbers that units of a network compute",
            "train the trees on the attributes themselves, or scaled or encoded ones: they decide alike without steps "
            "that only grow, as quantiles do",
        )
    shape = read.trees.shape
    leaves = call.basis.plant(read.trees)
    return _Votes(
        sums=apply(sums, leaves, (1, columns), call.basis),
        voting=tuple(_voting(voted[column], shape.leaf_starts[:-1]) for column in range(columns)),
        negative=bool((weights < 0).any()),
        trees=shape.trees,
    )


def _voting(voted: NDArray[np.bool_], starts: NDArray[np.int64]) -> _Voting:
    """When a column has votes, given the leaves that vote for it, and where the leaves of each tree start."""
    if not voted.any():
        return _Voting.NEVER
    return _Voting.ALWAYS if np.logical_and.reduceat(voted, starts).any() else _Voting.SOMETIMES


def _numbers(call: NodeCall, attribute: str) -> list[Fraction]:
    """Floats of the file, exactly."""
    return [Fraction(value) for value in finite(call, attribute).tolist()]


HANDLERS: Handlers = {(_ML, "TreeEnsembleRegressor"): _tree_regressor}
