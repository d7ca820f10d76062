"""The command ``fairdsl-verify``: reads proofs, prints their questions and the verdicts that it reaches itself."""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairdsl_verify import RejectedError, reject
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import Question
from fairdsl_verify.tree import Checker, Totals, follow, percent, verdict_of


@dataclass
class Checked:
    """What was reached about one proof: ``follows`` says whether that is what the proof claims, or more."""

    question: Question
    totals: Totals
    follows: bool
    verdict: str


def check(proof: Path, model: Path) -> Checked:
    """Check one proof against a model's file; raises RejectedError."""
    try:
        with gzip.open(proof, "rt", encoding="ascii", newline="\n") as file:
            lines = (line.removesuffix("\n") for line in file)
            question = Question(json.loads(next(lines, "")))
            graph = Graph(model.read_bytes())
            if graph.sha256 != question.sha256:
                reject(f"the proof is about another model: sha256 {question.sha256}, not {graph.sha256}")
            totals = follow(Checker(question, graph), lines)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        reject(f"it cannot be read: {error}")
    follows = totals.certified >= question.certified and totals.falsified >= question.falsified
    if question.holds:
        follows = follows and totals.holds
    return Checked(question, totals, follows, verdict_of(totals))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``fairdsl-verify``: 0 where all proofs say what follows, else 1."""
    parser = argparse.ArgumentParser("fairdsl-verify", description="Check proofs that `fairdsl check --proof` wrote.")
    parser.add_argument("folder", type=Path, help="a folder of proofs, or one proof")
    parser.add_argument("--model", type=Path, required=True, help="the model's ONNX file")
    parser.add_argument("--question", help="the digest of the question that has to be the one proved")
    given = parser.parse_args(arguments)
    proofs = sorted(given.folder.glob("*.proof")) if given.folder.is_dir() else [given.folder]
    wrong = not proofs
    if not proofs:
        print(f"{given.folder}: no proofs (*.proof)")
    for proof in proofs:
        try:
            checked = check(proof, given.model)
            print(*checked.question.words(), sep="\n")
            if given.question not in (None, checked.question.digest):
                reject(f"it is a proof of another question than {given.question}")
            question, totals = checked.question, checked.totals
            shares = f"{percent(question.certified)} fair, {percent(question.falsified)} unfair"
            print(f"claims     {'that the demand holds; ' if question.holds else ''}{shares}")
            print(f"reached    {checked.verdict} ({totals.leaves} leaves)")
            if not checked.follows:
                reject("what it claims does not follow")
            print(f"VERIFIED   {proof}")
        except RejectedError as error:
            wrong = True
            print(f"REJECTED   {proof}: {error}")
    return int(wrong)
