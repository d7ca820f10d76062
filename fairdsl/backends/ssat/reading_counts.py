"""Counting instances, read back: DIMACS in the form of the Model Counting Competition (2021 and later).

    c t mc | pmc | wmc | pwmc            what is counted: models, or their weights, of all variables or of some
    c p show VARIABLE .. 0               the variables that are counted; all where no line says it
    c p weight LITERAL WEIGHT 0          the weight of a literal; of a variable either both are given or none
    p cnf VARIABLES CLAUSES, and clauses as in SDIMACS (:mod:`fairdsl.backends.ssat.reading`)

Theorem. Let w(v) and w(-v) be the weights of a counted variable v, 1 where none is given, and let v be true with
probability w(v) / (w(v) + w(-v)). The weighted count is the product of all w(v) + w(-v) times the probability that
the clauses can be satisfied by a choice of the other variables: each assignment of the counted ones adds the
product of its weights, once, if it extends to a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from fairdsl.backends.ssat.instance import Bound, Instance, Quantifier
from fairdsl.backends.ssat.reading import Line, Place, Reader, Word, number_of
from fairdsl.source import SourceFile

_SHOW = "write `c p show VARIABLE .. 0`"
_WEIGHT = "write `c p weight LITERAL WEIGHT 0`, a line for each of the variable's two literals"


def read_count(text: str, path: str) -> tuple[Instance, Fraction]:
    """An instance and a factor; the count is the instance's value times the factor.

    Raises DiagnosticError (E0640 to E0645), whose places are in the file ``path``.
    """
    reader = _CountReader(SourceFile(path, text))
    instance = reader.instance()
    return instance, reader.factor


class _CountReader(Reader):
    """As SDIMACS, but what is random stands in comments, and every other variable is chosen innermost."""

    blocks = ()

    def __init__(self, source: SourceFile) -> None:
        super().__init__(source)
        self.factor = Fraction(1)
        self._shown: dict[int, None] | None = None
        self._weights: dict[int, tuple[Fraction, Word]] = {}

    def instance(self) -> Instance:
        """The counted variables outermost; those that no clause and no weight mentions are left out of the prefix."""
        found = super().instance()
        counted = {bound.variable for bound in found.prefix}
        others = sorted({abs(literal) for clause in found.clauses for literal in clause} - counted)
        return replace(found, prefix=(*found.prefix, *(Bound(each, Quantifier.EXISTS) for each in others)))

    def _said(self) -> tuple[dict[int, str], tuple[str, ...]]:
        """What is counted and how it weighs, and then what other comments say."""
        for line in self._comments:
            match [self._text(word) for word in self._words(line)[:3]]:
                case ["c", "p", "show"]:
                    self._show(line)
                case ["c", "p", "weight"]:
                    self._weigh(line)
        shown: Iterable[int] = self._mentioned() if self._shown is None else self._shown
        for literal, (_, word) in self._weights.items():
            if self._shown is not None and abs(literal) not in self._shown:
                self._refuse(self._word(word.line, word.at), "this variable is not counted, so it has no weight", _SHOW)
        self._bounds = [Bound(variable, Quantifier.RANDOM, self._chance(variable)) for variable in shown]
        return super()._said()

    def _mentioned(self) -> list[int]:
        """Variables of clauses and weights. The others are counted, too: each doubles the factor."""
        found = {abs(literal) for clause in self._clauses for literal in clause} | set(map(abs, self._weights))
        self.factor *= 2 ** (self._variables - len(found))
        return sorted(found)

    def _show(self, line: Line) -> None:
        words = self._words(line)
        if self._text(words[-1]) != "0":
            self._refuse(words[-1], "no 0 ends this line", _SHOW)
        self._shown = (self._shown or {}) | {abs(self._literal(word, _SHOW)): None for word in words[3:-1]}

    def _weigh(self, line: Line) -> None:
        words = self._words(line)[3:]
        if len(words) != 3 or self._text(words[2]) != "0":
            self._refuse(self._whole(line), "this is not the weight of a literal", _WEIGHT)
        literal, weight = self._literal(words[0], _WEIGHT), number_of(self._text(words[1]))
        if weight is None or weight < 0:
            self._refuse(words[1], "a weight is a number from 0", _WEIGHT)
        if literal in self._weights:
            self._refuse(words[0], "this literal has a weight already", _WEIGHT)
        self._weights[literal] = weight, Word(line, 4, self._text(words[1]))

    def _literal(self, word: Place, instead: str) -> int:
        literal = self._number(word, "a variable")
        if not literal:
            self._refuse(word, "this is not a variable", instead)
        self._counted(abs(literal), word)
        return literal

    def _chance(self, variable: int) -> Fraction:
        """The probability that the variable is true; the weights' sum goes to the factor."""
        given = [self._weights[literal] for literal in (variable, -variable) if literal in self._weights]
        if not given:
            self.factor *= 2
            return Fraction(1, 2)
        word = given[0][1]
        if len(given) == 1:
            self._refuse(self._word(word.line, word.at), "the variable's other literal has no weight", _WEIGHT)
        high, low = given[0][0], given[1][0]
        if not high + low:
            self._refuse(self._word(word.line, word.at), "both literals of this variable weigh nothing", _WEIGHT)
        self._chance_at[variable] = word
        self.factor *= high + low
        return high / (high + low)
