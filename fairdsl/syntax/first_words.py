"""The words that statements begin with, what newcomers write for them, and an example of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args, get_type_hints

from fairdsl.syntax import tree

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

#: The declarations with a body, by their words.
DECLARATIONS: Mapping[str, type[tree.Node]] = {
    kind.FORM.first_words[0]: kind for kind in get_args(tree.Item) if kind.FORM.body
}


def _held(kind: type[tree.Node]) -> tuple[type[tree.Node], ...]:
    (held, _) = get_args(get_type_hints(kind)[kind.FORM.body])
    return get_args(held) or (held,)


#: What each body is made of.
_BODIES: Mapping[str, tuple[type[tree.Node], ...]] = {
    "file": (tree.Audit, *get_args(tree.Item)),
    "condition": (),
    **{word: _held(kind) for word, kind in DECLARATIONS.items()},
}

#: The words that begin a statement of each body; attributes, distributions, outcomes and paths begin with names.
FIRST_WORDS: Mapping[str, tuple[str, ...]] = {
    body: tuple(dict.fromkeys(word for kind in kinds for word in kind.FORM.first_words))
    for body, kinds in _BODIES.items()
}

#: Words that only ever begin a declaration: at the start of a line they end any body before them.
ONLY_DECLARE = frozenset(FIRST_WORDS["file"]).difference(*(FIRST_WORDS[body] for body in DECLARATIONS))


def example_of(word: str, body: str) -> str:
    """A statement that begins with the word, as it stands in this body; empty where there is none to show."""
    examples = (each for kind in (*_BODIES[body], *_BODIES["file"]) for each in kind.FORM.example.splitlines())
    return next((each for each in examples if each.split()[0] == word), "")
