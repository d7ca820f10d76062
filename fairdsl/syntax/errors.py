"""The diagnostics of the parser: one constructor for each code E01xx."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from fairdsl.diagnostics.model import Diagnostic, Edit, Label
from fairdsl.diagnostics.surface import said
from fairdsl.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The sentences that `grammar/mistakes.toml` has for one mistake, filled in."""

    title: str
    label: str
    help: str
    fix: Edit | None = None


def _worded(code: str, place: Span, wording: Wording, why: str | None = None) -> Diagnostic:
    return Diagnostic(
        code=code,
        title=wording.title,
        primary=Label(place, wording.label),
        why=why,
        help=wording.help,
        fix=wording.fix,
    )


def foreign_sign(place: Span, wording: Wording) -> Diagnostic:
    """E0101: a sign of another language."""
    return _worded("E0101", place, wording)


def strange_quotes(place: Span, wording: Wording) -> Diagnostic:
    """E0102: a text without its straight double quotes."""
    return _worded("E0102", place, wording, "only the quotes tell a title, a file or a header from a name of the spec")


class Brace(Enum):
    """What can be wrong with a brace."""

    UNCLOSED = "unclosed"
    UNOPENED = "unopened"
    LEFT_OVER = "left over"
    NOT_NEEDED = "not needed"


def unbalanced_brace(place: Span, problem: Brace, owner: str, opening: Span | None = None) -> Diagnostic:
    """E0103: a brace is missing or left over; ``owner`` says whose it is."""
    match problem:
        case Brace.UNCLOSED:
            title, label = f"the opening brace of {owner} is never closed", "`}` is missing before this"
            mend, fix = "write `}` on a line of its own before this", Edit(_before(place), "}\n")
        case Brace.UNOPENED:
            title, label = f"`{{` is missing after {owner}", "`{` belongs before this"
            mend, fix = "write `{` here, and `}` where the block ends", Edit(_before(place), "{ ")
        case Brace.LEFT_OVER:
            title, label = "this `}` closes nothing", "no block is open here"
            mend, fix = "remove it, or look for a block that was closed too early", Edit(place, "")
        case Brace.NOT_NEEDED:
            title, label = f"a {owner} has no braces around its clauses", "no block is opened here"
            mend, fix = "remove both braces: the clauses end where the next declaration begins", Edit(place, "")
    return Diagnostic(
        code="E0103",
        title=title,
        primary=Label(place, label),
        secondary=(Label(opening, "opened here"),) if opening else (),
        why="braces say which clauses belong to which property; one brace moves them all",
        help=mend,
        fix=fix,
    )


def unknown_clause(place: Span, wording: Wording) -> Diagnostic:
    """E0104: a line of a block begins with a word that begins nothing there."""
    return _worded(
        "E0104",
        place,
        wording,
        "a clause that nobody understands would be skipped, and the audit would check something else",
    )


def clause_wording(place: Span, word: str, body: str, meant: str | None, known: Sequence[str]) -> Wording:
    """What to say of a word that begins nothing in a block."""
    return Wording(
        title=f"`{word}` begins no clause of a {body}",
        label=f"did you mean `{meant}`?" if meant else "not known here",
        help=f"write `{meant}`" if meant else f"a {body} has the clauses {_listed(known)}",
        fix=Edit(place, meant) if meant else None,
    )


def unknown_declaration(place: Span, word: str, meant: str | None, known: Sequence[str]) -> Diagnostic:
    """E0105: a word outside all blocks that begins no declaration."""
    if place.file.path.casefold().endswith((".csv", ".tsv")):
        init = said(f"fairdsl init {place.file.path}", f'fairdsl.init("{place.file.path}")')
        meant, instead = None, f"this looks like a table: `{init}` writes a spec for it"
    else:
        instead = f"a spec is made of {_listed(known)}"
    return Diagnostic(
        code="E0105",
        title=f"`{word}` begins no declaration",
        primary=Label(place, f"did you mean `{meant}`?" if meant else "not known here"),
        why="a declaration that nobody understands would be skipped, and the audit would check something else",
        help=f"write `{meant}`" if meant else instead,
        fix=Edit(place, meant) if meant else None,
    )


def strange_type(place: Span, wording: Wording) -> Diagnostic:
    """E0106: a type that is not written as types are."""
    return _worded(
        "E0106", place, wording, "the values that an attribute can take decide what is checked, and over whom"
    )


def small_word_missing(place: Span, wording: Wording) -> Diagnostic:
    """E0107: a small word or sign is missing or another one than belongs there."""
    return _worded("E0107", place, wording, "the small words make a clause a sentence that is read one way only")


def nothing_follows(place: Span, keyword: str, example: str, next_place: Span) -> Diagnostic:
    """E0108: a clause or declaration stops after its first word or in its middle."""
    return Diagnostic(
        code="E0108",
        title=f"nothing follows `{keyword}`",
        primary=Label(place, "this is not complete"),
        secondary=(Label(next_place, "the next statement begins here"),) if next_place.text else (),
        why="a requirement without its content would hold for every model",
        help=f"write for example `{example}`, or remove the line" if example else "complete it, or remove it",
    )


def list_comma(place: Span, left_over: bool, before: str, after: str, *, quotable: bool = False) -> Diagnostic:
    """E0109: a list with a comma too many or too few; the values of some lists may be written in quotes."""
    if left_over:
        title, label, mend = "this comma leads nowhere", "nothing is listed behind it", "remove the comma"
        fix = Edit(place, "")
    else:
        title, label = f"a comma is missing between `{before}` and `{after}`", "`,` belongs before this"
        one_value = f', or `"{before} {after}"` for one value' if quotable else ""
        mend, fix = f"write `{before}, {after}`{one_value}", Edit(_before(place), ", ")
        if after == "and":
            title, label = f"a comma belongs behind `{before}`", "`,` belongs in the place of this"
            mend, fix = "write commas between names", Edit(place, ",")
    return Diagnostic(
        code="E0109",
        title=title,
        primary=Label(place, label),
        why="a list with a gap may lack a name that was meant to be checked",
        help=mend,
        fix=fix,
    )


def foreign_comparison(place: Span, wording: Wording) -> Diagnostic:
    """E0110: a condition in the manner of another language."""
    return _worded("E0110", place, wording, "a condition decides whom the audit is about, so it is written in one way")


def strange_number(place: Span, wording: Wording) -> Diagnostic:
    """E0111: a number in another notation."""
    return _worded("E0111", place, wording, "numbers are taken exactly as they stand, and must be easy to compare")


def strange_name(place: Span, wording: Wording) -> Diagnostic:
    """E0112: a name with a character that names cannot have."""
    return _worded(
        "E0112", place, wording, "names stand in formulas, where `-` subtracts and `.` asks for an attribute"
    )


def empty_file(place: Span) -> Diagnostic:
    """E0113: a file that says nothing."""
    return Diagnostic(
        code="E0113",
        title="this file says nothing yet",
        primary=Label(place, "a domain, a model and a property belong here"),
        why="an audit of nothing would pass",
        help='begin with `audit "..."` and a `domain Applicant { ... }`',
    )


def misplaced_declaration(place: Span, word: str, belongs: str) -> Diagnostic:
    """E0114: a declaration or clause that belongs elsewhere in the file."""
    return Diagnostic(
        code="E0114",
        title=f"`{word}` does not belong here",
        primary=Label(place, f"belongs {belongs}"),
        why="where a line stands says what it is about",
        help=f"move it: `{word}` belongs {belongs}",
    )


def something_else(place: Span, wording: Wording) -> Diagnostic:
    """E0115: whatever no other code describes."""
    return _worded("E0115", place, wording, "the rest of this statement was not read, so nothing is concluded from it")


def expected_wording(found: str, before: str, expected: Sequence[str]) -> Wording:
    """What may stand at a place, where nothing more telling is known."""
    after = f" after `{before}`" if before else ""
    if len(expected) == 1 and not expected[0].startswith("a new"):
        title = f"{expected[0]} is missing" + (f" before `{found}`" if found else " at the end of the file")
    elif found:
        title = f"`{found}` cannot stand{after}" if after else f"`{found}` cannot stand here"
    else:
        title = f"the file ends{after}, where more must follow"
    return Wording(
        title=title,
        label=f"here belongs {_listed(expected, 'or')}" if expected else "",
        help=f"write {_listed(expected, 'or')} here" if expected else "remove it",
    )


def depth_wording(deepest: int) -> Wording:
    """What to say of a formula in which too many expressions stand inside one another."""
    return Wording(
        title=f"this formula is nested more than {deepest} levels deep",
        label=f"level {deepest + 1} begins here",
        help="remove parentheses that are not needed, or write several `among` lines, or name a part of it in "
        "a `condition` of its own; a long sum, product or row of `and` needs no parentheses and may have any length",
    )


def length_wording(longest: int) -> Wording:
    """What to say of a number that is too long to be read."""
    return Wording(
        title=f"this number has more than {longest:,} digits",
        label="written out in full",
        help=f"write a number of at most {longest:,} digits; every float64 has fewer",
    )


def unknown_version(place: Span, written: str) -> Diagnostic:
    """E0116: a version of the language that this program does not read."""
    return Diagnostic(
        code="E0116",
        title=f"version {written} of the language is not known to this program",
        primary=Label(place, "this program reads version 1"),
        why="a later version may mean something else by the same words",
        help="write `fair 1`, or use a newer fairdsl",
        fix=Edit(place, "1"),
    )


#: The constructors whose sentences are in `grammar/mistakes.toml`.
WORDED: Mapping[str, Callable[[Span, Wording], Diagnostic]] = MappingProxyType(
    {
        "E0101": foreign_sign,
        "E0102": strange_quotes,
        "E0104": unknown_clause,
        "E0106": strange_type,
        "E0107": small_word_missing,
        "E0110": foreign_comparison,
        "E0111": strange_number,
        "E0112": strange_name,
    }
)


def _before(place: Span) -> Span:
    return Span(place.file, place.start, place.start)


def _listed(words: Sequence[str], joint: str = "and") -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"
