"""A builder for every operator that is read: each appends a node of it, with random shapes and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from tests.models.random_graphs import FLOATS, WHOLE, Builder, CannotDrawError, Drawing, Tensor, element

NUMBERS = (*FLOATS, *WHOLE)


def constant_for(d: Drawing, source: Tensor, values: Any = None) -> tuple[str, tuple[int, ...]]:
    """A constant that broadcasts with the tensor, and its shape."""
    shape = d.one_of([(), (1,), source.shape, source.shape[-1:], (1,) * len(source.shape), (1, *source.shape)])
    whole = source.dtype in WHOLE
    found = d.numbers(*shape, whole=whole) if values is None else np.broadcast_to(values, shape)
    return d.constant(found, source.dtype), shape


def joined(d: Drawing, left: Tensor, right: Tensor | tuple[int, ...], **changed: Any) -> Tensor:
    shape = right.shape if isinstance(right, Tensor) else right
    early, exact = (not isinstance(right, Tensor) or getattr(right, name) for name in ("early", "exact"))
    both = {"early": left.early and early, "exact": left.exact and exact}
    return d.like(left, np.broadcast_shapes(left.shape, shape), **{**both, **changed})


def partner(d: Drawing, left: Tensor) -> Tensor:
    def fits(tensor: Tensor) -> bool:
        try:
            np.broadcast_shapes(left.shape, tensor.shape)
        except ValueError:
            return False
        return not tensor.label and tensor.dtype == left.dtype and tensor.dtype in NUMBERS

    return d.pick(fits)


def combining(operator: str, constants: bool = True, both: bool = True, **changed: Any) -> Builder:
    """Two numbers, or one and a constant on either side."""

    def build(d: Drawing) -> None:
        left = d.number(NUMBERS)
        if both and d.chance(0.4):
            right = partner(d, left)
            d.add(operator, [left, right], joined(d, left, right, **changed))
            return
        name, shape = constant_for(d, left)
        sides: list[Any] = [left, name] if d.chance(0.6) else [name, left]
        d.add(operator, sides, joined(d, left, shape, **changed))

    return build


def divided(d: Drawing) -> None:
    left = d.number(NUMBERS)
    if left.dtype in WHOLE:
        name, shape = constant_for(d, left, d.one_of([1, -1, 2, 3]))
        d.add("Div", [left, name], joined(d, left, shape))
        return
    name, shape = constant_for(d, left, d.powers() if d.fine else 0.3)
    d.add("Div", [left, name], joined(d, left, shape, exact=d.fine and left.exact))


def several(operator: str, **changed: Any) -> Builder:
    """One to three values of one type."""

    def build(d: Drawing) -> None:
        first = d.number(NUMBERS if operator in ("Max", "Min") and d.opset >= 12 else FLOATS)
        sources: list[Any] = [first]
        found = first
        for _ in range(int(d.rng.integers(0, 3))):
            if d.chance():
                other = partner(d, found)
                sources.append(other)
                found = joined(d, found, other, **changed)
            else:
                name, shape = constant_for(d, first)
                found = joined(d, found, shape, **changed)
                sources.insert(int(d.rng.integers(0, len(sources) + 1)), name)
        d.add(operator, sources, d.like(found, found.shape, **changed))

    return build


def single(operator: str, dtypes: tuple[str, ...] = FLOATS, attributes: Any = None, **changed: Any) -> Builder:
    def build(d: Drawing) -> None:
        source = d.number(dtypes)
        given = attributes(d) if attributes else {}
        d.add(operator, [source], d.like(source, source.shape, **changed), **given)

    return build


def gemm(d: Drawing) -> None:
    left, turned, out = d.number(rank=2), d.chance(0.2), int(d.rng.integers(1, 5))
    source: Any = left
    if turned:
        source = d.add("Transpose", [left], d.like(left, left.shape[::-1]), perm=[1, 0])
    inner, rows = left.shape[1], left.shape[0]
    other = d.chance()
    weight = d.constant(d.numbers(*((out, inner) if other else (inner, out))), left.dtype)
    attributes = {
        **d.some(alpha=0.5, beta=-2.0),
        **({"transB": 1} if other else {}),
        **({"transA": 1} if turned else {}),
    }
    bias = [d.constant(d.numbers(*d.one_of([(out,), (1, out), (), (1,)])), left.dtype)] if d.chance(0.7) else []
    d.add("Gemm", [source, weight, *bias], d.like(left, (rows, out)), **attributes)


def product(d: Drawing) -> None:
    left = d.pick(lambda t: not t.label and t.dtype in NUMBERS and len(t.shape) >= 1)
    if len(left.shape) == 2 and d.chance(0.2):
        rows = int(d.rng.integers(1, 3))
        weight = d.constant(d.numbers(rows, left.shape[0], whole=left.dtype in WHOLE), left.dtype)
        d.add("MatMul", [weight, left], d.like(left, (rows, left.shape[1])))
        return
    out = int(d.rng.integers(1, 5))
    shape = (left.shape[-1], out) if d.chance(0.8) else (left.shape[-1],)
    weight = d.constant(d.numbers(*shape, whole=left.dtype in WHOLE), left.dtype)
    d.add("MatMul", [left, weight], d.like(left, (*left.shape[:-1], *shape[1:])))


def normalised(d: Drawing) -> None:
    source = d.pick(lambda t: t.dtype == "float32" and not t.label and len(t.shape) >= 2)
    channels = source.shape[1]
    spread = np.abs(d.numbers(channels)) + 0.25
    names = [d.constant(v) for v in (d.numbers(channels), d.numbers(channels), d.numbers(channels), spread)]
    d.add("BatchNormalization", [source, *names], d.like(source, source.shape, exact=False), **d.some(epsilon=0.001))


def prelu(d: Drawing) -> None:
    source = d.number()
    slope = d.constant(d.numbers(*d.one_of([source.shape[-1:], source.shape, (1,)])), source.dtype)
    d.add("PRelu", [source, slope], d.like(source, source.shape, early=False))


def clip(d: Drawing) -> None:
    source = d.number(NUMBERS if d.opset >= 12 else ("float32",))
    low, high = (int(v) for v in d.rng.integers(-3, 4, 2))
    if d.opset < 11:
        return _clipped(d, source, [], **d.some(min=float(low), max=float(high)))
    limits = [d.constant(v, source.dtype) if d.chance(0.8) else "" for v in (low, high)]
    return _clipped(d, source, limits)


def _clipped(d: Drawing, source: Tensor, limits: list[str], **attributes: Any) -> None:
    while limits and not limits[-1]:
        limits.pop()
    d.add("Clip", [source, *limits], d.like(source, source.shape, early=False), **attributes)


def softmax(d: Drawing) -> None:
    source = d.number()
    axis = int(d.rng.integers(-len(source.shape), len(source.shape))) if source.shape else 0
    attributes = d.some(axis=axis) if d.chance(0.5) else {"axis": len(source.shape) - 1}
    d.add("Softmax", [source], d.like(source, source.shape, early=False, exact=False), **attributes)


def argmax(d: Drawing) -> None:
    source = d.pick(lambda t: not t.label and t.dtype in NUMBERS and t.size >= 2)
    axis = int(np.argmax(source.shape)) if d.chance(0.9) else int(d.rng.integers(len(source.shape)))
    keep = d.one_of([None, 0, 1])
    shape = [1 if i == axis else n for i, n in enumerate(source.shape) if i != axis or keep != 0]
    attributes = {} if keep is None else {"keepdims": keep}
    if axis or d.chance():
        attributes["axis"] = axis - len(source.shape) if d.chance(0.3) and d.opset >= 11 else axis
    if d.opset >= 12 and d.chance(0.1):
        attributes["select_last_index"] = 1
    d.add("ArgMax", [source], d.like(source, shape, dtype="int64", label=True), **attributes)


def compared(operator: str) -> Builder:
    def build(d: Drawing) -> None:
        left = d.number(NUMBERS)
        if left.size != 1 and len(left.shape) == 2:
            column = int(d.rng.integers(0, left.shape[1]))
            left = d.add("Gather", [left, d.constant([column], "int64")], d.like(left, (left.shape[0], 1)), axis=1)
        name, shape = constant_for(d, left, d.one_of([0, 0.5, 1, -1]) if left.dtype in FLOATS else 1)
        sides: list[Any] = [left, name] if d.chance() else [name, left]
        d.add(operator, sides, joined(d, left, shape, dtype="bool", label=True))

    return build


def moved(d: Drawing) -> Tensor:
    """A tensor of whatever kind."""
    return d.pick(lambda t: True)


def identity(d: Drawing) -> None:
    source = moved(d)
    d.add("Identity", [source], d.like(source, source.shape))


def dropout(d: Drawing) -> None:
    source = d.number()
    extra: list[Any] = []
    if d.opset >= 12 and d.chance():
        extra = [d.constant(0.5, "float32"), *([d.constant(False, "bool")] if d.chance() else [])]
    d.add("Dropout", [source, *extra], d.like(source, source.shape), **(d.some(ratio=0.3) if d.opset < 12 else {}))


def constant_node(d: Drawing) -> None:
    source = d.number(("float32",))
    values = d.numbers(*source.shape[-1:])
    made = Tensor(d.fresh(), values.shape, "float32")
    forms: list[dict[str, Any]] = [{"value": numpy_helper.from_array(values.astype(np.float32))}]
    if d.opset >= 12 and values.ndim == 1:
        forms.append({"value_floats": [float(v) for v in values]})
    d.nodes.append(helper.make_node("Constant", [], [made.name], **d.one_of(forms)))
    d.add("Add", [source, made], joined(d, source, made.shape))


def constant_of_shape(d: Drawing) -> None:
    source = d.number(("float32",))
    made = d.fresh()
    value = numpy_helper.from_array(np.array([0.5], dtype=np.float32))
    shape = d.constant([*source.shape], "int64")
    d.nodes.append(helper.make_node("ConstantOfShape", [shape], [made], **d.some(value=value)))
    d.add("Sub", [source, made] if d.chance() else [made, source], d.like(source, source.shape))


def shape_of(d: Drawing) -> None:
    """A Reshape to the shape of another tensor."""
    source = d.pick(lambda t: not t.label)
    like = d.pick(lambda t: t.size == source.size and not t.label)
    made, clipped = d.fresh(), d.some(start=0) if d.opset >= 15 else {}
    d.nodes.append(helper.make_node("Shape", [like.name], [made], **clipped))
    d.add("Reshape", [source, made], d.like(source, like.shape))


def cast(d: Drawing) -> None:
    source = d.pick(lambda t: t.label) if d.chance(0.5) else moved(d)
    if source.dtype == "string" or source.label:
        targets: tuple[str, ...] = ("bool", "uint8", "int32", "int64", "float32", "float64", "string", "int8")
    else:
        targets = ("float32", "float64", "float32", "int64", "int32", "bool")
    dtype = d.one_of(targets)
    exact = source.exact and dtype != "bool"
    early = source.early and dtype in NUMBERS
    d.add("Cast", [source], d.like(source, source.shape, dtype=dtype, exact=exact, early=early), to=element(dtype))


def reshape(d: Drawing) -> None:
    source = moved(d)
    target = d.one_of([(1, -1), (-1,), (0, -1), (-1, source.size), (1, 1, -1), source.shape, (1, -1, 1)])
    try:
        shape = np.zeros(source.shape).reshape([source.shape[i] if n == 0 else n for i, n in enumerate(target)]).shape
    except (ValueError, IndexError) as problem:
        raise CannotDrawError from problem
    d.add("Reshape", [source, d.constant(target, "int64")], d.like(source, shape))


def flatten(d: Drawing) -> None:
    source = d.pick(lambda t: len(t.shape) >= 1)
    axis = d.one_of([None, 0, 1, -1 if d.opset >= 11 else 1, len(source.shape)])
    cut = (1 if axis is None else axis) % (len(source.shape) + 1) if axis != -1 else len(source.shape) - 1
    shape = (int(np.prod(source.shape[:cut], dtype=int)), int(np.prod(source.shape[cut:], dtype=int)))
    d.add("Flatten", [source], d.like(source, shape), **({} if axis is None else {"axis": axis}))


def _with_axes(d: Drawing, operator: str, source: Tensor, axes: list[int] | None, shape: tuple[int, ...]) -> None:
    if axes is None:
        d.add(operator, [source], d.like(source, shape))
    elif d.opset >= 13:
        d.add(operator, [source, d.constant(axes, "int64")], d.like(source, shape))
    else:
        d.add(operator, [source], d.like(source, shape), axes=axes)


def squeeze(d: Drawing) -> None:
    source = d.pick(lambda t: 1 in t.shape)
    ones = [i for i, n in enumerate(source.shape) if n == 1]
    axes = d.one_of([None, [d.one_of(ones)], ones])
    kept = tuple(n for i, n in enumerate(source.shape) if i not in (ones if axes is None else axes))
    _with_axes(d, "Squeeze", source, axes, kept)


def unsqueeze(d: Drawing) -> None:
    source = d.pick(lambda t: len(t.shape) <= 2)
    axes = d.one_of([[0], [len(source.shape)], [0, 1]])
    _with_axes(d, "Unsqueeze", source, axes, np.expand_dims(np.zeros(source.shape), tuple(axes)).shape)


def transpose(d: Drawing) -> None:
    source = d.pick(lambda t: len(t.shape) >= 1)
    order = [int(i) for i in d.rng.permutation(len(source.shape))]
    given = d.chance(0.7)
    shape = [source.shape[i] for i in order] if given else source.shape[::-1]
    d.add("Transpose", [source], d.like(source, shape), **({"perm": order} if given else {}))


def expand(d: Drawing) -> None:
    source = d.pick(lambda t: not t.label)
    target = d.one_of([source.shape, (2, *([1] * len(source.shape))), (1,), (*source.shape[:-1], 3)])
    try:
        shape = np.broadcast_shapes(source.shape, target)
    except ValueError as problem:
        raise CannotDrawError from problem
    if int(np.prod(shape, dtype=int)) > 24 or not target:
        raise CannotDrawError
    d.add("Expand", [source, d.constant(target, "int64")], d.like(source, shape))


def gather(d: Drawing) -> None:
    if d.chance(0.4):
        chosen = d.pick(lambda t: t.label and t.dtype in WHOLE)
        table = d.one_of([[3, 5, 9], [1, 1, 0], [0, 1], [7, 7, 7, 2], [-1, 4, 4], [2, 0, 1, 3]])
        made = d.constant(table, d.one_of(["int64", "float32"]))
        d.add(
            "Gather",
            [made, chosen],
            d.like(chosen, chosen.shape, dtype="int64" if "int" in _type(d, made) else "float32"),
        )
        return
    source = d.pick(lambda t: len(t.shape) >= 1 and not t.label)
    axis = int(d.rng.integers(len(source.shape)))
    length = source.shape[axis]
    shape = d.one_of([(1,), (2,), (), (1, 2)])
    positions = d.rng.integers(-length if d.opset >= 11 else 0, length, shape)
    made = d.constant(positions, d.one_of(WHOLE))
    d.add("Gather", [source, made], d.like(source, np.take(np.zeros(source.shape), positions, axis).shape),
          **({"axis": axis} if axis or d.chance() else {}))  # fmt: skip


def _type(d: Drawing, name: str) -> str:
    if name in d.constants:
        return str(d.constants[name].dtype)
    (node,) = [node for node in d.nodes if name in node.output]
    return str(numpy_helper.to_array(node.attribute[0].t).dtype)


def sliced(d: Drawing) -> None:
    source = d.pick(lambda t: len(t.shape) >= 1 and not t.label)
    axis, step = int(d.rng.integers(len(source.shape))), int(d.one_of([1, 1, 2, -1]))
    n = source.shape[axis]
    start, end = (int(d.rng.integers(0, n)), n + 3) if step > 0 else (n - 1, -n - 5)
    if d.opset < 10:
        step, start, end = 1, max(start - 1, 0), n + 3
    window = [slice(None)] * len(source.shape)
    window[axis] = slice(start, None if step < 0 else end, step)
    found = d.like(source, np.zeros(source.shape)[tuple(window)].shape)
    if d.opset < 10:
        d.add("Slice", [source], found, starts=[start], ends=[end], axes=[axis])
        return
    names = [d.constant([v], "int64") for v in (start, end, axis, step)]
    d.add("Slice", [source, *names], found)


def concat(d: Drawing) -> None:
    first = d.pick(lambda t: len(t.shape) >= 1 and not t.label and t.dtype in NUMBERS)
    axis = int(d.rng.integers(len(first.shape)))
    shape = list(first.shape)
    rest = (*first.shape[:axis], *first.shape[axis + 1 :])
    others: list[Any] = [first]
    early, exact = first.early, first.exact
    for _ in range(int(d.rng.integers(0, 3))):
        if d.chance(0.3):
            size = list(first.shape)
            size[axis] = 1
            others.append(d.constant(d.numbers(*size, whole=first.dtype in WHOLE), first.dtype))
            shape[axis] += 1
            continue
        other = d.pick(
            lambda t: len(t.shape) == len(first.shape) and t.dtype == first.dtype and not t.label
            and (*t.shape[:axis], *t.shape[axis + 1 :]) == rest
        )  # fmt: skip
        others.append(other)
        shape[axis] += other.shape[axis]
        early, exact = early and other.early, exact and other.exact
    d.add("Concat", others, d.like(first, shape, early=early, exact=exact), axis=axis)


def split(d: Drawing) -> None:
    source = d.pick(lambda t: not t.label and len(t.shape) >= 1 and max(t.shape) >= 2)
    axis = int(np.argmax(source.shape))
    n = source.shape[axis]
    first = int(d.rng.integers(1, n))
    even = n % 2 == 0 and d.chance(0.4)
    sizes = [n // 2, n // 2] if even else [first, n - first]
    parts = []
    for i, size in enumerate(sizes):
        shape = list(source.shape)
        shape[axis] = size
        part = d.like(source, shape)
        parts.append(Tensor(f"{part.name}_{i}", part.shape, part.dtype, part.early, part.exact))
    attributes: dict[str, Any] = {"axis": axis}
    sources: list[Any] = [source]
    if even and d.opset >= 18:
        attributes["num_outputs"] = 2
    elif not even and d.opset >= 13:
        sources.append(d.constant(sizes, "int64"))
    elif not even:
        attributes["split"] = sizes
    d.add("Split", sources, *parts, **attributes)


def alpha(d: Drawing) -> dict[str, Any]:
    return {"alpha": float(d.one_of([0.25, 0.5, 1.5, -0.5, 0.0, 1.0]))} if d.chance(0.7) else {}


def since(opset: int, builder: Builder) -> Builder:
    """A builder of an operator that files of older versions do not have."""

    def build(d: Drawing) -> None:
        if d.opset < opset:
            raise CannotDrawError
        builder(d)

    return build


def gate(d: Drawing) -> None:
    """A number times the logistic function of a multiple of it."""
    source = d.number(("float32",))
    like = d.like(source, source.shape, early=False, exact=False)
    factor, _ = constant_for(d, source, d.one_of([1.0, 1.75, -0.5]))
    inner: Any = source if d.chance() else d.add("Mul", [source, factor], d.like(source, source.shape, exact=False))
    share = d.add("Sigmoid", [inner], like)
    d.add("Mul", [source, share] if d.chance() else [share, source], like)


def line(d: Drawing) -> dict[str, Any]:
    return d.some(alpha=0.25, beta=0.5)


BUILDERS: dict[tuple[str, str], Builder] = {
    ("", "Add"): combining("Add"),
    ("", "Sub"): combining("Sub"),
    ("", "Mul"): lambda d: gate(d) if d.chance(0.2) else combining("Mul", both=False)(d),
    ("", "Div"): divided,
    ("", "Sum"): several("Sum"),
    ("", "Neg"): single("Neg", NUMBERS),
    ("", "Gemm"): gemm,
    ("", "MatMul"): product,
    ("", "BatchNormalization"): normalised,
    ("", "Relu"): single("Relu", early=False),
    ("", "LeakyRelu"): single("LeakyRelu", ("float32",), alpha, early=False, exact=False),
    ("", "PRelu"): prelu,
    ("", "Clip"): clip,
    ("", "HardSigmoid"): single("HardSigmoid", ("float32",), line, early=False, exact=False),
    ("", "Abs"): single("Abs", NUMBERS, early=False),
    ("", "Max"): several("Max", early=False),
    ("", "Min"): several("Min", early=False),
    ("", "Sigmoid"): single("Sigmoid", early=False, exact=False),
    ("", "Tanh"): single("Tanh", early=False, exact=False),
    ("", "Softplus"): single("Softplus", ("float32",), early=False, exact=False),
    ("", "Erf"): since(9, single("Erf", ("float32",), early=False, exact=False)),
    ("", "Elu"): single("Elu", ("float32",), lambda d: d.some(alpha=0.25), early=False, exact=False),
    ("", "Selu"): single("Selu", ("float32",), lambda d: d.some(alpha=1.25, gamma=0.5), early=False, exact=False),
    ("", "Celu"): since(12, single("Celu", ("float32",), lambda d: d.some(alpha=0.5), early=False, exact=False)),
    ("", "Gelu"): since(
        20, single("Gelu", ("float32",), lambda d: d.some(approximate="tanh"), early=False, exact=False)
    ),
    ("", "Swish"): since(24, single("Swish", ("float32",), lambda d: d.some(alpha=1.5), early=False, exact=False)),
    ("", "HardSwish"): since(14, single("HardSwish", ("float32",), early=False, exact=False)),
    ("", "Softmax"): softmax,
    ("", "ArgMax"): argmax,
    ("", "Greater"): compared("Greater"),
    ("", "Less"): compared("Less"),
    ("", "GreaterOrEqual"): compared("GreaterOrEqual"),
    ("", "LessOrEqual"): compared("LessOrEqual"),
    ("", "Identity"): identity,
    ("", "Dropout"): dropout,
    ("", "Constant"): constant_node,
    ("", "ConstantOfShape"): constant_of_shape,
    ("", "Shape"): shape_of,
    ("", "Cast"): cast,
    ("", "Reshape"): reshape,
    ("", "Flatten"): flatten,
    ("", "Squeeze"): squeeze,
    ("", "Unsqueeze"): unsqueeze,
    ("", "Transpose"): transpose,
    ("", "Expand"): expand,
    ("", "Gather"): gather,
    ("", "Slice"): sliced,
    ("", "Concat"): concat,
    ("", "Split"): split,
}
