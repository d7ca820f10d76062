"""Rows arrive where going down node by node takes them, however many go down together."""

import numpy as np
import pytest

from fairdsl.numerics import tree_walk
from fairdsl.numerics.tree_walk import TreeWalk


@pytest.mark.parametrize("together", [1, 7, 64, 1 << 15])
@pytest.mark.parametrize("rows", [0, 1, 50])
def test_rows_arrive_where_single_steps_lead(monkeypatch: pytest.MonkeyPatch, together: int, rows: int) -> None:
    monkeypatch.setattr(tree_walk, "_TOGETHER", together)
    rng = np.random.default_rng(3)
    # Two trees of depth 2 and a leaf by itself; a leaf comes after itself.
    yes = np.array([1, 2, 2, 3, 4, 6, 6, 7, 8])
    no = np.array([4, 3, 2, 3, 4, 7, 6, 7, 8])
    columns, thresholds = np.array([0, 2, 0, 0, 0, 1, 0, 0, 0]), np.array([0.5, 0.25, 9, 9, 9, 0.75, 9, 9, 9])
    roots = np.array([0, 5, 8])
    table = rng.random((rows, 3))
    seen = []

    def answers(nodes: np.ndarray, values: np.ndarray, start: int) -> np.ndarray:
        assert np.array_equal(values, table[start + np.arange(len(nodes))[:, None], columns[nodes]])
        seen.extend(range(start, start + len(nodes)))
        return values <= thresholds[nodes]

    found = TreeWalk.of(roots, columns, no, yes, 2).arrived(table, answers)

    def alone(row: np.ndarray, node: int) -> int:
        while yes[node] != node:
            node = int(yes[node] if row[columns[node]] <= thresholds[node] else no[node])
        return node

    assert found.tolist() == [[alone(row, root) for root in roots.tolist()] for row in table]
    assert sorted(seen) == sorted([*range(rows), *range(rows)]), "each row takes each step once"
