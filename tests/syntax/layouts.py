"""``python tests/syntax/layouts.py 100000 --seed 1``: random specs, laid out at random, and then by the formatter."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from math import inf
from random import Random

from hypothesis import HealthCheck, given, settings
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
#: What a spec is made of; few need more, and those are left out.
_BYTES = 4096


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
        formatted = laid_out(source, read)
    except DiagnosticError as error:
        return f"{error.diagnostics[0].title}\n{text}"
    layout = SourceFile("spec.fair", formatted)
    again = parse(layout)
    if again.spec != spec:
        return f"the layout means something else\n{text}\n{formatted}"
    if [each.text for each in again.spec.comments] != [each.text for each in read.spec.comments]:
        return f"a comment is lost, or moved before another\n{text}\n{formatted}"
    if laid_out(layout, again) != formatted:
        return f"laying out twice changes something\n{text}\n{formatted}"
    return None


def main() -> int:
    """Try so many; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first spec; each has one of its own")
    parser.add_argument("--minutes", type=float, default=inf, help="end after so many, however many were tried")
    asked = parser.parse_args()
    began, number, end = time.process_time(), asked.seed, time.monotonic() + 60 * asked.minutes
    found: Counter[str | None] = Counter()

    @settings(database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(specs)
    def each(spec: tree.Spec) -> None:
        found[fault_of(spec, Random(number))] += 1

    while found.total() < asked.count and time.monotonic() < end and not found.keys() - {None, REFUSED}:
        # The bytes that it is made of, and no choice that remembers earlier ones: three times as fast as a run of many.
        each.hypothesis.fuzz_one_input(Random(number).randbytes(_BYTES))
        number += 1
    wrong = sorted(each for each in found if each not in (None, REFUSED))
    print(f"{found[None]:,} specs laid out, {found[REFUSED]:,} refused, {time.process_time() - began:,.0f} CPU s")
    print(f"number {number - 1}: {wrong[0]}" if wrong else "none wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
