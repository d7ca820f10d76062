"""The sentences on partitions: how many, how much of all units, and what decided them."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.report.numbers import Towards, shown
from fairdsl.verdict import Coverage, Ended, Reason

__all__ = ["partition_lines"]


def partition_lines(coverage: Coverage) -> list[str]:
    """One line for each verdict, with number and volume side by side, then what they rest on."""
    lines = [_cut(coverage)]
    for word, tally in (("hold", coverage.holds), ("violated", coverage.violated), ("unknown", coverage.unknown)):
        lines.append(f"{word:<9} {tally.count:>9,}  {_volume(tally.volume)} of the volume")
    if coverage.ended is not None:
        left = "" if coverage.total is None else f"{coverage.total - coverage.asked.count:,}"
        lines.append(
            f"{'not asked':<9} {left:>9}  {_volume(1 - coverage.asked.volume)} of the volume: {_ENDED[coverage.ended]}"
        )
    lines += [f"unknown because {_BECAUSE[reason]}: {count:,}" for reason, count in coverage.reasons]
    if coverage.pruned_only.count:
        lines.append(
            f"of the unknown {coverage.pruned_only.count:,} hold of a network with units removed, "
            "which proves nothing about the model"
        )
    if coverage.by:
        lines.append("decided by " + ", ".join(f"{name} {count:,}" for name, count in coverage.by))
    if coverage.compression is not None:
        lines.append(f"bounds decide {shown(coverage.compression, percent=True)} of the network's units on average")
    return lines


_ENDED = {
    Ended.VIOLATION: "a violation was found; `--keep-going` asks them too",
    Ended.TIMEOUT: "the time was up; a longer `--timeout` asks more",
    Ended.INTERRUPTED: "it was interrupted",
    Ended.FIRST: "only the first were to be asked",
}
_BECAUSE = {
    Reason.TIMEOUT: "solvers need more time (`--query-timeout`)",
    Reason.MEMORY_OUT: "solvers need more memory (`--query-memory`)",
    Reason.NUMERIC_GAP: "exact arithmetic and the deployed file disagree",
    Reason.ENGINE_CRASHED: "a solver stopped without an answer",
    Reason.INCOMPLETE: "what was run cannot settle them",
    Reason.REPLAY_FAILED: "a pair was found that the model does not confirm",
    Reason.MALFORMED: "a solver's answer was not understood",
    Reason.INTERRUPTED: "it was interrupted",
}


def _cut(coverage: Coverage) -> str:
    asked = coverage.asked
    how = "cut where needed" if coverage.size is None else f"at most {coverage.size:,} values of an attribute"
    total = "" if coverage.total in (None, asked.count) else f" of {coverage.total:,}"
    decided = Fraction(coverage.decided.count, asked.count) if asked.count else Fraction(0)
    return f"{asked.count:,}{total} asked, {shown(decided, percent=True, towards=Towards.DOWN)} of them decided; {how}"


def _volume(volume: Fraction) -> str:
    return f"{shown(volume, percent=True):>8}"
