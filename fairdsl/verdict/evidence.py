"""What a verdict rests on: who answered and how, and what became of partitions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Annotated

from fairdsl.codec import KEYED
from fairdsl.verdict.basis import Basis

_EXACT = Basis()


class Fidelity(Enum):
    """What a chain of passes did to the question (or an engine to its answer)."""

    EXACT = "exact"  # the very question
    WIDENS = "widens"  # more behaviours than the question has: `holds` is safe, `violated` needs a replay
    NARROWS = "narrows"  # fewer behaviours: `violated` is safe, `holds` is not


class Reason(Enum):
    """Why a verdict is unknown."""

    TIMEOUT = "timeout"
    EFFORT = "effort"  # the limit on what engines count
    INTERRUPTED = "interrupted"  # by the user; what was found until then stands
    MEMORY_OUT = "memory_out"
    INCOMPLETE = "incomplete"  # the engine finished without deciding, as search does
    NUMERIC_GAP = "numeric_gap"  # exact arithmetic and the deployed float32 disagree
    REPLAY_FAILED = "replay_failed"
    MALFORMED = "malformed"  # a solver's output was not understood
    ENGINE_CRASHED = "engine_crashed"
    CONTRADICTION = "contradiction"  # two engines came to verdicts that cannot both be true
    UNDEFINED = "undefined"  # the number is, or may be, a quotient of zeros
    NOBODY = "nobody"  # whoever decides: nobody is in question


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many partitions, and which share of all units lies in them."""

    #: How many partitions.
    count: int = 0
    #: Their share of all units.
    volume: Fraction = Fraction(0)

    def __add__(self, other: Tally) -> Tally:
        return Tally(count=self.count + other.count, volume=self.volume + other.volume)


_NONE = Tally()


class Ended(Enum):
    """Why some partitions were not asked."""

    VIOLATION = "violation"  # one was found, and that was enough
    TIMEOUT = "timeout"
    EFFORT = "effort"
    INTERRUPTED = "interrupted"
    FIRST = "first"  # only so many were to be asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What became of the partitions of a question. Number and volume say different things: partitions are unequal.

    Volumes are of the product of value sets, before ``where`` and further conditions.
    """

    #: Attributes of more values are cut; None: as needed.
    size: int | None
    #: How many partitions there are; None: they are made on the way.
    total: int | None
    #: Those on which it holds.
    holds: Tally
    #: Those with a violation.
    violated: Tally
    #: Those that had their turn and are open.
    unknown: Tally
    #: The part of ``unknown`` that holds of a network with units removed, and so of no part of the model.
    pruned_only: Tally = _NONE
    #: How many were decided by what.
    by: Annotated[tuple[tuple[str, int], ...], KEYED] = ()
    #: The mean share of units that bounds decide, so that no solver has to consider them.
    compression: Fraction | None = None
    #: The file that keeps what was decided.
    ledger: str | None = None
    #: Why not all of them were asked.
    ended: Ended | None = None
    #: Why some are unknown.
    reasons: Annotated[tuple[tuple[Reason, int], ...], KEYED] = ()
    #: How many pruned networks were written.
    networks: int = 0
    #: Where they are.
    network_folder: str | None = None
    #: How many of earlier runs are there too.
    networks_kept: int = 0
    #: How many networks without units that are proved to be 0 in their partition were written.
    sound_networks: int = 0
    #: Where they are.
    sound_folder: str | None = None
    #: How many of earlier runs are there too.
    sound_networks_kept: int = 0

    @property
    def decided(self) -> Tally:
        """Those with an answer."""
        return self.holds + self.violated

    @property
    def asked(self) -> Tally:
        """Those that had their turn."""
        return self.decided + self.unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Who answered and what the answer rests on, in a sentence."""

    #: Who answered; empty: nobody was asked yet.
    backend: str
    #: How, in a sentence.
    method: str
    #: What was approximated.
    fidelity: Fidelity = Fidelity.EXACT
    #: What else there is to say.
    notes: tuple[str, ...] = ()
    #: What became of partitions, where the question was asked partition by partition.
    coverage: Coverage | None = None
    #: What the answer is about, and whose word it is.
    basis: Basis = _EXACT
