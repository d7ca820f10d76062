"""The checker by several processes: each checks parts of the tree, as those of ``fairdsl-verify --jobs`` do.

They are workers (:mod:`fairdsl.processes`), which end with whoever waits for them, also where that is cut off.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairdsl.clock import NEVER
from fairdsl.processes import GoneError, Worker, waiting
from fairdsl_verify.parts import LEAVES, FollowTree, Parts
from fairdsl_verify.tree import Totals

_SERVE = f"{Path(__file__).with_name('checker_process.py')}:serve"
#: Parts for each process, so that none waits long for the last one.
_EACH = 8


class _Checker(Worker):
    """A process, and the part that it checks."""

    part = 0

    def give(self, part: int) -> None:
        """Let it check a part."""
        self.part = part
        self.send(part)


def side_by_side(processes: int) -> FollowTree:
    """Follows a tree by so many processes, if it has as many parts."""

    def follow(data: Any, lines: list[str], content: bytes) -> Totals:
        # A binary tree has one leaf more than inner nodes.
        given = data, lines, content, min(LEAVES, 1 + len(lines) // (2 * _EACH * processes))
        parts, done, checkers = Parts(*given), list[Totals](), list[_Checker]()
        left = list(range(parts.count))[::-1]
        try:
            for _ in range(min(processes, parts.count) if parts.count > 1 else 0):
                checkers.append(_Checker(_SERVE))
                checkers[-1].send(given)
                checkers[-1].give(left.pop())
            while checkers:
                for one in waiting(checkers, NEVER):
                    done.append(_heard(one, parts))
                    if left and not one.connection.closed:
                        one.give(left.pop())
                    else:
                        checkers.remove(one)
                        one.end()
        finally:
            for one in checkers:
                one.end()
        return parts.whole([*done, *map(parts.checked, left)])

    return follow


def _heard(one: _Checker, parts: Parts) -> Totals:
    """What a part comes to; where its process is gone, as for lack of memory, it is checked here."""
    try:
        said = one.receive()
    except GoneError:
        one.end()
        return parts.checked(one.part)
    if isinstance(said, Exception):
        raise said
    assert isinstance(said, Totals), "it is one or the other"
    return said
