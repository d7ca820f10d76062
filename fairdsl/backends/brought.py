"""What other packages bring: engines, encodings and strategies, as entry points of what is installed.

A package names them in its metadata, ``NAME = "module:object"``, in a group that is called after their kind. Only what
is asked for is believed to be there; what it says is its own word, and what can be checked of that is checked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points

from fairdsl.backends.errors import outside_failed
from fairdsl.diagnostics import DiagnosticError


@dataclass(frozen=True, slots=True)
class Brought:
    """One thing that another package brings."""

    #: The name by which it is asked; where ours is called so, the package's name and a colon stand before it.
    name: str
    point: EntryPoint

    @property
    def package(self) -> str:
        """Name and version of the package."""
        dist = self.point.dist
        return "another package" if dist is None else f"{dist.name} {dist.version}"

    def failed(self, error: Exception) -> str:
        """What went wrong inside of it, in a sentence."""
        return f"{self.package} failed: {type(error).__name__}: {error}"

    @contextmanager
    def named_when_it_fails(self) -> Iterator[None]:
        """Its mistakes are findings about its package (E0628), and none of ours."""
        try:
            yield
        except DiagnosticError:
            raise
        except Exception as error:
            raise DiagnosticError(outside_failed(self.name, self.failed(error))) from error


def _folders() -> Iterator[tuple[str, int]]:
    """Where packages are looked for, and when what lies there last changed."""
    for entry in sys.path:
        with suppress(OSError):
            yield entry, os.stat(entry or ".").st_mtime_ns


@lru_cache(maxsize=8)
def _points(group: str, _folders: tuple[tuple[str, int], ...]) -> EntryPoints:
    """The group's entry points there: reading what is installed takes longer than answering a small question."""
    return entry_points(group=group)


def brought(group: str, ours: Collection[str]) -> Sequence[Brought]:
    """What is brought to a group, by name."""
    found = dict[str, Brought]()
    for point in sorted(_points(group, tuple(_folders())), key=lambda point: point.name):
        taken = point.name in ours or point.name in found
        name = f"{'' if point.dist is None else point.dist.name}:{point.name}" if taken else point.name
        found[name] = Brought(name, point)
    return tuple(found.values())
