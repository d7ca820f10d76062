"""What a model file says, before the spec's decision clause is applied to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from fairdsl.models.basis import Affine, Basis

if TYPE_CHECKING:
    from fairdsl.models.onnx_import.file import RawGraph
    from fairdsl.models.onnx_import.values import Value

#: The text of who has none.
MISSING = ""
#: Of an input that takes text, for each of its elements the text that represents each code of what fills it.
Texts = tuple[tuple[tuple[int, str], ...], ...]


class OutputKind(Enum):
    """What the numbers of an output are."""

    SCORE = "raw scores"
    SIGMOID = "sigmoid"  # each column is the logistic of its score
    PROBABILITY = "probability"  # each column is itself a probability, or stands for one: no curve lies behind it
    SOFTMAX = "softmax"  # the columns are the softmax of the scores (three columns or more)
    LOG_SOFTMAX = "log softmax"  # the columns are the logarithms of the softmax of the scores
    LABEL = "label"  # the class whose score is highest


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphInput:
    """An input tensor: its name in the file, how many numbers an individual fills in, and their dtype."""

    name: str
    width: int
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphOutput:
    """An output tensor. ``scores`` are what comes before a sigmoid, softmax or argmax.

    ``labels`` are the class values that a LABEL output emits, by position (integers or strings), or the names that a
    ZipMap gives to columns. Of equal scores a LABEL chooses the first, or the last of two where ``ties_last``.
    """

    name: str
    kind: OutputKind
    scores: Affine
    labels: tuple[int | str, ...] = ()
    ties_last: bool = False

    @property
    def width(self) -> int:
        """How many scores there are."""
        return self.scores.size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphInputs:
    """What a file is given: its input tensors, and the names of the numbers where the file has them otherwise."""

    path: str
    inputs: tuple[GraphInput, ...]
    feature_names: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """How many numbers (or texts) an individual fills in, over all inputs."""
        return sum(item.width for item in self.inputs)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImportedGraph(GraphInputs):
    """A model file in exact arithmetic: its inputs, the units of ``basis``, and its outputs.

    ``runnable`` tells whether onnxruntime can replay the file. ``rounded`` names the nodes whose
    constants are square roots, taken as the nearest float64. ``plain``: it is a kernel machine that reads what it is
    given as it is, in float32. Of a file that is run, ``raw`` is the graph as it lies there, and ``values``
    are what was read of every tensor, by its name.
    """

    sha256: str
    basis: Basis
    outputs: tuple[GraphOutput, ...]
    runnable: bool
    rounded: tuple[str, ...] = field(default=())
    plain: bool = False
    raw: RawGraph | None = None
    values: Mapping[str, Value] = field(default_factory=dict)
