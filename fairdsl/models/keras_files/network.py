"""From the description of a model to nodes: layers in the order in which they can be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairdsl.models.keras_files.archive import UnreadKerasError, Weights
from fairdsl.models.keras_files.layers import Drawing, Tensor, check_own, drawn
from fairdsl.models.onnx_import.file import RawInput

#: A tensor by the layer that makes it, which of its calls, and which of its results.
_Place = tuple[str, int, int]


@dataclass(slots=True)
class Network:
    """A model's inputs, its nodes, and which tensors are its outputs, by the layers that make them."""

    drawing: Drawing = field(default_factory=Drawing)
    inputs: list[RawInput] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, described: Mapping[str, Any], weights: Weights) -> Network:
        """The nodes of a whole model; raises UnreadKerasError."""
        network = cls()
        inputs = [network._input(name, shape, dtype) for name, shape, dtype in _inputs(described)]
        for name, (tensor, _) in network._follow(described, weights, inputs, "").items():
            network.outputs.append(network.drawing.named(name, tensor))
        return network

    def _input(self, name: str, shape: Sequence[int | None], dtype: str) -> Tensor:
        if any(size is None for size in shape[1:]) or len(shape) < 2:
            raise UnreadKerasError(f"its input `{name}` has no fixed width")
        if dtype == "string":
            raise UnreadKerasError(f"its input `{name}` takes texts")
        self.inputs.append(RawInput(name=name, shape=(None, *shape[1:]), dtype=dtype))
        return name, (1, *(int(size) for size in shape[1:] if size is not None))

    def _follow(
        self, described: Mapping[str, Any], weights: Weights, inputs: Sequence[Tensor], inside: str
    ) -> dict[str, Tensor]:
        """The outputs of a model for these inputs; ``inside`` is where it is, in the names of nodes."""
        if described["class_name"] in ("Sequential", "Functional", "Model"):
            check_own(described)
        match described["class_name"]:
            case "Sequential":
                (value,), name = inputs, ""
                for layer in described["config"]["layers"]:
                    if layer["class_name"] != "InputLayer":
                        value, name = self._made(layer, weights, [value], inside), layer["config"]["name"]
                return {name: value}
            case "Functional" | "Model":
                return self._follow_graph(described["config"], weights, inputs, inside)
        raise UnreadKerasError(f"it is a `{described['class_name']}`, which says in Python what it computes")

    def _follow_graph(
        self, config: Mapping[str, Any], weights: Weights, inputs: Sequence[Tensor], inside: str
    ) -> dict[str, Tensor]:
        known: dict[_Place, Tensor] = dict(zip(_places(config["input_layers"]), inputs, strict=True))
        waiting = [
            (layer, number, _arguments(layer, call))
            for layer in config["layers"]
            for number, call in enumerate(layer["inbound_nodes"])
        ]
        while waiting:
            ready = [each for each in waiting if all(place in known for place in each[2])]
            if not ready:
                raise UnreadKerasError("its layers wait for each other")
            for layer, number, places in ready:
                place = (layer["config"]["name"], number, 0)
                known[place] = self._made(layer, weights, [known[each] for each in places], inside)
            waiting = [each for each in waiting if each not in ready]
        return {place[0]: known[place] for place in _places(config["output_layers"])}

    def _made(self, layer: Mapping[str, Any], weights: Weights, inputs: Sequence[Tensor], inside: str) -> Tensor:
        config, kind = layer["config"], layer["class_name"]
        name = config["name"]
        check_own(layer)
        if "layers" in config:
            (found,) = self._follow(layer, weights.inside[name], inputs, f"{inside}{name}/").values()
            return found
        self.drawing.of(f"{inside}{name}")
        return drawn(self.drawing, kind, config, weights.arrays.get(name, ()), inputs)


def _inputs(described: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[int | None], str]]:
    config = described["config"]
    layers = {layer["config"]["name"]: layer["config"] for layer in config["layers"]}
    if described["class_name"] == "Sequential":
        first = config["layers"][0]
        if first["class_name"] == "InputLayer":
            yield first["config"]["name"], first["config"]["batch_shape"], first["config"]["dtype"]
        elif config.get("build_input_shape"):
            yield "input", config["build_input_shape"], "float32"
        else:
            raise UnreadKerasError("it does not say how wide its input is")
        return
    for name, _, _ in _places(config.get("input_layers", ())):
        yield name, layers[name]["batch_shape"], layers[name]["dtype"]


def _places(listed: Any) -> list[_Place]:
    """One tensor, a list of them, or a dictionary by name."""
    if isinstance(listed, Mapping):
        return [place for each in listed.values() for place in _places(each)]
    if len(listed) == 3 and isinstance(listed[0], str):
        return [(str(listed[0]), int(listed[1]), int(listed[2]))]
    return [place for each in listed for place in _places(each)]


def _arguments(layer: Mapping[str, Any], call: Mapping[str, Any]) -> list[_Place]:
    """The tensors that a call of a layer reads; whatever else it is given must not change what it computes."""
    for name, given in call["kwargs"].items():
        if given not in (None, False) or name not in ("mask", "training"):
            raise UnreadKerasError(f"its layer `{layer['config']['name']}` is called with `{name}`")
    return [place for each in call["args"] for place in _tensors(layer, each)]


def _tensors(layer: Mapping[str, Any], given: Any) -> Iterator[_Place]:
    if isinstance(given, list | tuple):
        for each in given:
            yield from _tensors(layer, each)
        return
    if not isinstance(given, Mapping) or given.get("class_name") != "__keras_tensor__":
        raise UnreadKerasError(f"its layer `{layer['config']['name']}` is called with something else than tensors")
    name, number, result = given["config"]["keras_history"]
    yield str(name), int(number), int(result)
