"""A node with what is known of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.float32.values import NoBoundError, Rounded, Value, of_file
from fairdsl.models.onnx_import.file import RawNode

#: The domain of classical machine learning.
ML = "ai.onnx.ml"


@dataclass(frozen=True, slots=True)
class Call:
    """``inputs`` are None where an optional one is left out; ``folded``: the runtime may fold a normalisation into
    the product."""

    node: RawNode
    inputs: Sequence[Value | None]
    folded: bool = False

    def attribute(self, name: str, default: Any) -> Any:
        """An attribute's value."""
        return self.node.attributes.get(name, default)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A list of numbers, which newer files may hold as a tensor; empty where there is none."""
        tensor = self.node.attributes.get(f"{name}_as_tensor")
        listed = self.node.attributes.get(name) if tensor is None else np.asarray(tensor).ravel()
        return np.array([] if listed is None else listed, dtype=np.float64)

    def optional(self, position: int) -> Value | None:
        """An input that may be left out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def value(self, position: int) -> Value:
        """An input that is needed."""
        value = self.optional(position)
        if value is None:
            raise NoBoundError(f"its input {position + 1} is missing")
        return value

    def rounded(self, position: int) -> Rounded:
        """An input with its bounds."""
        return of_file(self.value(position))

    def stored(self, position: int) -> NDArray[Any]:
        """An input that lies in the file."""
        value = self.value(position)
        if isinstance(value, Rounded):
            raise NoBoundError(f"its input {position + 1} depends on the individual")
        return value

    def whole_list(self, attribute: str, position: int) -> list[int] | None:
        """A list of whole numbers that older files hold as an attribute and newer ones as an input."""
        if self.optional(position) is not None:
            return [int(number) for number in self.stored(position).ravel().tolist()]
        listed = self.attribute(attribute, None)
        return None if listed is None else [int(number) for number in listed]


Handler = Callable[[Call], Sequence[Value]]
Handlers = Mapping[tuple[str, str], Handler]
