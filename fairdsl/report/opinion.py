"""What a solver of somebody else says to a demand, beside the verdict (docs/solver-files.md#second-opinions)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Stand(Enum):
    """What a second opinion is to the verdict."""

    AGREES = "agrees"
    CONTRADICTS = "contradicts"  # both cannot be true
    DECIDES = "decides"  # what the verdict leaves open; the verdict stays as it is
    OPEN = "open"  # the solver came to nothing
    MISSING = "missing"  # the solver is not here
    UNSUITED = "unsuited"  # no file that it reads asks such a question


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """What one solver says."""

    #: The solver's name.
    solver: str
    #: Its version, as far as it tells.
    version: str | None = None
    #: What that is to the verdict.
    stand: Stand
    #: What it says, or why it says nothing.
    said: str
    #: The solver files that it was asked.
    files: tuple[str, ...] = ()
    #: Seconds that it took for them.
    seconds: float = 0.0
    #: Of a contradiction: the folder with everything that shows it again.
    bundle: str | None = None

    @property
    def who(self) -> str:
        """``cvc5 1.4.2``."""
        return self.solver if self.version is None else f"{self.solver} {self.version}"

    def in_words(self) -> str:
        """As a report says it."""
        return f"{self.who}: {self.said}" + (f"; all that shows it is in {self.bundle}" if self.bundle else "")
