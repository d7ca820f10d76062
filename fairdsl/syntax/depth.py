"""How deep a formula is nested: it is walked by recursion, so there is a limit, which nobody reaches by hand."""

from __future__ import annotations

from fairdsl.syntax.words import CHAINED, Branch, branches

#: So many expressions may stand inside one another; the terms of a sum stand beside each other.
DEEPEST = 100

_NESTING = CHAINED | {
    *("disjunction", "conjunction", "negation", "comparison", "membership"),
    *("negative", "call", "given", "parenthesised"),
}


def nested_too_deep(branch: Branch) -> tuple[Branch, Branch] | None:
    """The first statement that nests deeper than it may, and the expression in it that is one too deep."""
    waiting = [(branch, branch, 0)]
    while waiting:
        here, statement, depth = waiting.pop()
        if depth > DEEPEST:
            return statement, here
        inner = branches(here)
        if here.data not in _NESTING:
            waiting.extend((child, here, int(child.data in _NESTING)) for child in reversed(inner))
            continue
        for index in reversed(range(len(inner))):
            beside = index == 0 and here.data in CHAINED and inner[index].data in CHAINED
            deeper = int(inner[index].data in _NESTING and not beside)
            if inner[index].data == here.data == "negative":
                # The formatter writes `--x` as `-(-x)`.
                deeper = 2
            waiting.append((inner[index], statement, depth + deeper))
    return None
