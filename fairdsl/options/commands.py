"""What can be set for single commands: for `repair` and `prune`, whose settings no engine reads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairdsl.options.declare import Section, option
from fairdsl.options.kinds import Seconds, Share, Text, Whole

__all__ = ["COMMANDS", "Prune", "Repair"]


@dataclass(frozen=True, kw_only=True)
class Repair(Section):
    """How `fairdsl repair` trains and measures (docs/repair.md)."""

    section: ClassVar[str] = "repair"

    recipe: str = option(
        "portfolio",
        "Which rows to add; see docs/repair.md.",
        Text("NAME", "the name of a recipe", "pairs"),
        flag="--recipe",
    )
    rounds: int = option(3, "How often to try each recipe.", Whole(1), flag="--rounds")
    max_accuracy_loss: Fraction = option(
        Fraction(5, 1000), "What may be lost of the first model's accuracy.", Share(), flag="--max-accuracy-loss"
    )
    within: Fraction = option(
        Fraction(1, 1000),
        "How close an estimate of the rate has to come, where it is not exact.",
        Share(above=True, below=True, most=Fraction(1, 2)),
        flag="--within",
    )
    confidence: Fraction = option(
        Fraction(95, 100),
        "Of all estimates of the rate together.",
        Share(above=True, below=True),
        flag="--confidence",
    )
    add: Fraction = option(
        Fraction(1, 10),
        "How many rows a recipe that searches adds in the first round, of those that are trained on.",
        Share(above=True),
        flag="--add",
    )
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")
    timeout: float = option(600.0, "Time limit in seconds for all rounds.", Seconds(), flag="--timeout")


@dataclass(frozen=True, kw_only=True)
class Prune(Section):
    """Which units `fairdsl prune` removes (docs/pruning.md)."""

    section: ClassVar[str] = "prune"

    tolerance: Fraction = option(
        Fraction(1, 100),
        "A unit goes if it is active for at most this share of the individuals drawn.",
        Share(),
        flag="--tolerance",
    )
    points: int = option(10_000, "Individuals to draw, uniform over the domain.", Whole(1), flag="--points")
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")


#: The sections of commands, which are set by flags alone.
COMMANDS: tuple[type[Section], ...] = (Repair, Prune)
