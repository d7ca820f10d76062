"""Reads VNN-LIB and ONNX files back, knowing nothing of how they were written: parsed, evaluated exactly, and
translated to SMT-LIB for a solver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import onnx
from onnx import numpy_helper

_TOKEN = re.compile(r"[()]|[^\s()]+")


@dataclass(frozen=True)
class Network:
    """Weights [out][in] and biases, with a ReLU between each layer and the next."""

    layers: tuple[tuple[list[list[Fraction]], list[Fraction]], ...]
    element: int

    @classmethod
    def read(cls, content: bytes) -> Network:
        model = onnx.load_from_string(content)
        onnx.checker.check_model(model, full_check=True)
        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        kinds = [node.op_type for node in model.graph.node]
        assert kinds == ["Gemm", "Relu"] * (len(kinds) // 2) + ["Gemm"]
        layers = []
        for node in model.graph.node[::2]:
            weight, bias = (stored[name] for name in node.input[1:])
            exact = [[Fraction(float(number)) for number in row] for row in weight]
            layers.append((exact, [Fraction(float(number)) for number in bias]))
        return cls(tuple(layers), model.graph.input[0].type.tensor_type.elem_type)

    def outputs(self, inputs: Sequence[Fraction]) -> list[Fraction]:
        values = list(inputs)
        for depth, (weight, bias) in enumerate(self.layers):
            if depth:
                values = [max(value, Fraction(0)) for value in values]
            values = [
                sum((w * v for w, v in zip(row, values, strict=True)), b) for row, b in zip(weight, bias, strict=True)
            ]
        return values

    def smt(self, inputs: Sequence[str], outputs: Sequence[str], prefix: str) -> list[str]:
        """Definitions of the outputs' names."""
        lines, current = [], list(inputs)
        for depth, (weight, bias) in enumerate(self.layers):
            last = depth == len(self.layers) - 1
            names = list(outputs) if last else [f"{prefix}{depth}.{unit}" for unit in range(len(bias))]
            for row, shift, name in zip(weight, bias, names, strict=True):
                parts = [f"(* {number(w)} {value})" for w, value in zip(row, current, strict=True) if w]
                total = f"(+ {' '.join([*parts, number(shift)])} 0.0)"
                lines.append(f"(define-fun z{name} () Real {total})")
                lines.append(
                    f"(define-fun {name} () Real {f'z{name}' if last else f'(ite (>= z{name} 0.0) z{name} 0.0)'})"
                )
            current = names
        return lines


def commands(text: str) -> list[list]:
    """The file's commands as nested lists."""
    stack: list[list] = [[]]
    for token in _TOKEN.findall(re.sub(r";[^\n]*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    assert len(stack) == 1
    return stack[0]


def assertions(text: str) -> list:
    return [command[1] for command in commands(text) if command[0] == "assert"]


def true(formula: list, values: Mapping[str, Fraction]) -> bool:
    """Whether the assertion holds at a point."""
    head, *rest = formula
    match head:
        case "and":
            return all(true(part, values) for part in rest)
        case "or":
            return any(true(part, values) for part in rest)
        case ">=":
            return value_of(rest[0], values) >= value_of(rest[1], values)
        case "<=":
            return value_of(rest[0], values) <= value_of(rest[1], values)
        case "==":
            return value_of(rest[0], values) == value_of(rest[1], values)
    raise AssertionError(head)


def value_of(term: str | list, values: Mapping[str, Fraction]) -> Fraction:
    if isinstance(term, str):
        return values[term] if term[0] in "XY" else Fraction(term)
    head, *rest = term
    parts = [value_of(part, values) for part in rest]
    if head == "+":
        return sum(parts, Fraction(0))
    assert head == "*"
    assert len(parts) == 2
    return parts[0] * parts[1]


def number(value: Fraction) -> str:
    size = f"(/ {abs(value.numerator)}.0 {value.denominator}.0)"
    return size if value >= 0 else f"(- {size})"


def smt_of(formula: str | list) -> str:
    """The assertion as SMT-LIB: the same, but for literals, `==` and names with brackets."""
    if isinstance(formula, str):
        if formula[0] in "XY":
            return f"|{formula}|" if "[" in formula else formula
        return {"==": "="}.get(formula, formula) if formula[0] in "andor=<>+*" else number(Fraction(formula))
    return f"({' '.join(smt_of(part) for part in formula)})"
