"""Decision trees in JSON: the question that the tool which wrote them asks, and the one about people.

A file has a ``tree`` in the arrays of scikit-learn, ``variables``, each a test ``feature <= threshold`` with its
frequency, the ``groups`` of sensitive variables, exact ``reference_independent`` rates, and the ``peer``'s own answers.

* The tool takes every test for a Boolean of its own (:func:`raw_instance`), so that somebody may have at most 3 prior
  arrests and more than 5.
* Of people, the tests on one feature cut its values into ranges (:class:`People`): with thresholds t_1 < .. < t_k the
  value lies in range j with the frequency of t_(j+1) less that of t_j. Features stay independent, for the file has no
  more than frequencies of them; one-hot columns of a sensitive feature exclude each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise, product
from pathlib import Path
from typing import Any

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from group.cases import Document, decimal, write_law

__all__ = ["People", "TreeCase", "raw_instance", "tree_cases_in"]

#: A test and whether it holds.
Step = tuple[int, bool]


@dataclass(frozen=True, kw_only=True)
class TreeCase:
    """One file; ``document`` is its JSON."""

    name: str
    document: Document

    @property
    def variables(self) -> list[Document]:
        found: list[Document] = self.document["variables"]
        return found

    @property
    def chances(self) -> list[Document]:
        return [variable for variable in self.variables if variable["role"] == "chance"]

    @property
    def blocks(self) -> list[list[int]]:
        """The literals of which exactly one holds; one alone is a Boolean."""
        found: list[list[int]] = self.document["groups"]["blocks"]
        return found

    @property
    def references(self) -> list[tuple[list[int], float]]:
        """The literals of each group, and its rate, where every test is a Boolean of its own."""
        return [(row["literals"], row["p"]) for row in self.document["reference_independent"]]

    @cached_property
    def paths(self) -> list[tuple[tuple[Step, ...], bool]]:
        """The tests on the way to each leaf, and whether it accepts."""
        return list(self._below(0, ()))

    def _below(self, node: int, passed: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], bool]]:
        tree: dict[str, list[Any]] = self.document["tree"]
        if tree["left"][node] < 0:
            yield passed, bool(tree["label"][node])
            return
        test = (tree["feature"][node], tree["threshold"][node])
        (number,) = [each["id"] for each in self.variables if (each["feature"], each["test"][1]) == test]
        yield from self._below(tree["left"][node], (*passed, (number, True)))
        yield from self._below(tree["right"][node], (*passed, (number, False)))


def tree_cases_in(folder: Path) -> list[TreeCase]:
    """The trees of a folder, by name."""
    read = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    found = {name: document for name, document in read.items() if document.get("kind") == "decision_tree"}
    return [TreeCase(name=name, document=document) for name, document in found.items()]


def raw_instance(case: TreeCase, accepted: bool) -> Instance:
    """The tool's formula: sensitive variables chosen so that the rate is greatest, all others chances.

    Accepted are those whom the file's own clauses let pass, and refused those who are on no path to an accepting leaf.
    """
    size = max(variable["id"] for variable in case.variables)
    chosen = [Bound(variable["id"], Quantifier.EXISTS) for variable in case.variables if variable["role"] != "chance"]
    chances = [Bound(each["id"], Quantifier.RANDOM, decimal(each["p1"])) for each in case.chances]
    clauses: list[Clause] = [tuple(clause) for clause in case.document["cnf_positive"]]
    if not accepted:
        clauses = [tuple(-n if holds else n for n, holds in path) for path, accepts in case.paths if accepts]
    for block in case.blocks:
        if len(block) > 1:
            clauses.append(tuple(block))
            clauses += [(-a, -b) for place, a in enumerate(block) for b in block[place + 1 :]]
    return Instance(variables=size, prefix=(*chosen, *chances), clauses=tuple(clauses))


@dataclass(frozen=True, kw_only=True)
class Column:
    """A feature's ranges with their probabilities, and up to which range each of its tests holds."""

    chances: tuple[Fraction, ...]
    last: Mapping[int, int]

    def holds(self, test: int, place: int) -> bool:
        return place <= self.last[test]


@dataclass(frozen=True, kw_only=True)
class People:
    """Chance columns first, then one for each block of sensitive variables, whose values are the block's literals."""

    case: TreeCase

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        by_feature: dict[str, list[Document]] = {}
        for variable in self.case.chances:
            by_feature.setdefault(variable["feature"], []).append(variable)
        return tuple(_column(tests) for tests in by_feature.values())

    @property
    def across(self) -> range:
        """The places of the sensitive columns."""
        return range(len(self.columns), len(self.columns) + len(self.case.blocks))

    def literals(self, group: Sequence[int]) -> frozenset[int]:
        """What holds of the sensitive variables in a group, given by a value for each block."""
        found = set()
        for block, value in zip(self.case.blocks, group, strict=True):
            if len(block) == 1:
                found.add(block[0] if value == 0 else -block[0])
            else:
                found.update(literal if place == value else -literal for place, literal in enumerate(block))
        return frozenset(found)

    @property
    def groups(self) -> Iterator[tuple[int, ...]]:
        yield from product(*(range(max(2, len(block))) for block in self.case.blocks))

    def rates(self) -> dict[tuple[int, ...], Fraction]:
        """The rate of every group: one cell after the other, in fractions."""
        found = {}
        for group in self.groups:
            sensitive, rate = self.literals(group), Fraction(0)
            for cell in product(*(range(len(column.chances)) for column in self.columns)):
                mass = Fraction(1)
                for column, place in zip(self.columns, cell, strict=True):
                    mass *= column.chances[place]
                rate += mass * self._accepts(cell, sensitive)
            found[group] = rate
        return found

    def _accepts(self, cell: Sequence[int], sensitive: frozenset[int]) -> bool:
        """The decision of the one leaf that a cell reaches."""
        truths = {
            test: column.holds(test, place)
            for column, place in zip(self.columns, cell, strict=True)
            for test in column.last
        }
        truths |= {abs(literal): literal > 0 for literal in sensitive}
        (decision,) = [accepts for path, accepts in self.case.paths if all(truths[n] == wanted for n, wanted in path)]
        return decision

    def spec(self, folder: Path) -> Path:
        """Writes spec, law and rules: the paths to accepting leaves; groups are alike in size."""
        names = [f"a{place}" for place in range(self.across.stop)]
        sizes = [len(column.chances) for column in self.columns] + [max(2, len(block)) for block in self.case.blocks]
        laws = [column.chances for column in self.columns]
        laws += [(Fraction(1, size),) * size for size in sizes[len(laws) :]]
        write_law(
            folder,
            [
                {"name": name, "cells": [str(cell) for cell in range(size)]}
                for name, size in zip(names, sizes, strict=True)
            ],
            [
                {"of": name, "given": [], "rows": [{"where": [], "law": [str(chance) for chance in law]}]}
                for name, law in zip(names, laws, strict=True)
            ],
        )
        terms = [[self._condition(*step) for step in path] for path, accepts in self.case.paths if accepts]
        rules = {"dnf": terms, "then": "yes", "otherwise": "no"}
        (folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
        domain = "\n".join(f"  {name} : integer 0 .. {size - 1}" for name, size in zip(names, sizes, strict=True))
        across = ", ".join(names[place] for place in self.across)
        text = _SPEC.format(title=self.case.name, domain=domain, across=across)
        (folder / "case.fair").write_text(text, encoding="utf-8")
        return folder / "case.fair"

    def _condition(self, test: int, holds: bool) -> str:
        for place, column in enumerate(self.columns):
            if test in column.last:
                return f"a{place} {'<=' if holds else '>'} {column.last[test]}"
        for place, block in zip(self.across, self.case.blocks, strict=True):
            for value, literal in enumerate(block):
                if abs(literal) == test:
                    return f"a{place} {'=' if holds == (literal > 0) else '!='} {value}"
        raise ValueError(f"no column has the test {test}")


def _column(tests: Sequence[Document]) -> Column:
    """Ranges between thresholds in order; equal thresholds are one."""
    at_most = {decimal(test["test"][1]): decimal(test["p1"]) for test in tests}
    order = sorted(at_most)
    totals = [Fraction(0), *(at_most[threshold] for threshold in order), Fraction(1)]
    if list(accumulate(totals, max)) != totals:
        raise ValueError("frequencies fall with the threshold")
    return Column(
        chances=tuple(high - low for low, high in pairwise(totals)),
        last={test["id"]: order.index(decimal(test["test"][1])) for test in tests},
    )


_SPEC = """fair 1
audit "{title}"

domain Person {{
{domain}
}}

protected {across}

model tree : Person -> {{ no, yes }}
  from rules "rules.json"
  favourable yes

distribution law over Person
  from "law.json"

property rates {{
  across   {across}
  under    law
  measure  acceptance_rate
  measure  impact_ratio
}}
"""
