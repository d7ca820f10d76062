"""Proofs of a spec's demands, each in a file of its own."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from fairdsl.backends.contract import Observer
from fairdsl.clock import Deadline
from fairdsl.elaborate import Elaborated, elaborate
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Pair, Quantity
from fairdsl.numerics.narrow import measure_of
from fairdsl.proving.distributions import order_for
from fairdsl.proving.groups import file_of, rates_question_of
from fairdsl.proving.grown import Grown, Wanted
from fairdsl.proving.networks import grow_networks, many_passes
from fairdsl.proving.pairing import Pairing
from fairdsl.proving.prover import grow, somebody
from fairdsl.proving.question import Unproved, question_of
from fairdsl.proving.side_by_side import side_by_side
from fairdsl.proving.trees import Planted, grow_trees, many_at_a_time
from fairdsl.proving.watching import INTERRUPTED, Watch
from fairdsl.report.proof import CHECKER, ProofFile
from fairdsl.semantics import front_end
from fairdsl.source.reading import content_of
from fairdsl.source.writing import write_file
from fairdsl.verdict import Arithmetic, Basis, Evidence, Holds, Shares, Value
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import Integers
from fairdsl_verify.command import NOTHING, check
from fairdsl_verify.groups import RatesQuestion
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.rates import Rates, net_of
from fairdsl_verify.relaxed import checker_of
from fairdsl_verify.relaxed import question_of as relaxed_or_not
from fairdsl_verify.tree import Checked, Totals

#: So many lines about a network take the checker longer than it takes to start processes.
_HEAVY = 1000
#: What is wanted of shares of which nothing is known: all of both.
_ALL = Fraction(1), Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """What came of one demand: a file and what the checker made of it, or why there is none."""

    property: str
    demand: str
    #: None where there is none; then ``said`` is why.
    proof: ProofFile | None = None
    #: The verdict that the checker reaches, or why there is no proof.
    said: str
    #: That verdict as one of `check`'s; None where the checker shows nothing of what is asked.
    shows: Holds | Shares | Value | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be proved: a spec's demands, in files of a folder."""

    path: str
    folder: str
    models: Mapping[str, str]
    let: Mapping[str, str] | None
    data: Mapping[str, str]
    properties: tuple[str, ...]
    #: Demands, by property and text, that hold of the deployed file's arithmetic too: that is proved if it can be.
    deployed: frozenset[tuple[str, str]]
    #: Fair and unfair shares of demands: of trees no more than these is proved.
    known: Mapping[tuple[str, str], Wanted]
    #: How many processes may check one proof.
    checkers: int = 1

    def demands(self) -> dict[str, Elaborated]:
        """The demands by the names of their files. Raises DiagnosticError for mistakes in the spec."""
        spec, _ = front_end(self.path, self.let)
        found = elaborate(spec.restricted_to(self.properties), self.models, data=self.data, hold=False).demands
        return dict(zip(_names(found), found, strict=True))

    def file(self, name: str) -> Path:
        """Where the proof of that name lies."""
        return Path(self.folder) / f"{name}.proof"

    def proved(self, name: str, item: Elaborated, watch: Watch, observer: Observer) -> Proved:
        """The proof of one demand, as far as one gets until the watch ends; or why there is none."""
        demand, end = (item.property.name, item.demand.text), watch.end
        wanted = self.known.get(demand, _ALL)
        try:
            _provable(item)  # what no time would prove is not said to lack time
            if end.passed:
                raise Unproved(INTERRUPTED if watch.ended else "the time was up before it began")
            deployed = demand in self.deployed
            made = _made(item, watch, end, observer, deployed=deployed, wanted=wanted)
            return _checked(item, made, self.file(name), watch, self.checkers)
        except (Unproved, RejectedError) as why:
            return Proved(property=demand[0], demand=demand[1], said=f"no proof: {why}")


def _names(demands: Sequence[Elaborated]) -> Iterator[str]:
    """The properties' names; of further demands of one, with a number."""
    seen: dict[str, int] = {}
    for item in demands:
        name = item.property.name
        seen[name] = number = seen.get(name, 0) + 1
        yield name if number == 1 else f"{name}-{number}"


def unchecked(item: Elaborated, path: Path) -> Proved:
    """What is said of a proof that was written, and that the checker had no time for."""
    said = f"a proof was written to {path}, which is not checked: {INTERRUPTED}"
    return Proved(property=item.property.name, demand=item.demand.text, said=said)


def _provable(item: Elaborated) -> None:
    """Raises Unproved for demands of which there are no proofs."""
    demand, problem = item.demand, item.problem
    if item.refusal is not None or demand.beyond or demand.of or demand.less:
        raise Unproved("such demands have no proofs so far")
    if not isinstance(problem.question, GroupMetric):
        if demand.under:
            raise Unproved("shares under a distribution have no proofs so far")
        if problem.model.deployed is None:
            raise Unproved("only models of ONNX files have proofs so far")


def _made(
    item: Elaborated, watch: Watch, deadline: Deadline, observer: Observer, *, deployed: bool, wanted: Wanted
) -> _Made:
    problem = item.problem
    if not isinstance(problem.question, GroupMetric):
        return _of_pairs(problem, deadline, observer, deployed=deployed, wanted=wanted)
    rates = watch.cut(lambda: _of_rates(problem, deadline, deployed=deployed), deadline)
    if rates is None:
        raise Unproved(INTERRUPTED if watch.ended else "the time was up")
    return rates


def _checked(item: Elaborated, made: _Made, path: Path, watch: Watch, processes: int) -> Proved:
    write_file(path, made.content())
    checked, said = None, ""
    tree = side_by_side(processes) if processes > 1 and made.heavy else None
    try:
        checked = watch.checked(len(made.lines), lambda: check(path, *made.models, tree=tree))
        if checked is None:
            return unchecked(item, path)
    except RejectedError as error:
        said = str(error)
    if said == NOTHING:  # all of it is open, as the checker alone can say
        path.unlink()
        raise Unproved("nothing was proved")
    if checked is not None and checked.number is None:
        # The checker has said what follows of each line: that is claimed.
        write_file(path, made.claiming(checked.totals).content())
    proof = _of_file(path, made.digest, checked, said)
    shows = _shown_by(proof, item.problem)
    return Proved(property=item.property.name, demand=item.demand.text, proof=proof, said=proof.said, shows=shows)


@dataclass(frozen=True, slots=True)
class _Made:
    """A question with its claims, its digest, the lines behind it, and the model's file where it is about one."""

    question: dict[str, Any]
    digest: str
    lines: tuple[str, ...]
    models: tuple[Path, ...]
    #: Whether several processes pay: a leaf takes the checker far longer than to find out where it lies, and there
    #: are many.
    heavy: bool = False

    def content(self) -> bytes:
        """The file's."""
        raw = BytesIO()
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
            file.write(json.dumps(self.question, ensure_ascii=True, separators=(",", ":")).encode())
            file.write("\n".join(("", *self.lines, "")).encode())
        return raw.getvalue()

    def claiming(self, totals: Totals) -> _Made:
        """The same with what the checker reached for its claims."""
        shares = {"certified": str(totals.certified), "falsified": str(totals.falsified)}
        holds = self.question["asks"] == "holds" and totals.holds
        claims = {**self.question["claims"], **shares, "holds": holds}
        return replace(self, question={**self.question, "claims": claims})


def _of_pairs(problem: Problem, deadline: Deadline, observer: Observer, *, deployed: bool, wanted: Wanted) -> _Made:
    """``deployed``: the file's own arithmetic is tried first; where it rounds, in half of the time, and no share."""
    assert problem.model.deployed is not None, "others have no proofs"
    content = content_of(problem.model.deployed.path)
    asked = question_of(problem, Graph(content))
    if deployed:
        both = {**asked, "arithmetic": "float32"}
        with suppress(RejectedError, Unproved):
            margin = checker_of(relaxed_or_not({**asked, "claims": _claims()}), Graph(content)).net.rounding()
            if not margin:
                return _grown(problem, both, content, deadline, observer, wanted)[0]
            if asked["asks"] == "holds":
                half = deadline.later(-deadline.remaining / 2)
                made, totals = _grown(problem, both, content, half, observer, wanted, margin)
                if totals.holds:
                    return made
    return _grown(problem, asked, content, deadline, observer, wanted)[0]


def _claims(margin: Fraction | int = 0, compared: Sequence[list[int]] = ()) -> dict[str, Any]:
    """What is claimed before the checker has said what follows."""
    return {"certified": 0, "falsified": 0, "holds": False, "compared": [*compared], "margin": str(margin)}


def _grown(
    problem: Problem,
    asked: dict[str, Any],
    content: bytes,
    deadline: Deadline,
    observer: Observer,
    wanted: Wanted,
    margin: Fraction | int = 0,
) -> tuple[_Made, Totals]:
    """A tree, and what its leaves come to as far as that is known already."""
    assert problem.model.deployed is not None
    checker = checker_of(relaxed_or_not({**asked, "claims": _claims(margin)}), Graph(content))
    compared = checker.question.compared = somebody(checker, deadline)
    tree: Grown | Planted
    if many_passes(checker):
        tree, totals = grow_networks(checker, deadline, problem, observer)
    elif many_at_a_time(checker):
        tree, totals = grow_trees(checker, deadline, observer, wanted)
    else:
        tree, totals = grow(checker, deadline, Pairing.of(checker, problem))
    lines = tuple(tree.lines())
    known = totals.fair or totals.unfair or totals.holds
    # Of a share the checker alone says what boxes that are counted, or evaluated, come to.
    if not known and (asked["asks"] == "holds" or {"~", "E"}.isdisjoint(lines)):
        raise Unproved("nothing was proved")
    question = {**asked, "claims": _claims(margin, compared)}
    models, heavy = (Path(problem.model.deployed.path),), isinstance(checker.net, Integers) and len(lines) > _HEAVY
    return _Made(question, checker.question.digest, lines, models, heavy), totals


def _of_rates(problem: Problem, deadline: Deadline, *, deployed: bool) -> _Made:
    """``deployed``: in the file's own arithmetic, unless that has no bound or leaves open what is required."""
    asked, path = rates_question_of(problem), file_of(problem)
    if deployed and asked["kind"] == "onnx" and path is not None:
        content, real = content_of(path), RatesQuestion({**asked, "claims": _of_number()})
        with suppress(RejectedError, Unproved):
            margin = max(net_of(each, content).rounding() for each in real.models())
            made, settled = _rated({**asked, "arithmetic": "float32"}, margin, path, deadline)
            if settled:
                return made
    return _rated(asked, 0, path, deadline)[0]


def _of_number(low: Fraction | int = 0, high: Fraction | int = 0, margin: Fraction | int = 0) -> dict[str, str]:
    """What is claimed of a metric."""
    return {"low": str(low), "high": str(high), "margin": str(margin)}


def _rated(asked: dict[str, Any], margin: Fraction | int, path: str | None, deadline: Deadline) -> tuple[_Made, bool]:
    """A metric of groups, and whether that settles what is required of it."""
    question = RatesQuestion({**asked, "claims": _of_number(margin=margin)})
    model = None if question.kind == "written" else path
    rates = Rates(question, b"" if model is None else content_of(model))
    order = order_for(rates, deadline)
    rates.follow(order)
    number = rates.number()
    if number is None:
        raise Unproved("the metric is not defined")
    lines = tuple(f"C {column} {states}" for column, states in order)
    claiming = {**asked, "claims": _of_number(*number, margin)}
    made = _Made(claiming, question.digest, lines, () if model is None else (Path(model),))
    return made, not question.required or rates.meets(number) or rates.misses(number)


def _of_file(path: Path, question: str, checked: Checked | None, said: str) -> ProofFile:
    """What the checker made of the file that was written, and of the model's; ``said`` is why it rejected it."""
    totals = Totals(open=1) if checked is None else checked.totals
    number = None if checked is None else checked.number
    follows = checked is not None and checked.follows
    if checked is not None:
        said = checked.verdict
    return ProofFile(
        path=str(path),
        sha256=sha256(content_of(path)).hexdigest(),
        question=question,
        checker=CHECKER,
        verified=follows,
        said=said if follows else f"what it claims does not follow: {said}",
        certified=totals.certified,
        falsified=totals.falsified,
        holds=totals.holds,
        number=None if number is None else Enclosure(low=number[0], high=number[1]),
        margin=None if checked is None else checked.margin,
    )


def _shown_by(proof: ProofFile, problem: Problem) -> Holds | Shares | Value | None:
    """What a proof shows of its problem; None where the checker did not verify it, or reached no answer.

    That a demand is violated is shown by two people, who are replayed, and by no proof.
    """
    if not proof.verified:
        return None
    deployed = proof.margin is not None
    basis = Basis(arithmetic=Arithmetic.DEPLOYED if deployed else Arithmetic.EXACT).about(problem)
    evidence = Evidence(backend=CHECKER, method=f"a proof that was checked, {proof.path}", basis=basis)
    if proof.number is not None:
        return Value(number=proof.number, evidence=evidence)
    if problem.quantity is Quantity.HOLDS:
        return Holds(evidence=evidence) if proof.holds else None
    assert isinstance(problem.question, Pair), "only shares of pairs have proofs"
    return Shares(
        certified=proof.certified,
        falsified=proof.falsified,
        undecided=1 - proof.certified - proof.falsified,
        vacuous=Fraction(0),
        measure=measure_of(problem, problem.question),
        unit=problem.unit_in_words,
        evidence=evidence,
        float32_certified=proof.certified if deployed else None,
    )
