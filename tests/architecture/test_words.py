"""Messages, help and pages use the field's words: what readers of Fairlearn, CROWN or ProbLog would search for."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.modules import files

ROOT = Path(__file__).parents[2]
#: Words of ours that are said no longer, and what is said for each.
WORDS = {
    r"laws?": "distribution",
    r"hunt(?:s|ed|ing)?": "search",
    r"sieves?": "bound filter",
    r"fib(?:re|er)s?": "line section",
    r"opaque": "black box",
    r"answers? alike": "non-deterministic",
    r"regions? settled": "proved",
    r"(?<!here )(?:is|are) no (?!longer|more|less|better|worse|wider|further|likelier|matter|doubt)\w+": "is not a",
}
#: What stands in code, in `back-ticks`, in {fields} in links or in a title is not prose.
_NO_PROSE = re.compile(
    r"^```.*?^```\s*$|`[^`\n]*`|\{[^{}]*\}|\]\([^)]*\)|\*Bump hunting[^*]*\*", re.MULTILINE | re.DOTALL
)


@cache
def prose() -> list[tuple[str, str]]:
    """Where it is said, and what."""
    return [(where, _NO_PROSE.sub("", text)) for where, text in (*messages(), *pages())]


def messages() -> Iterator[tuple[str, str]]:
    """The texts of the package that are several words, but for its own documentation."""
    said = re.compile("|".join(WORDS))
    for path in files():
        text = path.read_text("utf-8")
        for token in tokenize.generate_tokens(io.StringIO(text).readline) if said.search(text) else ():
            if token.type == tokenize.STRING and " " in token.string and '"""' not in token.string:
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def pages() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_of_ours_is_not_said(word: str) -> None:
    said = re.compile(rf"\b{word}\b")
    found = [where for where, text in prose() if said.search(text)]
    assert not found, f"say `{WORDS[word]}`"
