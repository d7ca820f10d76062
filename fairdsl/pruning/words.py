"""A pruning in words: what was removed, what that did to decisions, and what the file is good for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from fairdsl.ir.numbers import shown, span

if TYPE_CHECKING:
    from fairdsl.pruning.run import LayerCount, Pruned


def lines(pruned: Pruned) -> Iterator[str]:
    """Lines of text."""
    yield f"{pruned.model}   {pruned.original} -> {pruned.file}"
    yield row("tolerance", _rule(pruned))
    yield row("removed", _removed(pruned))
    yield from (row("silenced", line) for line in _silenced(pruned))
    yield from (row("accuracy", line) for line in _accuracy(pruned))
    yield row("decisions", _decisions(pruned))
    yield row("meaning", f"verdicts on `{pruned.file}` are about the pruned network, and prove nothing about")
    yield row("", f"`{pruned.original}`")
    yield from (row("pinned", line) for line in _pinned(pruned))


def row(name: str, text: str) -> str:
    """A line: what it is about, and the text."""
    return f"    {name:<11}{text}"


def _rule(pruned: Pruned) -> str:
    share = shown(pruned.tolerance, percent=True)
    return f"units active for at most {share} of {pruned.profiled:,} random individuals (seed {pruned.seed})"


def _removed(pruned: Pruned) -> str:
    if not pruned.removed:
        same = f"none of {pruned.units:,} hidden units: the file holds the same network"
        if pruned.least is None or pruned.least <= pruned.tolerance:
            return same  # nobody was drawn, or a layer keeps its last unit
        return f"{same}; the least active one is active for {shown(pruned.least, percent=True)}"
    counted = (f"{_count(layer)} in layer {number}" for number, layer in enumerate(pruned.layers, start=1))
    return f"{pruned.removed:,} of {pruned.units:,} hidden units: {', '.join(counted)}"


def _count(layer: LayerCount) -> str:
    return f"{layer.removed:,} of {layer.units:,}"


def _silenced(pruned: Pruned) -> list[str]:
    silenced = sum(layer.silenced for layer in pruned.layers)
    return [f"{silenced:,} of these are still in the file, with weights and bias 0"] if silenced else []


def _accuracy(pruned: Pruned) -> list[str]:
    measured = pruned.accuracy
    if measured is None:
        return []
    before, after = (shown(Fraction(count, measured.rows), percent=True) for count in (measured.before, measured.after))
    changed = f"{measured.changed:,} decision{'' if measured.changed == 1 else 's'}"
    return [f"{before} before, {after} after, on {measured.rows:,} rows of `{measured.path}`; {changed} changed"]


def _decisions(pruned: Pruned) -> str:
    sampled = pruned.disagreement
    if sampled is None:
        return "no estimate of how many change: no individual of the domain can be drawn uniformly"
    share = shown(Fraction(sampled.changed, sampled.drawn), percent=True)
    interval = span(*sampled.interval, percent=True)
    confidence = shown(sampled.confidence, percent=True)
    return f"{share} of {sampled.drawn:,} other individuals are decided differently ({confidence}: {interval})"


def _pinned(pruned: Pruned) -> list[str]:
    if not pruned.pinned:
        return []
    return ["the spec names the original by its digest; to check this file write there", f'sha256 "{pruned.sha256}"']
