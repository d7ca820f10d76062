"""SDIMACS text as an instance; strict, with the place of whatever is wrong.

    c COMMENT                            anywhere
    p cnf VARIABLES CLAUSES              the header
    e VARIABLE .. 0                      the prefix, outermost first: existential,
    a VARIABLE .. 0                      universal,
    r PROBABILITY VARIABLE .. 0          and random variables, true with the probability
    LITERAL .. 0                         clauses, over several lines where they are long

Variables that no line binds are existential and outermost. Two kinds of comments are read: ``c name VARIABLE TEXT``
says what a variable is, and ``c exact VARIABLE NUMERATOR/DENOMINATOR`` what its probability is, of which the prefix has
the rounded decimal; so it may differ from that by one unit of its last place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

from fairdsl.backends.ssat import errors
from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source import SourceFile, Span
from fairdsl.source.numbers import read_number

_WORD = re.compile(r"\S+", re.ASCII)
_NUMBERS = re.compile(r"[-0-9 \t\r\v\f]+", re.ASCII)
_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_DECIMAL = re.compile(r"(?P<sign>[-+]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[-+]?[0-9]{1,4}))?")
_RATIO = re.compile(r"(?P<above>[0-9]+)/(?P<below>[0-9]+)")
_NAME = re.compile(r"c\s+name\s+(?P<variable>[0-9]{1,18})\s+(?P<text>\S.*)", re.ASCII)
_EXACT = re.compile(r"c\s+exact\s+(?P<variable>[0-9]{1,18})(?!\S)(?P<ratio>.*)", re.ASCII)

#: Variables that are taken for meant.
_MOST = 10_000_000
#: What clauses are written with.
_OF_NUMBERS = "-0123456789 \t\r\v\f\n"
#: Characters of a text whose number is kept, and how many are: files of one question have the same probabilities.
_SHORT, _KEPT = 100, 1 << 12
#: Digits of a number, of which exact probabilities have many, and the highest power of ten.
_LONGEST, _POWER = 1_000_000, 9_999

_HEADER = "begin with the header `p cnf VARIABLES CLAUSES`"
_PREFIX = "write `e`, `a`, or `r` and a probability, then the variables, then 0"
_CLAUSE = "write a clause as its literals, then 0"


def read_sdimacs(text: str, path: str) -> Instance:
    """The instance in a text; raises DiagnosticError (E0640 to E0645), whose places are in the file ``path``."""
    return Reader(SourceFile(path, text)).instance()


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its break, and where it begins."""

    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Place:
    """A word of the text, by its ends."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """The word ``at`` a number of a line, from 0; where that is in the text is only looked up where it is wrong."""

    line: Line
    at: int
    text: str


class Reader:
    """One file: the header, the prefix, the clauses; comments are kept for the end, when all variables are known."""

    #: Letters of the lines that bind variables.
    blocks: tuple[str, ...] = ("e", "a", "r")

    def __init__(self, source: SourceFile) -> None:
        self._source = source
        self._variables = 0
        self._announced = 0
        self._header: Line | None = None
        self._bounds: list[Bound] = []
        #: By variable, the word that binds it, and the one that is its probability.
        self._bound_at: dict[int, Word] = {}
        self._chance_at: dict[int, Word] = {}
        self._clauses: list[Clause] = []
        self._literals: list[int] = []
        self._last: Line | None = None
        self._surplus: Line | None = None
        self._comments: list[Line] = []

    def instance(self) -> Instance:
        """All lines, and what they come to."""
        # From here on there are numbers alone, if nothing is wrong.
        numbers = self._source.text.find("\n", len(self._source.text.rstrip(_OF_NUMBERS))) + 1
        for line in self._lines(0, numbers):
            self._line(line)
        if not self._read_rest(numbers):
            for line in self._lines(numbers, len(self._source.text)):
                self._line(line)
        if self._header is None:
            raise DiagnosticError(errors.not_sdimacs(self._source.path, "the file has no header", None, _HEADER))
        if self._last is not None and self._literals:
            self._refuse(self._words(self._last)[-1], "no 0 ends this clause", _CLAUSE)
        if len(self._clauses) != self._announced:
            place = self._words(self._header)[3] if self._surplus is None else self._whole(self._surplus)
            raise DiagnosticError(errors.clauses_miscounted(self._announced, len(self._clauses), self._span(place)))
        names, comments = self._said()
        return Instance(
            variables=self._variables,
            prefix=tuple(self._bounds),
            clauses=tuple(self._clauses),
            names=names,
            comments=comments,
        )

    def _lines(self, start: int, end: int) -> Iterator[Line]:
        for text in self._source.text[start:end].split("\n"):
            if text.strip():
                yield Line(text, start)
            start += len(text) + 1

    def _read_rest(self, start: int) -> bool:
        """Take the numbers from here on as clauses, if that is what they are."""
        try:
            numbers = list(map(int, self._source.text[start:].split()))
        except ValueError:
            return False
        counted = not numbers or -self._variables <= min(numbers) <= max(numbers) <= self._variables
        whole = not numbers or numbers[-1] == 0
        if self._header is None or self._literals or not (counted and whole):
            return False
        if len(self._clauses) + numbers.count(0) != self._announced:
            return False
        first = 0
        while first < len(numbers):
            last = numbers.index(0, first)
            self._clauses.append(tuple(numbers[first:last]))
            first = last + 1
        return True

    def _line(self, line: Line) -> None:
        first = line.text.split(None, 1)[0]
        match first:
            case "c":
                self._comments.append(line)
            case "p":
                self._read_header(line)
            case _ if self._header is None:
                self._refuse(self._words(line)[0], "the header comes before everything but comments", _HEADER)
            case _ if first in self.blocks:
                self._read_block(line, Quantifier(first))
            case _:
                self._read_clauses(line)

    # ---- header and prefix -------------------------------------------------------------------

    def _read_header(self, line: Line) -> None:
        words = self._words(line)
        texts = [self._text(word) for word in words]
        if self._header is not None:
            self._refuse(words[0], "a second header", "leave one header in the file")
        if len(texts) != 4 or texts[1] != "cnf" or not all(_WHOLE.fullmatch(text) for text in texts[2:]):
            self._refuse(self._whole(line), "this is not a header", _HEADER)
        self._variables, self._announced = int(texts[2]), int(texts[3])
        if self._variables < 0 or self._announced < 0 or self._variables > _MOST:
            self._refuse(words[2], f"the numbers of a header go from 0, and to {_MOST:,} variables", _HEADER)
        self._header = line

    def _read_block(self, line: Line, quantifier: Quantifier) -> None:
        words = _WORD.findall(line.text)
        if self._clauses or self._literals:
            what = "the prefix ends where the clauses begin"
            self._refuse(self._word(line, 0), what, "bind variables before the first clause")
        chance: Fraction | None = None
        first = 1
        if quantifier is Quantifier.RANDOM:
            if len(words) < 2:
                self._refuse(self._word(line, 0), "a probability follows", _PREFIX)
            chance = self._probability(words[1], line)
            first = 2
        if len(words) <= first or words[-1] != "0":
            self._refuse(self._word(line, len(words) - 1), "no 0 ends this line", _PREFIX)
        for at in range(first, len(words) - 1):
            variable = self._bound_by(line, at, words[at])
            self._bound_at[variable] = Word(line, at, words[at])
            self._bounds.append(Bound(variable, quantifier, chance))
            if chance is not None:
                self._chance_at[variable] = Word(line, 1, words[1])

    def _bound_by(self, line: Line, at: int, word: str) -> int:
        """A word of the prefix as a variable that is not bound yet."""
        variable = int(word) if _WHOLE.fullmatch(word) else 0
        if not 1 <= variable <= self._variables or variable in self._bound_at:
            place = self._word(line, at)
            if self._number(place, "a variable") < 1:
                self._refuse(place, "this is not a variable", _PREFIX)
            self._counted(variable, place)
            earlier = self._bound_at[variable]
            before = self._span(self._word(earlier.line, earlier.at))
            raise DiagnosticError(errors.twice_bound(variable, self._span(place), before))
        return variable

    def _probability(self, word: str, line: Line) -> Fraction:
        number = number_of(word)
        if number is None or not 0 <= number.numerator <= number.denominator:
            raise DiagnosticError(errors.no_probability(word[:40], self._span(self._word(line, 1))))
        return number

    # ---- clauses -----------------------------------------------------------------------------

    def _read_clauses(self, line: Line) -> None:
        """Literals up to each 0; the words one by one only where something is wrong."""
        self._last = line
        try:
            if not _NUMBERS.fullmatch(line.text):
                raise ValueError
            literals = list(map(int, line.text.split()))
        except ValueError:
            for word in self._words(line):
                self._number(word, "a literal")
            raise AssertionError("a line without numbers has a word that is none") from None
        for place, literal in enumerate(literals):
            if literal:
                if not -self._variables <= literal <= self._variables:
                    self._counted(abs(literal), self._words(line)[place])
                self._literals.append(literal)
            else:
                self._clauses.append(tuple(self._literals))
                self._literals.clear()
                if len(self._clauses) > self._announced and self._surplus is None:
                    self._surplus = line

    def _number(self, word: Place, what: str) -> int:
        """A word as a number; E0640 where it is none."""
        text = self._text(word)
        if not _WHOLE.fullmatch(text):
            self._refuse(word, f"this is not {what}", _PREFIX if what == "a variable" else _CLAUSE)
        return int(text)

    def _counted(self, variable: int, at: Place | Line) -> None:
        """E0643 for a variable that the header leaves out; of a comment it is the third word."""
        if variable > self._variables:
            assert self._header is not None
            header = self._span(self._words(self._header)[2])
            word = self._words(at)[2] if isinstance(at, Line) else at
            raise DiagnosticError(errors.not_counted(variable, self._variables, self._span(word), header))

    # ---- comments ----------------------------------------------------------------------------

    def _said(self) -> tuple[dict[int, str], tuple[str, ...]]:
        """Names and comments; exact probabilities take the place of rounded ones."""
        names: dict[int, str] = {}
        comments: list[str] = []
        exact: dict[int, Fraction] = {}
        for line in self._comments:
            if match := _NAME.match(line.text.strip()):
                variable = int(match["variable"])
                self._counted(variable, line)
                names[variable] = match["text"]
            elif match := _EXACT.match(line.text.strip()):
                variable = int(match["variable"])
                self._counted(variable, line)
                exact[variable] = self._exact(variable, match["ratio"].strip(), line, again=variable in exact)
            else:
                comments.append(line.text.strip().removeprefix("c").strip())
        self._bounds = [
            Bound(bound.variable, bound.quantifier, exact[bound.variable]) if bound.variable in exact else bound
            for bound in self._bounds
        ]
        return names, tuple(comments)

    def _exact(self, variable: int, text: str, line: Line, *, again: bool) -> Fraction:
        """What a comment says; E0645 where it is not about the number in the prefix."""
        written = self._chance_at.get(variable)
        number = number_of(text) if _RATIO.fullmatch(text) else None
        if number is None:
            what = "this is not a quotient of whole numbers"
        elif again:
            what = "an exact probability was given before"
        elif written is None:
            what = "the prefix gives this variable no probability"
        elif not 0 <= number <= 1 or not _rounds(written.text, text):
            what = "this is another number"
        else:
            return number
        span = None if written is None else self._span(self._word(written.line, written.at))
        raise DiagnosticError(errors.exact_contradicts(variable, what, self._span(self._whole(line)), span))

    # ---- places ------------------------------------------------------------------------------

    def _words(self, line: Line) -> list[Place]:
        return [Place(line.start + word.start(), line.start + word.end()) for word in _WORD.finditer(line.text)]

    def _word(self, line: Line, at: int) -> Place:
        return self._words(line)[at]

    def _whole(self, line: Line) -> Place:
        words = self._words(line)
        return Place(words[0].start, words[-1].end)

    def _text(self, place: Place) -> str:
        return self._source.text[place.start : place.end]

    def _span(self, place: Place) -> Span:
        return Span(self._source, place.start, place.end)

    def _refuse(self, place: Place, what: str, instead: str) -> NoReturn:
        raise DiagnosticError(errors.not_sdimacs(self._source.path, what, self._span(place), instead))


def number_of(text: str) -> Fraction | None:
    """A decimal, with a power of ten or without, or a quotient; None for anything else."""
    return _number_of(text) if len(text) <= _SHORT else _number_of.__wrapped__(text)


@lru_cache(_KEPT)
def _number_of(text: str) -> Fraction | None:
    try:
        return read_number(text, longest=_LONGEST, power=_POWER)
    except ValueError:
        return None


def _rounds(decimal: str, text: str) -> bool:
    """Whether a decimal is the number of a text but for one unit of its last place."""
    return (_rounded if max(len(decimal), len(text)) <= _SHORT else _rounded.__wrapped__)(decimal, text)


@lru_cache(_KEPT)
def _rounded(decimal: str, text: str) -> bool:
    exact, written = number_of(text) or Fraction(0), number_of(decimal) or Fraction(0)
    return bool(abs(exact - written) <= unit_of(decimal))


def unit_of(text: str) -> Fraction:
    """The value of a one in the last place of a decimal; 0 for a quotient."""
    decimal = _DECIMAL.fullmatch(text)
    return Fraction(0) if decimal is None else Fraction(10) ** (int(decimal["power"] or 0) - len(decimal["part"] or ""))
