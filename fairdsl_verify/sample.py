"""Some leaves of a tree, drawn by mass: what is wrong in a large part of it is found, and no more is said than that."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from random import Random
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Box
from fairdsl_verify.relaxed import checker_of, question_of
from fairdsl_verify.tree import NUMBERS, Checked, Checker, Node, Totals, preorder


def cover(checker: Checker, lines: list[str]) -> tuple[dict[int, int], list[int]]:
    """Of each leaf, by its line, the mass of what it claims (0 where that is nothing), and of each line its parent."""
    masses: dict[int, int] = {}
    parents: list[int] = []
    whole: Box = tuple((0, attribute.size - 1) for attribute in checker.question.attributes)

    def halves(node: tuple[Box, int], words: Sequence[str]) -> list[tuple[Box, int]]:
        number = len(parents) - 1
        # Where trees are put together the box stays what it is.
        boxes = [node[0]] if words[0] == "+" else [half for _, half in checker.cut(node[0], words)]
        return [(box, number) for box in boxes]

    for number, ((box, parent), words) in enumerate(preorder(lines, (whole, -1), halves)):
        parents.append(parent)
        if words[0] in NUMBERS:
            masses[number] = 0 if words == ["?"] else checker.mass(Node(box))
    return masses, parents


def walk(checker: Checker, lines: Sequence[str], parents: Sequence[int], leaves: set[int], totals: Totals) -> None:
    """Check these leaves, by way of the boxes above them."""
    wanted, halves = set(leaves), dict[int, list[Node]]()
    for number in leaves:
        while (number := parents[number]) >= 0 and number not in wanted:
            wanted.add(number)
    for number in sorted(wanted):
        # The first half stands right behind its parent.
        parent, words = parents[number], lines[number].split(" ")
        node = checker.root() if parent < 0 else halves[parent][number != parent + 1]
        if number in leaves:
            checker.leaf(node, words, totals)
        else:
            halves[number] = checker.halves(node, words)


def sample_of(data: Any, given: Iterator[str], contents: Sequence[bytes], count: int, seed: int) -> Checked:
    """Draw so many leaves among those that claim something, by mass, and check each; in words, what that shows.

    Draws are independent, with replacement: if a part p of the claimed mass were wrong, none of it would be drawn with
    probability (1 - p)^N, which for p = 3/N is below exp(-3) < 5 %.
    """
    question, lines = question_of(data), list(given)
    checker = checker_of(question, Graph(question.file_of(contents)))
    checker.compares(question.compared)
    masses, parents = cover(checker, lines)
    known, upto, rng = list(masses), list(accumulate(masses.values())), Random(seed)
    if not upto[-1]:
        reject("no leaf claims anything")
    leaves = {known[bisect(upto, rng.randrange(upto[-1]))] for _ in range(count)}
    walk(checker, lines, parents, leaves, Totals())
    reached = (
        f"no error among {count} leaves drawn by mass ({len(leaves)} different ones, seed {seed}): "
        f"with 95 % confidence less than 3/{count} of the claimed mass is wrong"
    )
    return Checked(question, follows=False, claims="are not checked as a whole", verdict=reached, sampled=True)
