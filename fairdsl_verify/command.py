"""The command ``fairdsl-verify``: reads proofs, prints their questions and the verdicts that it reaches itself."""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairdsl_verify import RejectedError, reject
from fairdsl_verify.groups import FORMAT as RATES
from fairdsl_verify.groups import RatesQuestion
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Question
from fairdsl_verify.rates import Number, Rates, order_of
from fairdsl_verify.tree import Checker, Totals, follow, percent, verdict_of


@dataclass
class Checked:
    """What was reached about one proof: ``follows`` says whether that is what the proof claims, or more."""

    question: Question | RatesQuestion
    follows: bool
    claims: str
    verdict: str
    #: Of pairs, what the leaves come to; of rates, the number, where there is one.
    totals: Totals
    number: Number | None = None


def check(proof: Path, *models: Path) -> Checked:
    """Check one proof against a model's file, which is one of those given; raises RejectedError."""
    try:
        with gzip.open(proof, "rt", encoding="ascii", newline="\n") as file:
            lines = (line.removesuffix("\n") for line in file)
            data = json.loads(next(lines, ""))
            contents = [path.read_bytes() for path in models]
            rates = type(data) is dict and data.get("format") == RATES
            return (_rates if rates else _pairs)(data, lines, contents)
    except (OSError, EOFError, zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
        reject(f"it cannot be read: {error}")


def _pairs(data: Any, lines: Iterator[str], contents: Sequence[bytes]) -> Checked:
    question = Question(data)
    totals = follow(Checker(question, Graph(question.file_of(contents))), lines)
    follows = totals.certified >= question.certified and totals.falsified >= question.falsified
    if question.holds:
        follows = follows and totals.holds
    shares = f"{percent(question.certified)} fair, {percent(question.falsified)} unfair"
    claims = f"{'that the demand holds; ' if question.holds else ''}{shares}"
    return Checked(
        question, follows, claims, f"{verdict_of(totals, loose=question.loose)} ({totals.leaves} leaves)", totals
    )


def _rates(data: Any, lines: Iterator[str], contents: Sequence[bytes]) -> Checked:
    question = RatesQuestion(data)
    rates = Rates(question, b"" if question.kind == "written" else question.file_of(contents))
    rates.follow(order_of(lines))
    number, (low, high) = rates.number(), question.claimed
    follows = number is not None and low <= number[0] and number[1] <= high
    claims = f"the number lies from {low} to {high}"
    return Checked(question, follows, claims, rates.verdict(number), Totals(open=1), number)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``fairdsl-verify``: 0 where all proofs say what follows, else 1."""
    parser = argparse.ArgumentParser("fairdsl-verify", description="Check proofs that `fairdsl check --proof` wrote.")
    parser.add_argument("folder", type=Path, help="a folder of proofs, or one proof")
    parser.add_argument("--model", type=Path, action="append", default=[], help="a model's file; may be repeated")
    parser.add_argument("--question", help="the digest of the question that has to be the one proved")
    given = parser.parse_args(arguments)
    proofs = sorted(given.folder.glob("*.proof")) if given.folder.is_dir() else [given.folder]
    wrong = not proofs
    if not proofs:
        print(f"{given.folder}: no proofs (*.proof)")
    for proof in proofs:
        try:
            checked = check(proof, *given.model)
            print(*checked.question.words(), sep="\n")
            if given.question not in (None, checked.question.digest):
                reject(f"it is a proof of another question than {given.question}")
            print(f"claims     {checked.claims}")
            print(f"reached    {checked.verdict}")
            if not checked.follows:
                reject("what it claims does not follow")
            print(f"VERIFIED   {proof}")
        except RejectedError as error:
            wrong = True
            print(f"REJECTED   {proof}: {error}")
    return int(wrong)
