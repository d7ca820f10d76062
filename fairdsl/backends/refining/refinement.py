"""What a refinement is to those who carry it out: open leaves that are shared out, refined elsewhere and taken back."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from fairdsl.clock import Work

#: What a refinement needs to go on, beside its task; it can be sent.
State = Mapping[str, Any]


class Refining(Protocol):
    """The state of one refinement; anytime: every state is sound, whoever refined which part of it."""

    #: What it needs beside a state; it can be sent. And the work that a node is, for effort and for the user.
    @property
    def task(self) -> Any:
        """What it refines."""

    @property
    def work(self) -> Work:
        """What its nodes are."""

    #: How many units were undecided after so many seconds, now and then.
    course: list[tuple[float, float]]

    @classmethod
    def resume(cls, task: Any, state: State, *, memory: int = ...) -> Self:
        """Go on from what :meth:`state`, or :meth:`fork`, returned; ``memory`` is in bytes."""

    def state(self) -> State:
        """Everything needed to go on."""

    def advance(self, nodes: int) -> int:
        """Evaluate about so many nodes; returns how many were (0: nothing is left to do, or no room)."""

    def fork(self, parts: int) -> Sequence[State]:
        """States of so many refinements that share out the open leaves evenly by what they leave undecided."""

    def join(self, states: Sequence[State]) -> None:
        """Take over what forked refinements found, in the order of :meth:`fork`.

        May be called again with later states of the same parts, as long as this refinement has not advanced itself in
        between.
        """

    def heaviest(self, limit: int) -> Sequence[float]:
        """What each of the heaviest leaves leaves undecided, so many at most."""

    @property
    def finished(self) -> bool:
        """Whether nothing is undecided that further refinement could decide."""

    @property
    def undecided(self) -> float:
        """How many units are undecided, about."""

    @property
    def total(self) -> float:
        """How many units there are."""

    @property
    def nodes(self) -> int:
        """Nodes evaluated so far."""

    @property
    def seconds(self) -> float:
        """How long ago it began."""

    @property
    def seconds_a_node(self) -> float:
        """What a node may take, in which nobody looks at the clock; of effort, what it takes."""

    @property
    def units_a_node(self) -> float:
        """The effort of a node, in terms of what one of its work takes."""


class Stepwise(ABC):
    """A refinement that goes by steps: what is common to all of them. Shares are parts of 1."""

    total = 1.0

    def __init__(self) -> None:
        self._began = time.monotonic()
        self.course: list[tuple[float, float]] = []

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether nothing is left to settle."""

    @property
    @abstractmethod
    def full(self) -> bool:
        """Whether there is no room for more."""

    @abstractmethod
    def step(self, most: int | None = None) -> int:
        """One round, of about so many nodes at most; how many there were."""

    @property
    def seconds(self) -> float:
        """How long ago it began."""
        return time.monotonic() - self._began

    def advance(self, nodes: int) -> int:
        """Evaluate about so many nodes; returns how many were (0: nothing is left to do, or no room)."""
        done = 0
        while done < nodes and not self.finished and not self.full:
            done += max(1, self.step(nodes - done))
        return done
