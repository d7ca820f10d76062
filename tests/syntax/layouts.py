"""``python tests/syntax/layouts.py 100000 --seed 1``: random specs, laid out at random, and then by the formatter."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from spec_trees import specs

from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.laid_out import laid_out
from fairdsl.syntax.parse import parse
from fairdsl.syntax.scan import scan

#: What may stand between two words: the line and the blank mean nothing.
_BLANKS = (" ", " ", "  ", "\t", "\n", "\n", "\n\n", "\n\n\n\n", "\n      ", "\r\n", " \n\t")
_REMARKS = (" # {}\n", "\n# {}\n", "\n\n   # {}\n\n", " #{}\n", "\n### {}\n")
#: The formatter leaves such a file alone.
REFUSED = "refused"
#: How many are drawn with one seed.
_AT_ONCE = 2000


def laid_out_at_random(text: str, random: Random) -> str:
    """The same words and comments, with other blanks between them, and with remarks."""
    written, end, remarks = [], 0, 0
    for lexeme in scan(SourceFile("spec.fair", text)):
        between = text[end : lexeme.start]
        if between and "#" not in between:
            between = random.choice(_BLANKS if random.random() < 0.92 else _REMARKS).format(f"remark {remarks}")
            remarks += 1
        written += [between, text[lexeme.start : lexeme.span.end]]
        end = lexeme.span.end
    return "".join(written)


def fault_of(spec: tree.Spec, random: Random) -> str | None:
    """What is wrong with what the formatter makes of a random layout of the spec; None: nothing."""
    text = laid_out_at_random(format_spec(spec), random)
    source = SourceFile("spec.fair", text)
    read = parse(source)
    if read.spec != spec:
        return f"another layout is another spec\n{text}"
    if not read.complete:  # some word of it cannot stand where it does, and nothing is laid out
        return REFUSED
    try:
        formatted = laid_out(source)
    except DiagnosticError as error:
        return f"{error.diagnostics[0].title}\n{text}"
    again = parse(SourceFile("spec.fair", formatted))
    if again.spec != spec:
        return f"the layout means something else\n{text}\n{formatted}"
    if [each.text for each in again.spec.comments] != [each.text for each in read.spec.comments]:
        return f"a comment is lost, or moved before another\n{text}\n{formatted}"
    if laid_out(SourceFile("spec.fair", formatted)) != formatted:
        return f"laying out twice changes something\n{text}\n{formatted}"
    return None


def main() -> int:
    """Try so many; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    began = time.process_time()
    found: Counter[str | None] = Counter()
    while found.total() < asked.count and not found.keys() - {None, REFUSED}:
        _some(min(_AT_ONCE, asked.count - found.total()), asked.seed + found.total(), found)
    wrong = sorted(each for each in found if each not in (None, REFUSED))
    print(f"{found[None]:,} specs laid out, {found[REFUSED]:,} refused, {time.process_time() - began:,.0f} CPU s")
    print(wrong[0] if wrong else "none wrong")
    return 1 if wrong else 0


def _some(count: int, first: int, found: Counter[str | None]) -> None:

    @seed(first)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(specs, st.integers(0, 2**32))
    def each(spec: tree.Spec, number: int) -> None:
        found[fault_of(spec, Random(number))] += 1

    each()


if __name__ == "__main__":
    sys.exit(main())
