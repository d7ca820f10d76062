"""What is asked of a search."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.options import Options, Run

__all__ = ["Request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is searched for and how, beside the spec and its files.

    Of the property ``about`` (None: the one there is) ``count`` pairs (None: until nothing new is found), within the
    limits, from the seed and with the parameters of ``options``. ``strategy`` None: ``outward`` near rows, else
    ``portfolio``. ``near``: the path of a CSV file, or the name of a distribution, to stay near to.
    ``representatives``: how many. The table has ``severity`` columns if asked for, or if they ``rank`` it: ``bits``,
    ``gap`` or ``distance``.
    """

    about: str | None
    count: int | None
    options: Options
    strategy: str | None
    near: str | None
    representatives: int
    severity: bool
    rank: str | None
    output: str | None

    def __post_init__(self) -> None:
        if self.rank == "distance" and self.near is None:
            raise ValueError("`rank` by distance needs rows to be `near` to")

    @property
    def run(self) -> Run:
        """Its limits and its seed."""
        return self.options.run

    @property
    def order(self) -> str | None:
        """What the pairs are ordered by: near rows by their distance, unless something else is asked for."""
        return self.rank or (None if self.near is None else "distance")
