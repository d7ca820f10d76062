"""Other documents from valid ones: bytes, words, lines and numbers exchanged, repeated, dropped and nested."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

__all__ = ["mutated"]

#: What readers have stumbled over, or may.
NASTY = (
    *(
        "1e999999999",
        "-1e-999999999",
        "9" * 4400,
        "0." + "3" * 1300,
        "1/0",
        "1/3",
        "-0",
        "00",
        "NaN",
        "Infinity",
        "1e400",
    ),
    *("18446744073709551616", "-1", "0", "1", "2", "1.5", "true", "null", '""', "{}", "[]", "()", '"', "'", "\\"),
    *(
        "\u2028",
        "\ufeff",
        "\x00",
        "\x85",
        "\ud7ff",
        "é",
        "\U0001f600",
        "\r",
        "\r\n",
        "\t",
        "\x0b",
        "\x0c",
        "#",
        "##",
        "%",
    ),
    *(
        "..",
        "->",
        "=",
        "!=",
        "<=",
        ",",
        ":",
        ";",
        "not",
        "and",
        "or",
        "in",
        "with",
        "any",
        "each",
        "when",
        "over",
        "by",
    ),
    *(
        "../../etc/hostname",
        "=cmd|1",
        "@",
        "~",
        "$",
        "\x1b[31m",
        "p cnf 9 9",
        "c exact 1 1/3",
        "inf",
        "-inf",
        "e",
        "r",
        "a",
    ),
)
_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*|[0-9][0-9.eE+-]*|\s+|.", re.DOTALL)

_Change = Callable[[bytes, Random, Sequence[bytes]], bytes]


def mutated(document: bytes, random: Random, others: Sequence[bytes], longest: int = 20_000) -> bytes:
    """The document after one to six changes; ``others`` lend parts of theirs."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4, 6))):
        document = random.choice(_CHANGES)(document, random, others)[:longest]
    return document


def _bytes(document: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    changed = bytearray(document)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(changed))
        match random.randrange(3):
            case 0:
                changed[place:place] = bytes([random.randrange(256)])
            case 1:
                del changed[place : place + random.randint(1, 8)]
            case _ if place < len(changed):
                changed[place] ^= 1 << random.randrange(8)
    return bytes(changed)


def _words(document: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """A word becomes something nasty, or another word of the document, or goes, or comes twice."""
    words = _WORD.findall(document)
    if not words:
        return random.choice(NASTY).encode("utf-8", "surrogatepass")
    place = random.randrange(len(words))
    match random.randrange(5):
        case 0 | 1:
            words[place] = random.choice(NASTY).encode("utf-8", "surrogatepass")
        case 2:
            words[place] = random.choice(words)
        case 3:
            del words[place]
        case _:
            words[place:place] = words[place : place + random.randint(1, 6)]
    return b"".join(words)


def _lines(document: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    lines = document.split(b"\n")
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, lines[other])
        case 2:
            lines[place], lines[other] = lines[other], lines[place]
        case _:
            lines[place:place] = [lines[place]] * random.choice((2, 5, 40))
    return b"\n".join(lines)


def _spliced(document: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else document
    start, end = sorted((random.randint(0, len(other)), random.randint(0, len(other))))
    place = random.randint(0, len(document))
    return document[:place] + other[start : min(end, start + 400)] + document[place + random.choice((0, 0, 8)) :]


def _nested(document: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    """Brackets in brackets, as many as recursion does not survive."""
    before, after = random.choice(
        ((b"(", b")"), (b"[", b"]"), (b'{"a":', b"}"), (b"not ", b""), (b"-", b""), (b"{", b"}"))
    )
    words = _WORD.findall(document) or [b""]
    place, depth = random.randrange(len(words)), random.choice((3, 30, 150, 1500))
    words[place] = before * depth + words[place] + after * depth
    return b"".join(words)


def _cut(document: bytes, random: Random, others: Sequence[bytes]) -> bytes:
    return document[: random.randint(0, len(document))]


_CHANGES: tuple[_Change, ...] = (_words, _words, _words, _words, _bytes, _bytes, _lines, _spliced, _nested, _cut)
