"""What forests cost: opening files, and evaluating them. Draws its own forests; needs no files.

CPU seconds of this process. Each file is opened twice: at first, and again when its reading was confirmed before.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

#: Trees, depth, and the share of branches that end early.
FORESTS = {
    "300 trees, depth 6": (300, 6, 0.0),
    "34 trees, depth 13": (34, 13, 0.08),
    "300 trees, depth 12": (300, 12, 0.3),
}
ENDS = [(17, 90), (0, 8), (0, 15), (1, 16), (0, 6), (0, 14), (0, 5), (0, 4), (0, 1), (0, 9999), (0, 4356), (1, 99)]

Node = tuple[str, int, float, int, int]


def drawn(rng: np.random.Generator, depth: int, ending: float, ends: Sequence[tuple[int, int]]) -> list[Node]:
    """The nodes of a tree: what each does, its feature, threshold and the nodes that follow."""
    nodes: list[Node] = []

    def grow(left: int, box: dict[int, tuple[int, int]]) -> int:
        own, feature = len(nodes), int(rng.integers(len(ends)))
        nodes.append(("LEAF", 0, 0.0, 0, 0))
        low, high = box[feature]
        if left and high > low and not (left < depth - 2 and rng.random() < ending):
            border = int(rng.integers(low, high))
            yes = grow(left - 1, {**box, feature: (low, border)})
            no = grow(left - 1, {**box, feature: (border + 1, high)})
            nodes[own] = ("BRANCH_LEQ", feature, border + 0.5, yes, no)
        return own

    grow(depth, dict(enumerate(ends)))
    return nodes


def saved(
    path: Path,
    trees: int,
    depth: int,
    ending: float,
    seed: int = 1,
    *,
    ends: Sequence[tuple[int, int]] = ENDS,
    votes: bool = False,
) -> int:
    """Write a forest over integers between these ends; the result is the number of its leaves.

    Each leaf adds a small number, or as a vote 0 or 1.
    """
    rng = np.random.default_rng(seed)
    names = ("modes", "featureids", "values", "truenodeids", "falsenodeids")
    made: dict[str, list[Any]] = {f"nodes_{name}": [] for name in ("treeids", "nodeids", *names)}
    targets: dict[str, list[Any]] = {f"target_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    for tree in range(trees):
        for place, node in enumerate(drawn(rng, depth, ending, ends)):
            for name, value in zip(made, (tree, place, *node), strict=True):
                made[name].append(value)
            if node[0] == "LEAF":
                weight = float(rng.integers(2)) if votes else float(np.float32(rng.normal() / trees))
                for name, value in zip(targets, (tree, place, 0, weight), strict=True):
                    targets[name].append(value)
    operator = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["score"], domain="ai.onnx.ml", n_targets=1, **made, **targets
    )
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, len(ends)])
    result = helper.make_tensor_value_info("score", TensorProto.FLOAT, [None, 1])
    graph = helper.make_graph([operator], "forest", [given], [result])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
    return len(targets["target_ids"])


def spec_of(path: Path) -> Path:
    """A spec that asks about the forest beside it."""
    columns = "\n".join(f"  a{index} : integer {low} .. {high}" for index, (low, high) in enumerate(ENDS))
    spec = path.with_suffix(".fair")
    spec.write_text(
        f"fair 1\ndomain Person {{\n{columns}\n}}\nprotected a8\n"
        f'model m : Person -> {{ low, high }}\n  from "{path.name}"\n  high when score > 0\n  favourable high\n'
        "property same {\n  compare a, b : Person\n  differ in a8\n  require same decision\n}\n",
        encoding="utf-8",
    )
    return spec


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The CPU seconds of a call, and its result."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = place
        measure(Path(place))


def measure(place: Path) -> None:
    from fairdsl.elaborate import load_models
    from fairdsl.numerics.evaluate import BatchEvaluator
    from fairdsl.semantics import front_end

    def opened(spec: Path) -> Any:
        return next(iter(load_models(front_end(str(spec))[0], {})[0].values()))

    saved(place / "tiny.onnx", 1, 1, 0.0)
    opened(spec_of(place / "tiny.onnx"))  # imports, and the parser's tables
    print("| forest | leaves | MB | opened | again | 100,000 scores |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for number, (name, shape) in enumerate(FORESTS.items()):
        path = place / f"forest{number}.onnx"
        leaves = saved(path, *shape)
        spec = spec_of(path)
        first, _ = timed(partial(opened, spec))
        again, model = timed(partial(opened, spec))
        rows = np.stack([np.random.default_rng(0).integers(low, high + 1, 100_000) for low, high in ENDS], axis=1)
        asked, _ = timed(partial(BatchEvaluator(model).settled, rows.astype(np.float64)))
        size = path.stat().st_size / 1e6
        print(f"| {name} | {leaves:,} | {size:.1f} | {first:.2f} | {again:.2f} | {asked:.2f} |", flush=True)


if __name__ == "__main__":
    main()
