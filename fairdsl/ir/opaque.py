"""Models that are not a chain of layers: kernel machines, whose formula is known, and black boxes, which only answer.

Of a kernel machine every score is a sum of kernels, which is exactly described but not rational where the kernel has an
exponential or a hyperbolic tangent: its scores are enclosed. Of a black box nothing is known but its answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fairdsl.ir.domain import Domain
    from fairdsl.ir.exact_array import ExactArray
    from fairdsl.ir.model import Layer


class Access(IntEnum):
    """What can be had of a model, each including the ones before."""

    #: Answers about the individuals that it is asked about; nobody knows that it will always answer alike.
    ANSWERS = 0
    #: Decisions and scores that are the model's own, whenever it is asked.
    EVALUATION = 1
    #: What it computes, layer by layer.
    LAYERS = 2


class Kernel(Enum):
    """What a kernel machine makes of a support vector s and the features x."""

    LINEAR = "linear"  # s.x
    POLY = "poly"  # (gamma s.x + coef0) ** degree
    RBF = "rbf"  # exp(-gamma |s - x|^2)
    SIGMOID = "sigmoid"  # tanh(gamma s.x + coef0)


@dataclass(frozen=True, kw_only=True)
class KernelMachine:
    """Values ``v_j(x) = sum_i coefficients[j, i] K(vectors[i], f(x)) + offsets[j]``, which the model's layers read.

    ``features`` is the affine map f from the model's inputs to the features; ``vectors`` is [n, features],
    ``coefficients`` [values, n], ``offsets`` [values]; all numbers are those that the file stores, exactly.
    """

    kernel: Kernel
    gamma: float
    coef0: float
    degree: int
    features: Layer
    vectors: ExactArray
    coefficients: ExactArray
    offsets: ExactArray

    @property
    def access(self) -> Access:
        """It is evaluated; its values are not layers."""
        return Access.EVALUATION

    @cached_property
    def largest_whole(self) -> int:
        """The largest size of an integer of ``vectors.scaled``."""
        return max((abs(value) for value in self.vectors.scaled[0].ravel().tolist()), default=0)

    @cached_property
    def whole_vectors(self) -> NDArray[np.int64] | None:
        """The integers of ``vectors.scaled`` where they are below 2**62."""
        return self.vectors.scaled[0].astype(np.int64) if self.largest_whole < 2**62 else None


@dataclass(frozen=True, slots=True)
class Answers:
    """What a black box says of n individuals: the outcomes' indices [n], and its scores [n, scores]."""

    decisions: NDArray[np.int64]
    scores: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BlackBox:
    """A model that is only ever asked: for a batch of individuals it gives outcomes, and scores where it has any.

    ``scores`` is how many scores it gives (0: outcomes alone), ``domain`` whom it is asked about. ``call`` answers for
    a Python function about float64 [n, attributes]; None for a file, which is run as the model's
    :class:`~fairdsl.ir.model.Deployed` says. ``unread`` says what in a file could not be read, where the spec did not
    ask for a black box. ``ignores`` are attributes that a file drops before it computes anything.
    """

    scores: int
    domain: Domain
    call: Callable[[NDArray[np.float64]], Answers] | None = None
    unread: str | None = None
    ignores: frozenset[int] = frozenset()

    @property
    def access(self) -> Access:
        """A file answers alike whenever it is run; a function may not."""
        return Access.EVALUATION if self.call is None else Access.ANSWERS


Opaque = KernelMachine | BlackBox
