"""The words that statements begin with, what newcomers write for them, and an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from fairdsl.syntax import tree

__all__ = ["FIRST_WORDS", "OTHER_WORDS", "example_of"]

#: What newcomers write for a first word; near misses are found by their letters.
OTHER_WORDS = {
    "favorable": "favourable",
    "ensure": "require",
    "assert": "require",
    "demand": "require",
    "check": "require",
    "verify": "require",
    "constraint": "where",
    "assume": "where",
    "invariant": "where",
    "population": "distribution",
    "data": "distribution",
    "dataset": "distribution",
    "network": "model",
    "classifier": "model",
    "features": "domain",
    "attributes": "domain",
    "schema": "domain",
    "sensitive": "protected",
    "import": "use",
    "include": "use",
    "title": "audit",
    "dag": "graph",
    "groups": "across",
    "report": "measure",
    "tolerance": "within",
    "epsilon": "within",
    "vary": "differ",
    "path": "allow",
    "elif": "then",
    "forall": "compare",
}

#: What each body is made of.
_BODIES: Mapping[str, tuple[type[tree.Node], ...]] = {
    "file": (tree.Audit, *get_args(tree.Item)),
    "domain": (tree.Attribute, tree.Where, tree.Derived),
    "model": get_args(tree.ModelClause),
    "distribution": get_args(tree.DistributionClause),
    "graph": (tree.Path,),
    "condition": (),
    "property": get_args(tree.Clause),
}

#: The words that begin a statement of each body; attributes, distributions, outcomes and paths begin with names.
FIRST_WORDS: Mapping[str, tuple[str, ...]] = {
    body: tuple(dict.fromkeys(word for kind in kinds for word in kind.FORM.first_words))
    for body, kinds in _BODIES.items()
}


def example_of(word: str, body: str) -> str:
    """A statement that begins with the word, as it stands in this body; empty where there is none to show."""
    examples = (each for kind in (*_BODIES[body], *_BODIES["file"]) for each in kind.FORM.example.splitlines())
    return next((each for each in examples if each.split()[0] == word), "")
