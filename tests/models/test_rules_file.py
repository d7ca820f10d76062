"""Documents of rules: read strictly, every place kept, and JSON texts as the standard library reads them."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import SPAN

from fairdsl.codec.placed import (
    NotReadError,
    PlacedList,
    PlacedObject,
    PlacedText,
    PlacedValue,
    PlainValue,
    read_placed,
)
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import FileSource
from fairdsl.models.rules_file import DocumentRule, RulesDocument, holds_rules, read_rules
from fairdsl.source import SourceFile

LIST = '{"rules": [{"if": "a > 3", "then": "no"}, {"then": "yes", "if": "b = c"}], "otherwise": "no"}'


def written(folder: Path, text: str | bytes, name: str = "rules.json") -> str:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def source(path: str, word: str | None = "rules", digest: str | None = None) -> FileSource:
    return FileSource(path=path, format=word, sha256=digest, span=SPAN)


def read(folder: Path, text: str | bytes) -> RulesDocument:
    path = written(folder, text)
    return read_rules(source(path), path)


def texts(rule: DocumentRule) -> list[list[str]]:
    return [[text.value for text in group] for group in rule.groups]


def test_a_list(tmp_path: Path) -> None:
    document = read(tmp_path, LIST)
    assert [texts(rule) for rule in document.rules] == [[["a > 3"]], [["b = c"]]]
    assert [rule.outcome.value for rule in document.rules] == ["no", "yes"]
    assert document.otherwise.value == "no"
    assert document.sha256 == sha256(LIST.encode()).hexdigest()
    assert document.rules[1].span.text == '{"then": "yes", "if": "b = c"}'
    (condition,) = document.rules[0].groups[0]
    assert condition.span.text == '"a > 3"'


@pytest.mark.parametrize("form", ["dnf", "cnf"])
def test_a_normal_form(form: str, tmp_path: Path) -> None:
    document = read(tmp_path, f'{{"otherwise": "x", "{form}": [["a", "b"], ["c"]], "then": "y"}}')
    (rule,) = document.rules
    assert texts(rule) == [["a", "b"], ["c"]]
    assert rule.some_group == (form == "dnf")
    assert (rule.outcome.value, document.otherwise.value) == ("y", "x")


@pytest.mark.parametrize(
    ("document", "says", "place"),
    [
        ("no json", "the document is not JSON: expecting value", "n"),
        ('{"rules": [}', "is not JSON", "}"),
        ("", "is not JSON", ""),
        ("[]", "the document has none of the keys", "[]"),
        ("{}", "the document has none of the keys `rules`, `dnf` and `cnf`", "{}"),
        ('{"rules": [], "otherwise": "no"}', "`rules` is empty", "[]"),
        ('{"rules": {}, "otherwise": "no"}', "`rules` is not a list", "{}"),
        ('{"rules": ["a > 3"], "otherwise": "no"}', "`rules[0]` is not an object", '"a > 3"'),
        ('{"rules": [{"if": "a"}], "otherwise": "no"}', "`rules[0].then` is missing", '{"if": "a"}'),
        ('{"rules": [{"then": "a"}], "otherwise": "no"}', "`rules[0].if` is missing", '{"then": "a"}'),
        ('{"rules": [{"if": ["a"], "then": "b"}], "otherwise": "no"}', "`rules[0].if` is not text", '["a"]'),
        ('{"rules": [{"if": "a", "then": 1}], "otherwise": "no"}', "`rules[0].then` is not text", "1"),
        ('{"rules": [{"if": "a", "then": "b"}]}', "`otherwise` is missing", None),
        ('{"rules": [{"if": "a", "then": "b"}], "otherwise": null}', "`otherwise` is not text", "null"),
        ('{"rules": [{"if": "a", "then": "b", "if": "c"}], "otherwise": "d"}', "`rules[0].if` is given twice", '"if"'),
        (
            '{"rules": [{"if": "a", "then": "b", "p": 0.5}], "otherwise": "d"}',
            "`rules[0].p` is not a key that is read",
            '"p"',
        ),
        (
            '{"rules": [{"if": "a", "then": "b"}], "then": "d", "otherwise": "d"}',
            "`then` is not a key",
            '"then"',
        ),
        ('{"dnf": [["a"]], "otherwise": "d"}', "`then` is missing", None),
        (
            '{"dnf": [["a"]], "cnf": [["a"]], "then": "x", "otherwise": "d"}',
            "cannot decide beside `dnf`",
            '"cnf"',
        ),
        ('{"dnf": ["a"], "then": "x", "otherwise": "d"}', "`dnf[0]` is not a list", '"a"'),
        ('{"cnf": [["a"], []], "then": "x", "otherwise": "d"}', "`cnf[1]` is empty", "[]"),
        ('{"cnf": [["a", 3]], "then": "x", "otherwise": "d"}', "`cnf[0][1]` is not text", "3"),
        ('{"cnf": [["\\ud800"]], "then": "x", "otherwise": "d"}', "`cnf[0][0]` has half a surrogate pair", "\\ud800"),
        ("[" * 30 + "]" * 30, "has none of the keys", "[" * 30 + "]" * 30),
        ("[" * 9000 + "]" * 9000, "nests too deep", "["),
    ],
)
def test_what_is_refused_is_shown_in_the_document(document: str, says: str, place: str | None, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(tmp_path, document)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E0515"
    assert problem.primary is not None
    assert says in problem.primary.text
    assert place in (None, problem.primary.span.text)
    assert [label.span for label in problem.secondary] == [SPAN]


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("else", "`otherwise`"),
        ("default", "`otherwise`"),
        ("otherwis", "`otherwise`"),
        ("link", "are `rules`, `otherwise`"),
    ],
)
def test_an_unknown_key_gets_advice(key: str, advice: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(tmp_path, LIST.replace("otherwise", key))
    label = caught.value.diagnostics[0].primary
    assert label is not None
    assert advice in label.text


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read(tmp_path, b'{"rules": "\xff"}')
    assert [found.code for found in caught.value.diagnostics] == ["E0515"]
    assert read(tmp_path, b"\xef\xbb\xbf" + LIST.encode()).otherwise.value == "no"


def test_no_file(tmp_path: Path) -> None:
    path = str(tmp_path / "none.json")
    with pytest.raises(DiagnosticError) as caught:
        read_rules(source(path), path)
    assert [found.code for found in caught.value.diagnostics] == ["E0501"]


def test_a_pinned_document(tmp_path: Path) -> None:
    path, digest = written(tmp_path, LIST), sha256(LIST.encode()).hexdigest()
    assert read_rules(source(path, digest=digest.upper()), path).sha256 == digest
    for pinned, opened in ((source(path, digest="0" * 64), path), (source("spec.json", digest="0" * 64), path)):
        with pytest.raises(DiagnosticError) as caught:
            read_rules(pinned, opened)
        (problem,) = caught.value.diagnostics
        assert problem.code == "E0507"
        assert any("in place of the spec" in note for note in problem.notes) == (pinned.path != opened)


def test_which_files_are_documents_of_rules(tmp_path: Path) -> None:
    rules, linear = written(tmp_path, LIST, "a.json"), written(tmp_path, '{"coefficients": [1]}', "b.json")
    elsewhere, broken = written(tmp_path, LIST, "c.txt"), written(tmp_path, "{", "d.json")
    assert [holds_rules(source(path, None), path) for path in (rules, linear, elsewhere, broken)] == [
        True,
        False,
        False,
        False,
    ]
    assert not holds_rules(source(rules, "linear"), rules)
    assert not holds_rules(source("none.json", None), "none.json")
    assert holds_rules(source(elsewhere), elsewhere)


# ---- places ------------------------------------------------------------------------------------

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def plain(value: PlacedValue) -> object:
    """What the standard library would have read."""
    match value:
        case PlacedText(value=text):
            return text
        case PlacedList(items=items):
            return [plain(item) for item in items]
        case PlacedObject(entries=entries):
            return {key.value: plain(entry) for key, entry in entries}
        case PlainValue(text=text):
            return json.loads(text)


@given(values, st.sampled_from([None, 0, 3]), st.booleans())
def test_every_document_is_read_as_by_the_standard_library(value: object, indent: int | None, ascii_: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
    found = read_placed(SourceFile("x.json", f" \n{text} \r\n"))
    assert plain(found) == value
    assert found.span.text == text
    check_places(found)


def check_places(value: PlacedValue) -> None:
    match value:
        case PlacedText(value=text, span=span, offsets=offsets):
            assert json.loads(span.text) == text
            assert len(offsets) == len(text)
            assert all(span.start < offset < span.end - 1 for offset in offsets)
            assert sorted(offsets) == list(offsets)
        case PlacedList(items=items):
            for item in items:
                check_places(item)
        case PlacedObject(entries=entries):
            for key, entry in entries:
                check_places(key)
                check_places(entry)
        case PlainValue(text=text, span=span):
            assert span.text == text


@given(st.text())
def test_whatever_is_no_json_is_said_to_be_none(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        with pytest.raises(NotReadError):
            read_placed(SourceFile("x.json", text))


def test_numbers_that_python_does_not_read_have_a_place() -> None:
    digits = "9" * 4400
    with pytest.raises(NotReadError, match="too many digits") as refused:
        read_placed(SourceFile("x.json", f'{{"rules": [{digits}]}}'))
    assert refused.value.span.text == digits
