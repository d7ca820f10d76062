"""What a search found, in words."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from fairdsl.ir.numbers import shown, span
from fairdsl.report.words import cell, cells, region_words

if TYPE_CHECKING:
    from fairdsl.counterexamples.found import Example, Found, Representative
    from fairdsl.counterexamples.near import NearSummary

#: How far the deployed file itself was run, where a bound of its arithmetic spares that.
_RAN = (
    "replayed in exact arithmetic; the deployed file was run on {ran:,} of {all:,} individuals, of the others a "
    "bound of its float32 arithmetic says that it decides them alike"
)
#: Columns before the text of a row.
_AHEAD = 15


def words(found: Found, width: int) -> Iterator[str]:
    """Lines of text: how many, how found, how near to given rows; what stands for them, and a few of them."""
    demand = " ".join(found.demand.split())
    yield f"{found.property}   {demand}   by {found.model}, seed {found.seed}"
    rows = [*_summary(found), *(row for pair in found.pairs for row in _example(found, "pair", pair))]
    for number, one in enumerate(found.representatives, 1):
        rows += _representative(found, number, one)
    if found.gap is not None:
        rows += _example(found, "gap", found.gap)
    for name, text in rows:
        lines = wrap(text, width - _AHEAD, break_long_words=False, break_on_hyphens=False)
        for line in lines:
            yield f"    {name if line is lines[0] else '':<{_AHEAD - 4}}{line}"


def _summary(found: Found) -> Iterator[tuple[str, str]]:
    if found.count:
        by = ", ".join(f"{number:,} by {name}" for name, number in found.by_strategy.items())
        yield "found", f"{_pairs(found.count)}, each replayed on the model: {by}"
        if found.bounded:
            yield "", _RAN.format(ran=found.ran, all=found.ran + found.bounded)
    else:
        yield "found", "no pair; that proves nothing, `fairdsl check` looks for a proof"
    if found.numeric_gaps:
        yield "", f"{_pairs(found.numeric_gaps)} more in one arithmetic only (numeric gap), not counted"
    rate = f"; {100 * found.count / found.tried:.1f} % of the units tried" if found.count else ""
    yield "tried", f"{found.tried:,} units, {found.evaluated:,} evaluations in {found.seconds:.1f} s{rate}"
    if found.spread is not None:
        yield "spread", f"{found.spread:.3f}: the mean distance of two counterexamples, of 1"
    if found.near is not None:
        yield from _near(found.near)
    yield "ended", _ENDINGS[found.ending.value].format(sample=f"{found.sample:,}")
    if found.run.effort is not None:
        yield "effort", found.run.in_words
    if found.rank is not None and found.count:
        yield "ranked", f"{_RANKS[found.rank]}; it is those found that are ordered, not all there are"
    if found.output is not None:
        yield "written", str(found.output)


def _near(near: NearSummary) -> Iterator[tuple[str, str]]:
    left_out = [
        f"{number:,} {why}"
        for number, why in (
            (near.outside, "with a value outside the domain"),
            (near.excluded, "that `where` excludes"),
        )
        if number
    ]
    said = f"; left out: {', '.join(left_out)}" if left_out else ""
    yield "near", f"{near.path}: {near.rows:,} rows{said}"
    if near.median is not None and near.greatest is not None:
        far = f"{near.median:.3g} in the middle, {near.greatest:.3g} at most"
        yield "", f"{_pairs(near.at_rows)} at a row itself; distances {far}"


def _representative(found: Found, number: int, one: Representative) -> Iterator[tuple[str, str]]:
    """The pair, the part of the domain that it stands for, and what is known of that."""
    yield from _example(found, f"stands {number}", one.pair)
    yield "", f"for {region_words(one.box) or 'everybody'}"
    said = _PEOPLE_UNKNOWN if one.individuals is None else f"{_size(one.individuals)} individuals"
    most = "up to " if one.bounded and one.individuals is not None else ""
    yield "", f"{most}{said}, {_pairs(one.found)} found among them; {_share(one)}"


def _share(one: Representative) -> str:
    """Which part of its units violates, and how that is known."""
    if one.low is None or one.high is None:
        return "which part of it violates is not known"
    if one.how == "sample":
        assert one.confidence is not None
        ends = span(one.low, one.high, between=" to ", percent=True)
        return f"{ends} of its units violate ({one.units:,} sampled, {100 * one.confidence:.4g} % confidence)"
    known = "each was tried" if one.how == "counted" else "proved by the leaves, in exact arithmetic"
    if one.all_violate:
        return f"every unit in it violates ({known})"
    if one.low == one.high:
        return f"{shown(one.low, percent=True)} of its units violate, exactly ({known})"
    ends = span(one.low, one.high, between=" to ", percent=True)
    return f"{ends} of its units violate ({known}; the rest is a numeric gap or open)"


def _size(number: int) -> str:
    return f"{number:,}" if number < 10**18 else f"about {float(number):.3g}"


def _pairs(number: int) -> str:
    return f"{number:,} pair" + ("" if number == 1 else "s")


_PEOPLE_UNKNOWN = "reals vary in it, so its individuals are not counted"
#: What comes first, by the rank.
_RANKS = {"bits": "the most bits first", "gap": "the widest score gap first", "distance": "the nearest first"}
#: Why the search ended, by its ending.
_ENDINGS = {
    "count": "as many as asked for; there may be more",
    "time": "the time is up; there may be more",
    "effort": "the effort was spent; there may be more",
    "exhausted": "every unit was tried: there are no more to try",
    "saturated": "saturated: nothing new near what was found, nor in {sample} uniform draws; there may be more",
    "interrupted": "interrupted; there may be more",
}


def _example(found: Found, heading: str, pair: Example) -> Iterator[tuple[str, str]]:
    """What differs, a's value and b's, the two decisions, and what is equal."""
    differing = [name for name in found.varying if pair.a[name] != pair.b[name]]
    told = {name: cells(pair.a[name], pair.b[name]) for name in differing}
    changed = ", ".join(f"{name} = {a} | {b}" for name, (a, b) in told.items())
    yield heading, f"{changed}: {' | '.join(decision or 'open' for decision in pair.decisions)}"
    equal = ", ".join(f"{name} = {cell(value)}" for name, value in pair.a.items() if name not in differing)
    if equal:
        yield "", equal
    severe = ", ".join(_severity(pair))
    if severe:
        yield "", severe


def _severity(pair: Example) -> Iterator[str]:
    if pair.bits is not None:
        bits = f"{pair.bits:.3g}"
        yield f"{bits} bit{'' if bits == '1' else 's'}"
    if pair.score_gap is not None:
        yield f"scores {pair.score_gap:.3g} apart"
    if pair.distance is not None:
        yield f"distance {pair.distance:.3g} from row {pair.nearest_row:,}"
