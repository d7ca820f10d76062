"""Replay: no witness without it. Pairs are checked against the question and run on the original model."""

from fairdsl.replay.admissible import admissible, round_point
from fairdsl.replay.run import breaks, replay, runtime_of, witness

__all__ = ["admissible", "breaks", "replay", "round_point", "runtime_of", "witness"]
