"""FairQuant (Kim, Wang and Wang, ICSE 2025): certified, falsified and undecided shares, and counterexamples."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from falsifying.effort import searched
from numpy.typing import NDArray
from shares.checks import percent, samples, small_shares, sums
from shares.measure import Reading, read_at, warm
from shares.questions import ASKED, Peer, ask, peers, write_spec

import fairdsl
from fairdsl.ir.problem import Problem
from reproducing.networks import Network, networks_of
from reproducing.results import Done, Part, Row, Setting

__all__ = ["PARTS"]

LARGE = ("GC", "BM", "AC")
TOOL = "tool, measured"
#: FairQuant's shorter runs are too short to tell methods from start-up; and what a batch may be too late.
LEAST, LATE = 5.0, 1.1
#: CPU seconds of a network with `--quick`, at most.
SHORT = 15.0
#: People evaluated in a search for counterexamples, at most; and how many are wanted of an invented network.
MOST, WANTED = 1_000_000, 1000


def shares(setting: Setting) -> Iterator[Row | Done]:
    """Shares in FairQuant's own CPU seconds (at least 5), and whether a sample and their sum allow them."""
    known = peers()
    with tempfile.TemporaryDirectory() as folder:
        for network in networks_of(setting, Path(folder), LARGE):
            peer = None if network.invented else known.get(network.name)
            problem = ask(network.path)
            warm(problem)
            seconds = LEAST if peer is None else max(LEAST, peer.cpu)
            (found,) = read_at(problem, [min(seconds, SHORT) if setting.quick else seconds])
            yield from _beside(network, found, peer)
            drawn = samples(found, problem, 20_000 if setting.quick else 200_000, setting.seed)
            fits = drawn.passed and sums(found).passed
            what = f"{network.shown}: shares sum to 100 %, and a sample allows them"
            yield Row.held(what, drawn.figures, "possible at 99.99 %", "checked here", fits, "contradicted")
            yield Done(network.name)


def _beside(network: Network, found: Reading, peer: Peer | None) -> Iterator[Row]:
    ours = {"certified": found.certified, "falsified": found.falsified, "undecided": found.undecided}
    if peer is None:
        shown = ", ".join(f"{name} {percent(share)}" for name, share in ours.items())
        yield Row(what=f"{network.shown}: shares after {found.cpu:.1f} CPU s", ours=shown)
        return
    theirs = {"certified": peer.certified, "falsified": peer.falsified, "undecided": peer.undecided}
    for name, share in ours.items():
        good = share <= theirs[name] if name == "undecided" else share >= theirs[name]
        # What one certifies, the other must not falsify.
        good &= found.falsified <= 1 - peer.certified and found.certified <= 1 - peer.falsified
        least = "at most" if name == "undecided" else "at least"
        why = "bounds of deep layers are wide, and the seconds are over before boxes are small enough"
        if found.cpu < peer.cpu / LATE:
            why = f"`--quick` stops after {found.cpu:.0f} of FairQuant's {peer.cpu:.0f} CPU s"
        yield Row.held(f"{network.name}: {name}", percent(share), f"{least} {percent(theirs[name])}", TOOL, good, why)
    allowed = max(LEAST, peer.cpu) * LATE
    why = "the last batch ended late"
    what, shown = f"{network.name}: CPU s", f"{found.cpu:.2f}"
    yield Row.held(what, shown, f"at most {allowed:.2f}", "tool's, at least 5, and a tenth", found.cpu <= allowed, why)


def counterexamples(setting: Setting) -> Iterator[Row | Done]:
    """Different people, all inside the domain, found by a search for as many as FairQuant counts."""
    counted = _counted(setting)
    with tempfile.TemporaryDirectory() as folder:
        for network in networks_of(setting, Path(folder), LARGE):
            # The measured Bank rows are of the domain as shipped, which is another question.
            row = None if network.invented or network.name.startswith("BM") else counted.get(network.name)
            wanted = WANTED if row is None else max(WANTED, int(row["cex_distinct_inside_domain"] or row["cex"]))
            problem = ask(network.path)
            found, seconds = searched(problem, "portfolio", setting.seed, count=wanted, most=MOST)
            different = _inside(problem, network, found.pairs.a)
            shown = f"{len(found.pairs):,} counted, {different:,} distinct and inside the domain, {seconds:.2f} CPU s"
            what = f"{network.shown}: counterexamples"
            if row is None:
                same = different == len(found.pairs)
                other = "all that are counted are distinct and inside the domain"
                yield Row.held(what, shown, other, "checked here", same, "some are not")
                yield Done(network.name)
                continue
            theirs = row["cex_distinct_inside_domain"]
            other = f"{int(row['cex']):,} counted, {theirs or 'not measured how many'} distinct and inside"
            why = "so few violate that a search finds none: the share says how few"
            yield Row.held(what, shown, other, TOOL, different >= int(theirs or row["cex"]), why)
            yield Done(network.name)


def _counted(setting: Setting) -> dict[str, dict[str, str]]:
    file = None if setting.data is None else setting.data / "individual" / "fairquant-measured.csv"
    if file is None or not file.is_file():
        return {}
    with file.open(newline="", encoding="utf-8") as opened:
        return {row["model"]: row for row in csv.DictReader(opened)}


def _inside(problem: Problem, network: Network, people: NDArray[np.float64]) -> int:
    """Different ones without the protected attribute, of those within all bounds."""
    attributes, protected = problem.domain.attributes, ASKED[network.name[:2]][2]
    low, high = np.array([attribute.bounds for attribute in attributes], dtype=np.float64).T
    inside = ((people >= low) & (people <= high)).all(axis=1)
    kept = [attribute.name != protected for attribute in attributes]
    return len(np.unique(people[inside][:, kept], axis=0))


@fairdsl.reading(root="/")  # the spec lies in a folder of its own
def compas(setting: Setting) -> Iterator[Row]:
    """Small enough to be counted out: 624 people but for their race."""
    with tempfile.TemporaryDirectory() as folder:
        for network in networks_of(setting, Path(folder), ("CP",)):
            spec = Path(folder) / "share.fair"
            write_spec(spec, network.path)
            found, exact = small_shares(spec, "intervals"), small_shares(spec, "enumerate")
            shown = f"certified {percent(found.certified)}, falsified {percent(found.falsified)}"
            what = f"{network.shown}: shares"
            nothing = found.undecided * 624 < Fraction(1, 100)
            left = f"{shown}, undecided {percent(found.undecided)}"
            yield Row.held(what, left, "nothing undecided", "paper's table", nothing, "undecided ones are left")
            other = f"{int(exact.falsified * 624)} of 624 are unfair"
            near = round(found.falsified * 624) == exact.falsified * 624
            yield Row.held(f"{what}, counted out", shown, other, "every individual", near, "another number")


PARTS = (
    Part(
        name="table2_shares",
        title="Table II: certified, falsified and undecided",
        note="One protected attribute alone (Adult sex, Bank and German age). FairQuant's figures were measured with "
        "its tool, its CPU seconds with them; of Bank with the domain corrected. With `--quick` no network gets more "
        "than 15 s.",
        rows=shares,
    ),
    Part(
        name="table2_counterexamples",
        title="Table II: counterexamples",
        note="FairQuant counts what its sampler reports, which may lie outside of the domain or repeat; fairdsl's "
        "are replayed, and different in more than the protected attribute.",
        rows=counterexamples,
    ),
    Part(
        name="table2_compas",
        title="Table II: COMPAS",
        note="Race decides, or does not, for 624 people. The paper's networks are not at hand; those here are "
        "trained on the spot.",
        rows=compas,
    ),
)
