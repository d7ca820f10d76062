"""The words that statements begin with: what newcomers write for them, and an example of each."""

from __future__ import annotations

__all__ = ["OTHER_WORDS", "example_of"]

#: What newcomers write for a first word; near misses are found by their letters.
OTHER_WORDS = {
    "favorable": "favourable",
    "ensure": "require",
    "assert": "require",
    "demand": "require",
    "check": "require",
    "verify": "require",
    "constraint": "where",
    "assume": "where",
    "invariant": "where",
    "population": "distribution",
    "data": "distribution",
    "dataset": "distribution",
    "network": "model",
    "classifier": "model",
    "features": "domain",
    "attributes": "domain",
    "schema": "domain",
    "sensitive": "protected",
    "import": "use",
    "include": "use",
    "title": "audit",
    "dag": "graph",
    "groups": "across",
    "report": "measure",
    "tolerance": "within",
    "epsilon": "within",
    "vary": "differ",
    "path": "allow",
    "elif": "then",
    "forall": "compare",
}

#: What to write behind a first word; some of them begin a declaration and a clause alike.
_DECLARED = {
    "model": "model approve : Applicant -> { reject, grant }",
}
_EXAMPLES = {
    "let": "let limit = 80%",
    "for": "for each site in { north, south }",
    "require": "require same decision",
    "measure": "measure fair_share",
    "among": "among age >= 18",
    "condition": "condition senior = age >= 60",
    "when": "when confidence(a) >= 0.9",
    "within": "within 5 in age",
    "regardless": "regardless of job",
    "differ": "differ in sex",
    "compare": "compare a, b : Applicant",
    "across": "across sex",
    "model": "model approve",
    "under": "under cohort",
    "excluding": "excluding groups below 30 rows",
    "allow": "allow sex -> department -> admit",
    "baseline": "baseline sex = male",
    "privileged": "privileged sex = male",
    "where": "where age >= 18",
    "derived": "derived senior = age >= 62",
    "protected": "protected sex, age",
    "label": "label reoffended : boolean",
    "domain": "domain Applicant { ... }",
    "property": "property my_name { ... }",
    "graph": "graph influence { ... }",
    "metric": "metric miss_rate_gap = gap(rate(refuse given sick = yes))",
    "distribution": "distribution cohort over Applicant",
    "use": 'use "german.fair"',
    "audit": 'audit "Small loans, 2024"',
    "apply": "apply preset four_fifths to approve across sex under cohort",
    "from": 'from "models/approve.onnx"',
    "favourable": "favourable grant",
    "reads": "reads age, income",
    "agrees": 'agrees with column "decision" in "recorded.csv" on 99%',
    "learn": "learn bayesian_network",
    "set": "set seed = 7",
    "score": "score = 2 * income - 3",
    "empirical": 'empirical from "people.csv"',
    "decide": "decide by highest score",
    "first": "first reject when age < 18",
    "then": "then grant when income > 30",
    "otherwise": "otherwise reject",
}


def example_of(word: str, body: str) -> str:
    """A statement that begins with the word, as it stands in this body; empty where there is none to show."""
    declared = _DECLARED.get(word) if body == "file" else None
    return declared or _EXAMPLES.get(word, "")
