"""The sentences on partitions: how many, how much of all units, and what decided them."""

from __future__ import annotations

from fractions import Fraction

from fairdsl.ir.numbers import Towards, shown
from fairdsl.verdict import Coverage, Ended, Reason


def partition_lines(coverage: Coverage, *, external: bool = False) -> list[str]:
    """One line for each verdict, with number and volume side by side, then what they rest on.

    ``external``: solvers that others ran gave the answers.
    """
    lines = [_cut(coverage)]
    for word, tally in (("hold", coverage.holds), ("violated", coverage.violated), ("unknown", coverage.unknown)):
        lines.append(f"{word:<9} {tally.count:>9,}  {_volume(tally.volume)} of the volume")
    if coverage.ended is not None:
        left = "" if coverage.total is None else f"{coverage.total - coverage.asked.count:,}"
        lines.append(
            f"{'not asked':<9} {left:>9}  {_volume(1 - coverage.asked.volume)} of the volume: {_ENDED[coverage.ended]}"
        )
    because = _BECAUSE | _EXTERNAL if external else _BECAUSE
    lines += [f"unknown because {because[reason]}: {count:,}" for reason, count in coverage.reasons]
    if coverage.pruned_only.count:
        lines.append(
            f"of the unknown {coverage.pruned_only.count:,} hold of a network with units removed, "
            "which proves nothing about the model"
        )
    if coverage.network_folder is not None:
        lines.append(_written("pruned", coverage.networks, coverage.network_folder, coverage.networks_kept))
    if coverage.sound_folder is not None:
        said = _written("soundly pruned", coverage.sound_networks, coverage.sound_folder, coverage.sound_networks_kept)
        lines.append(f"{said}: each decides as the model does in its partition, and nowhere else")
    if coverage.by:
        lines.append("decided by " + ", ".join(f"{name} {count:,}" for name, count in coverage.by))
    if coverage.compression is not None:
        decided = shown(coverage.compression, percent=True)
        lines.append(f"bounds decide {decided} of the network's units, on average over the partitions they saw")
    return lines


def _written(how: str, count: int, folder: str, kept: int) -> str:
    earlier = f"; {kept:,} of earlier runs stay there" if kept else ""
    return f"{count:,} {how} network{'' if count == 1 else 's'} written into {folder}{earlier}"


#: Shares nearer to nothing or to everything are not written in full: a grid may have 10^30 partitions.
_LEAST = Fraction(1, 10**7)
_ENDED = {
    Ended.VIOLATION: "a violation was found; `partition.keep_going=yes` asks them too",
    Ended.TIMEOUT: "the time was up; a longer `--timeout` asks more",
    Ended.EFFORT: "the effort was spent; more `--effort` asks more",
    Ended.INTERRUPTED: "it was interrupted",
    Ended.FIRST: "only the first were to be asked (`partition.first`)",
}
_BECAUSE = {
    Reason.TIMEOUT: "solvers need more time (`smt.query_timeout`)",
    Reason.EFFORT: "solvers need more effort",
    Reason.MEMORY_OUT: "solvers need more memory (`smt.query_memory`)",
    Reason.NUMERIC_GAP: "exact arithmetic and the deployed file disagree",
    Reason.ENGINE_CRASHED: "a solver stopped without an answer",
    Reason.INCOMPLETE: "what was run cannot decide them",
    Reason.REPLAY_FAILED: "a pair was found that the model does not confirm",
    Reason.MALFORMED: "a solver's answer was not understood",
    Reason.INTERRUPTED: "it was interrupted",
}
#: The same of solvers that others ran, which take other options.
_EXTERNAL = {
    Reason.TIMEOUT: "solvers need more time",
    Reason.MEMORY_OUT: "solvers need more memory",
    Reason.INCOMPLETE: "their files have no answer, or one that decides nothing",
}


def _cut(coverage: Coverage) -> str:
    asked = coverage.asked
    how = "cut where needed" if coverage.size is None else f"at most {coverage.size:,} values of an attribute"
    total = "" if coverage.total in (None, asked.count) else f" of {coverage.total:,}"
    decided = Fraction(coverage.decided.count, asked.count) if asked.count else Fraction(0)
    return f"{asked.count:,}{total} asked, {shown(decided, percent=True, towards=Towards.DOWN)} of them decided; {how}"


def _volume(volume: Fraction) -> str:
    if 0 < volume < _LEAST:
        return f"<{shown(_LEAST, percent=True)}"
    if 0 < 1 - volume < _LEAST:
        return f">{shown(1 - _LEAST, percent=True)}"
    return f"{shown(volume, percent=True):>8}"
