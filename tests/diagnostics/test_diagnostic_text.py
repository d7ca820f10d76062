"""What diagnostics look like, down to the column."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

from fairdsl.diagnostics import Diagnostic, Edit, Label
from fairdsl.diagnostics.text import render, render_repeated, repeats, summary
from fairdsl.source import SourceFile, Span

GERMAN = SourceFile("german.fair", "## x\n\ndomain Applicant {\n  sex : boolean\n}\n")
RELAXED = SourceFile("relaxed-german.fair", "\n" * 13 + "protected  sex, marital_status\n")


def span(file: SourceFile, text: str) -> Span:
    start = file.text.index(text)
    return Span(file, start, start + len(text))


def block(text: str) -> str:
    """The text without the margin of this file."""
    return "".join(line.removeprefix(" " * 8) for line in text.splitlines(keepends=True))


def drawn(text: str, primary: str, *others: tuple[str, str], label: str = "here") -> str:
    """The excerpt alone: no heading, no notes."""
    file = SourceFile("x.fair", text)
    diagnostic = Diagnostic(
        code="E0203",
        title="title",
        primary=Label(span(file, primary), label),
        secondary=tuple(Label(span(file, where), words) for where, words in others),
    )
    return "\n".join(render([diagnostic], closing=False).splitlines()[2:]) + "\n"


def test_what_is_said_of_one_place_again_is_printed_once() -> None:
    """As of each property of a `for each`."""
    twice = [
        Diagnostic(code="E0603", title="files cannot", primary=Label(span(GERMAN, "sex"), where)) for where in "aba"
    ]
    text = render(twice)
    assert text.count("error[E0603]") == 2
    assert text.endswith("2 errors\n")


def test_the_sample_of_the_design() -> None:
    diagnostic = Diagnostic(
        code="E0203",
        title="`marital_status` is not an attribute of `Applicant`",
        primary=Label(span(RELAXED, "marital_status"), "not declared"),
        secondary=(Label(span(GERMAN, "Applicant"), "20 attributes are declared here"),),
        why="an attribute nobody declared would be skipped, and the audit would pass on `sex` alone",
        help="declare it in `Applicant`, or remove it here",
    )
    assert render([diagnostic], closing=False) == dedent(
        """\
        error[E0203]: `marital_status` is not an attribute of `Applicant`
           --> relaxed-german.fair:14:17
            |
         14 | protected  sex, marital_status
            |                 ^^^^^^^^^^^^^^ not declared
            |
           ::: german.fair:3:8
          3 | domain Applicant {
            |        --------- 20 attributes are declared here
            = why: an attribute nobody declared would be skipped, and the audit would pass on `sex` alone
            = help: declare it in `Applicant`, or remove it here
        """
    )


def test_notes_keep_their_alignment_and_stand_between_why_and_help() -> None:
    diagnostic = Diagnostic(
        code="E0601",
        title="no backend can compute `odds_gap`",
        notes=("smt         no, it has no notion of probability", "enumerate   no, 2^31 points"),
        why="reason",
        help="write `bins at`",
    )
    assert render([diagnostic], closing=False) == dedent(
        """\
        error[E0601]: no backend can compute `odds_gap`
            = why: reason
            = smt         no, it has no notion of probability
            = enumerate   no, 2^31 points
            = help: write `bins at`
        """
    )


def test_several_labels_on_one_line() -> None:
    assert drawn("relax sex by 5\n", "by", ("relax", "first"), ("sex", "second"), ("5", "")) == block(
        """\
            |
          1 | relax sex by 5
            | ----- --- ^^ -
            | |     |   |
            | |     |   here
            | |     second
            | first
        """
    )
    assert drawn("relax sex by 5\n", "sex", ("relax", "why")) == block(
        """\
            |
          1 | relax sex by 5
            | ----- ^^^ here
            | |
            | why
        """
    )


def test_labels_on_neighbouring_and_distant_lines() -> None:
    assert drawn("a\nb\nc\nd\ne\nf\n", "f", ("a", "one"), ("c", "two")) == dedent(
        """\
            |
          1 | a
            | - one
          2 | b
          3 | c
            | - two
        ...
          6 | f
            | ^ here
        """
    )


def test_spans_over_several_lines() -> None:
    expected = dedent(
        """\
            |
          1 | property p {
            | ^^^^^^^^^^^^
        ...
          4 |   c }
            |   ^^^ here
        """
    )
    text = "property p {\n  a\n  b\n  c }\n"
    assert drawn(text, text.rstrip("\n")) == expected
    assert drawn(text, text) == expected  # with its last line break
    windows = text.replace("\n", "\r\n")
    assert drawn(windows, windows) == expected
    assert drawn(windows, windows.rstrip()) == expected


def test_tabs_wide_and_combining_characters() -> None:
    assert drawn("\tsex 名前 x\n", "名前") == "    |\n  1 |     sex 名前 x\n    |         ^^^^ here\n"
    accented = "e\N{COMBINING ACUTE ACCENT}te x\n"
    assert drawn(accented, "x") == f"    |\n  1 | {accented}    |     ^ here\n"


def test_end_of_file_and_empty_file() -> None:
    for text, line, column in [("", 1, 1), ("a\n", 2, 1), ("a", 1, 2)]:
        file = SourceFile("x.fair", text)
        end = Label(Span(file, len(text), len(text)), "ends here")
        written = render([Diagnostic(code="E0203", title="t", primary=end)], closing=False)
        assert f"--> x.fair:{line}:{column}\n" in written
        assert written.endswith(f"    | {' ' * (column - 1)}^ ends here\n")


def test_the_fix_is_a_line_to_copy() -> None:
    file = SourceFile("x.fair", "protected sxe\nnext\n")
    diagnostic = Diagnostic(
        code="E0203",
        title="t",
        primary=Label(span(file, "sxe")),
        help="did you mean `sex`?",
        fix=Edit(span(file, "sxe"), "sex"),
    )
    assert render([diagnostic], closing=False).endswith(
        "    = help: did you mean `sex`?\n    |\n  1 | protected sex\n    |           ~~~\n"
    )
    insertion = Diagnostic(code="E0203", title="t", fix=Edit(Span(file, 13, 13), ", age"))
    assert render([insertion], closing=False).endswith(
        "    = help: write instead\n    |\n  1 | protected sxe, age\n    |              +++++\n"
    )
    deletion = Diagnostic(code="E0203", title="t", fix=Edit(Span(file, 9, 13), ""))
    assert render([deletion], closing=False).endswith("    |\n  1 | protected\n")
    lines = Diagnostic(code="E0203", title="t", fix=Edit(Span(file, 0, 0), 'audit "x"\n'))
    assert render([lines], closing=False).endswith('  1 | audit "x"\n  2 | protected sxe\n')


def test_nothing_of_a_spec_is_obeyed_by_the_terminal() -> None:
    text = "sex \x1b[2J \N{RIGHT-TO-LEFT OVERRIDE} age\n"
    written = drawn(text, "age")
    assert "\x1b" not in written
    assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in written
    assert "<1B>[2J <202E> age" in written
    assert written.splitlines()[2].index("^") == written.splitlines()[1].index("age")


def test_ascii_terminals() -> None:
    file = SourceFile("x.fair", "métier = 3 x\n")
    diagnostic = Diagnostic(code="E0203", title="no \N{EM DASH} never", primary=Label(span(file, "x"), "a"))
    written = render([diagnostic], unicode=False, closing=False)
    assert written.isascii()
    assert "no - never" in written
    assert "  1 | m\\xe9tier = 3 x\n    |               ^ a\n" in written


def test_colour_only_when_asked_and_it_changes_no_letter() -> None:
    diagnostic = Diagnostic(code="E0203", title="t", primary=Label(span(GERMAN, "sex"), "here"), why="w")
    plain, coloured = render([diagnostic]), render([diagnostic], colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_warnings_of_one_kind_are_folded_and_counted() -> None:
    names = ["a", "b", "c", "d", "e", "f"]
    file = SourceFile("x.fair", "".join(f"{name}\n" for name in names))
    warnings = [
        Diagnostic(code="W0801", title=f"`{name}` is never used", primary=Label(span(file, name))) for name in names
    ]
    written = render(warnings)
    assert written.count("warning[W0801]") == 1
    assert "    = also: x.fair:2:1: `b` is never used\n" in written
    assert "    = also: 2 more of the same kind\n" in written
    assert written.endswith("\n\n6 warnings\n")
    errors = [Diagnostic(code="E0203", title="one"), Diagnostic(code="E0203", title="two")]
    assert render(errors).count("error[E0203]") == 2
    assert summary([*errors, warnings[0]]) == "2 errors, 1 warning"


def test_nothing_to_say() -> None:
    assert render([]) == ""


def test_long_texts_wrap_under_themselves() -> None:
    diagnostic = Diagnostic(code="E0203", title="t", why="word " * 30)
    lines = render([diagnostic], width=60, closing=False).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[2].startswith(" " * 11 + "word")


def test_long_source_lines_are_cropped_around_the_label() -> None:
    text = "target " + "age + " * 60 + "salary <= 3\n"
    lines = drawn(text, "salary").splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[1].startswith("  1 | ...")
    assert lines[2].index("^") == lines[1].index("salary")
    start = drawn(text, "target").splitlines()
    assert start[1].endswith("...")
    assert max(map(len, start)) <= 100


def test_long_labels_wrap_beside_their_mark() -> None:
    words = "a label that goes on and on " * 5
    lines = drawn("relax sex by 5\n", "sex", ("relax", "and another"), label=words.strip()).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[2].startswith("    | ----- ^^^ a label")
    assert lines[3].startswith("    | |         ")
    assert lines[-1] == "    | and another"


def test_what_stands_in_backticks_is_kept_together() -> None:
    diagnostic = Diagnostic(code="E0203", title="t", help="write for instance this: `decide by highest score`")
    assert render([diagnostic], width=50, closing=False).endswith(
        "    = help: write for instance this:\n            `decide by highest score`\n"
    )


def test_warnings_that_repeat_one_are_counted() -> None:
    first = Diagnostic(
        code="W0808",
        title="1 rate rests on few rows",
        primary=Label(span(GERMAN, "sex"), "here"),
        notes=("sex = f: 3 rows",),
        why="chance",
        help="exclude them",
    )
    again = replace(first, title="2 rates rest on few rows", notes=("sex = f: 3 rows", "sex = m: 4 rows"))
    assert repeats(again, [first])
    assert render_repeated([again, first], colour=False, unicode=True, width=100) == block(
        """\
        warning[W0808]: found 2 more times, for the reason explained above
            = also: german.fair:4:3: 2 rates rest on few rows
            = also: german.fair:4:3: 1 rate rests on few rows
        """
    )
    # Whatever says more than that repeats nothing, and neither does an error.
    mended = replace(again, fix=Edit(span(GERMAN, "sex"), "gender"))
    for other in (replace(again, help="draw more"), replace(again, why="luck"), mended, replace(again, code="E0203")):
        assert not repeats(other, [first])
    assert not repeats(again, [])
