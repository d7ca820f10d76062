"""Replay: no witness without it. Pairs are checked against the question and run on the original model, rows decided by
everybody who can decide them."""

from fairdsl.replay.admissible import admissible, round_point
from fairdsl.replay.anybody import compares_somebody
from fairdsl.replay.decisions import (
    Decisions,
    TimeIsUpError,
    decide,
    deciders_of,
    decisions_of_rows,
    differing,
    rows_counted,
)
from fairdsl.replay.demands import Exactly, breach, gives_probability, outside_of
from fairdsl.replay.run import breaks, replay, runtime_of, witness
from fairdsl.replay.shorten import as_written, as_written_rows, shortened
from fairdsl.replay.shown import replayed
from fairdsl.replay.spread import spread
from fairdsl.replay.word import on_their_word

__all__ = [
    "Decisions",
    "Exactly",
    "TimeIsUpError",
    "admissible",
    "as_written",
    "as_written_rows",
    "breach",
    "breaks",
    "compares_somebody",
    "decide",
    "deciders_of",
    "decisions_of_rows",
    "differing",
    "gives_probability",
    "on_their_word",
    "outside_of",
    "replay",
    "replayed",
    "round_point",
    "rows_counted",
    "runtime_of",
    "shortened",
    "spread",
    "witness",
]
