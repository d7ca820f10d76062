"""Models: exact score functions and the rule that turns scores into decisions.

Every piecewise-linear activation that the importers accept is a sum of *leaky units*
``max(z, 0) + slope * min(z, 0)``: a ReLU has slope 0, a linear (pass-through) unit slope 1, and
``clip(z, lo, hi)`` is ``lo + relu(z - lo) - relu(z - hi)``. Beside them there are *curved units*: sigmoid, tanh
and the smooth relatives of the ReLU. So one layer type is enough, and it is closed under residual connections and
concatenations (values that skip a layer ride along as linear units). With leaky units alone all scores are rational.

All constants are exact: a float32 weight is the dyadic rational it stores (``0.1f`` is
13421773/134217728), a decimal written in a spec is that decimal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.binding import Binding
from fairdsl.ir.ensemble import Ensemble, Inputs, attributes_of, listed_of
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import Form, IndicatorInput, Input
from fairdsl.ir.opaque import Access, BlackBox, KernelMachine, Opaque
from fairdsl.ir.reading import Reading
from fairdsl.source import Span

if TYPE_CHECKING:
    from fairdsl.ir.declaration import ModelDeclaration


class Curve(IntEnum):
    """What a unit computes of its pre-activation z."""

    LEAKY = 0  # max(z, 0) + slope * min(z, 0)
    SIGMOID = 1  # 1 / (1 + exp(-z))
    TANH = 2
    SOFTPLUS = 3  # ln(1 + exp(z))
    ELU = 4  # z above 0, exp(z) - 1 below
    ERF = 5
    SILU = 6  # z / (1 + exp(-z))
    GELU = 7  # z (1 + erf(z)) / 2: the usual one at z / sqrt(2)
    GELU_TANH = 8  # z / (1 + exp(-2 a (z + b z^3))), a = 0.7978845608028654 and b = 0.044715 as float64
    HARD_SWISH = 9  # z clip(z + 3, 0, 6) / 6
    LOG1P = 10  # ln(1 + max(z, 0))


@dataclass(frozen=True, kw_only=True)
class Layer:
    """``h = curve(z)`` with ``z = weight @ x + bias``, elementwise; of a leaky unit
    ``h = max(z, 0) + slope * min(z, 0)``.

    ``weight`` is [out, in], ``bias`` and ``slope`` are [out]; 0 <= slope <= 1, and 0 where the unit is curved.
    ``curves`` has one entry a unit, or none at all where every unit is leaky.
    """

    weight: ExactArray
    bias: ExactArray
    slope: ExactArray
    curves: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        if self.curves and len(self.curves) != self.width:
            raise ValueError(f"{len(self.curves)} curves for {self.width} units")
        if not any(self.curves):
            object.__setattr__(self, "curves", ())  # equal layers compare equal

    @property
    def width(self) -> int:
        """Number of units."""
        return self.weight.shape[0]

    @cached_property
    def curve_codes(self) -> NDArray[np.int8]:
        """The units' curves as numbers, [out]."""
        return np.array(self.curves, dtype=np.int8) if self.curves else np.zeros(self.width, dtype=np.int8)

    @property
    def rational(self) -> bool:
        """Whether all units are leaky, so that rational inputs have rational outputs."""
        return not self.curves

    @cached_property
    def linear(self) -> NDArray[np.bool_]:
        """Which units are leaky of slope 1, i.e. are not units at all."""
        linear: NDArray[np.bool_] = np.equal(self.slope.floats, 1.0) & np.equal(self.curve_codes, Curve.LEAKY)
        return linear


@dataclass(frozen=True, slots=True, kw_only=True)
class ByThreshold:
    """Outcome ``granted`` where ``score RELATION t``, else ``otherwise``; for models with one score.

    ``t`` lies in [low, high]; the two are equal unless the threshold is the logit of a probability
    other than 1/2 (transcendental, so no rational score ever equals it).
    """

    #: How the score compares with `t`.
    relation: Relation
    #: `t` is at least this.
    low: Fraction
    #: `t` is at most this.
    high: Fraction
    #: The outcome where it does.
    granted: int
    #: The outcome where it does not.
    otherwise: int

    @property
    def above(self) -> int:
        """The outcome that larger scores lead to."""
        return self.granted if self.relation.upwards else self.otherwise

    @property
    def below(self) -> int:
        """The outcome that smaller scores lead to."""
        return self.otherwise if self.relation.upwards else self.granted


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHighest:
    """Outcome i where score i is the highest; ties go to the lowest index, as in ONNX ArgMax.

    ``slack``: of a question about scores that are off by at most so much, one number a score; each outcome that some
    such scores have is possible then.
    """

    #: By how much each score may be off.
    slack: tuple[Fraction, ...] = ()


DecisionRule = ByThreshold | ByHighest


@dataclass(frozen=True, slots=True, kw_only=True)
class Logits:
    """How scores give probabilities: ``scale`` times the scores are logits.

    One score z: the outcome above the threshold has probability ``1 / (1 + exp(-scale z))``, the one below it
    has the rest. Several: their softmax. ``assumed``: the file does not say so, raw scores are taken as logits.
    ``scale`` is 1, or 1/2 where the score is the difference of two logits that are each other's negative.
    """

    #: What scores are multiplied by.
    scale: Fraction = Fraction(1)
    #: Whether the file does not say so.
    assumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """One input tensor of the deployed graph, [1, len(features)], filled with these features.

    ``texts``: of an input that takes text, for each feature the text that stands for each of its numbers. ``missing``:
    for each feature the number of people who lack it, of whom NaN is filled in; empty where nobody lacks any.
    """

    name: str
    features: tuple[int, ...]
    dtype: str
    texts: tuple[tuple[tuple[int, str], ...], ...] = ()
    missing: tuple[Fraction | None, ...] = ()


class Readout(Enum):
    """How the deployed graph's output becomes a decision."""

    SCORE = "score"  # one number, compared with the rule's threshold as written
    CHANNEL = "channel"  # one column of several (probabilities): compared with the threshold
    DIFFERENCE = "difference"  # two columns a, b: b - a compared with 0
    HIGHEST = "highest"  # argmax over the columns
    LABEL = "label"  # the graph itself outputs the class index


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """How to run the original file in float32: replays of witnesses go through this.

    ``features`` are computed exactly and rounded to the feed's dtype. ``relation`` and ``threshold``
    (None: the rule needs none) are compared in the output's own arithmetic. For HIGHEST and LABEL,
    ``labels`` are the column or class value that stands for outcome 0, 1, ...; empty: its index; None: every other one.
    ``classes`` is what the file calls the columns of the output, or its classes, by position; empty: it does not say.
    ``plain``: of a kernel machine, that its kernel reads the features as they are, in float32.
    ``alone``: it has to be given one individual at a time. ``unread``: nobody has read the file, so nobody knows
    whether it ends; it is run in a process that can be killed.
    """

    path: str
    sha256: str
    features: tuple[Form, ...]
    feeds: tuple[Feed, ...]
    output: str
    readout: Readout
    channel: int = 0
    relation: Relation | None = None
    threshold: Fraction | None = None
    granted: int = 1
    otherwise: int = 0
    labels: tuple[int | str | None, ...] = ()
    classes: tuple[int | str, ...] = ()
    plain: bool = False
    alone: bool = False
    unread: bool = False


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model as a function from individuals to decisions, in real arithmetic.

    ``layers`` map the inputs to the scores; the last layer is linear. With :class:`ByThreshold` there
    is one score. ``inputs`` are what the first layer reads: listed one by one, or
    :class:`~fairdsl.ir.ensemble.Inputs`, which end with the leaves of trees that are arrays.
    ``favourable`` is an outcome's index where the spec names one; a rate of several outcomes counts those ``beside`` it
    as well. ``logits`` says how probable the scores make each
    outcome; None where they are not logits. ``groups`` are groups of positions of inputs that are listed one by one,
    without overlaps: for every individual of the domain exactly one indicator of a group is 1.

    ``opaque``: the model is not a chain of layers alone. Of a kernel machine, ``layers`` map its values to the scores;
    a black box has no layers.

    ``declaration`` is how the spec reads the model's file, so that another file can be read in the same way, and
    ``reading`` how far that was held against it, ``binding`` says in words what fills its inputs; None where the model
    is from no file.
    """

    name: str
    outcomes: tuple[str, ...]
    inputs: Sequence[Input]
    layers: tuple[Layer, ...]
    rule: DecisionRule
    favourable: int | None = None
    beside: frozenset[int] = frozenset()
    deployed: Deployed | None = None
    sha256: str | None = None
    logits: Logits | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    opaque: Opaque | None = None
    reading: Reading | None = field(compare=False, default=None)
    declaration: ModelDeclaration | None = field(compare=False, repr=False, default=None)
    binding: Binding | None = field(compare=False, repr=False, default=None)
    span: Span | None = field(compare=False, repr=False, default=None)

    @property
    def ensemble(self) -> Ensemble | None:
        """The trees whose leaves are the last of the inputs; None where the inputs are listed one by one."""
        return self.inputs.ensemble if isinstance(self.inputs, Inputs) else None

    @property
    def listed(self) -> Sequence[Input]:
        """The inputs before the leaves of the ensemble: all of them where there is none."""
        return listed_of(self.inputs)

    @cached_property
    def one_of(self) -> tuple[Sequence[int], ...]:
        """Groups of positions of inputs of which exactly one is 1: the listed ``groups``, and each tree's leaves."""
        if self.ensemble is None:
            return self.groups
        starts = (self.ensemble.shape.leaf_starts + len(self.listed)).tolist()
        return (*self.groups, *(range(low, high) for low, high in pairwise(starts)))

    @property
    def indicators(self) -> int:
        """How many inputs are indicators."""
        listed = sum(isinstance(item, IndicatorInput) for item in self.listed)
        return listed + (0 if self.ensemble is None else self.ensemble.shape.leaves)

    @property
    def score_count(self) -> int:
        """How many scores the model computes."""
        return self.opaque.scores if isinstance(self.opaque, BlackBox) else self.layers[-1].width

    @property
    def access(self) -> Access:
        """What can be had of the model."""
        return Access.LAYERS if self.opaque is None else self.opaque.access

    def favours(self, decisions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which decisions, indices of outcomes, are favourable."""
        return np.isin(decisions, [] if self.favourable is None else [self.favourable, *self.beside])

    @property
    def rational(self) -> bool:
        """Whether exact arithmetic computes the scores; otherwise they are only ever enclosed."""
        return self.opaque is None and all(layer.rational for layer in self.layers)


def linear_layer(weight: Sequence[Sequence[Fraction]], bias: Iterable[Fraction]) -> Layer:
    """A layer of linear units with the given exact weights, as for inline scores."""
    bias = tuple(bias)
    return Layer(
        weight=ExactArray.from_fractions(np.array([list(row) for row in weight], dtype=object).reshape(len(bias), -1)),
        bias=ExactArray.from_fractions(list(bias)),
        slope=ExactArray.from_floats(np.ones(len(bias))),
    )


def read_attributes(model: Model) -> frozenset[int]:
    """The attributes that the model looks at: those from which some way leads to a score on which no weight is 0.

    A black box may look at whatever it is given.
    """
    weighed, listed = _weighed(model), model.listed
    read = {place for item, counts in zip(listed, weighed, strict=False) if counts for place in attributes_of(item)}
    if model.ensemble is not None:
        read |= model.ensemble.attributes_above(weighed[len(listed) :])
    return frozenset(read)


def _weighed(model: Model) -> NDArray[np.bool_]:
    """Which of the model's inputs are not multiplied by zeros on every way to a score, as far as that can be known."""
    match model.opaque:
        case BlackBox():
            return np.ones(len(model.inputs), dtype=np.bool_)
        case KernelMachine(features=first):
            weight = first.weight
        case None:
            counts = np.ones(model.score_count, dtype=np.bool_)
            for layer in reversed(model.layers):
                counts = np.asarray(layer.weight.nonzero[counts].any(axis=0), dtype=np.bool_)
            return counts
    return np.asarray(weight.nonzero.any(axis=0), dtype=np.bool_)
