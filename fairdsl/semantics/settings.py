"""``set max_parents = 2``: choices of a learner that change the meaning of an answer, and the values they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType

from fairdsl.diagnostics import Reporter
from fairdsl.semantics import errors
from fairdsl.source import Span
from fairdsl.syntax import tree

_Value = Fraction | str
#: The scores that structures are searched for by.
SCORES = ("k2", "bic", "bdeu")
_TRUTH = {"yes": 1, "true": 1, "no": 0, "false": 0}
#: The kinds of population that read a setting, and why no other one does.
_LEARNER = (("learned",), "only `learn bayesian_network` makes choices: this setting would change nothing")
_READERS = {
    "renormalise": (("file",), "only a network from a file can have rounded probabilities: there is nothing to scale"),
    "bins": (("independent", "fitted", "learned"), "only a distribution that is counted in rows has means within bins"),
}


def check_settings(clauses: Sequence[tree.Setting], kind: str, reporter: Reporter) -> tuple[tuple[str, _Value], ...]:
    """Every setting with its value; words that are not settings, and values they cannot have, are reported."""
    settings: dict[str, _Value] = {}
    first: dict[str, Span] = {}
    for clause in clauses:
        name = clause.name.text
        if name not in SETTINGS:
            reporter.report(errors.unknown_word("setting", name, clause.name.span, tuple(SETTINGS)))
        elif name in first:
            reporter.report(errors.declared_twice("setting", name, clause.name.span, first[name], word="written"))
        elif kind not in _READERS.get(name, _LEARNER)[0]:
            why = _READERS.get(name, _LEARNER)[1]
            reporter.report(errors.setting_out_of_place(name, clause.span, why, f"remove `set {name}`"))
        else:
            value = SETTINGS[name](clause, reporter)
            if value is not None:
                settings[name] = value
        first.setdefault(name, clause.name.span)
    if "equivalent_sample_size" in settings and settings.get("score") != "bdeu":
        span = first["equivalent_sample_size"]
        why = "the BDeu score alone reads it"
        reporter.report(errors.setting_out_of_place("equivalent_sample_size", span, why, "write `set score = bdeu`"))
    return tuple(settings.items())


def _one_of_the_scores(clause: tree.Setting, reporter: Reporter) -> str | None:
    word = _word(clause)
    if word in SCORES:
        return word
    written = clause.value.span.text
    reporter.report(errors.unknown_word("score of structures", written, clause.value.span, SCORES))
    return None


def _means(clause: tree.Setting, reporter: Reporter) -> str | None:
    if _word(clause) == "means":
        return "means"
    reporter.report(errors.unknown_word("choice of bins", clause.value.span.text, clause.value.span, ("means",)))
    return None


def _any_word(clause: tree.Setting, reporter: Reporter) -> str | None:
    word = _word(clause)
    if word is None:
        reporter.report(errors.wrong_kind("a number", "a word", clause.value.span, "write the name of a search"))
    return word


def _whole(clause: tree.Setting, reporter: Reporter) -> Fraction | None:
    value = clause.value
    if isinstance(value, tree.Number) and not value.percent and value.value >= 0 and value.value.denominator == 1:
        return value.value
    title = f"`{clause.name.text}` is a whole number from 0"
    reporter.report(errors.number_out_of_place(title, value.span, f"write for instance `set {clause.name.text} = 2`"))
    return None


def _positive(clause: tree.Setting, reporter: Reporter) -> Fraction | None:
    value = clause.value
    if isinstance(value, tree.Number) and Fraction(1, 10**9) <= value.value <= 10**9:
        return value.value
    title = f"`{clause.name.text}` is a number between 10^-9 and 10^9"
    reporter.report(errors.number_out_of_place(title, value.span, f"write for instance `set {clause.name.text} = 10`"))
    return None


def _yes_or_no(clause: tree.Setting, reporter: Reporter) -> Fraction | None:
    word = _word(clause)
    if word in _TRUTH:
        return Fraction(_TRUTH[word])
    written = clause.value.span.text
    reporter.report(errors.unknown_word("yes or no", written, clause.value.span, ("yes", "no")))
    return None


def _word(clause: tree.Setting) -> str | None:
    match clause.value:
        case tree.Name(text=text):
            return text
        case tree.Text(value=value):
            return value
        case _:
            return None


#: Every setting, and who reads its value.
SETTINGS: Mapping[str, Callable[[tree.Setting, Reporter], _Value | None]] = MappingProxyType(
    {
        "score": _one_of_the_scores,
        "max_parents": _whole,
        "seed": _whole,
        "search": _any_word,
        "equivalent_sample_size": _positive,
        "protected_roots": _yes_or_no,
        "renormalise": _yes_or_no,
        "bins": _means,
    }
)
