"""Populations in files: what is written is read again, and what is wrong is pointed at."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from declared import built, finding, joint, network
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.population import Cell, Inside, Network, Rows
from fairdsl.populations import described, saved
from fairdsl.populations.bif_write import as_bif, decimals
from fairdsl.source.numbers import not_one
from tests.drawing import examples

PERSON = """\
domain Person {
  member : boolean
  degree : category { none, "some college, no degree", pipe }
  age    : integer 18 .. 40   bins at 25, 30
  share  : real 0 .. 1        bins at 0.25
}
label repaid : boolean
graph causes { member -> degree -> repaid }
"""
SOURCE = 'distribution law over Person, repaid\n  from "law.{}"\n'
ROWS = (
    "member,degree,age,share,repaid\n"
    'yes,none,20,0.1,no\nno,"some college, no degree",25,0.25,yes\nyes,none,29,1,no\n'
    'yes,"some college, no degree",40,0,no\n'
    'no,"some college, no degree",20,0.5,no\nno,none,30,0.7,yes\n'
)


def counted(folder: Path, *clauses: str) -> Network:
    (folder / "people.csv").write_text(ROWS)
    lines = "\n  ".join(clauses)
    return network(PERSON + f'distribution law over Person, repaid\n  {lines}\n  from "people.csv"\n', folder)


def again(text: str, folder: Path, form: str) -> Network:
    (folder / f"law.{form}").write_text(text, encoding="utf-8")
    return network(PERSON + SOURCE.format(form), folder)


def same_law(one: Network, other: Network) -> bool:
    laws = [{factor.column: factor for factor in law.factors} for law in (one, other)]
    return one.cells == other.cells and laws[0] == laws[1]


@pytest.mark.parametrize("clauses", [("independent",), ("learn causes",), ("independent given member",)])
def test_documents_are_read_as_they_were_saved(clauses: tuple[str, ...], tmp_path: Path) -> None:
    law = counted(tmp_path, *clauses)
    read = again(saved(law), tmp_path, "json")
    assert same_law(law, read)
    assert read.causal == law.causal
    assert read.settings == law.settings
    assert read.how.startswith("read from law.json: ")
    assert law.sample.sha256 in read.how


def test_documents_of_laws_by_hand(tmp_path: Path) -> None:
    text = (
        "domain Person {\n  member : boolean\n  income : real\n  share : real 0 .. 1\n}\n"
        "distribution law over Person\n  member : bernoulli(0.3)\n  share : uniform(0, 1)\n"
        "  income : normal(0.6, 0.1) given member = yes\n  income : normal(0.3, 0.1) given member = no\n"
    )
    law = network(text, tmp_path)
    (tmp_path / "law.json").write_text(saved(law))
    domain = text[: text.index("distribution")]
    assert same_law(law, network(domain + 'distribution law over Person\n  from "law.json"\n', tmp_path))
    with pytest.raises(ValueError, match="normal"):
        as_bif(law)


def test_rows_are_saved_as_a_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(ROWS)
    text = PERSON + 'distribution law over Person, repaid\n  empirical from "people.csv"\n'
    rows, _ = built(text, tmp_path)
    assert isinstance(rows, Rows)
    (tmp_path / "people.csv").write_text(saved(rows))
    assert 'true,"some college, no degree",40,0,false' in saved(rows)
    assert built(text, tmp_path)[0].sample.values.points() == rows.sample.values.points()


def test_bif_round_trip(tmp_path: Path) -> None:
    law = counted(tmp_path, "learn causes")
    text = as_bif(law)
    read = again(text, tmp_path, "bif")
    assert read.cells == law.cells
    for factor in law.factors:
        for key, row in factor.rows.items():
            found = read.factor_of(factor.column).rows[key]
            assert sum(found) == 1
            assert all(abs(a - b) < Fraction(1, 10**16) for a, b in zip(found, row, strict=True))
    assert 'property "combinations without a distribution have probability 0" ;' in text
    assert set(read.factor_of(4).rows) == {(0,), (1,)}
    # A second time nothing is rounded any more.
    assert as_bif(again(text, tmp_path, "bif")).split("variable", 1)[1] == text.split("variable", 1)[1]
    assert 'property "s1 = some college, no degree" ;' in text
    assert "variable member {\n    type discrete [ 2 ] { false, true };\n}" in text


def test_labels_with_quotes_and_percents(tmp_path: Path) -> None:
    domain = 'domain Person {\n  a : category { "100%", "6%22", plain }\n}\ndistribution law over Person\n'
    law = network(domain + '  a : table { "100%" : 0.1, "6%22" : 0.2, plain : 0.7 }\n', tmp_path)
    (tmp_path / "law.bif").write_text(as_bif(law))
    assert '"s0 = 100%25"' in as_bif(law)
    assert same_law(law, network(domain + '  from "law.bif"\n', tmp_path))


@settings(deadline=None)
@given(parts=st.lists(st.integers(0, 10**6), min_size=1, max_size=6).filter(any), tiny=st.booleans())
def test_decimals_sum_to_one(parts: list[int], tiny: bool) -> None:
    total = sum(parts) * (10**18 if tiny else 1) + (1 if tiny else 0)
    row = [Fraction(part * (10**18 if tiny else 1), total) for part in parts] + ([Fraction(1, total)] if tiny else [])
    written = [Fraction(text) for text in decimals(row)]
    assert sum(written) == 1
    assert all((a > 0) == (b > 0) for a, b in zip(written, row, strict=True))
    assert all(abs(a - b) <= Fraction(2, 10**17) for a, b in zip(written, row, strict=True))


#: As other tools write it: comments, quotes, a default, laws before variables, states in their own words.
FOREIGN = """\
network "cohort" { property "made by hand" ; }
// Laws may come first.
probability ( repaid | age , member ) {
  default 0.5, 0.5 ;
  ( "18 .. 24", yes ) 0.25, 7.5e-1 ;
}
probability ( member ) { table 0.3 0.7 ; }
/* Two
   lines. */
probability ( age ) { table .2, .3, .5 ; }
probability ( share ) { table 1, 0 ; }
probability ( degree ) { table 0.5, 0.5, 0 ; }
variable member { type discrete[2] { no, yes }; }
variable degree { type discrete [ 3 ] { none, "some college, no degree", pipe }; property "weight = 1" ; }
variable age { type discrete [ 3 ] { "18 .. 24", "[25, 30)", "[30, 40]" }; }
variable share { type discrete [ 2 ] { "[0, 0.25)", "uniform [0.25, 1]" }; }
variable repaid { type discrete [ 2 ] { False, True }; }
"""


def test_a_foreign_network(tmp_path: Path) -> None:
    law = again(FOREIGN, tmp_path, "bif")
    assert not law.causal
    assert law.factor_of(4).parents == (2, 0)
    assert law.factor_of(4).rows[(0, 1)] == (Fraction(1, 4), Fraction(3, 4))
    assert law.factor_of(4).rows[(2, 0)] == (Fraction(1, 2), Fraction(1, 2))
    assert len(law.factor_of(4).rows) == 6
    assert [(cell.low, cell.high, cell.open) for cell in law.cells[2]] == [
        (18, 24, False),
        (25, 29, False),
        (30, 40, False),
    ]
    assert law.cells[3] == (
        Cell(low=Fraction(0), high=Fraction(1, 4), open=True, inside=Inside.UNKNOWN),
        Cell(low=Fraction(1, 4), high=Fraction(1), inside=Inside.UNIFORM),
    )


@pytest.mark.parametrize(
    ("old", "new", "code", "marked"),
    [
        ("table 0.3 0.7", "table 0.3 0.6999", "E0575", "member"),
        ("discrete[2]", "discrete[3]", "E0574", "variable"),
        ("table 0.3 0.7", "table 0.3 0.3 0.4", "E0575", "member"),
        ("table 0.3 0.7", "table -0.3 1.3", "E0575", "member"),
        ("table 0.3 0.7", "table 0.3 most", "E0574", "most"),
        ("table 0.3 0.7", "0.3 0.7", "E0574", "0.3"),
        ("default 0.5, 0.5 ;", "", "E0575", "repaid"),
        ("table 0.3 0.7 ;", "", "E0575", "member"),
        ("probability ( member )", "probability ( repaid )", "E0574", "probability"),
        ("probability ( member ) { table 0.3 0.7 ; }", "", "E0575", "law"),
        ("( member ) { table 0.3 0.7 ; }", "( member | repaid ) { default 0.3 0.7 ; }", "E0572", "repaid"),
        ("( member ) { table 0.3 0.7 ; }", "( member | share ) { table 0.3 0.7 0.3 0.7 ; }", "E0574", "table"),
        ("{ no, yes }", "{ no, perhaps }", "E0575", "perhaps"),
        ("{ no, yes }", "{ no, false }", "E0575", "false"),
        ("{ no, yes }", "{ no }", "E0575", "member"),
        ('"18 .. 24", yes', '"18 .. 24", maybe', "E0574", "maybe"),
        ('"18 .. 24", yes', '"18 .. 24"', "E0574", "("),
        ('{ "18 .. 24"', '{ "18 .. 25"', "E0575", '"[25, 30)"'),
        ('{ "18 .. 24"', '{ "8 .. 24"', "E0575", '"8 .. 24"'),
        ("variable share", "variable income", "E0575", "income"),
        ("variable share", "variant share", "E0574", "variant"),
        ("type discrete[2] { no, yes };", "", "E0574", "variable"),
        ("{ False, True }; }", "{ False, True }; ", "E0574", "variable"),
        ('property "made by hand" ;', 'property "made by hand" ', "E0574", "property"),
        ("/* Two", '/ * Two "', "E0574", '"'),
        # What is said twice, in two ways.
        ("{ no, yes }; }", "{ no, yes }; type discrete [2] { yes, no }; }", "E0574", "variable"),
        ("{ no, yes }; }", '{ no, s1 }; property "s1 = yes"; property "s1 = no"; }', "E0574", '"s1 = no"'),
        ("default 0.5, 0.5 ;", "default 0.5, 0.5 ; default 0.4, 0.6 ;", "E0574", "default"),
        ("( member ) { table 0.3 0.7 ; }", "( member | age, age ) { default 0.3 0.7 ; }", "E0575", "member"),
    ],
)
def test_networks_that_are_wrong(old: str, new: str, code: str, marked: str, tmp_path: Path) -> None:
    assert FOREIGN.count(old) == 1
    (tmp_path / "law.bif").write_text(FOREIGN.replace(old, new))
    text = PERSON + SOURCE.format("bif")
    assert finding(text, tmp_path) == (code, marked)


def test_a_name_that_is_also_the_column_of_another_attribute(tmp_path: Path) -> None:
    """Tools that learned from the table call it by its columns, others by the attributes."""
    (tmp_path / "law.bif").write_text(FOREIGN)
    domain = PERSON.replace("member : boolean", 'member : boolean column "share"')
    assert finding(domain + SOURCE.format("bif"), tmp_path) == ("E0575", "share")
    own = PERSON.replace("member : boolean", 'person : boolean column "member"')
    assert joint(network(own.replace("member ->", "person ->") + SOURCE.format("bif"), tmp_path))


def test_rounded_probabilities_are_scaled_when_asked(tmp_path: Path) -> None:
    rounded = FOREIGN.replace("table 0.3 0.7", "table 0.333 0.666")
    (tmp_path / "law.bif").write_text(rounded)
    text = PERSON + SOURCE.format("bif") + "  set renormalise = yes\n"
    law = network(text, tmp_path)
    assert law.factor_of(0).rows[()] == (Fraction(1, 3), Fraction(2, 3))
    assert "set renormalise = yes: 1 of its rows scaled to sum to 1" in described(law)
    (tmp_path / "law.bif").write_text(FOREIGN.replace("table 0.3 0.7", "table 0.3 0.68"))
    assert finding(text, tmp_path) == ("E0575", "member")
    with pytest.raises(DiagnosticError, match="E0417"):
        network(PERSON + "distribution law over Person\n  uniform\n  set renormalise = yes\n", tmp_path)


def test_a_sum_that_is_next_to_1_is_told_from_it(tmp_path: Path) -> None:
    """As pgmpy writes floats: a message that it is 1, and not 1, helps nobody."""
    (tmp_path / "law.bif").write_text(FOREIGN.replace("table 0.3 0.7", "table 0.3 0.70000000000000001"))
    _, findings = built(PERSON + SOURCE.format("bif"), tmp_path)
    assert findings[0].primary is not None
    assert "sum to 1.00000000000000001, not to 1" in findings[0].primary.text
    assert (not_one(Fraction(1, 3)), not_one(1 - Fraction(1, 3 * 10**17))) == ("0.333333", "1 - 3.3e-18")


def test_files_that_are_no_networks(tmp_path: Path) -> None:
    text = PERSON
    assert finding(text + SOURCE.format("bif"), tmp_path)[0] == "E0574"
    (tmp_path / "law.bif").write_bytes(b"\xff\xfe")
    assert finding(text + SOURCE.format("bif"), tmp_path)[0] == "E0574"
    (tmp_path / "law.bif").write_text("// nothing\n")
    assert finding(text + SOURCE.format("bif"), tmp_path)[0] == "E0574"
    assert finding(text + SOURCE.format("xml"), tmp_path)[0] == "E0574"
    assert "BIFWriter" in str(built(text + SOURCE.format("xml"), tmp_path)[1][0].help)
    (tmp_path / "law.xml").write_text(FOREIGN)
    assert network(text + SOURCE.format("xml").replace("from", "from bif"), tmp_path)
    pinned = SOURCE.format("xml").replace("from", "from bif").rstrip() + f' sha256 "{"0" * 64}"\n'
    assert finding(text + pinned, tmp_path)[0] == "E0534"


def column(document: Any, name: str) -> Any:
    return next(entry for entry in document["columns"] if entry["name"] == name)


def law_of(document: Any, name: str) -> Any:
    return next(entry for entry in document["laws"] if entry["of"] == name)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda d: d.update(schema="fairdsl.population/1"), "E0574"),
        (lambda d: d.pop("laws"), "E0574"),
        (lambda d: d["laws"].append(d["laws"][0]), "E0574"),
        (lambda d: d["columns"].append(d["columns"][0]), "E0574"),
        (lambda d: d["laws"].pop(), "E0575"),
        (lambda d: column(d, "age").update(name="height"), "E0574"),
        (lambda d: column(d, "age")["cells"].pop(), "E0575"),
        (lambda d: column(d, "age")["cells"][1].update(low="24"), "E0574"),
        (lambda d: column(d, "age")["cells"][2].update(high="41"), "E0574"),
        (lambda d: column(d, "share")["cells"][0].pop("open"), "E0574"),
        (lambda d: column(d, "degree")["cells"].__setitem__(0, "doctor"), "E0574"),
        (lambda d: column(d, "degree")["cells"].pop(), "E0574"),
        (lambda d: law_of(d, "member")["rows"][0].update(law=["1/2", "1/3"]), "E0575"),
        (lambda d: law_of(d, "member")["rows"][0].update(law=["3/2", "-1/2"]), "E0575"),
        (lambda d: law_of(d, "member")["rows"][0].update(law=[0.5, 0.5]), "E0574"),
        (lambda d: law_of(d, "member")["rows"][0].update(law=["1/0", "1/2"]), "E0574"),
        (lambda d: law_of(d, "member")["rows"][0].update(where=[0]), "E0575"),
        (lambda d: column(d, "age")["cells"][0].update(low="73/4", high="37/2"), "E0574"),
        (
            lambda d: law_of(d, "degree").update(
                given=["member", "member"],
                rows=[each | {"where": each["where"] * 2} for each in law_of(d, "degree")["rows"]],
            ),
            "E0575",
        ),
        (lambda d: law_of(d, "member").update(rows=[]), "E0575"),
        (lambda d: law_of(d, "degree")["rows"][0].update(where=[7]), "E0575"),
        (lambda d: law_of(d, "degree")["rows"].append(law_of(d, "degree")["rows"][0]), "E0574"),
        (lambda d: law_of(d, "member").update(given=["repaid"], rows=law_of(d, "degree")["rows"]), "E0572"),
        (
            lambda d: law_of(d, "member")["rows"].__setitem__(0, {"where": [], "normal": {"mean": "0", "sd": "1"}}),
            "E0575",
        ),
    ],
)
def test_documents_that_are_wrong(spoil: Callable[[Any], object], code: str, tmp_path: Path) -> None:
    document = json.loads(saved(counted(tmp_path, "learn causes")))
    spoil(document)
    (tmp_path / "law.json").write_text(json.dumps(document))
    text = PERSON + SOURCE.format("json")
    assert finding(text, tmp_path)[0] == code


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '"x"', '{"schema": "fairdsl.population/2", "fairdsl": "", "columns": 3}', "[" * 100_000]
)
def test_texts_that_are_no_documents(text: str, tmp_path: Path) -> None:
    (tmp_path / "law.json").write_text(text)
    assert finding(PERSON + SOURCE.format("json"), tmp_path)[0] == "E0574"


JUNK = st.sampled_from([None, True, -1, 3, 1e400, "", "x", "1/3", "1e9", [], ["x"], {}, {"normal": 1}])


def spoilt(node: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
    """The document with one part, anywhere, exchanged for something else."""
    if isinstance(node, dict | list) and node and draw(st.integers(0, 4)):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = draw(st.sampled_from(keys))
        copy = node.copy()
        copy[key] = spoilt(node[key], draw)
        return copy
    return draw(JUNK)


@settings(deadline=None, max_examples=examples(2.5))
@given(data=st.data())
def test_whatever_stands_in_a_document_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "documents"
    folder.mkdir(exist_ok=True)
    if not (folder / "good.json").exists():
        (folder / "good.json").write_text(saved(counted(folder, "learn causes")))
    document = spoilt(json.loads((folder / "good.json").read_text()), data.draw)
    check_file(folder, json.dumps(document), "json")


@settings(deadline=None, max_examples=examples(2.5))
@given(data=st.data())
def test_whatever_stands_in_a_network_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp() / "networks"
    folder.mkdir(exist_ok=True)
    start = data.draw(st.integers(0, len(FOREIGN)))
    end = start + data.draw(st.integers(0, 12))
    new = data.draw(st.text(alphabet='{}()|,;"/* 01.e-a', max_size=6))
    check_file(folder, FOREIGN[:start] + new + FOREIGN[end:], "bif")


def check_file(folder: Path, text: str, form: str) -> None:
    """A population or a finding, and if a population, a law."""
    (folder / f"law.{form}").write_text(text, encoding="utf-8")
    population, findings = built(PERSON + SOURCE.format(form), folder)
    assert (population is None) == bool(findings)
    if isinstance(population, Network):
        assert sum(joint(population).values()) <= 1


# ---- in words ------------------------------------------------------------------------------------


def test_the_network_in_force_is_described(tmp_path: Path) -> None:
    law = counted(tmp_path, "learn causes")
    lines = described(law)
    assert lines[0] == "distribution: the edges of the graph causes, frequencies of 6 rows"
    assert lines[1] == f"data: 6 rows of people.csv, sha256 {law.sample.sha256}"
    assert lines[2] == "edges: 2 (written): member -> degree, degree -> repaid; independent of all others: age, share"
    assert "repaid (the label): 2 values" in lines
    assert "  given degree = none: false 2/3, true 1/3" in lines
    assert "  2 of 3 combinations of degree occur, the others have probability 0" in lines
    assert "  18 .. 24 1/3, 25 .. 29 1/3, 30 .. 40 1/3" in lines


def test_an_empty_network_is_said_to_be_empty(tmp_path: Path) -> None:
    """The correlation option of another tool silently used an empty network (trap 16)."""
    assert "edges: none, so every attribute is independent of all others" in described(counted(tmp_path, "independent"))


def test_choices_are_described(tmp_path: Path) -> None:
    lines = described(counted(tmp_path, "learn bayesian_network", "set score = k2", "set seed = 3"))
    assert {"set score = k2", "set seed = 3", "set max_parents = any number"} <= set(lines)
