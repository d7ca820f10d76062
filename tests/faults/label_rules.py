"""Decision rules of all kinds, and what each of them says by the documentation."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from labelled_files import File, Label

THRESHOLDS = (Fraction(1, 2), Fraction(7, 10))
#: Labels of which plain `probability` and `decide by highest score` take the second for the second outcome.
COUNTED = ((0, 1), (-1, 1))


@dataclass(frozen=True)
class Rule:
    """A way to write a decision: its text, and who gets the second outcome by what it says; None: it says nothing."""

    text: str
    says: Callable[[], list[bool] | None]


@dataclass(frozen=True)
class Sayings:
    """What rules say of one file."""

    file: File
    outcomes: tuple[str, ...]

    @property
    def names(self) -> tuple[Label, ...]:
        """What classes are called: by labels, or without them by columns."""
        return self.file.labels if self.file.named else (0, 1)

    @property
    def columns(self) -> tuple[Label, ...]:
        """The classes in the order of the columns; a ZipMap sorts them."""
        turned = {"zip": tuple(sorted(self.names, key=str)), "swapped": self.names[::-1]}
        return turned.get(self.file.form, self.names)

    def by_label(self, outcome: str, label: Label) -> list[bool] | None:
        """``OUTCOME when class = LABEL``."""
        if label not in self.names:
            return None
        return [(mine == label) == (outcome == self.outcomes[1]) for mine in self.file.given()]

    def by_probability(self, outcome: str, label: Label, relation: str, q: Fraction) -> list[bool] | None:
        """``OUTCOME when probability(class = LABEL) RELATION q``."""
        if self.file.form == "label" or label not in self.names:
            return None
        return [
            (p >= q if relation == ">=" else p < q) == (outcome == self.outcomes[1])
            for p in self.file.probability(label)
        ]

    def alone(self, outcome: str, relation: str, q: Fraction) -> list[bool] | None:
        """``OUTCOME when probability RELATION q`` of two columns."""
        if relation == "<":
            return None
        if self.file.named and outcome in self.names:
            return self.by_probability(outcome, outcome, relation, q)
        second = outcome == self.outcomes[1] and self.columns in COUNTED
        return self.by_probability(outcome, 1, relation, q) if second else None

    def highest(self) -> list[bool] | None:
        """``decide by highest score``."""
        counted = self.columns in COUNTED or self.names in COUNTED
        return self.by_label(self.outcomes[1], 1) if counted else self.nothing()

    def nothing(self) -> list[bool] | None:
        """No rule."""
        return self.by_label(self.outcomes[1], self.outcomes[1]) if {*self.names} == {*self.outcomes} else None


def shown(label: Label) -> str:
    """The label as a spec writes it."""
    return f'"{label}"' if isinstance(label, str) else str(label)


def rules(file: File, outcomes: tuple[str, ...], draw: random.Random) -> list[Rule]:
    """Rules of all kinds, right and wrong ones."""
    say = Sayings(file, outcomes)
    found = [Rule("", say.nothing), Rule("decide by highest score", say.highest)]
    for outcome in outcomes:
        others = (draw.choice((0, 1, 2, -1)), draw.choice(("approved", "aproved", "1", "yes")))
        for label in (*say.names, *others):
            if isinstance(label, int) or '"' not in label:
                found += _about(say, outcome, label, draw)
        for relation in (">=", "<"):
            q = draw.choice(THRESHOLDS)
            text = f"{outcome} when probability {relation} {float(q)}"
            found.append(Rule(text, lambda o=outcome, r=relation, q=q: say.alone(o, r, q)))  # type: ignore[misc]
        found.append(Rule(f"{outcome} when score > 0", lambda: None))
    return found


def _about(say: Sayings, outcome: str, label: Label, draw: random.Random) -> list[Rule]:
    """Rules about one label."""
    q, relation = draw.choice(THRESHOLDS), draw.choice((">=", "<"))
    condition = f"probability(class = {shown(label)}) {relation} {float(q)}"
    return [
        Rule(f"{outcome} when class = {shown(label)}", lambda: say.by_label(outcome, label)),
        Rule(f"{outcome} when {condition}", lambda: say.by_probability(outcome, label, relation, q)),
    ]
