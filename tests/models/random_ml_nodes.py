"""Builders for the operators of ai.onnx.ml."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.models.random_graphs import ML, WHOLE, Builder, CannotDrawError, Drawing, Tensor
from tests.models.random_nodes import NUMBERS

TRANSFORMS = ("NONE", "NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")
MODES = ("BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def floats(values: Any) -> list[float]:
    return [float(v) for v in np.ravel(values)]


def labels(d: Drawing, count: int) -> list[Any]:
    """Labels of classes; sometimes two of them are the same."""
    if d.chance(0.3):
        return ["no", "yes", "perhaps", "never"][:count] if d.chance(0.9) else ["same"] * count
    found = d.one_of([range(count), [5, 3, 9, 7], [256, 0, 512, 1], [1, 1, 2, 2], [16777216, 16777217, 0, 1]])
    return [int(v) for v in found][:count]


def label_and_scores(d: Drawing, operator: str, source: Tensor, names: list[Any], columns: int, whole: str,
                     **attributes: Any) -> None:  # fmt: skip
    text = isinstance(names[0], str)
    label = Tensor(d.fresh() + "_label", (1,), "string" if text else "int64", exact=source.exact, label=True)
    found = Tensor(d.fresh() + "_scores", (1, columns), "float32", early=False, exact=False)
    attributes["classlabels_strings" if text else whole] = names
    d.add(operator, [source], label, found, domain=ML, **attributes)


def transform(d: Drawing) -> dict[str, Any]:
    return {"post_transform": d.one_of(TRANSFORMS)} if d.chance(0.7) else {}


def scaler(d: Drawing) -> None:
    source = d.number(NUMBERS, rank=2)
    width = d.one_of([1, source.shape[1]])
    given = d.some(offset=floats(d.numbers(width)), scale=floats(d.powers(width)))
    if len(given) < 2 or len(given["offset"]) != len(given["scale"]):
        given = {"offset": floats(d.numbers(width)), "scale": floats(d.powers(width))}
    d.add("Scaler", [source], d.like(source, source.shape, dtype="float32"), domain=ML, **given)


def linear_regressor(d: Drawing) -> None:
    source, targets = d.row(), int(d.rng.integers(1, 4))
    attributes = {"targets": targets, "coefficients": floats(d.numbers(targets, source.shape[1])), **transform(d)}
    attributes |= d.some(intercepts=floats(d.numbers(targets)))
    if source.shape[0] != 1:
        raise CannotDrawError
    plain = attributes.get("post_transform", "NONE") == "NONE"
    found = d.like(source, (1, targets), early=source.early and plain, exact=source.exact and plain)
    d.add("LinearRegressor", [source], found, domain=ML, **attributes)


def linear_classifier(d: Drawing) -> None:
    source = d.number(NUMBERS, rank=2, early=True) if d.chance(0.2) else d.row()
    if source.shape[0] != 1:
        raise CannotDrawError
    count = int(d.rng.integers(2, 5))
    rows = 1 if count == 2 and d.chance() else count
    coefficients = floats(d.numbers(rows, source.shape[1]))
    attributes = {"coefficients": coefficients, "intercepts": floats(d.numbers(rows)), **transform(d)}
    names = labels(d, count)
    label_and_scores(d, "LinearClassifier", source, names, max(rows, 2), "classlabels_ints", **attributes)


def forest(d: Drawing, width: int, columns: list[int], prefix: str) -> dict[str, Any]:
    nodes: list[tuple[Any, ...]] = []
    votes: list[tuple[Any, ...]] = []
    for tree in range(int(d.rng.integers(1, 4))):
        depth, pending, following = int(d.rng.integers(0, 3)), [(0, 0)], 1
        mode = d.one_of(MODES)
        while pending:
            number, level = pending.pop(0)
            if level >= depth or d.chance(0.2):
                nodes.append((tree, number, "LEAF", 0, 0.0, 0, 0))
                chosen = columns if d.chance(0.9) else [d.one_of(columns)]
                votes += [(tree, number, column, float(d.numbers())) for column in chosen]
                continue
            threshold, feature = float(d.rng.integers(-6, 7)) / 4, int(d.rng.integers(0, width))
            nodes.append(
                (tree, number, mode if d.chance(0.8) else d.one_of(MODES), feature, threshold, following, following + 1)
            )
            pending += [(following, level + 1), (following + 1, level + 1)]
            following += 2
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    found: dict[str, Any] = {f"nodes_{name}": [node[i] for node in nodes] for i, name in enumerate(names)}
    for i, name in enumerate(("treeids", "nodeids", "ids", "weights")):
        found[f"{prefix}_{name}"] = [vote[i] for vote in votes]
    if d.chance(0.4):
        found[f"{prefix}_weights"] = [abs(weight) for weight in found[f"{prefix}_weights"]]
    return found


def tree_source(d: Drawing) -> Tensor:
    source = d.number(NUMBERS, rank=2, early=True, exact=True)
    if source.shape[0] != 1:
        raise CannotDrawError
    return source


def tree_regressor(d: Drawing) -> None:
    source, targets = tree_source(d), int(d.rng.integers(1, 4))
    attributes = {"n_targets": targets, **forest(d, source.shape[1], list(range(targets)), "target"), **transform(d)}
    attributes |= d.some(aggregate_function=d.one_of(["SUM", "AVERAGE", "SUM", "MIN"]))
    if d.chance(0.3):
        attributes["base_values"] = floats(d.numbers(targets))
    plain = attributes.get("post_transform", "NONE") == "NONE" and d.fine and "aggregate_function" not in attributes
    found = Tensor(d.fresh(), (1, targets), "float32", early=plain, exact=plain)
    d.add("TreeEnsembleRegressor", [source], found, domain=ML, **attributes)


def tree_classifier(d: Drawing) -> None:
    source, count = tree_source(d), int(d.rng.integers(2, 5))
    columns = d.one_of([[0], [0, 1], [1]]) if count == 2 else list(range(count))
    attributes = {**forest(d, source.shape[1], columns, "class"), **transform(d)}
    if d.chance(0.3):
        attributes["base_values"] = floats(d.numbers(d.one_of([1, count])))
    label_and_scores(d, "TreeEnsembleClassifier", source, labels(d, count), count, "classlabels_int64s", **attributes)


def kernel(d: Drawing) -> dict[str, Any]:
    return d.one_of([
        {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]},
        {"kernel_type": "RBF", "kernel_params": [0.05, 0.0, 3.0]},
        {"kernel_type": "POLY", "kernel_params": [0.125, 0.5, 2.0]},
        {"kernel_type": "SIGMOID", "kernel_params": [0.05, -0.25, 0.0]},
    ])  # fmt: skip


def vectors(d: Drawing, width: int, count: int) -> dict[str, Any]:
    found = {"support_vectors": floats(d.numbers(count, width)), "coefficients": floats(d.numbers(count))}
    return {**found, **kernel(d), "rho": floats(d.numbers(1))}


def svm_classifier(d: Drawing) -> None:
    source = d.number(NUMBERS, rank=2, early=True)
    if source.shape[0] != 1:
        raise CannotDrawError
    attributes = {**vectors(d, source.shape[1], 4), "vectors_per_class": [2, 2], **transform(d)}
    if d.chance(0.2):
        attributes |= {"prob_a": [-1.0], "prob_b": [0.25]}
    label_and_scores(d, "SVMClassifier", source, labels(d, 2), 2, "classlabels_ints", **attributes)


def svm_regressor(d: Drawing) -> None:
    source = d.row(early=True)
    if source.shape[0] != 1:
        raise CannotDrawError
    attributes = {**vectors(d, source.shape[1], 3), "n_supports": 3, **transform(d)}
    found = Tensor(d.fresh(), (1, 1), "float32", early=False, exact=False)
    d.add("SVMRegressor", [source], found, domain=ML, **attributes)


def binarizer(d: Drawing) -> None:
    source = d.row(early=True, exact=True) if d.chance(0.6) else d.row(exact=True)
    one = source.size == 1
    given = d.some(threshold=0.5)
    d.add(
        "Binarizer",
        [source],
        d.like(source, source.shape, label=one, early=source.early and not one),
        domain=ML,
        **given,
    )


def one_hot_encoder(d: Drawing) -> None:
    source = d.number((*WHOLE, "float32"), early=True, exact=True)
    zeros = d.one_of([None, 0, 1])
    codes = (
        list(range(-9, 10)) if zeros == 0 else [int(v) for v in d.rng.permutation(9)[: int(d.rng.integers(1, 5))] - 4]
    )
    found = d.like(source, (*source.shape, len(codes)), dtype="float32")
    d.add("OneHotEncoder", [source], found, domain=ML, cats_int64s=codes, **({} if zeros is None else {"zeros": zeros}))


def label_encoder(d: Drawing) -> None:
    if d.chance(0.6):
        return label_map(d)
    source = d.number(("int64", "float32"), early=True, exact=True)
    keys = [int(v) for v in d.rng.permutation(9)[:3] - 4]
    values = floats(d.numbers(3))
    whole = d.chance()
    attributes: dict[str, Any] = {"values_int64s": [int(v) for v in values]} if whole else {"values_floats": values}
    attributes |= {"default_int64": 2} if whole and d.chance() else d.some(default_float=0.5) if not whole else {}
    attributes |= {"keys_int64s": keys} if source.dtype == "int64" else {"keys_floats": floats(keys)}
    d.add(
        "LabelEncoder",
        [source],
        d.like(source, source.shape, dtype="int64" if whole else "float32"),
        domain=ML,
        **attributes,
    )
    return None


def label_map(d: Drawing) -> None:
    """Other labels for classes: all of them known or not, kept apart or not."""
    chosen = d.pick(lambda t: t.label and t.dtype in ("int64", "float32", "string"))
    known = {"int64": [0, 1, 2, 5, 3, 256], "float32": [0, 1, 2, 5, 3, 256]}
    keys: list[Any] = known.get(chosen.dtype, ["no", "yes", "perhaps", "0", "1"])
    keys = keys[: int(d.rng.integers(1, len(keys) + 1))]
    kind = {"int64": "keys_int64s", "float32": "keys_floats", "string": "keys_strings"}[chosen.dtype]
    values = [int(v) for v in (d.rng.integers(0, 3, len(keys)) if d.chance() else d.rng.permutation(20)[: len(keys)])]
    to = d.one_of(["values_int64s", "values_floats", "values_strings"])
    given = {"values_int64s": values, "values_floats": floats(values), "values_strings": [str(v) for v in values]}[to]
    default = {"values_int64s": {"default_int64": 1}, "values_floats": {"default_float": 1.0},
               "values_strings": {"default_string": "1"}}[to]  # fmt: skip
    dtype = {"values_int64s": "int64", "values_floats": "float32", "values_strings": "string"}[to]
    attributes = {
        kind: floats(keys) if chosen.dtype == "float32" else keys,
        to: given,
        **(default if d.chance() else {}),
    }
    d.add("LabelEncoder", [chosen], d.like(chosen, chosen.shape, dtype=dtype), domain=ML, **attributes)


def feature_extractor(d: Drawing) -> None:
    if d.chance(0.5):
        chosen = d.pick(lambda t: t.label and t.dtype == "int64")
        table = d.one_of([[3, 5, 9, 4], [1, 1, 0, 0], [0, 1], [7, 7, 7, 7]])
        names = [str(v) for v in table]
        text = d.chance(0.3)
        made = d.constant(names if text else table, "string" if text else "int64", before=True)
        found = d.like(chosen, (1, 1), dtype="string" if text else "int64")
        d.add("ArrayFeatureExtractor", [made, chosen], found, domain=ML)
        return
    source = d.number(NUMBERS, rank=2)
    positions = d.rng.integers(0, source.shape[1], int(d.rng.integers(1, 4)))
    found = d.like(source, (source.shape[0], len(positions)))
    d.add("ArrayFeatureExtractor", [source, d.constant(positions, "int64")], found, domain=ML)


def zip_map(d: Drawing) -> None:
    source = d.row()
    if source.shape[0] != 1:
        raise CannotDrawError
    count = source.shape[1]
    text = d.chance()
    names: Any = (
        [f"{v}" for v in d.rng.permutation(12)[:count]] if text else [int(v) for v in d.rng.permutation(9)[:count]]
    )
    made = d.like(source, source.shape)
    key = TensorProto.STRING if text else TensorProto.INT64
    entry = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    d.kinds[made.name] = helper.make_sequence_type_proto(entry)
    d.add("ZipMap", [source], made, domain=ML, **{"classlabels_strings" if text else "classlabels_int64s": names})
    d.tensors.remove(made)


def feature_vectorizer(d: Drawing) -> None:
    dtype = d.number(NUMBERS, rank=2).dtype
    sources = [d.number((dtype,), rank=2) for _ in range(int(d.rng.integers(1, 4)))]
    if any(source.shape[0] != 1 for source in sources):
        raise CannotDrawError
    widths = [source.shape[1] for source in sources]
    early, exact = (all(getattr(source, name) for source in sources) for name in ("early", "exact"))
    found = d.like(sources[0], (1, sum(widths)), dtype="float32", early=early, exact=exact)
    d.add("FeatureVectorizer", sources, found, domain=ML, inputdimensions=widths)


def imputer(d: Drawing) -> None:
    source = d.row()
    given = {"imputed_value_floats": [0.5], "replaced_value_float": float("nan") if d.chance(0.8) else 1.0}
    d.add("Imputer", [source], d.like(source, source.shape), domain=ML, **given)


def normalizer(d: Drawing) -> None:
    scores = d.row()
    if scores.size < 3 and d.chance(0.8):
        widened = d.constant(d.numbers(scores.shape[1], 3))
        scores = d.add("MatMul", [scores, widened], d.like(scores, (scores.shape[0], 3)))
    source = d.add("Softmax", [scores], d.like(scores, scores.shape, early=False, exact=False), axis=1)
    norm = d.one_of(["L1", "L1", "L2", "MAX"])
    d.add("Normalizer", [source], d.like(source, source.shape), domain=ML, norm=norm)


ML_BUILDERS: dict[tuple[str, str], Builder] = {
    (ML, "Scaler"): scaler,
    (ML, "LinearRegressor"): linear_regressor,
    (ML, "LinearClassifier"): linear_classifier,
    (ML, "TreeEnsembleRegressor"): tree_regressor,
    (ML, "TreeEnsembleClassifier"): tree_classifier,
    (ML, "SVMClassifier"): svm_classifier,
    (ML, "SVMRegressor"): svm_regressor,
    (ML, "Binarizer"): binarizer,
    (ML, "OneHotEncoder"): one_hot_encoder,
    (ML, "LabelEncoder"): label_encoder,
    (ML, "ArrayFeatureExtractor"): feature_extractor,
    (ML, "ZipMap"): zip_map,
    (ML, "FeatureVectorizer"): feature_vectorizer,
    (ML, "Imputer"): imputer,
    (ML, "Normalizer"): normalizer,
}
