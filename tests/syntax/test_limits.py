"""Reading ends in time whatever is written: long numbers, many findings, many names, long chains of files."""

from __future__ import annotations

import os
import time
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError, Reporter, nearest
from fairdsl.diagnostics.text import render
from fairdsl.semantics.front_end import front_end
from fairdsl.source import SourceFile
from fairdsl.source.numbers import LONGEST, TooLongError, read_number, read_whole
from fairdsl.syntax.laid_out import laid_out
from fairdsl.syntax.parse import parse

SPEC = """domain A {{
  sex : category {{ female, male }}
  age : integer 18 .. 90
{members}}}

protected sex

model m : A -> {{ no, yes }}
  score = age - 30
  yes when score > 0

property p {{
  compare  a, b : A
  differ   in sex
  require  same decision
}}
"""


def _lint(folder: Path, members: str) -> tuple[list[str], float]:
    """The codes of the findings, and the CPU seconds that finding them took."""
    file = folder / "spec.fair"
    file.write_text(SPEC.format(members=members), encoding="utf-8")
    start = time.process_time()
    found = fairdsl.lint(file)
    render(found)
    return [finding.code for finding in found], time.process_time() - start


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-1/2", Fraction(-1, 2)), (".5", Fraction(1, 2)), ("1.", 1), ("+2.5e-3", Fraction(1, 400)), ("007", 7)],
)
def test_numbers_are_exact(text: str, value: Fraction) -> None:
    assert read_number(text) == value


@pytest.mark.parametrize(
    "text", ["", ".", "e5", "1e", "1/0", "1_0", " 1", "nan", "inf", "٣", "1/2/3", "0x1", "--1", "1/-2"]
)
def test_what_is_not_a_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|divided"):
        read_number(text)


@pytest.mark.parametrize(
    "text", ["1e999999999", "1e-999999999", "9" * 4400, "0." + "1" * 4400, "1/" + "3" * 4400, f"1e{'9' * 5000}"]
)
def test_long_numbers_are_refused_before_they_are_computed(text: str) -> None:
    start = time.process_time()
    with pytest.raises(TooLongError):
        read_number(text)
    assert time.process_time() - start < 0.1


def test_what_is_longer_than_python_converts_is_read_where_it_is_asked_for() -> None:
    assert read_whole("1" * 9000, longest=10_000) == (10**9000 - 1) // 9
    assert read_number("1" * LONGEST) == (10**LONGEST - 1) // 9
    for length in (3_999, 4_000, 4_001, 8_000, 8_001, 12_000, 20_001):
        text = "".join(str(7 * place % 10) for place in range(length))
        expected = 0
        for start in range(0, length, 1_000):
            part = text[start : start + 1_000]
            expected = expected * 10 ** len(part) + int(part)
        assert read_whole("-" + text, longest=length) == -expected


@pytest.mark.parametrize("number", ["9" * 4400, "0." + "9" * 4400, "1e999999999", "1e-5000"])
def test_a_number_that_is_too_long_has_its_place(number: str) -> None:
    read = parse(SourceFile("spec.fair", f"domain A {{ x : integer 0 .. {number} }}\n"))
    (finding,) = read.diagnostics
    assert (finding.code, finding.title) == ("E0115", "this number has more than 1,200 digits")
    assert finding.primary is not None
    assert finding.primary.span.text == number


@pytest.mark.parametrize(
    ("members", "count"),
    [
        ("  x : boolean\n" * 800, 799),
        ("".join(f"  where y{i} > 3\n" for i in range(800)), 800),
        ("".join(f"  x{i} : boolean\n" for i in range(800)) + "".join(f"  where y{i} > 3\n" for i in range(400)), 400),
        (f"  c : category {{ {', '.join(f'c{i % 3}' for i in range(3000))} }}\n", 2997),
    ],
    ids=["declared twice", "unknown", "unknown among many", "listed twice"],
)
def test_many_findings_take_seconds(tmp_path: Path, members: str, count: int) -> None:
    codes, seconds = _lint(tmp_path, members)
    assert len(codes) == count
    assert seconds < 6


def test_many_lines_that_belong_elsewhere_take_seconds(tmp_path: Path) -> None:
    """Each of them might begin the next statement, and each attempt to read on there reads all of them."""
    codes, seconds = _lint(tmp_path, "}\nprotected sex\nmodel n : A -> { a, b }\n" + "  when age > 20 then b\n" * 500)
    assert codes
    assert seconds < 6


def test_parts_of_a_long_sum_begin_at_one_place() -> None:
    """Finding where each begins takes one walk over the sum, none for each of them."""
    terms = " + ".join(["age"] * 8000)
    start = time.process_time()
    read = parse(SourceFile("spec.fair", SPEC.format(members=f"  where {terms} > 3\n")))
    assert read.complete
    assert time.process_time() - start < 6


def test_of_many_findings_the_first_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "spec.fair"
    file.write_text(SPEC.format(members="  x : boolean\n" * 100), encoding="utf-8")
    text = render(fairdsl.lint(file))
    assert text.count("error[E0201]") == 40
    assert "... and 59 more" in text
    assert text.endswith("99 errors\n")


def test_a_finding_is_reported_once() -> None:
    (finding,) = parse(SourceFile("spec.fair", "")).diagnostics
    reporter = Reporter()
    reporter.extend([finding, finding])
    assert reporter.diagnostics == [finding]


def test_suggestions_among_many_names() -> None:
    names = [f"attribute_{number}" for number in range(1000)] + ["income"]
    assert nearest("incme", names) == "income"
    assert nearest("zzz", names) is None


def test_a_long_chain_of_files(tmp_path: Path) -> None:
    for number in range(1200):
        (tmp_path / f"c{number}.fair").write_text(f'use "c{number + 1}.fair"\n', encoding="utf-8")
    (tmp_path / "c1200.fair").write_text(SPEC.format(members=""), encoding="utf-8")
    assert not [finding for finding in fairdsl.lint(tmp_path / "c0.fair") if finding.code.startswith("E02")]


def test_links_make_no_new_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        os.symlink(".", tmp_path / name)
    text = 'use "a/s.fair"\nuse "b/s.fair"\n' + SPEC.format(members="")
    (tmp_path / "s.fair").write_text(text, encoding="utf-8")
    assert [finding.code for finding in fairdsl.lint(tmp_path / "s.fair")] == ["E0209", "E0209"]


def test_a_label_that_was_lost_is_no_crash(tmp_path: Path) -> None:
    file = tmp_path / "spec.fair"
    file.write_text(
        "domain Student{sex category{female}\nrace category{white,other}\ngrade integer 0..100bins at 80\n"
        "protected race\nmodel admit:Student{no,yes}score=grade+(sex=female)yes when score>0favourable yes\n"
        "distribution applicants over finished\nproperty {across race under applicants\nmeasure predictive_gap\n",
        encoding="utf-8",
    )
    with pytest.raises(DiagnosticError):
        front_end(str(file))


def test_not_before_a_parenthesis_on_the_next_line() -> None:
    spec = SPEC.format(members="  vip : boolean\n  where age > 20 or not # so\n\n    (vip)\n")
    text = laid_out(SourceFile("spec.fair", spec))
    assert parse(SourceFile("spec.fair", text)).spec == parse(SourceFile("spec.fair", spec)).spec
    assert laid_out(SourceFile("spec.fair", text)) == text


def test_a_layout_with_comments_between_words_stays() -> None:
    spec = 'domain A{x:boolean bins at 1## doc\n,99999999999999999999999999column"c"y:boolean bins\nby quantiles 100}'
    text = laid_out(SourceFile("spec.fair", spec))
    assert laid_out(SourceFile("spec.fair", text)) == text
