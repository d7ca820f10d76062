"""LightGBM's own models: text, a block of lines for each tree.

A test is ``x <= threshold`` in float64, of a category "one of these" (a set of bits). Leaves hold their weight already,
also those of `dart`. What happens to missing values is passed over, for of an individual nothing is missing; files
whose zeros are missing values are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from fairdsl.ir.expr import Relation
from fairdsl.models.boosters.forest import Ending, Forest, Label, Leaf, Node, Split, UnreadBoosterError
from fairdsl.source.json_text import read_json

_CATEGORICAL, _DEFAULT_LEFT, _MISSING, _ZERO = 1, 2, 12, 4
#: What becomes of the sums, by the objective.
_ENDINGS = {
    "binary": Ending.LOGISTIC,
    "cross_entropy": Ending.LOGISTIC,
    "xentropy": Ending.LOGISTIC,
    "multiclass": Ending.SOFTMAX,
    "multiclassova": Ending.LOGISTIC,
    "regression": Ending.SCORE,
    "regression_l1": Ending.SCORE,
    "huber": Ending.SCORE,
    "fair": Ending.SCORE,
    "quantile": Ending.SCORE,
    "mape": Ending.SCORE,
    "lambdarank": Ending.SCORE,
    "rank_xendcg": Ending.SCORE,
}

_Block = Mapping[str, str]


def read_lightgbm(text: str) -> Forest:
    """The forest of the text. Raises UnreadBoosterError, and what damaged texts raise."""
    head, *blocks = list(_blocks(text))
    objective, *settings = head.get("objective", "").split()
    if objective not in _ENDINGS or "sqrt" in settings:
        said = " ".join([objective, *settings]) or "one of its own"
        raise UnreadBoosterError(f"its objective is `{said}`, and {', '.join(sorted(_ENDINGS))} are read")
    columns = int(head["num_tree_per_iteration"])
    names = tuple(head["feature_names"].split())
    categories = _categories(text, names, head, blocks)
    trees = [_tree(block, place % columns, categories) for place, block in enumerate(blocks)]
    factor = next((Fraction(item.split(":")[1]) for item in settings if item.startswith("sigmoid:")), Fraction(1))
    return Forest(
        library="LightGBM",
        width=int(head["max_feature_idx"]) + 1,
        names=names if not all(name == f"Column_{place}" for place, name in enumerate(names)) else (),
        trees=trees,
        base=(Fraction(0),) * columns,
        ending=_ENDINGS[objective],
        categories=categories,
        factor=factor if _ENDINGS[objective] is Ending.LOGISTIC else Fraction(1),
        average="average_output" in head,
    )


def _blocks(text: str) -> Iterator[_Block]:
    """The head and the trees, each as its lines by what stands before `=`."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith(("Tree=", "end of trees")):
            yield found
            found = {}
        if line.startswith("end of trees"):
            return
        name, _, value = line.partition("=")
        if name:
            found[name] = value
    raise UnreadBoosterError("it is cut off: `end of trees` is missing")


def _categories(
    text: str, names: Sequence[str], head: _Block, blocks: Sequence[_Block]
) -> dict[int, tuple[Label, ...]]:
    """The categories of columns of pandas by their codes: the last line lists them, column by column."""
    line = next((line for line in reversed(text.splitlines()) if line.startswith("pandas_categorical:")), None)
    listed: Any = None if line is None else read_json(line.partition(":")[2])
    if not listed:
        return {}
    infos = head["feature_infos"].split()
    ranged = [place for place in range(len(names)) if not infos[place].startswith("[")]
    # A column that is constant is not a feature at all, and then nothing says to which column a list belongs.
    if len(ranged) != len(listed) or any(infos[place] == "none" for place in ranged):
        raise UnreadBoosterError(
            f"it lists the categories of {len(listed)} columns, and does not say which of them they are; "
            "train without constant columns"
        )
    for values in listed:
        if len({isinstance(value, str) for value in values}) > 1 or any(isinstance(value, float) for value in values):
            raise UnreadBoosterError("it has categories that are neither texts nor whole numbers")
    return {place: tuple(values) for place, values in zip(ranged, listed, strict=True)}


def _tree(block: _Block, column: int, categories: Mapping[int, Sequence[Label]]) -> Node:
    if block.get("is_linear", "0") != "0":
        raise UnreadBoosterError("its leaves are linear models (`linear_tree`)")
    values = [float(value) for value in block["leaf_value"].split()]
    if int(block["num_leaves"]) == 1:
        return Leaf(((column, values[0]),))
    features, kinds, left, right = (
        [int(number) for number in block[key].split()]
        for key in ("split_feature", "decision_type", "left_child", "right_child")
    )
    thresholds = [float(number) for number in block["threshold"].split()]
    sets = _sets(block)
    built: dict[int, Node] = {}

    def child(number: int) -> Node:
        return Leaf(((column, values[~number]),)) if number < 0 else built[number]

    for node in _deepest_first(left, right):
        feature, first, second = features[node], child(left[node]), child(right[node])
        if kinds[node] & _CATEGORICAL:
            codes, names = sets[int(thresholds[node])], categories.get(feature)
            members = frozenset(codes if names is None else [names[code] for code in codes if code < len(names)])
            built[node] = Split(feature, Relation.GT, 0.5, members, first, second)
        elif kinds[node] & _MISSING == _ZERO:
            raise UnreadBoosterError("zeros are missing values to it (`zero_as_missing`)")
        else:
            # Where training met nothing missing, NaN is read as 0.
            known = kinds[node] & _MISSING == 0
            missing = thresholds[node] >= 0 if known else bool(kinds[node] & _DEFAULT_LEFT)
            built[node] = Split(feature, Relation.LE, thresholds[node], None, first, second, missing)
    return built[0]


def _deepest_first(left: Sequence[int], right: Sequence[int]) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if len(order) > len(left):
            raise UnreadBoosterError("its nodes are not a tree")
        waiting += [child for child in (left[node], right[node]) if child >= 0]
    return order[::-1]


def _sets(block: _Block) -> list[list[int]]:
    """The sets of categories: bits of 32-bit words, each set from one border to the next."""
    if not int(block.get("num_cat", "0")):
        return []
    borders = [int(number) for number in block["cat_boundaries"].split()]
    words = [int(number) for number in block["cat_threshold"].split()]
    return [
        [32 * place + bit for place, word in enumerate(words[start:end]) for bit in range(32) if word >> bit & 1]
        for start, end in pairwise(borders)
    ]
