"""Searches for a structure that pgmpy makes, by name: ``set search = pc``.

pgmpy is an extra (``fairdsl[pgmpy]``) and imported when a search runs. It is given the cells of the rows as
categories, since it takes whole numbers for continuous ones; progress bars are off, and it works in this process.

The searches ``pc`` and ``ges`` find a class of structures that rows alone cannot tell apart, as a graph of which some
edges have no direction. :func:`extended` gives them one, if the whole has no circle and no two parents apart are new
(Dor and Tarsi, 1992, UCLA R-185). pgmpy itself directs them arbitrarily where that cannot be done, and another class
would be another population; so here there is no network then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from fairdsl.populations.counts import CodeArray, numbered
from fairdsl.populations.order import circle_of

#: The parents of every column.
Structure = tuple[frozenset[int], ...]
#: Pairs of columns: from, to; or without a direction.
_Edges = frozenset[tuple[int, int]]

#: The share of chance findings among independent columns at which `pc` calls two columns dependent.
_SIGNIFICANCE = 0.01
_SCORES = {"bic": "BIC", "k2": "K2", "bdeu": "BDeu"}


class NoStructureError(Exception):
    """A search that gives no structure; the message is the reason, ``help`` what to do."""

    def __init__(self, reason: str, help_text: str) -> None:
        super().__init__(reason)
        self.help = help_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search of pgmpy: the settings that it reads, and those of its own that it is made with."""

    reads: frozenset[str]
    made_with: tuple[tuple[str, str], ...]
    run: Callable[[Any, Mapping[str, Fraction | str]], tuple[_Edges, _Edges]]

    def structure(self, codes: CodeArray, settings: Mapping[str, Fraction | str]) -> Structure:
        """The parents of every column; ``codes`` are the rows' cells, [rows, columns]. Raises NoStructureError."""
        columns = int(codes.shape[1])
        frame = _frame(codes)
        # With one cell a column depends on nothing, and tests and scores of it divide by zero.
        if len(frame.columns) < 2:
            return (frozenset(),) * columns
        try:
            directed, undirected = self.run(frame, settings)
        except (ValueError, ArithmeticError, KeyError, IndexError) as error:
            reason = f"pgmpy stopped: {type(error).__name__}: {str(error)[:120]}"
            raise NoStructureError(reason, "leave the line out for the search of fairdsl itself") from error
        return extended(columns, directed, undirected)


def extended(columns: int, directed: Iterable[tuple[int, int]], undirected: Iterable[tuple[int, int]]) -> Structure:
    """A structure of the class that a graph with directed and undirected edges stands for; the same one every time.

    Raises NoStructureError where there is none.
    """
    parents: list[set[int]] = [set() for _ in range(columns)]
    beside: list[set[int]] = [set() for _ in range(columns)]
    for start, end in directed:
        parents[end].add(start)
    for one, other in undirected:
        beside[one].add(other)
        beside[other].add(one)
    found: list[frozenset[int]] = [frozenset()] * columns
    left = set(range(columns))
    while left:
        sink = next((node for node in sorted(left) if _sink(node, left, parents, beside)), None)
        if sink is None:
            raise NoStructureError(
                "its graph has edges without a direction that cannot all be given one",
                "search by a score (`set search = hill_climbing`), write the `graph`, or take fewer bins",
            )
        left.remove(sink)
        found[sink] = frozenset(parents[sink] | (beside[sink] & left))
    assert circle_of(dict(enumerate(map(sorted, found)))) is None, "sinks are taken one by one"
    return tuple(found)


def _sink(node: int, left: set[int], parents: list[set[int]], beside: list[set[int]]) -> bool:
    """Whether all undirected edges of a node may point to it: no child is left, and no parents apart are new."""
    if any(node in parents[other] for other in left):
        return False
    around = (parents[node] | beside[node]) & left
    return all(
        other == one or other in parents[one] | beside[one] or one in parents[other]
        for one in beside[node] & left
        for other in around
    )


def _frame(codes: CodeArray) -> Any:
    """The rows as pgmpy reads them: a category of text a column, without columns of a single cell."""
    pandas = _library("pandas")
    columns = {_name(place): numbered(codes[:, place]) for place in range(codes.shape[1])}
    kept = {name: values for name, values in columns.items() if values.max() > 0}
    return pandas.DataFrame({name: pandas.Categorical([f"{v:06d}" for v in of]) for name, of in kept.items()})


def _name(column: int) -> str:
    return f"x{column:06d}"


def _columns(edges: Iterable[tuple[str, str]]) -> _Edges:
    return frozenset((int(start[1:]), int(end[1:])) for start, end in edges)


def _library(name: str) -> Any:
    """A module of the extra."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        help_text = "install it with `pip install 'fairdsl[pgmpy]'`, or leave the line out"
        raise NoStructureError("pgmpy is not installed here", help_text) from error


def _pc(frame: Any, _: Mapping[str, Fraction | str]) -> tuple[_Edges, _Edges]:
    """The algorithm of Spirtes and Glymour in the order-independent form of Colombo and Maathuis."""
    search = _library("pgmpy.causal_discovery").PC(
        variant="stable",
        ci_test="chi_square",
        significance_level=_SIGNIFICANCE,
        return_type="pdag",
        n_jobs=1,
        show_progress=False,
    )
    return _edges(search.fit(frame).causal_graph_)


def _ges(frame: Any, settings: Mapping[str, Fraction | str]) -> tuple[_Edges, _Edges]:
    """Chickering's greedy search among classes of structures."""
    search = _library("pgmpy.causal_discovery").GES(scoring_method=_score(frame, settings), return_type="pdag")
    return _edges(search.fit(frame).causal_graph_)


def _hill_climb_search(frame: Any, settings: Mapping[str, Fraction | str]) -> tuple[_Edges, _Edges]:
    """pgmpy's own hill climbing, which ends in the first optimum that it finds."""
    most = settings.get("max_parents")
    search = _library("pgmpy.causal_discovery").HillClimbSearch(
        scoring_method=_score(frame, settings),
        max_indegree=None if most is None else int(Fraction(most)),
        return_type="dag",
        show_progress=False,
    )
    return _columns(search.fit(frame).causal_graph_.edges()), frozenset()


def _edges(graph: Any) -> tuple[_Edges, _Edges]:
    return _columns(graph.directed_edges), _columns(graph.undirected_edges)


def _score(frame: Any, settings: Mapping[str, Fraction | str]) -> Any:
    name = str(settings["score"])
    made = getattr(_library("pgmpy.structure_score"), _SCORES[name])
    if name == "bdeu":
        return made(frame, equivalent_sample_size=float(Fraction(settings["equivalent_sample_size"])))
    return made(frame)


_BY_SCORE = frozenset({"score", "equivalent_sample_size"})

#: The searches, by the names that `set search` gives them.
SEARCHES: Mapping[str, Search] = MappingProxyType(
    {
        "pc": Search(
            reads=frozenset(),
            made_with=(("test", "chi_square"), ("significance", str(_SIGNIFICANCE))),
            run=_pc,
        ),
        "ges": Search(reads=_BY_SCORE, made_with=(), run=_ges),
        "hill_climb_search": Search(reads=_BY_SCORE | {"max_parents"}, made_with=(), run=_hill_climb_search),
    }
)
