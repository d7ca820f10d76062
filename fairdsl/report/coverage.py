"""The sentences on partitions: how many, how much of all units, and what decided them."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.report.numbers import Towards, shown
from fairdsl.verdict import Coverage, Tally

__all__ = ["partition_lines"]


def partition_lines(coverage: Coverage) -> list[str]:
    """One line for each verdict, with number and volume side by side, then what they rest on."""
    asked = coverage.decided + coverage.unknown
    lines = [_cut(coverage, asked)]
    for word, tally in (("hold", coverage.holds), ("violated", coverage.violated), ("unknown", coverage.unknown)):
        lines.append(f"{word:<9} {tally.count:>9,}  {_volume(tally.volume)} of the volume")
    if coverage.pruned_only.count:
        lines.append(
            f"of the unknown {coverage.pruned_only.count:,} hold of a network with units removed, "
            "which proves nothing about the model"
        )
    if coverage.by:
        lines.append("decided by " + ", ".join(f"{name} {count:,}" for name, count in coverage.by))
    if coverage.interrupted:
        lines.append("it was interrupted before all of them had their turn")
    if coverage.compression is not None:
        lines.append(f"bounds decide {shown(coverage.compression, percent=True)} of the network's units on average")
    return lines


def _cut(coverage: Coverage, asked: Tally) -> str:
    how = "cut where needed" if coverage.size is None else f"at most {coverage.size:,} values of an attribute"
    total = "" if coverage.total in (None, asked.count) else f" of {coverage.total:,}"
    decided = Fraction(coverage.decided.count, asked.count) if asked.count else Fraction(0)
    return f"{asked.count:,}{total} asked, {shown(decided, percent=True, towards=Towards.DOWN)} of them decided; {how}"


def _volume(volume: Fraction) -> str:
    return f"{shown(volume, percent=True):>8}"
