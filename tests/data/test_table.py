"""CSV tables: what they are read as, and what is said about cells that mean nothing."""

from __future__ import annotations

import csv
import io
import re
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.data.table import Table, read_inside, read_table
from fairdsl.data.text import read_records
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Domain, Integer
from fairdsl.ir.expr import TRUE, Predicate
from fairdsl.source import SourceFile
from tests.builders import integer, linear, real

JOBS = (("none", 0), ("clerk, typist", 3), ("7", 9))
JOB = Category(values=tuple(CategoryValue(name=n, code=c) for n, c in JOBS), coded=True)
COLUMNS = (
    Attribute(name="age", type=integer(18, 90)),
    Attribute(name="job", type=JOB, column="Job title"),
    Attribute(name="member", type=Boolean()),
    Attribute(name="income", type=real("1/10", 200)),
)
LABEL = Attribute(name="repaid", type=Boolean())
HEADER = "member,extra,age,Job title,income,repaid\n"


def people(where: Predicate = TRUE) -> Domain:
    return Domain(name="Applicant", attributes=COLUMNS, where=where)


def read(text: str, folder: Path, where: Predicate = TRUE, encoding: str = "utf-8") -> Table:
    path = folder / "people.csv"
    path.write_bytes(text.encode(encoding))
    return read_table(str(path), people(where), LABEL)


def findings(text: str, folder: Path, where: Predicate = TRUE) -> tuple[Diagnostic, ...]:
    with pytest.raises(DiagnosticError) as caught:
        read(text, folder, where)
    return caught.value.diagnostics


def found(text: str, folder: Path, where: Predicate = TRUE) -> tuple[str, str, tuple[int, int]]:
    """Code, marked text and place of the only finding."""
    (finding,) = findings(text, folder, where)
    span = finding.primary.span
    return finding.code, span.text, (span.first.line, span.first.column)


def test_columns_are_found_by_name_and_cells_by_type(tmp_path: Path) -> None:
    table = read(
        HEADER
        + 'true,x,37,none,0.1,1\n\n NO , "a, b", 40.0 , "clerk, typist",1e2,No\n'
        + 'False,,18,"clerk, typist",.5,YES\n0,,90,7,200,0\n',
        tmp_path,
    )
    assert table.values.points() == [
        (37, 0, 1, Fraction("0.1")),
        (40, 3, 0, 100),
        (18, 3, 0, Fraction("0.5")),
        (90, 9, 0, 200),
    ]
    assert table.label_codes.tolist() == [1, 0, 1, 0]
    assert table.rows == 4
    assert len(table.sha256) == 64


def test_a_byte_order_mark_and_windows_line_breaks(tmp_path: Path) -> None:
    table = read((HEADER + "1,x,37,none,5,1\n").replace("\n", "\r\n"), tmp_path, encoding="utf-8-sig")
    assert table.values.points() == [(37, 0, 1, 5)]


def test_without_a_label_its_column_is_not_needed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("member,age,job,income\n1,37,none,5\n", encoding="utf-8")
    table = read_table(str(path), people())
    assert (table.values.points(), table.labels) == ([(37, 0, 1, 5)], None)


@pytest.mark.parametrize(
    ("row", "cell", "column"),
    [
        ("1,x,17,none,5,1", "17", 5),
        ("1,x,91,none,5,1", "91", 5),
        ("1,x,30.5,none,5,1", "30.5", 5),
        ("1,x,old,none,5,1", "old", 5),
        ("1,x,1/2,none,5,1", "1/2", 5),
        ("1,x,1_8,none,5,1", "1_8", 5),
        ("1,x,nan,none,5,1", "nan", 5),
        ("1,x,30,nobody,5,1", "nobody", 8),
        ('1,x,30,"say ""no"", he said",5,1', '"say ""no"", he said"', 8),
        ("1,x,30,4,5,1", "4", 8),
        ("2,x,30,none,5,1", "2", 1),
        ("1,x,30,none,0.0999999999999999999999,1", "0.0999999999999999999999", 13),
        ("1,x,30,none,1e999,1", "1e999", 13),
        ("1,x,30,none,5,maybe", "maybe", 15),
        ("1,x,,none,5,1", "1,x,,none,5,1", 1),
    ],
)
def test_a_wrong_cell_is_pointed_at(row: str, cell: str, column: int, tmp_path: Path) -> None:
    assert found(f"{HEADER}1,x,37,none,5,1\n{row}\n", tmp_path) == ("E0532", cell, (3, column))


def test_other_capitals_and_unseen_blanks_are_shown(tmp_path: Path) -> None:
    (finding,) = findings(HEADER + "yes,,40,none\u00a0,30,no\nyes,,40,None,30,no\n", tmp_path)
    assert finding.title.startswith("`none\\xa0`")
    assert "capitals count" in str(finding.help)
    wide = findings(HEADER + "yes,,40,\uff4eone,30,no\n", tmp_path)
    assert "accented letter is one character or two" in str(wide[0].help)


def test_codes_beyond_what_fits_beside_a_tiny_number(tmp_path: Path) -> None:
    """Over one denominator the code 9 is 9e19, which int64 does not hold."""
    assert found(HEADER + "yes,,40,1e-19,30,no\n", tmp_path)[:2] == ("E0532", "1e-19")


def test_a_cell_behind_a_row_of_several_lines(tmp_path: Path) -> None:
    text = HEADER + '1,"two\nlines",37,none,5,1\n1,"two\nlines",37,none,500,1\n'
    assert found(text, tmp_path) == ("E0532", "500", (5, 16))


def test_every_column_reports_all_its_wrong_cells_with_their_rows(tmp_path: Path) -> None:
    first, second = findings(HEADER + "1,x,1,none,5,1\n1,x,2,none,5,1\n1,x,30,none,-5,1\n1,x,1,none,5,1\n", tmp_path)
    assert (first.primary.span.text, second.primary.span.text) == ("1", "-5")
    assert first.title == "`1` and 1 other text are not values of `age`"
    assert first.notes == ("not values: `1` (2 rows), `2` (1 row)",)
    assert second.notes == ()


def test_missing_and_doubled_columns(tmp_path: Path) -> None:
    (missing,) = findings("member,agge,Job title,repaid\n1,37,none,1\n", tmp_path)
    assert missing.code == "E0531"
    assert missing.primary.span.text == "member,agge,Job title,repaid"
    assert "`age`, `income`" in missing.primary.text
    assert "did you mean `agge`?" in missing.help
    assert found("age,age,member,Job title,income,repaid\n37,38,1,none,5,1\n", tmp_path)[0] == "E0531"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        (HEADER, "there is no row below the header"),
        (HEADER + "1,x,37,none,5\n", "5 cells here, 6 in the header"),
        (HEADER + '1,x"y,37,none,5,1\n1,"x"y,37,none,5,1\n', "',' expected after '\"'"),
    ],
)
def test_what_is_no_table(text: str, reason: str, tmp_path: Path) -> None:
    (finding,) = findings(text, tmp_path)
    assert finding.code == "E0530"
    assert reason in (finding.primary.text if finding.primary else finding.notes[0])


def test_files_that_cannot_be_had(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match="E0530"):
        read_table(str(tmp_path / "nothing.csv"), people())
    (tmp_path / "latin.csv").write_bytes("age\nfünf\n".encode("latin-1"))
    with pytest.raises(DiagnosticError, match="E0530"):
        read_table(str(tmp_path / "latin.csv"), people())


def test_rows_that_the_domain_excludes(tmp_path: Path) -> None:
    text = HEADER + "1,x,37,none,5,1\n1,x,20,none,5,1\n0,x,20,none,5,1\n1,x,19,none,5,1\n"
    older = linear({0: 1, 2: -20}, ">", 0)  # age > 20 * member
    (finding,) = findings(text, tmp_path, older)
    assert (finding.code, finding.primary.span.text) == ("E0533", "1,x,20,none,5,1")
    assert finding.notes == ("so is 1 more row",)


CELL = st.text(alphabet=st.sampled_from('ab ,"\n\r\u2028\x0c7'), max_size=5).map(str.strip)


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6), st.data())
def test_cells_are_found_where_they_stand(rows: list[tuple[str, str, str]], data: st.DataObject) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([("x", "y", "z"), *rows])
    records = read_records(SourceFile("t.csv", written.getvalue()))
    assert [tuple(row) for row in records.rows] == rows
    row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 2))
    span = records.cell_span(row, column)
    assert span.text == '"' + rows[row][column].replace('"', '""') + '"'


def test_a_hundred_thousand_rows_take_about_a_second(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    count = 100_000
    income = rng.uniform(1, 200, count)
    members, ages = rng.integers(0, 2, count), rng.integers(18, 90, count)
    rows = (
        f"{m},x,{a},none,{i!r},{m}\n" for m, a, i in zip(members.tolist(), ages.tolist(), income.tolist(), strict=True)
    )
    text = HEADER + "".join(rows)
    started = time.process_time()
    table = read(text, tmp_path)
    assert time.process_time() - started < 10
    assert table.values.floats[:, 3].tolist() == income.tolist()
    assert table.values.at(slice(1)).points()[0][3] == Fraction(repr(income[0].item()))


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_those_of_the_header(separator: str, tmp_path: Path) -> None:
    rows = HEADER + '1,"a, b",37,"clerk, typist",5,1\n0,,38,none,0.1,yes\n'
    text = re.sub(r",(?! )", separator, rows)
    assert read(text, tmp_path).values.points() == [(37, 3, 1, 5), (38, 0, 0, Fraction(1, 10))]
    code, cell, place = found(text.replace("38", "380"), tmp_path)
    assert (code, cell, place) == ("E0532", "380", (3, 4))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("age;sex\tjob\n1;2\t3\n", "semicolons and tabs and no comma"),
        (HEADER + "# 1,x,37,none,5,1\n", "begins with `#`"),
        ("# made yesterday\n" + HEADER + "1,x,37,none,5,1\n", "begins with `#`"),
        (HEADER + f'1,"{"x" * 140_000}",37,none,5,1\n', "131,072 characters"),
        (HEADER + '1,"x,37,none,5,1\n1,x,37,none,5,1\n', "never closed"),
    ],
)
def test_what_looks_like_a_table_is_named(text: str, reason: str, tmp_path: Path) -> None:
    (finding,) = findings(text, tmp_path)
    assert finding.code == "E0530"
    assert reason in (finding.primary.text if finding.primary else finding.notes[0])


def test_a_quoted_hash_is_a_cell(tmp_path: Path) -> None:
    text = HEADER.replace("member,extra", "extra,member") + '"#7",1,37,none,5,1\n'
    assert read(text, tmp_path).rows == 1


def test_blanks_before_a_cell_are_a_names_own_where_no_quotes_follow(tmp_path: Path) -> None:
    names = (" Male", "Male", " Fe, male")
    sex = Category(values=tuple(CategoryValue(name=name, code=code) for code, name in enumerate(names)), coded=False)
    domain = Domain(name="Person", attributes=(Attribute(name="sex", type=sex), COLUMNS[0]), where=TRUE)
    path = tmp_path / "adult.csv"
    path.write_text("age,sex\n30, Male\n40,Male\n50,Male \n 60 , Male\n")
    assert read_table(str(path), domain).values.points() == [(0, 30), (1, 40), (1, 50), (0, 60)]
    path.write_text('age,sex\n30, "Male"\n40, " Male"\n50," Fe, male"\n')
    assert read_table(str(path), domain).values.points() == [(1, 30), (0, 40), (2, 50)]
    path.write_text('sex,age,note\n Male,30,a\nMale,40, "b, ""c"""\n "Male",50, "\nd"\n Male,60,"e, ""\n Male"\n')
    assert read_table(str(path), domain).values.points() == [(0, 30), (1, 40), (1, 50), (0, 60)]


def test_rows_of_other_lengths_are_counted(tmp_path: Path) -> None:
    (finding,) = findings(HEADER + "1,x\n1,x,37,none,5,1\n1\n2\n", tmp_path)
    assert finding.notes == ("so are 2 more rows",)


def test_texts_in_other_encodings_are_named(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_bytes("age\n1\n".encode("utf-16"))
    with pytest.raises(DiagnosticError, match="UTF-16"):
        read_table(str(tmp_path / "wide.csv"), people())


@given(st.text(alphabet=st.sampled_from('ab0.1e-",;\t|#\n\r \u00a0\u0661'), max_size=60), st.booleans())
def test_whatever_stands_in_a_file_is_read_or_refused(text: str, headed: bool) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        path.write_bytes(((HEADER if headed else "") + text).encode())
        codes: set[str] = set()
        for reads in (read_table, read_inside):
            try:
                reads(str(path), people())
            except DiagnosticError as problem:
                codes |= {finding.code for finding in problem.diagnostics}
    assert codes <= {"E0530", "E0531", "E0532"}


def test_headers_and_names_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    attributes = (
        Attribute(name="x", type=Integer(low=0, high=9), column="y"),
        Attribute(name="y", type=Integer(low=0, high=9), column="z"),
    )
    domain = Domain(name="P", attributes=attributes, where=TRUE)
    for text, rows in (("y,z\n1,2\n", [[1, 2]]), ("z,y,x\n3,1,9\n", [[1, 3]])):
        path.write_text(text)
        assert read_table(str(path), domain).values.floats.tolist() == rows
    path.write_text("x,y\n1,2\n")  # `y` is the header of x, and the name of y
    with pytest.raises(DiagnosticError, match="no column `z`"):
        read_table(str(path), domain)
    own = Domain(
        name="P", attributes=(replace(attributes[0], column="a"), replace(attributes[1], column="b")), where=TRUE
    )
    path.write_text("x,y\n1,2\n")
    assert read_table(str(path), own).values.floats.tolist() == [[1, 2]]
    path.write_text("x,y,b\n1,2,3\n")
    with pytest.raises(DiagnosticError, match="no column `a`"):
        read_table(str(path), own)
