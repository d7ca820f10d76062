"""Replay: no witness without it. Pairs are checked against the question and run on the original model."""

from fairdsl.replay.admissible import admissible, round_point
from fairdsl.replay.run import breaks, replay, runtime_of, witness
from fairdsl.replay.shorten import shortened
from fairdsl.replay.spread import spread

__all__ = ["admissible", "breaks", "replay", "round_point", "runtime_of", "shortened", "spread", "witness"]
