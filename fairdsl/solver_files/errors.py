"""What recovering says about solver files: manifests, answers and sources that do not belong together."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, nearest


def foreign_answer(path: str, name: str, known: Sequence[str]) -> Diagnostic:
    """An answer, or a row of a table of answers, that is about no solver file of the folder."""
    guess = nearest(name, known)
    naming = "name answers after their file: `NAME.smt2.answer` for `NAME.smt2`"
    return Diagnostic(
        code="E0620",
        title=f"`{path}` answers none of the solver files",
        notes=(f"there is no solver file called `{name}`",),
        why="an answer that is left out in silence may be the one that says that the demand is broken",
        help=f"did you mean `{guess}`?" if guess else naming,
    )


def outdated(path: str, what: str, help_: str) -> Diagnostic:
    """A spec, model or solver file that is not the one that the manifest speaks of."""
    return Diagnostic(
        code="E0621",
        title=f"`{path}` is not what the manifest speaks of",
        notes=(what,),
        why="answers are about the files as they were written; of anything else they prove nothing",
        help=help_,
    )


def unreadable_manifest(path: str, what: str) -> Diagnostic:
    """A manifest that is damaged, or of another version."""
    return Diagnostic(
        code="E0622",
        title=f"`{path}` cannot be read as a manifest",
        notes=(what,),
        why="only the manifest says which answers together decide a question",
        help="write the files again with `fairdsl compile SPEC --to FORMAT -o DIR`",
    )


def no_answers(path: str, line: int, reason: str) -> Diagnostic:
    """A table of answers with a line that has no file or no output, or something that is not known."""
    return Diagnostic(
        code="E0623",
        title=f"line {line} of `{path}` is not an answer",
        notes=(reason,),
        why="an answer that is left out in silence may be the one that says that the demand is broken",
        help='write `{"file": "NAME.smt2", "output": "unsat"}` a line, or CSV; `solver` and `seconds` may be there',
    )
