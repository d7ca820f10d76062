"""A file that decides as another one does for a person's representative among the values of what is protected.

The wrapped file is asked about each person with each combination of protected values, and one of these combinations is
chosen by its answers; what it says of that one is the answer. The person's own protected values go nowhere, so two
people who differ in nothing else get the same answer: by construction, whatever the wrapped file computes.

Combinations are chosen by how favourable their outcome is: the least favourable one, or that of the majority (a
number: their median), where a tie goes to the less favourable side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.ensemble import attributes_of_form
from fairdsl.ir.model import Deployed, Readout
from fairdsl.models.onnx_import.file import whole_model
from fairdsl.models.onnx_written.nodes import Nodes, NotWrappedError, operator_set
from fairdsl.options.commands import Vote

Integers = NDArray[np.int64]

#: The oldest operator set with ``Range`` and a ``TopK`` that may sort upwards; the operators used are alike since.
_OLDEST = 11
#: Before the names of the wrapped file's tensors, and of those around it.
_PREFIX, _OWN = "each/", "vote/"
_ML = "ai.onnx.ml"
#: Numbers of ``TensorProto.DataType``.
_FLOAT, _INT64 = 1, 7
#: How many individuals there are, and the number of each.
_PEOPLE, _PERSON = f"{_OWN}people", f"{_OWN}person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrapped:
    """What is wrapped: how the file is run, and what stands in its inputs for each combination of protected values.

    ``blocks`` are, for each input, its protected columns and their numbers or texts, [combinations, columns];
    ``ranks`` says of each outcome how favourable it is, from 0.
    """

    deployed: Deployed
    blocks: Mapping[str, tuple[Integers, NDArray[Any]]]
    ranks: Sequence[int]
    combinations: int


def protected_columns(deployed: Deployed, protected: frozenset[int]) -> Mapping[str, Integers]:
    """Of each input of the file the columns that protected attributes fill, and nothing else.

    Raises NotWrappedError where a number is made of a protected attribute and another one: it would tell of the first.
    """
    found: dict[str, Integers] = {}
    for feed in deployed.feeds:
        forms = [deployed.features[position] for position in feed.features]
        for form in forms:
            read = attributes_of_form(form)
            if read & protected and not read <= protected:
                raise NotWrappedError("a number that the file reads is made of a protected attribute and another one")
        found[feed.name] = np.array([bool(attributes_of_form(form) & protected) for form in forms]).nonzero()[0]
    return found


def chosen_by(vote: Vote, ranks: Integers) -> Integers:
    """The rank that is the answer, of ranks [combinations, individuals]: what the written file is held against."""
    if vote is Vote.LEAST_FAVOURABLE:
        return np.asarray(ranks.min(axis=0))
    counts = np.stack([(ranks == rank).sum(axis=0) for rank in range(int(ranks.max(initial=0)) + 1)])
    return np.asarray(counts.argmax(axis=0))


def voting_file(wrapped: Wrapped, vote: Vote) -> bytes:
    """The file as ONNX, with the inputs of the wrapped one, and its output that decides.

    Raises NotWrappedError for files that are too old, or do not take individuals as rows of tables.
    """
    import onnx

    inner = whole_model(wrapped.deployed.path, wrapped.deployed.sha256)
    operator_set(inner, _OLDEST)
    inputs = [value for value in inner.graph.input if value.name in wrapped.blocks]
    if any(len(value.type.tensor_type.shape.dim) != 2 for value in inputs):
        raise NotWrappedError("an input of the file is not a table of individuals and columns")
    output = next(value for value in inner.graph.output if value.name == wrapped.deployed.output)
    given = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in inputs]
    answer = onnx.ValueInfoProto.FromString(output.SerializeToString())
    graph = _Writer(wrapped)
    copied = onnx.compose.add_prefix(inner, _PREFIX)
    table, as_dictionary = _table_of(copied.graph, _PREFIX + answer.name)
    graph.spread()
    graph.nodes += [node for node in copied.graph.node if node is not as_dictionary]
    chosen = graph.chosen(table, vote)
    rows = graph.add("Add", graph.add("Mul", chosen, _PEOPLE), _PERSON)
    if as_dictionary is None:
        graph.add("Gather", table, rows, axis=0, output=answer.name)
    else:
        as_dictionary.input[0] = graph.add("Gather", table, rows, axis=0)
        as_dictionary.output[0] = answer.name
        graph.nodes.append(as_dictionary)
    del copied.graph.node[:], copied.graph.input[:], copied.graph.output[:], copied.graph.value_info[:]
    copied.graph.node.extend(graph.nodes)
    copied.graph.input.extend(given)
    copied.graph.output.append(answer)
    copied.graph.initializer.extend(graph.constants)
    _with_encoders(copied, next((entry.version for entry in inner.opset_import if entry.domain == _ML), None))
    copied.producer_name = "fairdsl"
    content: bytes = copied.SerializeToString(deterministic=True)
    return content


def _with_encoders(model: Any, version: int | None) -> None:
    """Let the file use today's ``LabelEncoder``, the one operator that version 2 of its operator set changed."""
    import onnx

    if version is None:
        model.opset_import.append(onnx.helper.make_opsetid(_ML, 2))
    elif version < 2:
        if any(node.op_type == "LabelEncoder" and not node.name.startswith(_OWN) for node in model.graph.node):
            raise NotWrappedError(f"the file uses version {version} of `{_ML}`, and 2 is needed: export it again")
        next(entry for entry in model.opset_import if entry.domain == _ML).version = 2


def _table_of(graph: Any, output: str) -> tuple[str, Any]:
    """The tensor with what is said of each individual, and the node that makes dictionaries of it, if one does."""
    maker = next((node for node in graph.node if output in node.output), None)
    return (maker.input[0], maker) if maker is not None and maker.op_type == "ZipMap" else (output, None)


class _Writer(Nodes):
    """The nodes around the wrapped file."""

    def __init__(self, wrapped: Wrapped) -> None:
        super().__init__(_OWN)
        self._wrapped = wrapped

    def spread(self) -> None:
        """The wrapped file's inputs: each individual with each combination, everybody with the first of them first."""
        first = self._wrapped.deployed.feeds[0].name
        zero, one = self.stored(np.int64(0)), self.stored(np.int64(1))
        people = self.add("Gather", self.add("Shape", first), zero, axis=0, output=_PEOPLE)
        self.add("Range", zero, people, one, output=_PERSON)
        count = self.stored(np.int64(self._wrapped.combinations))
        everybody = self.add("Range", zero, self.add("Mul", people, count), one)
        row, combination = self.add("Mod", everybody, people), self.add("Div", everybody, people)
        for feed in self._wrapped.deployed.feeds:
            columns, values = self._wrapped.blocks[feed.name]
            others = np.setdiff1d(np.arange(len(feed.features)), columns)
            parts = []
            if len(others):
                free = feed.name
                if len(columns):  # what comes in through the others is dropped here
                    free = self.add("Gather", feed.name, self.stored(others), axis=1)
                parts.append(self.add("Gather", free, row, axis=0))
            if len(columns):
                parts.append(self.add("Gather", self._table(values), combination, axis=0))
            together = parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)
            order = np.argsort(np.concatenate([others, columns]))
            self.add("Gather", together, self.stored(order), axis=1, output=_PREFIX + feed.name)

    def _table(self, values: np.ndarray[Any, Any]) -> str:
        """The protected values of each combination. A file whose weights are NaN has diverged; so NaN, which stands for
        a number that somebody lacks, is computed as 0 / 0."""
        if values.dtype.kind != "f" or not np.isnan(values).any():
            return self.stored(values)
        known = (~np.isnan(values)).astype(values.dtype)
        return self.add("Div", self.stored(np.nan_to_num(values)), self.stored(known))

    def chosen(self, table: str, vote: Vote) -> str:
        """For each individual the combination whose answer is taken, [individuals]."""
        from onnx import helper

        deployed, count = self._wrapped.deployed, self._wrapped.combinations
        by_combination = self.stored(np.array([count, -1]))
        if deployed.readout in (Readout.HIGHEST, Readout.LABEL):
            return self._by_rank(self.add("Reshape", self._ranks(table), by_combination), vote)
        number = self.add("Transpose", self.add("Reshape", self._number(table), by_combination), perm=[1, 0])
        rising = deployed.relation is not None and deployed.relation.upwards
        upwards = rising == (self._wrapped.ranks[deployed.granted] > self._wrapped.ranks[deployed.otherwise])
        # Of an even number the lower of the two in the middle: a tie goes to the less favourable side.
        place = 0 if vote is Vote.LEAST_FAVOURABLE else (count - 1) // 2
        sizes, order = f"{_OWN}sorted", f"{_OWN}order"
        settings = {"axis": 1, "largest": int(not upwards)}
        self.nodes.append(
            helper.make_node("TopK", [number, self.stored(np.array([count]))], [sizes, order], sizes, **settings)
        )
        return self.add("Gather", order, self.stored(np.int64(place)), axis=1)

    def _number(self, table: str) -> str:
        """The number that is compared, of everybody in every combination."""
        match self._wrapped.deployed.readout:
            case Readout.DIFFERENCE:
                second, first = (self._column(table, place) for place in (1, 0))
                return self.add("Sub", second, first)
            case Readout.CHANNEL:
                return self._column(table, self._wrapped.deployed.channel)
            case _:
                return table

    def _column(self, table: str, place: int) -> str:
        return self.add("Gather", table, self.stored(np.array([place])), axis=1)

    def _ranks(self, table: str) -> str:
        """How favourable the outcomes are, as numbers, of everybody in every combination."""
        deployed, ranks = self._wrapped.deployed, self._wrapped.ranks
        labels = deployed.labels or tuple(range(len(ranks)))
        rank_of = {label: float(rank) for label, rank in zip(labels, ranks, strict=True) if label is not None}
        rest = float(ranks[labels.index(None)]) if None in labels else 0.0
        if deployed.readout is Readout.HIGHEST:
            table = self.add("ArgMax", table, axis=1, keepdims=0)
        elif not any(isinstance(label, str) for label in rank_of):
            table = self.add("Cast", table, to=_INT64)
        kind = "strings" if any(isinstance(label, str) for label in rank_of) else "int64s"
        keys: dict[str, Any] = {f"keys_{kind}": list(rank_of), "values_floats": list(rank_of.values())}
        return self.add("LabelEncoder", table, domain=_ML, default_float=rest, **keys)

    def _by_rank(self, ranks: str, vote: Vote) -> str:
        """The first combination of the rank that is the answer; ``ranks`` is [combinations, individuals]."""
        if vote is Vote.LEAST_FAVOURABLE:
            return self.add("ArgMin", ranks, axis=0, keepdims=0)
        count, outcomes = self._wrapped.combinations, len(self._wrapped.ranks)
        each = self.stored(np.arange(outcomes, dtype=np.float32).reshape(1, 1, -1))
        alike = self.add("Equal", self.add("Reshape", ranks, self.stored(np.array([count, -1, 1]))), each)
        votes = self.add("Reshape", self.add("Cast", alike, to=_FLOAT), self.stored(np.array([count, -1])))
        total = self.add("MatMul", self.stored(np.ones((1, count), dtype=np.float32)), votes)
        # The first of equal counts is the less favourable one.
        won = self.add("ArgMax", self.add("Reshape", total, self.stored(np.array([-1, outcomes]))), axis=1, keepdims=0)
        first = self.add("Cast", self.add("Equal", ranks, self.add("Cast", won, to=_FLOAT)), to=_FLOAT)
        return self.add("ArgMax", first, axis=0, keepdims=0)
