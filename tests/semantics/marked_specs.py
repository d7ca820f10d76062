"""Specs that carry what is to be found in them: ``# error: E0203`` at the end of the line in question.

Most tests are about one property or one declaration, so that the rest of the spec stands in `PEOPLE`, a file
that they use.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.semantics import CheckedProperty, CheckedSpec, front_end

PEOPLE = """\
domain Applicant {
  sex       : category { female, male }
  race      : category { white = 1, black = 4, "two or more" = 7 }
  education : category { school, bachelors, doctorate }
  age       : integer 18 .. 90
  hours     : integer 0 .. 80
  income    : real 0 .. 100
  citizen   : boolean
}

protected sex, race, citizen

model approve : Applicant -> { reject, grant }
  score = income - 20
  grant when score > 0
  favourable grant

label repaid : boolean deserving yes

distribution people over Applicant, repaid
  learn bayesian_network
  from "people.csv"
"""

_MARK = re.compile(r"#\s*(?:error|warning):\s*(?P<codes>[EW]\d{4}(?:,\s*[EW]\d{4})*)\s*$")


def findings(text: str, folder: Path) -> list[Diagnostic]:
    """Everything that is said about the spec; `PEOPLE` stands beside it as people.fair."""
    (folder / "people.fair").write_text(PEOPLE, encoding="utf-8")
    spec = folder / "spec.fair"
    spec.write_text(text, encoding="utf-8")
    try:
        return list(front_end(str(spec))[1])
    except DiagnosticError as error:
        return list(error.diagnostics)


def checked(text: str, folder: Path) -> CheckedSpec:
    """The checked spec, in which nothing may be found."""
    found = findings(text, folder)
    found = [finding for finding in found if finding.code != "W0816"]  # well formed, whatever readers make of it
    assert not found, [finding.title for finding in found]
    return front_end(str(folder / "spec.fair"))[0]


def assert_found_as_marked(text: str, folder: Path) -> list[Diagnostic]:
    """What is marked is found, on its line, and nothing else: no cascade."""
    found = findings(text, folder)
    said = sorted((finding.primary.span.first.line if finding.primary else 0, finding.code) for finding in found)
    assert said == sorted(marks(text)), [finding.title for finding in found]
    return found


def marks(text: str) -> list[tuple[int, str]]:
    """Line and code of every mark."""
    return [
        (number, code.strip())
        for number, line in enumerate(text.split("\n"), start=1)
        if (match := _MARK.search(line))
        for code in match["codes"].split(",")
    ]


def pairs(clauses: str, *, require: str = "require same decision", differ: str = "differ in sex") -> str:
    """A spec whose one property compares two applicants."""
    return f'use "people.fair"\n\nproperty p {{\n  compare a, b : Applicant\n  {differ}\n{clauses}\n  {require}\n}}\n'


def groups(clauses: str, *, across: str = "across sex", under: str = "under people") -> str:
    """A spec whose one property is about groups of applicants."""
    return f'use "people.fair"\n\nproperty p {{\n  {across}\n  {under}\n{clauses}\n}}\n'


def only_property(text: str, folder: Path) -> CheckedProperty:
    """The one property of a spec in which nothing is found."""
    (found,) = checked(text, folder).properties
    return found


def each(cases: dict[str, str]) -> pytest.MarkDecorator:
    """Parametrise a test over named texts."""
    return pytest.mark.parametrize("text", list(cases.values()), ids=list(cases))
