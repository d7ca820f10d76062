"""Taking units out of an ONNX graph: weights sliced where only products read them, zeroed elsewhere.

A cut changes initializers and nothing else: names, shapes and types of inputs and outputs, the final
activation, labels and operators stay. Where a tensor has other readers, the cut gets a tensor of its own.
Zeroing a unit's column and bias makes its pre-activation 0 and the unit ``Relu(0) = 0``, in every arithmetic;
so does leaving it out of the products that read it, up to the order in which float32 adds the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.pruning.stages import Graph, Stage

IntArray = NDArray[np.int64]


class Cutter:
    """Changes the constants of a GraphProto in place."""

    def __init__(self, proto: Any) -> None:
        """``proto`` is a GraphProto whose initializers hold their data themselves."""
        self._proto = proto
        self._constants: dict[str, NDArray[Any]] = dict(_constants(proto))
        self.graph = Graph(proto, self._constants)
        #: What a node shall read at an input in place of the constant there.
        self._edited: dict[tuple[int, int], NDArray[Any]] = {}

    def slice(self, stage: Stage, units: IntArray) -> None:
        """Take the units (positions in the stage) out of the stage and of what reads it."""
        assert stage.readers is not None, "something else than products reads the units"
        kept = np.setdiff1d(np.arange(stage.width), units)
        self._change(stage, lambda array, axis: np.take(array, kept, axis=axis))
        for reader in stage.readers:
            made = self.graph.unit_axis(reader)
            assert made is not None, "readers are products"
            self._edited[reader, 1] = np.take(self._read(reader, 1), kept, axis=1 - made)

    def silence(self, stage: Stage, units: IntArray) -> None:
        """Make the units' weights and biases 0."""

        def zeroed(array: NDArray[Any], axis: int) -> NDArray[Any]:
            if array.shape[axis] == 1 < stage.width:  # one bias for all units
                array = np.repeat(array, stage.width, axis=axis)
            array = array.copy()
            index: list[Any] = [slice(None)] * array.ndim
            index[axis] = units
            array[tuple(index)] = 0
            return array

        self._change(stage, zeroed, widen=True)

    def finish(self) -> None:
        """Write the edited arrays into the graph, and forget what it notes about shapes inside."""
        stored = {item.name: item for item in self._proto.initializer}
        uses = Counter(name for node in self._proto.node for name in node.input)
        for (number, position), array in sorted(self._edited.items(), key=lambda item: item[0]):
            node = self._proto.node[number]
            name = node.input[position]
            if uses[name] == 1 and name in stored and name not in self.graph.outputs:
                stored[name].CopyFrom(_tensor(array, name))
                self._reshape_input(name, array)
            else:
                node.input[position] = self._fresh(name)
                self._proto.initializer.append(_tensor(array, node.input[position]))
                uses[name] -= 1
                if not uses[name] and name in stored and name not in self.graph.outputs:
                    self._proto.initializer.remove(stored[name])
        del self._proto.value_info[:]

    def _change(self, stage: Stage, edit: Callable[[NDArray[Any], int], NDArray[Any]], *, widen: bool = False) -> None:
        """Apply ``edit(array, axis of the units)`` to the stage's matrix and bias."""
        axis = self.graph.unit_axis(stage.product)
        assert axis is not None, "a stage begins with a product"
        self._edited[stage.product, 1] = edit(self._read(stage.product, 1), axis)
        place = stage.product if stage.addition is None else stage.addition
        node = self._proto.node[place]
        position = 2 if stage.addition is None else next(i for i in (0, 1) if node.input[i] in self._constants)
        if len(node.input) <= position or not node.input[position]:
            return
        bias = np.atleast_1d(self._read(place, position))
        # One bias for all units is cut by leaving it as it is.
        if bias.shape[-1] == stage.width or widen:
            self._edited[place, position] = edit(bias, bias.ndim - 1)

    def _read(self, number: int, position: int) -> NDArray[Any]:
        """What the node reads there, edits included."""
        edited = self._edited.get((number, position))
        return self._constants[self._proto.node[number].input[position]] if edited is None else edited

    def _reshape_input(self, name: str, array: NDArray[Any]) -> None:
        """Old files list initializers among the inputs, with their shapes."""
        for value in self._proto.input:
            if value.name == name:
                for dimension, size in zip(value.type.tensor_type.shape.dim, array.shape, strict=False):
                    dimension.dim_value = size

    def _fresh(self, name: str) -> str:
        """A name that nothing in the graph has."""
        taken = self.graph.maker.keys() | {read for node in self._proto.node for read in node.input}
        numbered = (f"{name}_pruned_{number}" for number in count(1))
        return next(found for found in numbered if found not in taken)


def _tensor(array: NDArray[Any], name: str) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.ascontiguousarray(array), name)


def _constants(proto: Any) -> Mapping[str, NDArray[Any]]:
    """The arrays of initializers and of Constant nodes that hold one tensor."""
    from onnx import numpy_helper

    found = {item.name: numpy_helper.to_array(item) for item in proto.initializer}
    for node in proto.node:
        if node.op_type == "Constant" and len(node.attribute) == 1 and node.attribute[0].HasField("t"):
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found
