"""What is known from earlier versions of a spec: an editor asks anew after each keystroke, which leaves most as it was.

Trees of declarations stay the same objects while their text stays the same (``fairdsl/syntax/kept.py``), and their
places move along. So what was found of a property holds as long as it and all declarations that it may read are the
same objects: identity is the key, and nothing has to be compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from fairdsl.semantics.load import KnownFiles
from fairdsl.semantics.walk import walk
from fairdsl.syntax import tree
from fairdsl.syntax.kept import Declarations

V = TypeVar("V")
#: Worlds that are kept: with and without a mistake in them, and what was there before that was typed.
_MOST_WORLDS = 4


@dataclass(slots=True)
class ByNode(Generic[V]):
    """Values by the identity of nodes. It holds the nodes, so that no other one takes the place of one in memory."""

    _known: dict[int, tuple[tree.Node, V]] = field(default_factory=dict)
    _asked: dict[int, tuple[tree.Node, V]] = field(default_factory=dict)

    def of(self, node: tree.Node, make: Callable[[], V]) -> V:
        """The value of a node, made if there is none."""
        found = self._known.get(id(node))
        if found is None:
            found = self._known[id(node)] = (node, make())
        self._asked[id(node)] = found
        return found[1]

    def sweep(self) -> None:
        """Forget what nobody has asked for since the last time."""
        self._known, self._asked = self._asked, {}


@dataclass(slots=True)
class World:
    """What was found among the same declarations: of each property, and, as ``declared``, of these themselves.

    Of declarations and checked properties it depends also on what ``under`` is called by.
    """

    nodes: tuple[tree.Node, ...]
    instances: ByNode[Any] = field(default_factory=ByNode)
    checked: ByNode[Any] = field(default_factory=ByNode)
    declared: Any = None
    _under: dict[Hashable, World] = field(default_factory=dict)

    def under(self, how: Hashable) -> World:
        """The world where something else is the same, too."""
        return self._under.setdefault(how, World(self.nodes))

    def sweep(self) -> None:
        """Forget what was not asked for."""
        self.instances.sweep()
        self.checked.sweep()


@dataclass(slots=True)
class Remembered:
    """All that is known of a spec and of the files that it uses."""

    files: KnownFiles = field(default_factory=lambda: defaultdict(Declarations))
    _below: ByNode[tuple[tree.Node, ...]] = field(default_factory=ByNode)
    _worlds: dict[Hashable, World] = field(default_factory=dict)

    def below(self, nodes: Iterable[tree.Node]) -> Iterable[tree.Node]:
        """The nodes and all below them."""
        for node in nodes:
            yield from self._below.of(node, lambda node=node: tuple(walk(node)))  # type: ignore[misc]

    def world(self, declarations: Iterable[tree.Node], given: Hashable) -> World:
        """The world of declarations and of what is ``given`` for parameters."""
        nodes = tuple(declarations)
        key = (tuple(map(id, nodes)), given)
        found = self._worlds.pop(key, None) or World(nodes)
        self._worlds[key] = found
        if len(self._worlds) > _MOST_WORLDS:
            del self._worlds[next(iter(self._worlds))]
        return found

    def sweep(self) -> None:
        """A version of the text is done with."""
        self._below.sweep()
