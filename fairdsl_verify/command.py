"""The command ``fairdsl-verify``: reads proofs, prints their questions and the verdicts that it reaches itself."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import secrets
import sys
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TextIO

from fairdsl_verify import RejectedError, reject, require
from fairdsl_verify.groups import FORMAT as RATES
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.parts import FollowTree, in_parts
from fairdsl_verify.question import Question, no_float, once
from fairdsl_verify.rates import rates_of
from fairdsl_verify.relaxed import checker_of, question_of
from fairdsl_verify.sample import sample_of
from fairdsl_verify.tree import Checked, Totals, follow, percent, verdict_of

#: Characters of a question at most, and of every other line; more are not read.
MOST_CHARACTERS, MOST_OF_A_LINE = 1 << 26, 1 << 20
#: Why a proof is rejected of which nothing follows.
NOTHING = "it shows nothing"
#: What goes wrong where a file says what nobody can follow.
_UNFIT = (OSError, EOFError, zlib.error, ValueError, TypeError, ArithmeticError, LookupError, RecursionError)


def check(proof: Path, *models: Path, sample: tuple[int, int] | None = None, tree: FollowTree | None = None) -> Checked:
    """Check one proof against a model's file, which is one of those given; raises RejectedError.

    ``sample``: how many leaves are drawn, and the seed; ``tree``: who follows the tree, if not this process leaf by
    leaf.
    """
    try:
        with gzip.open(proof, "rt", encoding="ascii", newline="\n") as file:
            lines = _lines(file)
            data = json.loads(next(lines, ""), object_pairs_hook=once, parse_float=no_float, parse_constant=no_float)
            contents = [path.read_bytes() for path in models]
            if type(data) is dict and data.get("format") == RATES:
                return rates_of(data, lines, contents)
            if sample is not None:
                return sample_of(data, lines, contents, *sample)
            question = question_of(data)
            content = question.file_of(contents)
            if tree is not None:
                return _checked(question, tree(data, list(lines), content))
            return _checked(question, follow(checker_of(question, Graph(content)), lines))
    except _UNFIT as error:
        reject(f"it cannot be read: {error}")


def _lines(file: TextIO) -> Iterator[str]:
    """The question, then the lines behind it; what is longer than these may be is not read into memory."""
    for limit in chain([MOST_CHARACTERS], repeat(MOST_OF_A_LINE)):
        line = file.readline(limit)
        require(len(line) < limit or line.endswith("\n"), f"a line is longer than {limit} characters")
        if not line:
            return
        yield line.removesuffix("\n")


def _checked(question: Question, totals: Totals) -> Checked:
    require(bool(question.holds or totals.fair or totals.unfair or totals.holds), NOTHING)
    follows = totals.certified >= question.certified and totals.falsified >= question.falsified
    follows &= totals.holds or not question.holds
    claims = "that the demand holds; " if question.holds else ""
    claims += f"{percent(question.certified)} fair, {percent(question.falsified)} unfair"
    share = question.asks == "share"
    reached = f"{verdict_of(totals, loose=question.loose and not share, share=share)} ({totals.leaves} leaves)"
    return Checked(question, follows, claims, reached, totals, margin=question.margin if question.deployed else None)


def answer(proof: Path, models: Sequence[Path], wanted: str | None, **how: Any) -> tuple[str, int]:
    """What is printed about one proof, and 0 where it is verified, 3 where a sample showed no error, else 1."""
    said, code = list[str](), 1
    try:
        checked = check(proof, *models, **how)
        said += checked.question.words()
        require(wanted in (None, checked.question.digest), f"it is a proof of another question than {wanted}")
        said += [f"claims     {checked.claims}", f"reached    {checked.verdict}"]
        require(checked.follows or checked.sampled, "what it claims does not follow")
        said.append(f"{'SAMPLED ' if checked.sampled else 'VERIFIED'}   {proof}")
        code = 3 if checked.sampled else 0
    except RejectedError as error:
        said.append(f"REJECTED   {proof}: {error}")
    # Whatever stands in a file, it makes no line of its own.
    shown = ("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in said)
    return "\n".join(shown), code


def main(arguments: Sequence[str] | None = None) -> int:
    """The command ``fairdsl-verify``: 0 where all proofs say what follows, 3 where some were only sampled, else 1."""
    parser = argparse.ArgumentParser("fairdsl-verify", description="Check proofs that `fairdsl check --proof` wrote.")
    parser.add_argument("folder", type=Path, help="a folder of proofs, or one proof")
    parser.add_argument("--model", type=Path, action="append", default=[], help="a model's file; may be repeated")
    parser.add_argument("--question", help="the digest of the question that has to be the one proved")
    parser.add_argument("--sample", type=int, metavar="N", help="check N leaves drawn by mass; verifies nothing")
    parser.add_argument("--seed", type=int, default=secrets.randbits(64), help="of the draws; else nobody can know it")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="check so many parts of a proof at a time")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="a file of the parts that are done, to go on from")
    given = parser.parse_args(arguments)
    proofs = sorted(given.folder.glob("*.proof")) if given.folder.is_dir() else [given.folder]
    sample = None if given.sample is None else (given.sample, given.seed)
    if (sample and sample[0] < 4) or given.jobs < 1:
        parser.error("--sample draws 4 leaves or more, and --jobs is at least 1")
    if given.resume is not None and (len(proofs) > 1 or sample):
        parser.error("--resume is about one proof that is checked as a whole")
    if not proofs:
        print(f"{given.folder}: no proofs (*.proof)")
    codes = set() if proofs else {1}
    tree = in_parts(given.jobs, given.resume)
    for proof in proofs:
        text, code = answer(proof, given.model, given.question, sample=sample, tree=tree)
        codes.add(code)
        try:
            print(text, flush=True)
        except BrokenPipeError:  # nobody reads on, and what nobody was told is not verified
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
    return 1 if 1 in codes else max(codes)
