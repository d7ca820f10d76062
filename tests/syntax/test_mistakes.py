"""What newcomers write in the first hour gets a sentence of its own, and each statement one at most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairdsl.diagnostics.model import Diagnostic
from fairdsl.source import SourceFile
from fairdsl.syntax import expected, tree
from fairdsl.syntax.mistakes import Mistake, known_mistakes
from fairdsl.syntax.parse import ParseResult, parse
from fairdsl.syntax.tables import grammar

CREDIT = (Path(__file__).parent / "drafts" / "credit.fair").read_text(encoding="utf-8")
FORBIDDEN = re.compile(r"[Uu]nexpected|[Ii]nvalid|[Tt]oken|\b[A-Z]{3,}\b|\{\w+\}")


def read(text: str) -> ParseResult:
    return parse(SourceFile("spec.fair", text))


def findings(text: str) -> list[tuple[str, str]]:
    """Code and line of each finding."""
    return [(d.code, f"{d.primary.span.first.line}" if d.primary else "") for d in read(text).diagnostics]


def only(text: str) -> Diagnostic:
    (diagnostic,) = read(text).diagnostics
    return diagnostic


@pytest.mark.parametrize("mistake", known_mistakes(), ids=lambda mistake: mistake.example)
def test_each_example_of_the_table_gives_its_message(mistake: Mistake) -> None:
    diagnostic = only(mistake.example)
    assert diagnostic.code == mistake.code
    assert re.fullmatch(re.sub(r"\\\{\w+\\\}", ".*", re.escape(mistake.title)), diagnostic.title)
    sentences = (diagnostic.title, diagnostic.why, diagnostic.help, diagnostic.primary and diagnostic.primary.text)
    words = [word for sentence in sentences if sentence for word in FORBIDDEN.findall(sentence)]
    assert not [word for word in words if word not in mistake.example]
    assert len(diagnostic.title) <= 80
    assert not diagnostic.title.endswith(".")


@pytest.mark.parametrize(
    "mistake", [m for m in known_mistakes() if m.fix or m.insert or m.rewrite], ids=lambda mistake: mistake.example
)
def test_each_fix_mends_its_example(mistake: Mistake) -> None:
    fix = only(mistake.example).fix
    assert fix is not None
    mended = mistake.example[: fix.span.start] + fix.replacement + mistake.example[fix.span.end :]
    assert not [d for d in read(mended).diagnostics if d.title == only(mistake.example).title]


# ---- braces ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "opened"),
    [
        (CREDIT.replace("no = 1 }\n}", "no = 1 }\n"), 14, 4),
        (CREDIT.replace("above_200 }", "above_200"), 6, 5),
        (CREDIT.replace("approve(b)\n}", "approve(b)\n", 1), 27, 21),
        (CREDIT.rstrip().removesuffix("}"), 34, 27),
    ],
    ids=["domain", "category", "property", "end of the file"],
)
def test_a_missing_brace_points_at_the_opening_one(text: str, line: int, opened: int) -> None:
    diagnostic = only(text)
    assert diagnostic.code == "E0103"
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.first.line == line
    (opening,) = diagnostic.secondary
    assert (opening.span.text, opening.span.first.line) == ("{", opened)


@pytest.mark.parametrize(
    "text",
    [
        CREDIT.replace("Applicant {", "Applicant"),
        CREDIT.replace('decision" {', 'decision"'),
        CREDIT + "}\n",
        CREDIT.replace("favourable grant", "favourable grant\n}"),
        CREDIT.replace("{ reject, grant }", "{ reject, grant } {").replace("favourable grant", "favourable grant\n}"),
    ],
    ids=["domain unopened", "property unopened", "left over", "left over in a model", "around a model"],
)
def test_other_braces(text: str) -> None:
    assert only(text).code == "E0103"
    spec = read(text).spec
    assert spec is not None
    assert len(spec.items) == 5


# ---- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("compare ", "compares ", "E0104"),
        ("within ", "withinn ", "E0104"),
        ("among ", "amongs ", "E0104"),
        ("measure ", "measures ", "E0104"),
        ("require approve(a) = approve(b)\n  m", "requires approve(a) = approve(b)\n  m", "E0104"),
        ("favourable", "favorable", "E0104"),
        ("domain ", "domains ", "E0105"),
        ("property similar", "proprety similar", "E0105"),
        ("protected", "protect", "E0105"),
    ],
)
def test_misspelt_first_words(right: str, wrong: str, code: str) -> None:
    text = CREDIT.replace(right, wrong, 1)
    diagnostic = only(text)
    assert diagnostic.code == code
    assert diagnostic.fix is not None
    assert diagnostic.fix.replacement == right.split()[0]
    # The misspelt statement is in the tree as it was meant.
    assert read(text).spec == read(CREDIT).spec


def test_an_unknown_word_lists_what_is_known() -> None:
    diagnostic = only("property p {\n  banana x\n  require same decision\n}")
    assert diagnostic.code == "E0104"
    assert "`compare`" in (diagnostic.help or "")
    assert diagnostic.fix is None


@pytest.mark.parametrize("keyword", ["require", "measure", "among", "differ", "compare", "across"])
def test_nothing_follows_a_first_word(keyword: str) -> None:
    for rest in ("\n}", "\n  under cohort\n}", " }"):
        assert findings("property p {\n  " + keyword + rest)[0] == ("E0108", "2")


def test_a_statement_that_breaks_off() -> None:
    assert findings("property p {\n  require x <=\n}") == [("E0108", "2")]
    assert findings("protected\n\nlabel y : boolean") == [("E0108", "1")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("property p {\n  across race, sex,\n  under cohort\n}", "2"),
        ("domain D {\n  x : category { a, b, }\n}", "2"),
        ("domain D {\n  x : boolean,\n  y : boolean\n}", "2"),
        ("protected a b", "1"),
        ("property p {\n  across race and sex\n  under cohort\n}", "2"),
        ("domain D {\n  x : category { a b }\n}", "2"),
    ],
)
def test_commas(text: str, line: str) -> None:
    assert findings(text) == [("E0109", line)]


@pytest.mark.parametrize(
    "text",
    [
        'protected sex\n\naudit "late"',
        "age : integer 0 .. 3",
        "require same decision",
        "property p {\n  protected sex\n}",
        "protected sex\n\nfair 1",
    ],
)
def test_misplaced_declarations(text: str) -> None:
    assert findings(text)[0][0] == "E0114"


@pytest.mark.parametrize("text", ["", "\n\n", "# only a remark\n", "## only a text"])
def test_an_empty_file(text: str) -> None:
    assert only(text).code == "E0113"


def test_another_version() -> None:
    assert only("fair 2\n\nprotected sex").code == "E0116"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("property p { require (x >= 80% }", "`)`"),
        ("property p { under 3 }", "a name"),
        ("domain D { x : integer 0 .. within }", "a number"),
        ("domain D { x : integer 0 .. 3 4 }", "an attribute"),
        ("property p { require x >= 80% 3 }", "a new clause"),
        ("<html>", "a new declaration"),
    ],
)
def test_anything_else_says_what_belongs_there(text: str, expected: str) -> None:
    diagnostic = only(text)
    assert diagnostic.code == "E0115"
    assert expected in (diagnostic.help or "")
    assert not FORBIDDEN.search(diagnostic.title + (diagnostic.help or ""))


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("domain D {\n  banana x\n}", "an attribute such as"),
        ("model m : D -> { no, yes }\n  banana x", "an outcome such as `grant when score > 0`"),
        ("distribution d over D\n  banana x", "a distribution such as"),
    ],
)
def test_what_begins_with_a_name_is_listed_too(body: str, known: str) -> None:
    diagnostic = only(body)
    assert diagnostic.code == "E0104"
    assert known in (diagnostic.help or "")


def test_two_words_may_be_one_value_in_quotes() -> None:
    diagnostic = only("domain D {\n  job : category { office clerk = 1, nurse = 2 }\n}")
    assert diagnostic.help == 'write `office, clerk`, or `"office clerk"` for one value'
    # An outcome is a name.
    assert only("model m : D -> { office clerk, yes }").help == "write `office, clerk`"


@pytest.mark.parametrize("indent", ["  ", ""])
def test_a_mistake_in_a_target_is_not_a_misplaced_declaration(indent: str) -> None:
    for wrong, code in (("'nurse'", "E0102"), ("nurse && age = 3", "E0101"), ("3 percent", "E0111")):
        text = "property p {\n" + indent + "among job = " + wrong + "\n" + indent + "require same decision\n}"
        assert findings(text) == [(code, "2")]


def test_a_named_condition_in_a_property_is_misplaced() -> None:
    assert findings("property p {\n  condition old = age >= 60\n  require same decision\n}") == [("E0114", "2")]
    assert findings("property p {\n  require same decision\n\ncondition old = age >= 60") == [("E0103", "4")]


def test_a_unit_of_percent_is_mended_without_a_gap() -> None:
    fix = only("property p { require fair_share >= 95 percent }").fix
    assert fix is not None
    assert (fix.span.text, fix.replacement) == ("95 percent", "95%")


def test_bars_become_a_call() -> None:
    fix = only("property p { require |score(a) - score(b)| <= 1 }").fix
    assert fix is not None
    assert (fix.span.text, fix.replacement) == ("|score(a) - score(b)|", "abs(score(a) - score(b))")


@pytest.mark.parametrize("quoted", ["= 'nurse'", "in { 'nurse' }", "!= a and x = 'nurse'", "= 3 or ('nurse' = x)"])
def test_single_quotes_around_a_value(quoted: str) -> None:
    for clause in ("among", "require", "baseline"):
        diagnostic = only("property p {\n  " + clause + " job " + quoted + "\n}")
        assert (diagnostic.code, diagnostic.help) == ("E0102", 'write `"nurse"` or `nurse`')


def test_an_arrow_and_at_least_are_told_apart() -> None:
    for arrow in ("graph g { sex => job }", "model m : D => { no, yes }", "property p { allow sex => job -> admit }"):
        assert only(arrow).title == "`=>` is written `->` here"
    rules = "model m : D -> { no, yes }\n  first yes when income => 20\n  otherwise no"
    for condition in (rules, "condition rich = income => 20", "domain D { x : boolean where x => 1 }"):
        assert (only(condition).fix, only(condition).help.split(";")[0]) == (None, "write `>=` for at least")


# ---- several mistakes --------------------------------------------------------------------------


def test_several_mistakes_are_reported_in_one_run() -> None:
    text = (
        CREDIT.replace("integer 1 .. 4", "int 1 .. 4")
        .replace("favourable grant", "favorable grant")
        .replace("differ in sex", "differ sex", 1)
        .replace("within 100 in credit_amount", "within credit_amount 100")
        .replace("measure fair_share", "measure")
    )
    assert [code for code, _ in findings(text)] == ["E0106", "E0104", "E0107", "E0107", "E0108"]


def test_a_statement_gives_one_message_at_most() -> None:
    text = "property p {\n  among a == 1 && b <> 2 || c => 3\n  require same decision\n}"
    assert findings(text) == [("E0101", "2")]


def test_what_could_be_read_is_in_the_tree() -> None:
    result = read(CREDIT.replace("within 100 in credit_amount", "within credit_amount 5 times 100"))
    assert result.spec is not None
    assert not result.complete
    (kept,) = [item for item in result.spec.items if isinstance(item, tree.Property) and len(item.clauses) == 5]
    assert kept.name.text == "similar_loans"
    assert [span.text for span in result.lost] == ["within credit_amount 5 times 100"]


def test_spans_are_those_of_the_file_behind_a_mended_mistake() -> None:
    result = read("property p { among age == 3 }\n\nprotected sex")
    assert result.spec is not None
    protected = result.spec.items[1]
    assert isinstance(protected, tree.Protected)
    assert protected.names[0].span.text == "sex"
    assert protected.span.text == "protected sex"


def test_what_is_no_spec_at_all_is_refused_in_peace() -> None:
    for text in ("{" * 50, "}" * 50, '{"a": [1, 2, {"b": null}]}', "a,b,c\n" + "1,2,3\n" * 200, "\x00\x01 \ud7ff"):
        result = read(text)
        assert 1 <= len(result.diagnostics) <= 20


def test_whatever_may_stand_somewhere_has_words() -> None:
    """A terminal that is a pattern is not its own spelling; nobody writes what is ignored."""
    patterns = {terminal.name for terminal in grammar().terminals if terminal.pattern.type == "re"}
    assert patterns - {"DOC", "COMMENT", "WHITE_SPACE"} <= set(expected._DESCRIBED)
