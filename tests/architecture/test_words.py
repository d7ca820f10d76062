"""Messages, help and pages use the field's words: what readers of Fairlearn, CROWN or ProbLog would search for."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.modules import files

ROOT = Path(__file__).parents[2]
#: Words of ours that are said no longer, and what is said for each.
WORDS = {
    r"(?-i:(?<!in no )laws?(?! sets| requires))|conditional tables?": "distribution, conditional distribution",
    r"masses": "probabilities",
    r"chances|(?:chance|choice) variables?": "random or existential variables",
    r"hunt(?:s|ed|ing)?": "search",
    r"(?:a|two|every|nearest|of the|beside the|among the|neighbours of) finds?": "result, counterexample",
    r"caught": "detected",
    r"wanted": "requested",
    r"(?:stands?|stood|standing) for": "represents",
    r"sieves?": "bound filter",
    r"fib(?:re|er)s?|strips?": "line section, decision slab",
    r"frontiers?": "first unstable layer, open boxes",
    r"(?:un)?settl(?:e|es|ed|ing)": "decide",
    r"(?:not|can|could) be told|cannot be told|told apart": "is not known, distinguish",
    r"asked as a black box": "queried",
    r"opaque": "black box",
    r"Of the searches|What the whole run may take|may use, all": "Random seed, Time limit, Total memory limit",
    r"(?:that|whom|which) there (?:is|are) not": "unknown",
    r"in a circle": "cyclic dependency",
    r"averaged by": "marginalised over",
    r"both exist|\(both\)": "domain constraint, both individuals",
    r"of more behaviours": "over-approximation",
    r"better by the rule": "improved",
    r"curved|(?:straight|linear) pieces?": "smooth, piecewise linear",
    r"how sure": "confidence",
    r"(?<!the )worst two": "the largest gap",
    r"few signs": "nothing: it is no reason",
    r"answers? alike": "non-deterministic",
    r"(?<!here )(?:is|are) no (?!longer|more|less|better|worse|wider|further|likelier|matter|doubt)\w+": "is not a",
}


def whole(words: str) -> re.Pattern[str]:
    """Where they are said as words of their own."""
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


#: Where any of them is.
SAID = whole("|".join(WORDS))
#: What stands in code, in `back-ticks`, in {fields} in links or in a title is not prose.
_NO_PROSE = re.compile(
    r"^```.*?^```\s*$|`[^`\n]*`|\{[^{}]*\}|\]\([^)]*\)|\*Bump hunting[^*]*\*", re.MULTILINE | re.DOTALL
)
#: The package's documentation of itself.
_OWN = re.compile(r'"""[\s\S]*?"""|^\s*#.*$', re.MULTILINE)


def prose() -> Iterator[tuple[str, str]]:
    """Where it is said, and what."""
    yield from ((where, _NO_PROSE.sub("", text)) for where, text in (*messages(), *pages()))


def messages() -> Iterator[tuple[str, str]]:
    """Texts of the package of several words, but for its own documentation; that of commands is their help."""
    for path in files():
        text, helps = path.read_text("utf-8"), path.parent.name == "cli"
        # Splitting a file into tokens takes far longer than finding out that none of its lines can say such a word.
        lines = [text] if helps else _OWN.sub("", text).splitlines()
        some = any('"' in line and SAID.search(line) for line in lines)
        for token in tokenize.generate_tokens(io.StringIO(text).readline) if some else ():
            own = '"""' in token.string and not helps
            if token.type == tokenize.STRING and " " in token.string and not own:
                yield f"{path.relative_to(ROOT)}:{token.start[0]}", token.string


def pages() -> Iterator[tuple[str, str]]:
    """Those of the documentation, and the data files that messages and `explain` are made of."""
    kinds = (
        "README.md",
        "docs/**/*.md",
        "benchmarks/*.md",
        "examples/*/README.md",
        "grammar/*.toml",
        "prelude/*.fair",
        "presets/*.fair",
    )
    for path in sorted(path for kind in kinds for path in ROOT.glob(kind)):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")


def test_words_of_ours_are_not_said() -> None:
    """One test for all words: finding out what is prose takes longer than looking for them."""
    said = [(whole(word), instead) for word, instead in WORDS.items()]
    some = ((where, text) for where, text in prose() if SAID.search(text))
    found = [(where, f"say `{instead}`") for where, text in some for word, instead in said if word.search(text)]
    assert not found
