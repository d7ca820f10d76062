"""The canonical layout, by example."""

from __future__ import annotations

import pytest

from fairdsl.source import SourceFile
from fairdsl.syntax.format import format_spec
from fairdsl.syntax.parse import parse


def formatted(text: str) -> str:
    result = parse(SourceFile("spec.fair", text))
    assert result.complete, result.diagnostics
    assert result.spec is not None
    return format_spec(result.spec)


def test_a_messy_file() -> None:
    messy = """\
# licence


fair 1 # the version
## About.
audit "x"
use "a.fair"
use "b.fair"
domain D { # who
      # in years
  age:integer 0..3 # trailing
  ## What they do.
  occupation : category{clerk,nurse=4} column "Job"
  where age>=2
  # last words
} # done
graph g { sex->job->admit sex->admit }
distribution d over D
  age:bernoulli( 0.3 )
  occupation : table{clerk:0.2,nurse:80%} given age=1
property p{compare a,b:D
require same decision}
# the end
"""
    assert (
        formatted(messy)
        == """\
# licence

fair 1  # the version

## About.
audit "x"

use "a.fair"
use "b.fair"

domain D {  # who
  # in years
  age : integer 0 .. 3  # trailing
  ## What they do.
  occupation : category { clerk, nurse = 4 } column "Job"
  where age >= 2
  # last words
}  # done

graph g {
  sex -> job -> admit
  sex -> admit
}

distribution d over D
  age : bernoulli(0.3)
  occupation : table { clerk : 0.2, nurse : 80% } given age = 1

property p {
  compare a, b : D
  require same decision
}

# the end
"""
    )


def test_long_statements_are_broken_where_they_were_begun() -> None:
    values = ", ".join(f"value_number_{i}" for i in range(9))
    text = f"""\
domain D {{ job : category {{ {values} }}
  where job = value_number_1 and job = value_number_2 and job = value_number_3 or job = value_number_4
}}
"""
    assert (
        formatted(text)
        == """\
domain D {
  job : category { value_number_0, value_number_1, value_number_2, value_number_3, value_number_4,
      value_number_5, value_number_6, value_number_7, value_number_8 }
  where job = value_number_1 and job = value_number_2 and job = value_number_3
      or job = value_number_4
}
"""
    )


def test_comments_inside_a_list_stay_with_their_values() -> None:
    text = """\
domain D {
  job : category { clerk,  # at a desk
      # on their feet
      nurse, cook }  # all
}
"""
    assert formatted(text) == text


def test_a_blank_line_behind_a_comment_is_kept() -> None:
    text = "# about the file\n\n# about sex\nprotected sex\n\n# one\n\n# two\n"
    assert formatted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a and b or c and d",
        "(a or b) and c",
        "a and (b and c)",
        "not (a and b)",
        "not a = b",
        "not (-a = b)",
        "not (in = 3)",
        "not not a",
        "(a = b) = c",
        "a - b - c",
        "a - (b - c)",
        "a / (b * c)",
        "a * b / c",
        "(a + b) * c",
        "-(a + b) * c",
        "-a * -3",
        "-(3)",
        "-(-a)",
        "a - -3",
        "a in { 1, b, 3 .. 5 } and a in 1 .. 2",
        "abs(a - b) <= 3",
    ],
)
def test_parentheses_are_kept_where_the_tree_needs_them(text: str) -> None:
    spec = f"property p {{\n  among {text}\n}}\n"
    assert formatted(spec) == spec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(a) and ((b))", "a and b"),
        ("(a and b) or c", "a and b or c"),
        ("(a * b) + (c)", "a * b + c"),
        ("not (a = b)", "not a = b"),
        ("(-3) * a", "-3 * a"),
    ],
)
def test_other_parentheses_go(text: str, expected: str) -> None:
    assert formatted(f"condition t = {text}") == f"condition t = {expected}\n"


def test_nothing_stays_nothing() -> None:
    result = parse(SourceFile("spec.fair", ""))
    assert result.spec is not None
    assert format_spec(result.spec) == ""
