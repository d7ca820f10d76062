"""Random models in files that every engine reads, each with what it makes of an individual written down once more.

A network, a forest and a network with curved units are evaluated from the drawn numbers, in fractions or in decimals of
60 digits; a black box is asked by onnxruntime, one individual at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnxruntime

from tests.demands.naive import VALUES, Model, Person, ruled
from tests.models.model_files import network, node, saved
from tests.models.tree_files import Branch, Leaf, Tree, regressor, tree_file

__all__ = ["KINDS"]

INPUTS = len(VALUES)


def read(one: Person) -> list[int]:
    """The four numbers that a file reads: categories as the positions of their values."""
    return [value if isinstance(value, int) else VALUES[name].index(value) for name, value in one.items()]


def declared(
    name: str, source: str, score: Callable[[Person], Any], random: Random, *, by_chance: float = 0.4
) -> Model:
    """A model of a file, whose score is computed once for each individual."""
    of = cache(lambda *numbers: score(dict(zip(VALUES, numbers, strict=True))))
    lines = f"from {source}\n  reads x, y, job, sex"
    return ruled(name, lines, lambda one: of(*one.values()), random, by_chance=by_chance)


def eighths(random: Random, count: int) -> list[Fraction]:
    """Numbers that float32 has, and whose sums and products it has as well."""
    return [Fraction(random.randint(-12, 12), 8) for _ in range(count)]


def layers(random: Random) -> tuple[list[list[Fraction]], list[Fraction], list[Fraction], Fraction]:
    """Weights and biases of a few hidden units and of the score."""
    hidden = random.randint(1, 3)
    weights = [eighths(random, INPUTS) for _ in range(hidden)]
    return weights, eighths(random, hidden), eighths(random, hidden), eighths(random, 1)[0]


def written(units: str, drawn: Any, folder: Path, name: str) -> str:
    weights, biases, last, constant = drawn
    nodes = [node("Gemm", ["x", "W", "b"], ["z"]), node(units, ["z"], ["h"]), node("Gemm", ["h", "V", "c"], ["y"])]
    constants = {
        "W": np.array(weights, dtype=np.float64).T, "b": np.array(biases, dtype=np.float64),
        "V": np.array([last], dtype=np.float64).T, "c": np.array([constant], dtype=np.float64),
    }  # fmt: skip
    return saved(network(nodes, constants, inputs={"x": ["N", INPUTS]}), folder, f"{name}.onnx")


def relu(name: str, random: Random, folder: Path) -> Model:
    """A network of one hidden layer of ReLUs."""
    drawn = layers(random)
    weights, biases, last, constant = drawn
    path = written("Relu", drawn, folder, name)

    def score(one: Person) -> Fraction:
        inputs = read(one)
        sums = [
            b + sum(w * v for w, v in zip(row, inputs, strict=True)) for row, b in zip(weights, biases, strict=True)
        ]
        return constant + sum((v * max(z, Fraction(0)) for v, z in zip(last, sums, strict=True)), Fraction(0))

    return declared(name, f'"{path}"', score, random)


def curved(name: str, random: Random, folder: Path) -> Model:
    """The same with tanh; scores nearer to 0 than 10^-40 are 0, for such sums have come out of equal terms."""
    drawn = layers(random)
    weights, biases, last, constant = drawn
    path = written("Tanh", drawn, folder, name)

    def decimal(number: Fraction) -> Decimal:
        return Decimal(number.numerator) / number.denominator

    def score(one: Person) -> Fraction:
        with localcontext() as context:
            context.prec = 60
            total = decimal(constant)
            for row, bias, factor in zip(weights, biases, last, strict=True):
                z = decimal(bias + sum(w * v for w, v in zip(row, read(one), strict=True)))
                up, down = z.exp(), (-z).exp()
                total += decimal(factor) * (up - down) / (up + down)
            return Fraction(round(total, 40))

    return replace(declared(name, f'"{path}"', score, random), curved=True)


def forest(name: str, random: Random, folder: Path) -> Model:
    """Sums of small trees."""

    def tree(depth: int) -> Tree:
        if depth == 0 or random.random() < 0.2:
            return Leaf(((0, float(eighths(random, 1)[0])),))
        below = [tree(depth - 1) for _ in range(2)]
        return Branch("BRANCH_LEQ", random.randrange(INPUTS), random.choice([0.0, 0.5, 1.0, 1.5]), *below)

    def walked(found: Tree, inputs: list[int]) -> Fraction:
        while isinstance(found, Branch):
            found = found.yes if inputs[found.feature] <= found.threshold else found.no
        return Fraction(found.votes[0][1])

    trees = [tree(3) for _ in range(random.randint(1, 3))]
    path = saved(tree_file([regressor(trees)], ("y",), INPUTS), folder, f"{name}.onnx")
    return declared(
        name, f'"{path}"', lambda one: sum((walked(each, read(one)) for each in trees), Fraction(0)), random
    )  # fmt: skip


def black_box(name: str, random: Random, folder: Path) -> Model:
    """A network that is only ever run; its weights are none that sums of float32 are exact with."""
    weights, biases, last, constant = layers(random)
    tenths = [[each * Fraction(4, 5) for each in row] for row in weights]
    path = written("Tanh", (tenths, biases, last, constant), folder, name)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def score(one: Person) -> Fraction:
        (answer,) = session.run(None, {"x": np.array([read(one)], dtype=np.float32)})
        return Fraction(float(answer[0, 0]))

    return declared(name, f'black_box "{path}"', score, random, by_chance=0)


#: How each kind of model is drawn.
KINDS: dict[str, Callable[[str, Random, Path], Model]] = {
    "network": relu,
    "curves": curved,
    "trees": forest,
    "black box": black_box,
}
