"""What is asked of a search."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.hunting.finds import RANKS

__all__ = ["Wanted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is searched for and how, beside the spec and its files.

    Of the property ``about`` (None: the one there is) ``count`` pairs (None: until nothing new is found) in at most
    ``timeout`` seconds. ``strategy`` None: ``outward`` near rows, else ``portfolio``. ``near``: the path of a CSV file,
    or the name of a distribution, to stay near to. ``representatives``: how many. The table has ``severity`` columns if
    asked for, or if they ``rank`` it: ``bits``, ``gap`` or ``distance``.
    """

    about: str | None = None
    count: int | None = 1000
    timeout: float = 60.0
    seed: int = 0
    strategy: str | None = None
    near: str | None = None
    representatives: int = 0
    severity: bool = False
    rank: str | None = None
    output: str | None = None

    def __post_init__(self) -> None:
        if (self.count is not None and self.count < 1) or self.timeout <= 0 or self.seed < 0:
            raise ValueError("`count` and `timeout` are positive, `seed` is a number from 0")
        if self.representatives < 0 or self.rank not in (None, *RANKS):
            raise ValueError(f"`representatives` is a number from 0, `rank` one of {', '.join(RANKS)}")
        if self.rank == "distance" and self.near is None:
            raise ValueError("`rank` by distance needs rows to be `near` to")

    @property
    def order(self) -> str | None:
        """What the pairs are ordered by: near rows by their distance, unless something else is asked for."""
        return self.rank or (None if self.near is None else "distance")
