"""Every keyword of the language may be the name of anything."""

from __future__ import annotations

import pytest
from keyword_list import KEYWORDS

from fairdsl.source import SourceFile
from fairdsl.syntax.parse import parse

POSITIONS = {
    "attribute": "domain D { KW : boolean other : boolean }",
    "attribute after a constraint": "domain D { other : boolean where other = true KW : boolean }",
    "attribute after a type that could go on": "domain D { other : real KW : real another : boolean KW : boolean }",
    "attribute with a column": 'domain D { KW : boolean column "x" KW : integer 0 .. 3 bins at 1 KW : boolean }',
    "constraint": "domain D { x : boolean where KW = 1 and x = KW or KW in { KW, 1 } and not KW < 2 }",
    "domain": "domain KW { x : boolean }",
    "category value": "domain D { x : category { KW, a = 1, KW = 2 } y : boolean }",
    "protected": "protected KW, KW\n\nprotected KW",
    "label": "label KW : boolean",
    "deserving": 'label y : boolean deserving KW\n\nlabel KW : boolean column "y" deserving KW',
    "model": "model KW : KW -> { KW, KW }",
    "decided outcome": "model m : D -> { no, KW }\n  KW when score > 0\n  KW when KW(x) <= 1\n",
    "rules": "model m : D -> { KW, no }\n  first KW when KW = KW\n  then KW when x > KW\n  otherwise KW",
    "favourable": "model m : D -> { no, KW }\n  favourable KW\n  grant when score > 0",
    "format": 'model m : D -> { no, yes }\n  from KW "x"\n  grant when score > 0',
    "formula": "model m : D -> { no, yes }\n  score = KW + 2 * KW - KW / KW\n  grant when KW > 0 and KW or KW",
    "reads": "model m : D -> { no, yes }\n  reads KW, one_hot(KW), (KW - 1) / 2, KW\n  favourable yes",
    "agrees": 'model m : D -> { no, KW }\n  reads KW\n  agrees with column "x" in "y" on 99%\n  favourable KW',
    "graph": "graph KW { KW -> a -> KW KW -> KW }",
    "distribution": "distribution KW over KW, KW\n  uniform",
    "structure": 'distribution d over D\n  learn KW\n  from "x.csv"',
    "independent": 'distribution d over D\n  independent given KW, KW\n  from KW "x"\n  KW : uniform(0, 1)',
    "setting": "distribution d over D\n  set KW = KW\n  set KW = 2",
    "column": "distribution d over D\n  KW : bernoulli(0.3) given KW = KW\n  KW : table { KW : 1 }\n  KW : KW(0, 1)",
    "named target": "condition KW over KW = KW = 1\n\ncondition KW = KW >= 60",
    "preset": "apply preset KW to KW across KW, KW under KW\n\napply preset x to m across KW under d",
    "property": 'property KW "sentence" { }\nproperty KW { }',
    "compare": "property p { compare KW, KW : KW\n require KW(KW) = KW(KW) }",
    "across": "property p { across KW, KW\n under KW\n measure KW, KW within 1%, KW }",
    "model of a property": "property p { model KW\n require KW <= 1 }",
    "differ in one": "property p { differ in KW\n require same decision }",
    "differ in the last clause": "property p { differ in KW }",
    "differ in two": "property p { differ in KW, KW\n require same decision }",
    "differ in any": "property p { differ in any KW, KW\n within 5 in KW }",
    "differ in each": "property p { differ in each KW, KW\n regardless of KW, KW\n otherwise equal }",
    "within": "property p { within 5 in KW\n regardless of KW\n within 2% in KW }",
    "target": "property p { among KW = KW\n among KW\n among x = KW and KW = 1 or KW > 1\n when KW >= 1 }",
    "target of one individual": "property p { among a.KW <= 3 and KW.KW = KW\n for each KW\n require KW }",
    "membership": "property p { among KW in { KW, 3 .. 5, KW }\n among KW in 3 .. 5\n among not KW in 3 .. 5 }",
    "arithmetic": "property p { among 1 + KW < 2 * KW\n among -KW > KW\n among KW + 1 = KW / 3 }",
    "negation": "property p { among not KW = 1\n among not (KW = 1)\n among x and not KW > 3 }",
    "call": "property p { require abs(score(KW) - KW(KW)) <= 3\n require KW(KW) = KW }",
    "condition of a rate": "property p { require rate(x given KW along allowed paths) <= 1 }",
    "missing in a rate": "property p { require rate(x given KW is missing) <= 1 }",
    "values of a rate": "property p { measure rate(x given each KW), rate(x given each KW along allowed paths) }",
    "strata": "property p { for each KW, KW\n among KW\n under KW }",
    "allow": "property p { allow KW -> KW -> KW\n baseline KW = KW\n privileged KW = KW\n require KW <= 2% }",
    "influence": "property p { measure influence of KW, (KW, KW in 0 .. 1) on KW\n require influence of KW on KW < 2 }",
    "influence of a range": "property p { measure influence of KW in 0 .. 1 on KW, influence of KW in -1 .. 2 on KW }",
}


#: What the grammar cannot tell apart: `and when ...` goes on with a formula, `reads when` reads an attribute,
#: `differ in any` names attributes behind it (of one that is called so, write `differ in any any`), and `not` negates
#: the word behind it, also where that begins the next line (write `(not)`).
EXCEPTIONS = {
    "decided outcome": ["and", "in", "or", "reads"],
    "differ in one": ["any", "each"],
    "reads": ["not"],
    "agrees": ["not"],
    "target": ["not"],
    "strata": ["not"],
}


@pytest.mark.parametrize("position", POSITIONS)
def test_every_keyword_may_be_a_name(position: str) -> None:
    refused = [
        keyword
        for keyword in KEYWORDS
        if not parse(SourceFile("spec.fair", POSITIONS[position].replace("KW", keyword))).complete
    ]
    assert refused == EXCEPTIONS.get(position, [])


#: One line or many: the words decide what is read.
WRAPPED = {
    "outcomes before declarations": "model m : D -> { a, when }\n  a when x > 3\n  favourable when\n\n"
    "protected when\n\nlabel y : boolean\n\nmodel n : D -> { a, b }\n  otherwise when score > 0\n\n"
    'property when "" { }',
    "phrases": "property p { require\nsame\ndecision differ\nin\nany x, y measure influence\nof (x, y)\non gap }",
    "negation": "condition c = not\nsenior or not\n3 < x and not # why\n(x or y)",
    "an attribute called `not`": "property p { among (not)\n require (not) }",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_one_line_says_the_same(name: str) -> None:
    wrapped, flat = WRAPPED[name], " ".join(WRAPPED[name].replace("# why", "").split())
    read = [parse(SourceFile("spec.fair", text)) for text in (wrapped, flat)]
    assert all(result.complete for result in read)
    assert read[0].spec == read[1].spec
