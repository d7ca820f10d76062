"""What each layer of Keras computes, in nodes as ONNX has them. Everything else is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.models.keras_files.archive import UnreadKerasError
from fairdsl.models.onnx_import.file import RawNode

#: A tensor's name and its shape for one individual, the batch of one in front.
Tensor = tuple[str, tuple[int, ...]]
Arrays = Sequence[NDArray[Any]]
Config = Mapping[str, Any]

#: The version of the operators that nodes are of.
_OPSET = 20
#: What Keras adds or keeps away from 0 by, where it divides.
_FUZZ = 1e-7


class Drawing:
    """Nodes and constants, as layers add them."""

    def __init__(self) -> None:
        self.nodes: list[RawNode] = []
        self.constants: dict[str, NDArray[Any]] = {}
        self._where = ""

    def of(self, layer: str) -> None:
        """The nodes that follow are of this layer."""
        self._where = layer

    def add(self, operator: str, inputs: Sequence[str | NDArray[Any]], **attributes: Any) -> str:
        """A node; arrays are constants of its own. The result is the name of its tensor."""
        made = f"{self._where}:{len(self.nodes)}"
        names = [
            each if isinstance(each, str) else self._constant(f"{made}:{i}", each) for i, each in enumerate(inputs)
        ]
        self.nodes.append(
            RawNode(
                operator=operator,
                domain="",
                name=self._where,
                inputs=tuple(names),
                outputs=(made,),
                attributes=attributes,
                opset=_OPSET,
            )
        )
        return made

    def named(self, name: str, tensor: str) -> str:
        """The tensor under another name."""
        self.nodes.append(
            RawNode(operator="Identity", domain="", name=name, inputs=(tensor,), outputs=(name,), opset=_OPSET)
        )
        return name

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        self.constants[name] = array
        return name


def drawn(drawing: Drawing, kind: str, config: Config, arrays: Arrays, inputs: Sequence[Tensor]) -> Tensor:
    """What a layer makes of its inputs; raises UnreadKerasError."""
    _check(config)
    if kind in _MERGING:
        return _MERGING[kind](drawing, config, inputs)
    if kind not in _LAYERS:
        raise UnreadKerasError(f"its layer `{config['name']}` is of a kind that is not read: `{kind}`")
    if len(inputs) != 1:
        raise UnreadKerasError(f"its layer `{config['name']}` reads {len(inputs)} tensors")
    return _LAYERS[kind](drawing, config, arrays, inputs[0])


def check_own(described: Config) -> None:
    """UnreadKerasError where a class is not Keras' own, whatever it is called; `.h5` files do not say."""
    kind, module, registered = (described.get(name) for name in ("class_name", "module", "registered_name"))
    if registered not in (None, kind) or str(module or registered or "keras").partition(".")[0] != "keras":
        name = described["config"].get("name") or kind
        raise UnreadKerasError(f"its layer `{name}` is a class of its own: `{registered or kind}`")


def _check(config: Config) -> None:
    dtype = config.get("dtype", "float32")
    policy = dtype["config"]["name"] if isinstance(dtype, Mapping) else dtype
    if policy not in ("float32", "float64", "int32", "int64"):
        raise UnreadKerasError(f"its layer `{config['name']}` computes in `{policy}`")
    if config.get("quantization_config") is not None or config.get("lora_rank"):
        raise UnreadKerasError(f"its layer `{config['name']}` is quantised or has adapters")


def _numbers(*values: float) -> NDArray[Any]:
    return np.array(values, dtype=np.float32)


def _whole(*values: int) -> NDArray[Any]:
    return np.array(values, dtype=np.int64)


# ---- activations ---------------------------------------------------------------------------------


def _activated(drawing: Drawing, config: Config, value: Tensor) -> Tensor:
    """The activation that a layer names."""
    named = config.get("activation") or "linear"
    if isinstance(named, Mapping):
        inner = named["config"]
        if isinstance(inner, Mapping):  # a layer in the place of a function
            check_own(named)
            return drawn(drawing, named["class_name"], inner, (), [value])
        named = inner
    if named not in _ACTIVATIONS:
        raise UnreadKerasError(f"its layer `{config['name']}` has an activation that is not read: `{named}`")
    return _ACTIVATIONS[named](drawing, value[0]), value[1]


def _leaky(drawing: Drawing, value: str, slope: float) -> str:
    return drawing.add("LeakyRelu", [value], alpha=float(np.float32(slope)))


def _clipped(drawing: Drawing, value: str, low: float, high: float) -> str:
    return drawing.add("Clip", [value, _numbers(low).reshape(()), _numbers(high).reshape(())])


def _silu(drawing: Drawing, value: str) -> str:
    return drawing.add("Mul", [value, drawing.add("Sigmoid", [value])])


def _hard_sigmoid(drawing: Drawing, value: str) -> str:
    moved = _clipped(drawing, drawing.add("Add", [value, _numbers(3)]), 0, 6)
    return drawing.add("Div", [moved, _numbers(6)])


def _plain(operator: str, **attributes: Any) -> Callable[[Drawing, str], str]:
    return lambda drawing, value: drawing.add(operator, [value], **attributes)


_SELU = {"alpha": 1.6732631921768188, "gamma": 1.0507010221481323}
_ACTIVATIONS: dict[str, Callable[[Drawing, str], str]] = {
    "linear": _plain("Identity"),
    "relu": _plain("Relu"),
    "relu6": lambda drawing, value: _clipped(drawing, value, 0, 6),
    "leaky_relu": lambda drawing, value: _leaky(drawing, value, 0.2),
    "sigmoid": _plain("Sigmoid"),
    "tanh": _plain("Tanh"),
    "hard_sigmoid": _hard_sigmoid,
    "hard_tanh": lambda drawing, value: _clipped(drawing, value, -1, 1),
    "softplus": _plain("Softplus"),
    "elu": _plain("Elu"),
    "celu": _plain("Celu"),
    "selu": _plain("Selu", **_SELU),
    "gelu": _plain("Gelu"),
    "silu": _silu,
    "swish": _silu,
    "hard_silu": _plain("HardSwish"),
    "hard_swish": _plain("HardSwish"),
    "softmax": _plain("Softmax", axis=-1),
}


def _relu(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    """``max_value`` cuts, ``negative_slope`` bends; a threshold makes it jump."""
    if config.get("threshold"):
        raise UnreadKerasError(f"its layer `{config['name']}` jumps at its threshold")
    found = _leaky(drawing, value[0], float(config.get("negative_slope") or 0.0))
    highest = config.get("max_value")
    if highest is not None:
        found = drawing.add("Min", [found, _numbers(highest)])
    return found, value[1]


def _leaky_relu(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    return _leaky(drawing, value[0], float(config["negative_slope"])), value[1]


def _elu(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    return drawing.add("Elu", [value[0]], alpha=float(np.float32(config["alpha"]))), value[1]


def _prelu(drawing: Drawing, config: Config, arrays: Arrays, value: Tensor) -> Tensor:
    (alpha,) = arrays
    return drawing.add("PRelu", [value[0], alpha]), value[1]


def _softmax(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    if not isinstance(config["axis"], int):
        raise UnreadKerasError(f"its layer `{config['name']}` normalises along several axes")
    return drawing.add("Softmax", [value[0]], axis=config["axis"]), value[1]


# ---- products and scales -------------------------------------------------------------------------


def _dense(drawing: Drawing, config: Config, arrays: Arrays, value: Tensor) -> Tensor:
    kernel, *bias = arrays
    found = drawing.add("MatMul", [value[0], kernel])
    if config["use_bias"]:
        found = drawing.add("Add", [found, bias[0]])
    return _activated(drawing, config, (found, (*value[1][:-1], kernel.shape[1])))


def _batch_normalised(drawing: Drawing, config: Config, arrays: Arrays, value: Tensor) -> Tensor:
    """The moving mean and variance, of columns."""
    _of_columns(config, value)
    held = list(arrays)
    width = value[1][-1]
    gamma = held.pop(0) if config["scale"] else np.ones(width, dtype=np.float32)
    beta = held.pop(0) if config["center"] else np.zeros(width, dtype=np.float32)
    mean, variance = held
    inputs = [value[0], gamma, beta, mean, variance]
    return drawing.add("BatchNormalization", inputs, epsilon=float(np.float32(config["epsilon"]))), value[1]


def _normalised(drawing: Drawing, config: Config, arrays: Arrays, value: Tensor) -> Tensor:
    """``(x - mean) / max(sqrt(variance), 1e-7)``, of numbers that were given or learned."""
    if config.get("invert"):
        raise UnreadKerasError(f"its layer `{config['name']}` is inverted")
    given = config.get("mean") is not None
    of_layer = [config["mean"], config["variance"]] if given else arrays[:2]
    if len(of_layer) < 2:
        raise UnreadKerasError(f"its layer `{config['name']}` was adapted to no data")
    _of_columns({**config, "axis": -1 if config["axis"] is None else config["axis"]}, value)
    width = value[1][-1]
    mean, variance = (np.broadcast_to(np.asarray(each, dtype=np.float32).reshape(-1), (width,)) for each in of_layer)
    least = np.sqrt(variance.astype(np.float64)) < _FUZZ
    # A variance that is next to nothing stands for the number that Keras divides by in its place.
    spread = np.where(least, np.float64(_FUZZ) ** 2, variance.astype(np.float64))
    plain, none = np.ones(width, dtype=np.float32), np.zeros(width, dtype=np.float32)
    return drawing.add("BatchNormalization", [value[0], plain, none, mean, spread], epsilon=0.0), value[1]


def _of_columns(config: Config, value: Tensor) -> None:
    axis = config["axis"]
    (place,) = axis if isinstance(axis, list | tuple) and len(axis) == 1 else (axis,)
    if len(value[1]) != 2 or place not in (-1, 1):
        raise UnreadKerasError(f"its layer `{config['name']}` normalises something else than columns")


def _rescaled(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    scale, offset = (np.asarray(config[name], dtype=np.float32) for name in ("scale", "offset"))
    return drawing.add("Add", [drawing.add("Mul", [value[0], scale]), offset]), value[1]


def _embedded(drawing: Drawing, config: Config, arrays: Arrays, value: Tensor) -> Tensor:
    (table,) = arrays
    if config.get("mask_zero"):
        raise UnreadKerasError(f"its layer `{config['name']}` masks zeros (`mask_zero`)")
    codes = drawing.add("Cast", [value[0]], to=6)
    return drawing.add("Gather", [table, codes], axis=0), (*value[1], table.shape[1])


# ---- shapes and sums -----------------------------------------------------------------------------


def _same(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    """What drops or disturbs in training passes everything on afterwards."""
    return drawing.add("Identity", [value[0]]), value[1]


def _flat(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    if config.get("data_format") == "channels_first" and len(value[1]) > 2:
        raise UnreadKerasError(f"its layer `{config['name']}` moves channels")
    return drawing.add("Flatten", [value[0]], axis=1), (1, prod(value[1]))


def _reshaped(drawing: Drawing, config: Config, _: Arrays, value: Tensor) -> Tensor:
    wanted = [int(size) for size in config["target_shape"]]
    known = prod(size for size in wanted if size >= 0)
    shape = (1, *(size if size >= 0 else prod(value[1]) // known for size in wanted))
    return drawing.add("Reshape", [value[0], _whole(*shape)]), shape


def _joined(drawing: Drawing, config: Config, inputs: Sequence[Tensor]) -> Tensor:
    axis = int(config["axis"])
    shape = list(inputs[0][1])
    place = axis % len(shape)
    if place == 0:
        raise UnreadKerasError(f"its layer `{config['name']}` joins individuals")
    shape[place] = sum(each[1][place] for each in inputs)
    return drawing.add("Concat", [name for name, _ in inputs], axis=place), tuple(shape)


def _merged(operator: str, divided: bool = False) -> Callable[[Drawing, Config, Sequence[Tensor]], Tensor]:
    def merge(drawing: Drawing, config: Config, inputs: Sequence[Tensor]) -> Tensor:
        if len({shape for _, shape in inputs}) != 1:
            raise UnreadKerasError(f"its layer `{config['name']}` combines tensors of several shapes")
        found = inputs[0][0]
        for name, _ in inputs[1:]:
            found = drawing.add(operator, [found, name])
        if divided:
            found = drawing.add("Div", [found, _numbers(len(inputs))])
        return found, inputs[0][1]

    return merge


_MERGING: dict[str, Callable[[Drawing, Config, Sequence[Tensor]], Tensor]] = {
    "Concatenate": _joined,
    "Add": _merged("Add"),
    "Subtract": _merged("Sub"),
    "Average": _merged("Add", divided=True),
    "Maximum": _merged("Max"),
    "Minimum": _merged("Min"),
    "Multiply": _merged("Mul"),
}
_LAYERS: dict[str, Callable[[Drawing, Config, Arrays, Tensor], Tensor]] = {
    "Dense": _dense,
    "Activation": lambda drawing, config, _, value: _activated(drawing, config, value),
    "ReLU": _relu,
    "LeakyReLU": _leaky_relu,
    "ELU": _elu,
    "PReLU": _prelu,
    "Softmax": _softmax,
    "BatchNormalization": _batch_normalised,
    "Normalization": _normalised,
    "Rescaling": _rescaled,
    "Embedding": _embedded,
    "Flatten": _flat,
    "Reshape": _reshaped,
    **dict.fromkeys(
        ("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "Identity"), _same
    ),
}
