"""Classifiers of two labels as skl2onnx writes them: a score that is above 0 where the second label is chosen.

A `LinearClassifier` of two rows chooses the second label where its second row comes to more than the first one. An
MLP's `Sigmoid` p becomes `[1 - p, p]`, of which `ArgMax` takes the greatest, the first of equals, as the place of a
label: the second one where p > 1/2, so where what the `Sigmoid` reads is above 0. All of it is in real arithmetic.
"""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from itertools import chain
from operator import mul, sub
from typing import Any

from fairdsl_verify import reject, require
from fairdsl_verify.chain import Affine, Network, network_of
from fairdsl_verify.onnx_file import Graph, Message, Node, tensor
from fairdsl_verify.question import Column, Model

#: Operators of ONNX's domain for machine learning; the last two give probabilities another form, and labels nothing.
_ML = ("Scaler", "LinearClassifier", "ArrayFeatureExtractor", "ZipMap", "Normalizer")
#: What makes labels, or hands them on; and an MLP's last nodes, from a label back, with the input that is followed.
_LAST = ("Cast", "Identity", "LinearClassifier", "Reshape")
_BACK = {"ArrayFeatureExtractor": 1, "ArgMax": 0, "Concat": 0, "Sub": 1, "Sigmoid": 0}
#: The fields of what is listed, by data type.
_LISTED = {6: 5, 7: 7, 8: 6}


def reduced(question: Model, graph: Graph) -> tuple[Model, Network]:
    """A file's network, and the question about its score: where that is about a label, about what chooses it."""
    width = len(question.reads)
    if question.of != "label":
        return question, network_of(graph, width)
    rest, asked = copy(graph), copy(question)
    rest.nodes, rest.others = [node for node in graph.nodes if node.op not in _ML[3:]], dict(graph.others)
    known = all(node.domain == ("ai.onnx.ml" if node.op in _ML else "ai.onnx") for node in graph.nodes)
    if not known or question.deployed or graph.width not in (0, width):
        reject("the model has unknown operators or reads other columns, or the question is about float32 and a label")
    whole = graph.kind == 7 and all(_whole(question, column) for column in question.reads)
    if graph.kind not in (1, 11) and not whole:
        reject(f"the model's input is of data type {graph.kind}, which cuts fractions off: export it with float32")
    before = _before(rest, width)
    labels, network = _ended(rest, width)
    network.nodes[0][:0] = before
    if len(labels) != 2 or labels[0] == labels[1] or question.threshold not in labels:
        reject("the file does not choose one of two labels, or the question asks for another one")
    asked.of, asked.relation, asked.threshold = "score", ">" if question.threshold == labels[1] else "<=", Fraction(0)
    return asked, network


def _whole(question: Model, column: Column) -> bool:
    """Whether a column is filled with whole numbers."""
    numbers = (column.constant, *column.factors.values(), *chain(*column.tables.values()))
    real = any(question.attributes[place].real for place in column.factors)
    return not real and all(number.denominator == 1 for number in numbers)


def _before(rest: Graph, width: int) -> list[Affine]:
    """What stands between the input and the chain, taken off: casts to floats, and shifted and stretched columns."""
    found = []
    while rest.nodes and rest.nodes[0].op in ("Scaler", "Cast") and rest.nodes[0].inputs == [rest.input]:
        node = rest.nodes.pop(0)
        if node.op == "Scaler":
            by = [node.listed("offset"), node.listed("scale")]
            require({*map(len, by)} in ({1}, {width}), "a `Scaler` has other numbers than one, or one a column")
            offset, scale = (each * (width // len(each)) for each in by)
            rows = [[factor * (at == column) for column in range(width)] for at, factor in enumerate(scale)]
            found.append(Affine(rows, [-each for each in map(mul, offset, scale)]))
        else:
            require(node.one("to", 0) in (1, 11), "a `Cast` before the chain makes no floats")
        node.all_seen()
        (rest.input,) = node.outputs
    return found


def _ended(rest: Graph, width: int) -> tuple[list[Any], Network]:
    """The labels in their order, and the network that chooses between them: from the first output back to the chain."""
    cast, node = False, _made(rest, rest.outputs[0], *_LAST)
    while node.op in ("Cast", "Identity"):
        cast |= node.op == "Cast"
        require(node.op == "Identity" or node.one("to", 0) == 7, "a `Cast` of labels makes no whole numbers")
        node.all_seen()
        node = _made(rest, node.inputs[0], *_LAST)
    labels, network = (_linear if node.op == "LinearClassifier" else _network)(rest, node, width)
    require(not cast or all(type(label) is int for label in labels), "a `Cast` makes numbers of labels that are text")
    return labels, network


def _made(rest: Graph, name: str, *operators: str) -> Node:
    """The node that makes a tensor, taken off; it is of one of these operators."""
    for node in rest.nodes:
        if node.outputs[:1] == [name] and node.op in operators:
            rest.nodes.remove(node)
            return node
    return reject(
        f"`{name}` is not made by {' or '.join(operators)}: labels are followed as skl2onnx writes those of a "
        "LogisticRegression or MLPClassifier; of other models export one score, and compare it with a threshold"
    )


def _linear(rest: Graph, node: Node, width: int) -> tuple[list[Any], Network]:
    """A `LinearClassifier`; what it makes of its sums afterwards chooses no label."""
    labels = [*node.listed("classlabels_ints"), *node.listed("classlabels_strings")]
    entries, biases, kind = node.listed("coefficients"), node.listed("intercepts"), node.one("post_transform", "NONE")
    fits = len(biases) == 2 and len(entries) == 2 * width and node.inputs == [rest.input] and not rest.nodes
    if not fits or kind not in ("NONE", "LOGISTIC", "SOFTMAX") or node.one("multi_class", 0) not in (0, 1):
        reject("the model is more than a `LinearClassifier` of two rows behind `Scaler` and `Cast`")
    node.all_seen()
    list(map(tensor, rest.others.values()))  # which rejects them
    weight = list(map(sub, entries[width:], entries[:width]))
    return labels, Network([[Affine([weight], [biases[1] - biases[0]])]], sigmoid=False)


def _network(rest: Graph, node: Node, width: int) -> tuple[list[Any], Network]:
    """A chain behind which the last nodes of an MLP stand; the last one of all is a `Reshape`."""
    name, to, node_of = node.inputs[0], _listed(rest, node.inputs[1]), {"Reshape": node}
    for op, on in _BACK.items():
        node = node_of[op] = _made(rest, name, op)
        chosen = [node.one(each, default) for each, default in (("axis", 0), ("keepdims", 1), ("select_last_index", 0))]
        require(chosen == [op in ("ArgMax", "Concat"), 1, 0], f"`{op}` does not choose the first of equal columns")
        name = node.inputs[on]
    shape, one = rest.constants.get(node_of["Sub"].inputs[0], ((), []))
    if one != [1] or len(shape) > 2 or node_of["Concat"].inputs[1:] != node.outputs:
        reject("what `ArgMax` chooses of is not `[1 - p, p]` with `p` of a `Sigmoid`")
    require(to == [-1], "`Reshape` makes something else than one label for each row")
    for node in node_of.values():
        node.all_seen()
    rest.outputs = [name]
    return _listed(rest, node_of["ArrayFeatureExtractor"].inputs[0]), network_of(rest, width)


def _listed(rest: Graph, name: str) -> list[Any]:
    """A list of whole numbers or texts, which is read once."""
    message = Message(rest.others.pop(name, b""))
    kind = message.one(2, 0, 0)
    message.only((1, 2, field := _LISTED.get(kind, 0), 8), f"the tensor `{name}`")
    values: list[Any] = message.texts(field) if kind == 8 else message.integers(field)
    fits = kind != 6 or all(-(1 << 31) <= value < 1 << 31 for value in values)
    require(fits and message.integers(1) == [len(values)], f"the tensor `{name}` is no list of its size")
    return values
