"""The syntax tree: what the text says, before any name is resolved.

Every node is frozen and carries the span it was read from; spans never take part in comparisons, so
that ``parse(format(tree)) == tree``. Numbers are exact fractions and keep the way they were written.
A class says all of its syntax: what it holds, how it is written, where it may stand.
"""

from fairdsl.syntax.tree.declarations import *
from fairdsl.syntax.tree.expressions import *
from fairdsl.syntax.tree.node import *
from fairdsl.syntax.tree.populations import *
from fairdsl.syntax.tree.properties import *
from fairdsl.syntax.tree.spec import *
