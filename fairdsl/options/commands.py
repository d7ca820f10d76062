"""What can be set for single commands: what no engine reads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from fairdsl.diagnostics import Diagnostic
from fairdsl.options import errors
from fairdsl.options.declare import Section, option
from fairdsl.options.kinds import OneOf, Seconds, Share, Switch, Text, Whole

#: The time limit of a repair where neither that nor effort is given.
REPAIR_SECONDS = 600.0
#: Aequitas's strategies that learn directions; the last one learns attributes, too.
STEERED = ("semi-directed", "fully-directed")


class Rank(Enum):
    """What pairs that are found are ordered by."""

    BITS = "bits"
    GAP = "gap"
    DISTANCE = "distance"


@dataclass(frozen=True, kw_only=True)
class Search(Section):
    """What `fairdsl search` looks for, and how (docs/search.md)."""

    section: ClassVar[str] = "search"

    count: int = option(1000, "How many pairs to find.", Whole(1), flag="--count")
    timeout: float | None = option(None, "Time limit in seconds.", Seconds(), unset="60", flag="--timeout")
    effort: int | None = option(
        None, "Limit on work instead of time, which repeats anywhere.", Whole(1), unset="", flag="--effort"
    )
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")
    strategy: str | None = option(
        None,
        "See docs/search.md.",
        Text("NAME", "the name of a strategy", "uniform"),
        unset="portfolio; near rows outward",
        flag="--strategy",
    )
    near: str | None = option(
        None,
        "Begin with these rows and stay near to them: a CSV file, or a distribution of the spec that has rows.",
        Text("FILE.csv|NAME", "the path of a file or the name of a distribution", "rows.csv"),
        unset="",
        flag="--near",
    )
    severity: bool = option(
        False, "Columns for how severe each pair is: its score gap and its bits.", Switch(), flag="--severity"
    )
    rank: Rank | None = option(
        None,
        "Order the pairs that are found.",
        OneOf(Rank),
        unset="as they are found; near rows by distance",
        flag="--rank",
    )
    representatives: int | None = option(
        None,
        "Choose so many pairs that represent the others, each with its part of the domain.",
        Whole(1),
        unset="none",
        flag="--representatives",
    )
    step: int = option(1, "How many units up or down Aequitas's strategies go in one attribute.", Whole(1))
    init_prob: Fraction = option(
        Fraction(1, 2), "The probability of a step down, in each attribute, that is learnt from.", Share()
    )
    delta_v: Fraction = option(
        Fraction(1, 1000), "By how much a step changes the probability of its direction.", Share()
    )
    delta_pr: Fraction = option(
        Fraction(1, 1000), "By how much a step changes the probability of its attribute.", Share()
    )
    draws: int = option(1000, "How many individuals each global phase of Aequitas's strategies draws.", Whole(1))
    steps: int = option(1000, "How many steps they walk from each individual found in it.", Whole(1))

    def inconsistent(self) -> tuple[Diagnostic, ...]:
        """Parameters of strategies that are not followed."""
        read = {"search.init_prob": STEERED, "search.delta_v": STEERED, "search.delta_pr": STEERED[1:]}
        read |= dict.fromkeys(("search.step", "search.draws", "search.steps"), ("random", *STEERED))
        wrong = [path for path in self.given if self.strategy not in read.get(path, (self.strategy,))]
        return tuple(errors.needs(path, "search.strategy", f"`--strategy {read[path][-1]}`") for path in wrong)


@dataclass(frozen=True, kw_only=True)
class Compile(Section):
    """Which partitions `fairdsl compile` writes, and for how long others solve them (docs/solver-files.md)."""

    section: ClassVar[str] = "compile"

    partition: int | None = option(
        None,
        "Files for every part of the domain: attributes in chunks of N values.",
        Whole(1),
        unset="",
        flag="--partition",
    )
    first: int | None = option(
        None, "Write only so many partitions, drawn by the seed.", Whole(1), unset="", flag="--first"
    )
    seed: int = option(0, "Random seed of the order of partitions.", Whole(0), flag="--seed")
    instance_timeout: int = option(60, "Seconds for each file in a list.", Whole(1), flag="--limit")

    def inconsistent(self) -> tuple[Diagnostic, ...]:
        """A number of partitions where there are none."""
        if self.first is None or self.partition is not None:
            return ()
        return (errors.needs("compile.first", "compile.partition", "`--partition N`"),)


@dataclass(frozen=True, kw_only=True)
class Verify(Section):
    """How long `fairdsl verify` takes for a query, and where it looks (docs/solver-files.md)."""

    section: ClassVar[str] = "verify"

    timeout: float = option(60.0, "Time limit in seconds.", Seconds(), flag="--timeout")
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")


@dataclass(frozen=True, kw_only=True)
class Repair(Section):
    """How `fairdsl repair` trains and measures (docs/repair.md)."""

    section: ClassVar[str] = "repair"

    recipe: str = option(
        "portfolio",
        "What to try; see docs/repair.md.",
        Text("NAME", "the name of a recipe", "pairs"),
        flag="--recipe",
    )
    rounds: int = option(3, "How often to try each recipe.", Whole(1), flag="--rounds")
    max_accuracy_loss: Fraction = option(
        Fraction(5, 1000), "What may be lost of the first model's accuracy.", Share(), flag="--max-accuracy-loss"
    )
    within: Fraction = option(
        Fraction(1, 1000),
        "How close an estimate of the rate has to come.",
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
        "Rows that the first round adds, as a share.",
        Share(above=True),
        flag="--add",
    )
    seed: int = option(0, "Random seed.", Whole(0), flag="--seed")
    timeout: float | None = option(
        None, "Time limit in seconds for all rounds.", Seconds(), unset=f"{REPAIR_SECONDS:g}", flag="--timeout"
    )
    effort: int | None = option(None, "Limit on work instead of time.", Whole(1), unset="", flag="--effort")


class Vote(Enum):
    """Which of the answers about a person with each combination of protected values is the answer."""

    MAJORITY = "majority"
    LEAST_FAVOURABLE = "least-favourable"


@dataclass(frozen=True, kw_only=True)
class Guarantee(Section):
    """Whose answer `fairdsl guarantee` takes (docs/guarantee.md)."""

    section: ClassVar[str] = "guarantee"

    by: Vote = option(
        Vote.MAJORITY, "Which of the model's answers about all protected values decides.", OneOf(Vote), flag="--by"
    )
    timeout: float = option(60.0, "Time limit in seconds.", Seconds(), flag="--timeout")


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


@dataclass(frozen=True, kw_only=True)
class Audit(Section):
    """What `fairdsl audit` compares, and how surely (docs/predictions.md)."""

    section: ClassVar[str] = "audit"

    confidence: Fraction = option(
        Fraction(95, 100), "Confidence level of the intervals.", Share(above=True, below=True), flag="--confidence"
    )
    conditions: int = option(2, "How many columns make a subgroup, at most.", Whole(1), flag="--conditions")
    smallest: int = option(1, "Leave out groups of fewer rows.", Whole(1), flag="--smallest")
    bins: int = option(4, "Equal groups that a column of numbers is cut into.", Whole(2), flag="--bins")
    timeout: float = option(60.0, "Time limit in seconds.", Seconds(), flag="--timeout")


#: The sections of commands; what has no flag is set by ``--set``.
COMMANDS: tuple[type[Section], ...] = (Search, Compile, Repair, Guarantee, Prune, Audit)
