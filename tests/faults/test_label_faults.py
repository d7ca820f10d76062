"""Which label means which outcome: no accepted spec is taken for something else than it says, and no help leads there.

Files, labels, outcomes and rules are drawn at random. What a rule says is read here by the documentation, from the
formula behind the file; that the formula is the file's is seen by onnxruntime.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from label_rules import rules, shown
from labelled_files import EVERYBODY, FORMS, SINGLES, File, Label, answered, written

import fairdsl
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import load_models
from fairdsl.ir.model import Model
from fairdsl.models.black_boxes.asked import BlackBoxEvaluator
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import decision
from fairdsl.semantics import front_end

#: Outcomes, the second of the favourable meaning, and labels of which some are their names.
OUTCOMES = (("denied", "approved"), ("approved", "denied"), ("no", "yes"), ("low", "high"))
LABELS: tuple[tuple[Label, ...], ...] = (
    ("approved", "denied"),
    ("denied", "approved"),
    ("bad risk", "good risk"),
    ("no", "yes"),
    ("yes", "no"),
    ("approved", "rejected"),
    ("0", "1"),
    ("1", "0"),
    ('a "b"', "c"),
    (0, 1),
    (1, 0),
    (-1, 1),
    (1, -1),
    (1, 2),
    (0, 5),
    (7, 3),
)


def spec(folder: Path, file: File, outcomes: tuple[str, ...], rule: str, box: bool) -> str:
    source = f'from black_box "{Path(file.path).name}"' if box else f'from "{Path(file.path).name}"'
    path = folder / "audit.fair"
    path.write_text(
        "domain Applicant { sex : category { female, male } income : integer 0 .. 9 }\nprotected sex\n"
        f"model approve : Applicant -> {{ {', '.join(outcomes)} }}\n  {source}\n  {rule}\n"
        "property same { compare a, b : Applicant differ in sex require same decision }\n",
        encoding="utf-8",
    )
    return str(path)


def loaded(path: str) -> Model | tuple[Diagnostic, ...]:
    """The model, or what is wrong with it."""
    try:
        checked, _ = front_end(path)
        models, _ = load_models(checked, {})
    except DiagnosticError as problem:
        return problem.diagnostics
    return models["approve"]


def decided(model: Model) -> list[str]:
    """The outcome of everybody, by exact arithmetic and by the file, which agree."""
    points = [tuple(Fraction(value) for value in person) for person in EVERYBODY]
    if model.opaque is not None:
        found = BlackBoxEvaluator(model).ask(np.array(EVERYBODY, dtype=np.float64)).decisions.tolist()
        return [model.outcomes[place] for place in found]
    assert model.deployed is not None
    exact = [decision(model, point) for point in points]
    assert Runtime(model.deployed).decide(points) == exact
    return [model.outcomes[place or 0] for place in exact]


def drawn(seed: int, folder: Path, forms: tuple[str, ...] = FORMS) -> Iterator[tuple[File, tuple[str, ...], bool]]:
    """Files, outcomes, and whether the file is only run."""
    draw = random.Random(seed)
    for number in range(10**6):
        labels, outcomes = draw.choice(LABELS), draw.choice(OUTCOMES)
        form = draw.choice(forms)
        if form == "table" and any('"' in str(label) for label in labels):
            continue
        file = written(
            folder / f"m{number}.onnx",
            form=form,
            labels=labels,
            high=draw.randrange(2),
            weights=(draw.randint(-3, 3), draw.choice((-2, -1, 1, 2))),
            offset=2 * draw.randint(-6, 6) + 1,
        )
        yield file, outcomes, draw.random() < 0.35


def audited(seed: int, folder: Path, files: int) -> int:
    """How many of the drawn specs are accepted; each of them decides as it says."""
    draw, accepted = random.Random(seed), 0
    for number, (file, outcomes, box) in enumerate(drawn(seed, folder)):
        if number == files:
            return accepted
        labels = answered(file)
        assert labels is None or labels == file.given()
        for rule in draw.sample(rules(file, outcomes, draw), 5):
            found, says = loaded(spec(folder, file, outcomes, rule.text, box)), rule.says()
            if not isinstance(found, Model):
                assert all(each.code.startswith("E0") for each in found)
                continue
            accepted += 1
            assert says is not None, (file, outcomes, rule.text, box)
            assert decided(found) == [outcomes[each] for each in says], (file, outcomes, rule.text, box)
    return accepted


def test_what_is_accepted_means_what_it_says(tmp_path: Path) -> None:
    assert audited(1, tmp_path, 25) > 25


# ---- following the help -------------------------------------------------------------------------


@dataclass(frozen=True)
class Meant:
    """What somebody knows who writes a rule: which label means which outcome."""

    file: File
    outcomes: tuple[str, ...]
    means: dict[str, str]  # a label, as a spec writes it, or a column, to its outcome

    @property
    def high(self) -> str:
        """What the one number of the file means where it is high."""
        return self.means[shown(self.file.labels[1]) if self.file.named else "1"]

    def true(self, condition: str, rule: str) -> bool:
        """Whether a help's condition is so."""
        label = re.fullmatch("(?:the label|column) `(.*)` means `(.*)`", condition)
        if label is not None:
            return self.means[label[1]] == label[2]
        number = re.fullmatch("a high (?:number|score|probability) means `(.*)`", condition)
        if number is not None:
            return self.high == number[1]
        one = re.fullmatch("the file's number is the probability of `(.*)`", condition)
        if one is not None:
            return one[1] == (shown(self.file.labels[1]) if self.file.named else "1")
        of = re.fullmatch("[0-9.]+ is a probability of `(.*)`", condition)
        if of is not None:
            return of[1] == self.outcome_of_high(rule)
        assert condition in ("the raw score is a logit", "it is a probability"), condition
        return condition == "the raw score is a logit"

    def outcome_of_high(self, rule: str) -> str:
        """The outcome that a high number leads to by a rule."""
        outcome = rule.split()[0]
        return outcome if ">" in rule else self.outcomes[1 - self.outcomes.index(outcome)]

    def intended(self, rule: str) -> list[str] | None:
        """The decisions that a rule is meant to be: by the class, or by the threshold of a probability.

        None where it contradicts what is known: where a high score, or probability of a label, leads to another outcome
        than it means.
        """
        label = next(label for label in self.means if self.means[label] == self.outcomes[1])
        names = {shown(name): name for name in (self.file.labels if self.file.named else (0, 1))}
        asked = re.fullmatch(r"(\w+) when probability(?:\(class = (.*)\))? (>=|<) ([0-9.]+)", rule)
        threshold, outcome = Fraction(1, 2), self.outcomes[1]
        if "score" in rule and self.file.form in SINGLES and rule.split()[0] not in (self.high, "decide"):
            return None
        if asked is not None:
            threshold = Fraction(asked[4])
            outcome = self.outcome_of_high(rule)
            label = next(label for label in self.means if self.means[label] == outcome)
            if self.means.get(asked[2], outcome) != outcome and asked[2].strip('"') not in self.outcomes:
                return None
        other = self.outcomes[1 - self.outcomes.index(outcome)]
        return [outcome if p >= threshold else other for p in self.file.probability(names[label])]


def meanings(file: File, outcomes: tuple[str, ...], draw: random.Random) -> dict[str, str]:
    """What each label means; one that is an outcome's name means it."""
    names: tuple[Label, ...] = file.labels if file.named else (0, 1)
    order = list(outcomes) if draw.random() < 0.5 else list(outcomes[::-1])
    for place, name in enumerate(names):
        if name in outcomes:
            order = [str(name) if place == at else next(o for o in outcomes if o != name) for at in (0, 1)]
    return {shown(name): outcome for name, outcome in zip(names, order, strict=True)}


def advised(help_text: str, rule: str, meant: Meant) -> list[str]:
    """The rules that come of following a help to the letter, those of its ways that hold of what is meant."""
    outcome = rule.split(" when ")[0] if " when " in rule else ""
    told = help_text[help_text.index("write ") :] if "write " in help_text else ""
    ways = re.findall(r"`([^`]* (?:when|>=|<|>|<=) [^`]*)`(?: if ((?:[^`,;]|`[^`]*`)+))?", told)
    found = []
    for clause, condition in ways:
        if "OUTCOME" in clause or "..." in clause or "LABEL" in clause:
            continue
        if not condition:
            assert len(ways) == 1, help_text  # where there is a choice, each way says what it takes for granted
        elif not meant.true(condition.strip(), rule):
            continue
        found.append(clause if " when " in clause else f"{outcome} when {clause}")
    return [*found, ""] if "or no rule" in help_text or "leave the rule out" in help_text else found


def follow(seed: int, folder: Path, files: int) -> tuple[int, int]:
    """How many mistakes there were, and how many of them their help mends; none of them ends at another audit."""
    draw, mistakes, mended = random.Random(seed), 0, 0
    for number, (file, outcomes, box) in enumerate(drawn(seed, folder, (*FORMS, *SINGLES))):
        if number == files:
            break
        meant = Meant(file, outcomes, meanings(file, outcomes, draw))
        for rule in draw.sample(rules(file, outcomes, draw), 4):
            first = outcome_of(spec(folder, file, outcomes, rule.text, box), file)
            if not isinstance(first, str):
                continue
            if meant.intended(rule.text) is None:
                continue
            mistakes += 1
            reached, seen = [(rule.text, first)], {rule.text}
            right = False
            while reached:
                text, help_text = reached.pop()
                for advice in advised(help_text, text, meant):
                    if advice in seen:
                        continue
                    seen.add(advice)
                    then = outcome_of(spec(folder, file, outcomes, advice, box), file)
                    if isinstance(then, str):
                        reached.append((advice, then))
                        continue
                    assert then == meant.intended(rule.text), (file, meant.means, box, rule.text, advice)
                    right = True
            mended += right
    return mistakes, mended


def outcome_of(path: str, file: File) -> list[str] | str:
    """The decisions of an accepted spec, or the help of a refused one."""
    found = loaded(path)
    if isinstance(found, Model):
        return decided(found)
    return "; ".join(each.help or "" for each in found)


def test_no_help_leads_to_another_audit(tmp_path: Path) -> None:
    mistakes, mended = follow(2, tmp_path, 15)
    assert mistakes > 30
    assert mended > mistakes // 2


@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("form", ["score and label", "sigmoid and label"])
@pytest.mark.parametrize("labels", [("denied", "approved"), ("approved", "denied")])
def test_one_number_beside_labels_that_are_outcomes(
    labels: tuple[str, str], form: str, box: bool, tmp_path: Path
) -> None:
    """The number rises with the second label: a rule by which a high one means the other outcome is refused."""
    file = written(tmp_path / "m.onnx", form=form, labels=labels, high=1, weights=(1, -2), offset=7)
    threshold = "probability {} 0.5" if "sigmoid" in form else "score {} 0"
    for outcome in labels:
        for relation in (">", ">=", "<", "<="):
            path = spec(tmp_path, file, ("denied", "approved"), f"{outcome} when {threshold.format(relation)}", box)
            found = loaded(path)
            if (outcome == labels[1]) == (">" in relation):
                assert isinstance(found, Model)
                assert decided(found) == file.given()
            else:
                assert not isinstance(found, Model)
                assert [each.code for each in found] == ["E0511"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
def test_many_more(seed: int, tmp_path: Path) -> None:
    audited(seed, tmp_path, 400)
    follow(seed, tmp_path, 400)


@pytest.mark.parametrize("relation", [">", ">=", "<", "<="])
@pytest.mark.parametrize("form", ["score", "score and label"])
def test_a_raw_score_as_a_logit_is_advised_alike(form: str, relation: str, tmp_path: Path) -> None:
    """W0702: `score` with the help's threshold is the same audit, in the rule's own direction."""
    file = written(tmp_path / "m.onnx", form=form, labels=("no", "yes"), high=1, weights=(2, -1), offset=5)
    outcome = "yes" if ">" in relation else "no"
    path = spec(tmp_path, file, ("no", "yes"), f"{outcome} when probability {relation} 0.5", box=False)
    (warning,) = [found for found in fairdsl.lint(path, files=True) if found.code == "W0702"]
    before = loaded(path)
    (condition,) = re.findall("write `([^`]*)` if the raw score is a logit", warning.help or "")
    after = loaded(spec(tmp_path, file, ("no", "yes"), f"{outcome} when {condition}", box=False))
    assert isinstance(before, Model)
    assert isinstance(after, Model)
    assert decided(before) == decided(after) == ["yes" if score > 0 else "no" for score in file.scores()]
