"""How the undecided share falls with time, how the pace falls with the network's size, and what two processes gain."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from wide_network import Weights, save

from fairdsl.backends.refining.clock import advance_until
from fairdsl.ir.domain import Domain
from fairdsl.ir.problem import Problem
from shares.measure import Reading, Started, read_at, reading_of, refined_by, started, warm
from shares.questions import ask, domain_of

__all__ = ["DEPTHS", "WIDTHS", "against_two", "drawn", "growth_of", "pace_of"]

DEPTHS, WIDTHS = (1, 2, 4, 8), (10, 30, 100, 300)
#: Individuals that the median score of a drawn network is taken of.
_SCORED = 4096
#: One process may take so many times the seconds of two.
_PATIENCE = 4.0


def growth_of(problem: Problem, marks: Sequence[float]) -> list[Reading]:
    """One run, read at each of these CPU seconds; all is loaded before."""
    warm(problem)
    return list(read_at(problem, marks))


def pace_of(layers: int, width: int, seed: int, seconds: float) -> Reading:
    """A network drawn from the seed, over the Adult domain, refined for so many CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        network = Path(folder) / "AC-0.onnx"
        save(drawn(domain_of("AC"), layers, width, np.random.default_rng(seed)), network)
        problem = ask(network)
    (reading,) = growth_of(problem, [seconds])
    return reading


def against_two(problem: Problem, seconds: float) -> tuple[Reading, Reading]:
    """What two processes certify in so many seconds, their start included, and one process as soon as it has as much.

    The second reading's ``wall`` leaves out what looking took; it is a batch (0.1 s) too late at most.
    """
    warm(problem)
    two = refined_by(problem, jobs=2, wall=seconds)
    return two, _as_far(problem, two.certified, _PATIENCE * two.wall)


def _as_far(problem: Problem, certified: Fraction, patience: float) -> Reading:
    run = started(problem)
    seen = _Lookout(run, certified, run.wall + patience)
    advance_until(run.refinement, seen.stop)
    reading = reading_of(run)
    return replace(reading, wall=reading.wall - seen.looking)


class _Lookout:
    """Looks after every batch whether enough is certified, but no longer than the refinement itself takes."""

    def __init__(self, run: Started, certified: Fraction, end: float) -> None:
        self._run, self._certified, self._end = run, certified, end
        self.looking = 0.0
        self._next = run.wall

    def stop(self) -> bool:
        began = time.monotonic()
        if began < self._next:
            return False
        enough = reading_of(self._run).certified >= self._certified
        now = time.monotonic()
        self.looking += now - began
        self._next = now + (now - began)
        return enough or now >= self._end


def drawn(domain: Domain, layers: int, width: int, rng: np.random.Generator) -> Weights:
    """He initialisation over inputs scaled to -1 .. 1; the median of random individuals scores 0."""
    sizes = (len(domain.attributes), *[width] * layers, 1)
    layered = [
        (rng.standard_normal((out, into)) * np.sqrt(2 / into), rng.standard_normal(out) * 0.1)
        for into, out in pairwise(sizes)
    ]
    low, high = np.array([attribute.bounds for attribute in domain.attributes], dtype=np.float64).T
    middle, half = (low + high) / 2, (high - low) / 2
    weight, bias = layered[0]
    layered[0] = weight / half, bias - weight @ (middle / half)
    hidden = rng.integers(low, high, size=(_SCORED, len(low)), endpoint=True).astype(np.float64)
    for weight, bias in layered[:-1]:
        hidden = np.maximum(hidden @ weight.T + bias, 0)
    weight, _ = layered[-1]
    layered[-1] = weight, -np.median(hidden @ weight.T, axis=0)
    return [(weight.astype(np.float32), bias.astype(np.float32)) for weight, bias in layered]
