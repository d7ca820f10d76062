"""What stands in a spec for a name, a number, a text in quotes, or a condition; SpecError (E0682) where none can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from fairdsl.dataframes.errors import not_usable
from fairdsl.diagnostics import DiagnosticError
from fairdsl.source.names import is_name
from fairdsl.source.numbers import decimal_text

#: A number, or a text that is one: ``"80%"``, or the name of a parameter.
Number = int | float | Fraction | str
#: One text, or several.
Texts = str | Sequence[str]


def name(given: str, what: str) -> str:
    """A name of the language."""
    if isinstance(given, str) and is_name(given):
        return given
    help_text = "write letters, digits and `_`, beginning with a letter; a header of the data goes into `column`"
    raise DiagnosticError(not_usable(f"the name of {what}", f"{given!r} is not a name", help_text))


def listed(names: Texts, what: str) -> str:
    """Names with commas."""
    return ", ".join(name(each, what) for each in several(names, what))


def several(given: Texts, what: str) -> Sequence[str]:
    """Texts, of which one may stand alone."""
    found = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else [given]
    wrong = next((each for each in found if not isinstance(each, str)), None)
    if wrong is not None:
        raise DiagnosticError(not_usable(what, f"{wrong!r} is not a text", "write it as the language does, in quotes"))
    return found


def number(given: Number, what: str) -> str:
    """A number as the language writes it; a float means what it is written as."""
    if isinstance(given, str):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float | Fraction):
        raise DiagnosticError(not_usable(what, f"{given!r} is not a number", 'write a number, or `"80%"`'))
    try:
        return decimal_text(given)
    except ValueError as problem:
        help_text = "write it as a text, rounded as it is meant"
        raise DiagnosticError(not_usable(what, f"{given!r} has no decimal", help_text)) from problem


def quoted(text: str, what: str) -> str:
    """A text in quotes, which have no escapes."""
    if not isinstance(text, str) or '"' in text or not text.isprintable():
        help_text = "rename it: quotes and line breaks cannot stand in a quoted text"
        raise DiagnosticError(not_usable(what, f"{text!r} cannot be written between quotes", help_text))
    return f'"{text}"'


def value(text: str, what: str) -> str:
    """A value of a category: a name, or in quotes."""
    return text if isinstance(text, str) and is_name(text) else quoted(text, what)


def line(word: str, text: str, when: object = True) -> Iterator[str]:
    """A clause, where there is one."""
    if when:
        yield f"  {word} {text}".rstrip()


def clauses(word: str, texts: Texts, what: str) -> Iterator[str]:
    """A clause for each text."""
    yield from (f"  {word} {text}".rstrip() for text in several(texts, what))
