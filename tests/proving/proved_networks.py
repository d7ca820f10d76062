"""Proofs about small networks, and what is true of them by counting everybody."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fairdsl.backends.contract import Silent
from fairdsl.proving import Proved, prove_spec

SPEC = """fair 1
audit "proved"
domain Person {
  age : integer 0 .. 11
  job : category { clerk = 0, cook = 2, smith = 3 }
  years : integer 0 .. 7
  sex : category { f, m }
  race : category { x, y }
  where years <= age
}
protected sex, race
model m : Person -> { no, yes }
  from "m.onnx"
  reads age, job, years, sex, race
  yes when score > 0
  favourable yes
property share { compare a, b : Person differ in any sex, race among age >= 2 measure fair_share }
property each_one { compare a, b : Person differ in each sex, race measure fair_share }
property calm { compare a, b : Person differ in sex among age <= 1 and job = clerk require same decision }
property some { compare a, b : Person differ in sex among sex = f or age >= 6 measure fair_share }
"""


def network(path: Path, seed: int, *, linear: bool = False) -> None:
    """A random network of two hidden layers, or of none, of float32 with few bits, so that ties occur."""
    rng = np.random.default_rng(seed)
    sizes, nodes, tensors, name = (5, 1) if linear else (5, 4, 3, 1), [], [], "x"
    for layer, (below, width) in enumerate(pairwise(sizes)):
        weight = rng.integers(-8, 9, (width, below)) / 4
        bias = rng.integers(-8, 9, width) / 2
        tensors += [numpy_helper.from_array(weight.astype(np.float32), f"w{layer}")]
        tensors += [numpy_helper.from_array(bias.astype(np.float32), f"b{layer}")]
        nodes.append(helper.make_node("Gemm", [name, f"w{layer}", f"b{layer}"], [f"z{layer}"], transB=1))
        name = f"z{layer}"
        if width > 1:
            nodes.append(helper.make_node("Relu", [name], [f"h{layer}"]))
            name = f"h{layer}"
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["N", w]) for n, w in (("x", 5), (name, 1))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


@cache
def brute(path: Path, of: str) -> tuple[Fraction, Fraction]:
    """The shares of fair and unfair units, by the definition: everybody in exact arithmetic."""
    tensors = {t.name: numpy_helper.to_array(t).astype(float) for t in onnx.load(path).graph.initializer}
    everybody = list(product(range(12), (0, 2, 3), range(8), (0, 1), (0, 1)))
    values = np.array(everybody, dtype=float)  # with few bits, so that nothing is rounded
    for layer in range(len(tensors) // 2):
        values = values @ tensors[f"w{layer}"].T + tensors[f"b{layer}"]
        values = values if f"w{layer + 1}" not in tensors else np.maximum(values, 0)
    decided = dict(zip(everybody, values[:, 0] > 0, strict=True))

    fair = unfair = 0
    for age, job, years in product(range(12), (0, 2, 3), range(8)):
        asked = {"share": age >= 2, "calm": age <= 1 and job == 0, "some": age >= 6}
        if not of.endswith("everybody") and (years > age or not asked.get(of, True)):
            continue
        sides = {(sex, race): decided[age, job, years, sex, race] for sex in (0, 1) for race in (0, 1)}
        if of in ("calm", "some"):  # the race is shared: a unit for each; of `some`, the young are compared with nobody
            for race in (0, 1):
                bad = sides[0, race] != sides[1, race]
                fair, unfair = fair + (not bad), unfair + bad
            continue
        bad = any(
            sides[one] != sides[two]
            for one in sides
            for two in sides
            if (one != two if of.startswith("share") else one[0] != two[0] and one[1] != two[1])
        )
        fair, unfair = fair + (not bad), unfair + bad
    return Fraction(fair, fair + unfair), Fraction(unfair, fair + unfair)


def path_of(proved: Proved) -> Path:
    assert proved.proof is not None, proved.said
    return Path(proved.proof.path)


def prove(folder: Path, seed: int, seconds: float = 60, *, linear: bool = False) -> tuple[Proved, ...]:
    network(folder / "m.onnx", seed, linear=linear)
    (folder / "p.fair").write_text(SPEC)
    return prove_spec(
        str(folder / "p.fair"), str(folder), models={}, data={}, seconds=seconds, observer=Silent(), properties=()
    )
