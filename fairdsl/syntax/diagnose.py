"""From a situation to the one diagnostic that describes it best."""

from __future__ import annotations

from fairdsl.diagnostics.model import Diagnostic
from fairdsl.diagnostics.suggest import nearest
from fairdsl.syntax import errors
from fairdsl.syntax.expected import expected_words, known_clauses
from fairdsl.syntax.first_words import FIRST_WORDS, ONLY_DECLARE, OTHER_WORDS, example_of
from fairdsl.syntax.mistakes import classic_mistake
from fairdsl.syntax.scan import Kind, Lexeme
from fairdsl.syntax.situation import Situation

#: What a statement cannot end with.
_GOES_ON = frozenset(("=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "->", ":", "and", "or", "not", "by"))


def diagnose(situation: Situation) -> Diagnostic:
    """The findings are tried from the most telling to the plainest."""
    return (
        _left_over_comma(situation)
        or _nothing_follows(situation)
        or _breaks_off(situation)
        or _unclosed(situation)
        or classic_mistake(situation)
        or _unopened(situation)
        or _unbalanced(situation)
        or _comma_missing(situation)
        or _comma_behind_statement(situation)
        or _unknown_word(situation)
        or _something_else(situation)
    )


def _nothing_follows(situation: Situation) -> Diagnostic | None:
    """``require`` and then the next line, which the grammar took for a name, or the end of the block."""
    first = situation.lexemes[situation.start]
    following = situation.lexemes[situation.start + 1]
    # A declaration's header may go on below; a clause whose first word ends its line is left empty.
    begins = first.text in situation.first_words() and first.text not in ("uniform", "independent")
    empty = following.text == "}" or following.kind is Kind.END or _begins_line(situation, following)
    if not (begins and empty and situation.at <= situation.start + 2):
        return None
    if situation.at == situation.start:
        return None
    return errors.nothing_follows(first.span, first.text, _example(situation), following.span)


def _breaks_off(situation: Situation) -> Diagnostic | None:
    """A statement that ends in the middle, as in ``require x <=`` before the next line."""
    lexemes = situation.lexemes
    for stop in (situation.at - 1, situation.at):
        last, following = lexemes[stop - 1], lexemes[stop]
        ends = following.text == "}" or following.kind is Kind.END or _begins_line(situation, following)
        if stop > situation.start + 1 and ends and last.text in _GOES_ON:
            return errors.nothing_follows(last.span, last.text, _example(situation), following.span)
    return None


def _example(situation: Situation) -> str:
    return example_of(situation.lexemes[situation.start].text, situation.body)


def _begins_line(situation: Situation, lexeme: Lexeme) -> bool:
    return lexeme.leads and lexeme.text in (*situation.first_words(), *ONLY_DECLARE)


def _left_over_comma(situation: Situation) -> Diagnostic | None:
    """A comma before the end of a list; a first word behind it was taken for a name of the list."""
    lexemes, at = situation.lexemes, situation.at
    for comma in (at - 1, at - 2):
        follower = lexemes[comma + 1]
        ends = follower.text in ("}", ")") or follower.kind is Kind.END or _begins_line(situation, follower)
        if comma > situation.start and lexemes[comma].text == "," and ends:
            return errors.list_comma(lexemes[comma].span, True, "", "")
    return None


def _comma_behind_statement(situation: Situation) -> Diagnostic | None:
    """Statements that are listed, as in ``age : boolean,`` before the next attribute."""
    listed = situation.found.text == "," and situation.complete and "COMMA" not in situation.accepts
    return errors.list_comma(situation.found.span, True, "", "") if listed else None


def _comma_missing(situation: Situation) -> Diagnostic | None:
    before, found = situation.before, situation.found
    value = (Kind.WORD, Kind.STRING, Kind.NUMBER)
    if "COMMA" not in situation.accepts or before is None or situation.start == situation.at:
        return None
    if before.kind not in value or found.kind not in value or (found.leads and situation.complete):
        return None
    plain = before.kind is found.kind is Kind.WORD
    return errors.list_comma(
        found.span, False, _quoted(before), _quoted(found), quotable=plain and _lists_values(situation)
    )


def _lists_values(situation: Situation) -> bool:
    """Whether the place is in a list of values, which may be written in quotes where they are not names."""
    opening = _inner_opening(situation)
    return opening is not None and situation.lexemes[opening - 1].text in ("category", "in")


def _unclosed(situation: Situation) -> Diagnostic | None:
    """The file ends, or a declaration begins, while a brace is open."""
    opening = _inner_opening(situation) or situation.opening
    first = situation.lexemes[situation.start]
    here = situation.found
    if opening is None:
        return None
    swallowed = opening < situation.start < situation.at and first.leads
    if swallowed and begins_declaration(situation, situation.start):
        here = first
    elif not (here.kind is Kind.END or (here.leads and begins_declaration(situation, situation.at))):
        inner_head = opening != situation.opening and here.leads and _heads_attribute(situation)
        if not inner_head:
            return None
    if opening == situation.opening and _is_indented(situation, here):
        return errors.misplaced_declaration(here.span, here.text, f"outside the {situation.body}")
    brace = situation.lexemes[opening]
    owner = _owner_of(situation, opening)
    return errors.unbalanced_brace(here.span, errors.Brace.UNCLOSED, owner, brace.span)


def _is_indented(situation: Situation, here: Lexeme) -> bool:
    """Whether a declaration stands deeper than the one around it, so it was meant to be inside."""
    if here.kind is Kind.END or situation.owner is None:
        return False
    return here.span.first.column > situation.lexemes[situation.owner].span.first.column


def begins_declaration(situation: Situation, index: int) -> bool:
    """Whether a declaration begins at an index; ``model`` is a clause of properties too."""
    word, after = situation.lexemes[index].text, situation.lexemes[index + 2].text
    if word == "model":
        return situation.body != "property" or after == ":"
    names_itself = situation.lexemes[index + 1].kind in (Kind.WORD, Kind.STRING)
    return word in ONLY_DECLARE and names_itself


def _heads_attribute(situation: Situation) -> bool:
    following = situation.lexemes[situation.at + 1].text
    return following == ":" or situation.found.text in situation.first_words()


def _inner_opening(situation: Situation) -> int | None:
    """The index of the innermost brace that the statement itself has left open."""
    opened: list[int] = []
    for index in range(situation.start, situation.at):
        text = situation.lexemes[index].text
        if text == "{":
            opened.append(index)
        elif text == "}" and opened:
            opened.pop()
    return opened[-1] if opened else None


def _owner_of(situation: Situation, opening: int) -> str:
    if opening != situation.opening or situation.owner is None:
        return f"`{_quoted(situation.lexemes[opening - 1])}`"
    first = situation.lexemes[situation.owner].text
    name = situation.lexemes[situation.owner + 1]
    return f"{first} `{_quoted(name)}`" if name.kind is Kind.WORD else first


def _unopened(situation: Situation) -> Diagnostic | None:
    if "LBRACE" not in situation.accepts or situation.found.text == "{" or situation.before is None:
        return None
    if not situation.accepts <= {"LBRACE", "STRING"}:
        return None
    first, name = situation.lexemes[situation.start], situation.lexemes[situation.start + 1]
    owner = f"{first.text} `{_quoted(name)}`" if situation.body == "file" else f"`{_quoted(situation.before)}`"
    return errors.unbalanced_brace(situation.found.span, errors.Brace.UNOPENED, owner)


def _unbalanced(situation: Situation) -> Diagnostic | None:
    if situation.found.text == "{" and situation.unbraced and situation.complete:
        return errors.unbalanced_brace(situation.found.span, errors.Brace.NOT_NEEDED, situation.body)
    if situation.found.text != "}" or situation.start != situation.at or "RBRACE" in situation.accepts:
        return None
    return errors.unbalanced_brace(situation.found.span, errors.Brace.LEFT_OVER, "")


def _unknown_word(situation: Situation) -> Diagnostic | None:
    """A statement that begins with a word that begins nothing in this body."""
    word = situation.lexemes[situation.start]
    if word.kind is not Kind.WORD or (situation.start != situation.at and not _ends_statement(situation)):
        return None
    if situation.start != situation.at:
        # One line: the word after a complete statement may be a misspelt first word.
        word = situation.found
    elsewhere = _misplaced(situation, word)
    if elsewhere is not None:
        return elsewhere
    known = situation.first_words()
    meant = OTHER_WORDS.get(word.text.casefold())
    # In the middle of a line only a near miss is taken for the first word of another clause.
    leads = situation.start == situation.at
    meant = meant if meant in known else nearest(word.text, known, cutoff=0.72 if leads else 0.84)
    if not leads and meant is None:
        return None
    shown = _quoted(word)
    if situation.body == "file" or (meant in FIRST_WORDS["file"] and meant not in FIRST_WORDS[situation.body]):
        known_here = [f"`{name}`" for name in FIRST_WORDS["file"]]
        return errors.unknown_declaration(word.span, shown, meant, known_here)
    wording = errors.clause_wording(word.span, shown, situation.body, meant, known_clauses(situation.body))
    return errors.unknown_clause(word.span, wording)


def _ends_statement(situation: Situation) -> bool:
    return situation.complete and situation.found.kind is Kind.WORD


def _misplaced(situation: Situation, word: Lexeme) -> Diagnostic | None:
    text = word.text
    if text == "fair":
        return errors.misplaced_declaration(word.span, text, "on the first line of the file")
    if text == "audit":
        return errors.misplaced_declaration(word.span, text, "at the top, before the first declaration")
    if text in situation.first_words():
        return None
    if situation.body == "file" and situation.lexemes[situation.start + 1].text == ":":
        return errors.misplaced_declaration(word.span, _quoted(word), "inside a domain, as an attribute")
    if situation.opening is not None and text in FIRST_WORDS["file"]:
        return errors.misplaced_declaration(word.span, text, f"outside the {situation.body}")
    for body in ("property", "model", "distribution", "domain"):
        if body != situation.body and text in FIRST_WORDS[body]:
            return errors.misplaced_declaration(word.span, text, f"inside a {body}")
    return None


def _something_else(situation: Situation) -> Diagnostic:
    before = _quoted(situation.before) if situation.before and situation.start != situation.at else ""
    place = situation.found.span
    if situation.found.kind is Kind.END and situation.before:
        place = situation.before.span
    wording = errors.expected_wording(_quoted(situation.found), before, expected_words(situation))
    return errors.something_else(place, wording)


def _quoted(lexeme: Lexeme) -> str:
    text = lexeme.text
    return text if len(text) <= 24 else text[:23] + "…"
