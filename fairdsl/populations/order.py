"""Parents before children: the order of the factors of a network, or the circle that forbids one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def in_order(parents: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """The keys, each after its parents and otherwise ascending. ``parents`` has no circle."""
    order: list[int] = []
    left = sorted(parents)
    while left:
        ready = next(node for node in left if all(parent in order for parent in parents[node]))
        order.append(ready)
        left.remove(ready)
    return tuple(order)


def circle_of(parents: Mapping[int, Sequence[int]]) -> tuple[int, ...] | None:
    """A circle along the arrows, its first node again at the end; None where there is none."""
    done: set[int] = set()
    for start in sorted(parents):
        # From child to parent: what is met again on the way back up lies on a circle.
        path: list[int] = []
        ways = [iter((start,))]
        while ways:
            node = next(ways[-1], None)
            if node is None:
                ways.pop()
                if path:
                    done.add(path.pop())
            elif node in path:
                return (node, *reversed(path[path.index(node) + 1 :]), node)
            elif node not in done:
                path.append(node)
                ways.append(iter(sorted(parents[node])))
    return None
