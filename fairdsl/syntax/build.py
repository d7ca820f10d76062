"""From Lark's branches to the tree, by the annotations of its classes.

A rule of the grammar is called as the class that it makes (``for_each`` as ``ForEachClause``), or as a field of the
class around it, which then holds what it read: ``within: WITHIN _quantity`` of a demand. Whatever else was read goes to
the other fields in their order, to each what its annotation admits. So a clause is a class and a rule; what is left are
expressions that are walked without recursion, and signs that belong to numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from lark import Token, Tree

from fairdsl.source import Anchor, SourceFile, Span
from fairdsl.syntax import tree
from fairdsl.syntax.kept import Declarations, Kept, Made, kept_of
from fairdsl.syntax.trivia import Trivia
from fairdsl.syntax.words import CHAINED, Branch, WordBuilder, begin_of, branches, tokens

#: The tokens that something is made of; all others are words of the language.
_WORDS = frozenset(("NAME", "ATTRIBUTE", "OUTCOME", "PARAMETER", "STRING"))
#: How a class's name becomes that of its rule.
_HUMP, _SUFFIX = re.compile(r"(?<=.)(?=[A-Z])"), re.compile("_(Clause|Type)$")


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a class: what it admits, and whether several of it."""

    name: str
    kinds: tuple[type, ...]
    several: bool

    @property
    def needed(self) -> bool:
        """Whether it holds something always."""
        return not self.several and NoneType not in self.kinds and bool not in self.kinds


@cache
def _classes() -> dict[str, type[tree.Node]]:
    """The class of each rule."""
    found = (each for each in vars(tree).values() if isinstance(each, type) and issubclass(each, tree.Node))
    return {_SUFFIX.sub("", _HUMP.sub("_", each.__name__)).lower(): each for each in found}


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the annotations of a rule's class say; ``named`` are the fields that rules are called as."""

    makes: type[tree.Node]
    fields: dict[str, _Field]
    named: frozenset[str]
    kinds: frozenset[type]


@cache
def _shape(rule: str) -> _Shape:
    kind = _classes()[rule]
    hints = get_type_hints(kind)
    known = {entry.name: _field(entry.name, hints[entry.name]) for entry in fields(kind) if entry.name != "span"}
    kinds = frozenset(kind for entry in known.values() for kind in entry.kinds)
    return _Shape(kind, known, frozenset(known) - _classes().keys(), kinds)


def _field(name: str, hint: Any) -> _Field:
    several = get_origin(hint) is tuple
    within = get_args(hint)[0] if several else hint
    kinds = get_args(within) if get_origin(within) is not tuple else (tuple,)
    return _Field(name, kinds or (within,), several)


def _says_something(part: Token | Branch) -> bool:
    return isinstance(part, Tree) or part.type in _WORDS


class TreeBuilder(WordBuilder):
    """Makes the nodes of a file, and hands each declaration the doc text written before it."""

    def __init__(
        self,
        file: SourceFile,
        original: Sequence[int] | None = None,
        trivia: Trivia | None = None,
        known: Declarations | None = None,
    ) -> None:
        """``original`` maps offsets back to the file where a mended text was read instead of it.

        ``known`` are the declarations of the file that are kept from one version to the next.
        """
        super().__init__(file, original)
        self._trivia, self._known = trivia, known

    def spec(self, branch: Branch) -> tree.Spec:
        """The whole file."""
        assert self._trivia is not None
        parts = [self.node(child) for child in branches(branch)] if self._known is None else self._kept(branch)
        version = next((part for part in parts if isinstance(part, tree.Version)), None)
        audit = next((part for part in parts if isinstance(part, tree.Audit)), None)
        if version is not None and audit is not None:
            # The document's text may stand above `fair 1`, which has no text of its own.
            audit = replace(audit, doc=(*self._trivia.claim_doc(version.span.start), *audit.doc))
        return tree.Spec(
            version=version,
            audit=audit,
            items=tuple(part for part in parts if not isinstance(part, tree.Version | tree.Audit)),
            comments=self._trivia.all_comments(),
            span=Span(self.file, 0, len(self.file.text)),
        )

    def _kept(self, branch: Branch) -> list[Any]:
        """The declarations, each the tree that it was before wherever it has not changed."""
        assert self._known is not None
        parts, used = [], []
        for child in branches(branch):
            kept = kept_of(child) or self._known.fresh.get(id(child))
            if kept is None:
                parts.append(self.node(child))
            elif (start := self._unbroken(child, kept)) is None:
                parts.append(self._moved(kept, begin_of(child) or 0, self._original).node(kept.branch))
            else:
                used.append(kept)
                parts.append(self._placed(kept, start))
        self._known.end(used)
        return parts

    def _unbroken(self, branch: Branch, kept: Kept) -> int | None:
        """Where it begins in the file; None where something was mended in it."""
        begin = begin_of(branch)
        assert begin is not None
        if self._original is None:
            return begin
        start, last = self._original[begin], self._original[begin + len(kept.text) - 1]
        unbroken = last - start == len(kept.text) - 1 and self.file.text.startswith(kept.text, start)
        return start if unbroken else None

    def _moved(
        self, kept: Kept, begin: int, original: Sequence[int] | None, anchor: Anchor | None = None
    ) -> TreeBuilder:
        builder = TreeBuilder(self.file, original, self._trivia)
        builder.shift, builder.anchor = begin - kept.begin, anchor
        return builder

    def _placed(self, kept: Kept, start: int) -> Any:
        """A declaration at its place, with the doc text that stands before it."""
        assert self._known is not None
        assert self._trivia is not None
        trivia = self._trivia

        def made(anchor: Anchor) -> Made:
            before = set(trivia.docs)
            node = self._moved(kept, start, None, anchor).node(kept.branch)
            return Made(node, anchor, doc, tuple(at - start for at in before - trivia.docs.keys()))

        doc = trivia.doc_at(start)
        found = self._known.made(kept, self.file, start, doc, made)
        for offset in found.docs:
            trivia.docs.pop(start + offset, None)
        return found.node

    def only_node(self, branch: Branch) -> Any:
        """The one node directly below a rule."""
        return self.node(branches(branch)[0])

    def node(self, branch: Branch) -> Any:
        """What a rule read."""
        match branch.data:
            case "parenthesised":
                return self.only_node(branch)
            case "literal" | "number" | "named_number" | "named_limit":
                return self.number(branch)
            case "text":
                return self.text(tokens(branch, "STRING")[0])
            case "negative":
                return self._negative(branch)
            case rule if rule in CHAINED:
                return self._arithmetic(branch)
            case rule:
                return self._made(str(rule), branch)

    def _made(self, rule: str, branch: Branch) -> tree.Node:
        span, shape = self.span(branch), _shape(rule)
        found: dict[str, object] = {}
        if "doc" in shape.fields:
            found["doc"] = self._trivia.claim_doc(span.start) if self._trivia else ()
        values: list[Any] = []
        for child in branch.children:
            if isinstance(child, Tree) and child.data in shape.named:
                found[str(child.data)] = self._part(shape.fields[str(child.data)], child)
            elif _says_something(child):
                values.append(self._value(child, shape.kinds))
        self._hand_out(values, [entry for name, entry in shape.fields.items() if name not in found], found)
        return shape.makes(span=span, **found)

    def _value(self, part: Token | Branch, kinds: Collection[type]) -> Any:
        """What a token or rule is; between quotes stands a text where there may be one, and else a name."""
        if isinstance(part, Token):
            return self.text(part) if part.type == "STRING" and tree.Text in kinds else self.name(part)
        if part.data == "subset":
            return tuple(self._value(child, (tree.Name,)) for child in part.children if _says_something(child))
        return self.node(part)

    def _part(self, entry: _Field, branch: Branch) -> Any:
        """What a field holds that the rule is called as."""
        values = [self._value(child, entry.kinds) for child in branch.children if _says_something(child)]
        if values:
            return tuple(values) if entry.several else values[0]
        (kind, *_) = entry.kinds
        return kind(str(branch.children[0])) if issubclass(kind, Enum | str) else True

    def _hand_out(self, values: list[Any], waiting: list[_Field], found: dict[str, object]) -> None:
        """To each field in turn what it admits, but what the fields behind it need."""
        for place, entry in enumerate(waiting):
            free = len(values) - sum(later.needed for later in waiting[place + 1 :])
            if entry.several:
                run = next((i for i, value in enumerate(values[:free]) if not isinstance(value, entry.kinds)), free)
                found[entry.name] = tuple(values[:run])
                del values[:run]
            elif free > 0 and isinstance(values[0], entry.kinds):
                found[entry.name] = values.pop(0)
            else:
                found[entry.name] = False if entry.kinds == (bool,) else None
        assert not values, values

    def _arithmetic(self, branch: Branch) -> tree.Expression:
        # A sum of a thousand terms is a thousand branches deep on its left side, so that side is not a recursion.
        chain: list[Branch] = []
        while branch.data in CHAINED:
            chain.append(branch)
            branch = branches(branch)[0]
        built: tree.Expression = self.node(branch)
        for link in reversed(chain):
            operator = str(tokens(link, "PLUS", "MINUS", "TIMES", "DIVIDE")[0])
            right = self.node(branches(link)[1])
            built = tree.Arithmetic(operator=operator, left=built, right=right, span=self.span(link))
        return built

    def _negative(self, branch: Branch) -> tree.Number | tree.Negative:
        operand, span = self.only_node(branch), self.span(branch)
        if isinstance(operand, tree.Number) and branches(branch)[0].data == "literal":
            return replace(operand, value=-operand.value, text=f"-{operand.text}", span=span)
        return tree.Negative(operand=operand, span=span)
