"""The encoding for ``compile --to vnnlib``: networks as ONNX, questions as VNN-LIB 2.0 and 1.0.

Of each question two versions that stand alone:

* ``NAME.vnnlib``, VNN-LIB 2.0: the question over two copies of one network (``pair``);
* ``NAME.case1.vnnlib``, ...: VNN-LIB 1.0, one file a case (``cases``), each over a product network (``product``): a
  box of inputs, and a lower bound of each output.

Both are about real inputs. Integers and sets with gaps became the intervals around them, strict inequalities
their closure, and numbers that the files do not store were rounded outwards, so they admit all pairs of the
question and more: `unsat` means that the property holds (of the 1.0 files all must be), `sat` needs a replay.

VNN-LIB queries solved by z3: the network's exact piecewise linear functions and the assertions, as one script.

Over the reals, as the files are meant: weights are the numbers that the ONNX file stores, and nothing is rounded. A
point of `sat` is printed in decimals; ``recover`` looks for a pair next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Lowered, Solving
from fairdsl.backends.smt import terms
from fairdsl.backends.smt.cases import Case, cases
from fairdsl.backends.smt.encoding import Dialect, PairEncoding, solve_script
from fairdsl.backends.smt.procedure import refusal
from fairdsl.backends.smt.recover import number, recovered
from fairdsl.backends.smt.terms import Term
from fairdsl.backends.smt.vnnlib.answers import pairs_in, parse_answer
from fairdsl.backends.smt.vnnlib.chain import Chain
from fairdsl.backends.smt.vnnlib.errors import not_vnnlib
from fairdsl.backends.smt.vnnlib.formula import formula_of, script_term
from fairdsl.backends.smt.vnnlib.pair import greatest, network_of, pair_query
from fairdsl.backends.smt.vnnlib.product import Product, product_of
from fairdsl.backends.smt.vnnlib.read import Copy, read_query
from fairdsl.backends.smt.vnnlib.script import case_text, decimal, pair_text
from fairdsl.backends.solved import Asked, Solved
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.models.onnx_written.chain import Layers, read_relu_chain
from fairdsl.source.reading import content_of, named_in
from fairdsl.verdict import Evidence, Fidelity, Verdict


def script_of(path: Path) -> str:
    """The query in a file, and its network beside it, as an SMT-LIB script over the reals."""
    query = read_query(content_of(path).decode("utf-8", "replace"), str(path))
    assert query.network is not None, "it was read with its network"
    network = named_in(str(path), query.network)
    if not Path(network).is_file():
        what, instead = f"its network `{network}` is not there", "copy the network beside the file"
        raise DiagnosticError(not_vnnlib(str(path), what, None, instead))
    layers = read_relu_chain(network)
    for copy in query.copies:
        if (len(copy.inputs), len(copy.outputs)) != (layers[0][0].shape[1], len(layers[-1][1])):
            what = f"its network `{network}` has {layers[0][0].shape[1]} inputs and {len(layers[-1][1])} outputs"
            raise DiagnosticError(not_vnnlib(str(path), what, None, "declare as many as the network has"))
    names = {name: terms.symbol(name) for copy in query.copies for name in (*copy.inputs, *copy.outputs)}
    lines = ["(set-logic QF_LRA)"]
    for place, copy in enumerate(query.copies):
        lines += [f"(declare-const {names[name]} Real)" for name in copy.inputs]
        lines += _defined(layers, copy, names, f"n{place}")
    lines.append(f"(assert {script_term(formula_of(query), names)})")
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def _defined(layers: Layers, copy: Copy, names: Mapping[str, Term], prefix: str) -> Iterator[str]:
    """Each unit of a copy, layer by layer."""
    current: Sequence[Term] = [names[name] for name in copy.inputs]
    for depth, (weight, bias) in enumerate(layers):
        last = depth == len(layers) - 1
        following = (
            [names[name] for name in copy.outputs] if last else [f"{prefix}.{depth}.{i}" for i in range(len(bias))]
        )
        for row, constant, name in zip(weight, bias, following, strict=True):
            parts = (terms.product(Fraction(w), term) for w, term in zip(map(float, row), current, strict=True) if w)
            value = terms.total(parts, Fraction(float(constant)))
            if last:
                yield f"(define-fun {name} () Real {value})"
            else:
                yield f"(define-fun {name}.in () Real {value})"
                yield f"(define-fun {name} () Real (ite (>= {name}.in 0.0) {name}.in 0.0))"
        current = following


def _printed(_: str, found: Answer) -> str:
    """As VNN-COMP has answers."""
    if found.status not in ("sat", "unsat"):
        detail = " ".join(found.detail.split())
        return "timeout\n" if detail == "timeout" else f"unknown\n; {found.status}: {detail}\n"
    pairs = (f"({name.strip('|')} {decimal(number(value), up=False)})" for name, value in found.values.items())
    values = "\n ".join(pair for pair in pairs if pair.startswith(("(X", "(Y")))
    return f"{found.status}\n" + (f"({values})\n" if values else "")


#: How queries are solved and their answers written.
VNNLIB = Dialect(script=script_of, printed=_printed, read=lambda _, text: parse_answer(text))


#: More indicators than this would be more conditions than any reader of the format branches over.
_MOST_INDICATORS = 512


class VnnLib(PairEncoding):
    """VNN-LIB 2.0 and 1.0 with ONNX networks."""

    name = "vnnlib"
    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "holds": "every file of one list of `settled_by` is unsat",
            "violated": "some file is sat and a pair of individuals at its point, or near it, breaks the demand when "
            "replayed on the original model",
        }
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Questions about pairs whose network is piecewise linear and can be stored."""
        if isinstance(problem.question, Demanded):
            return Refusal(why="it asks about the scores of one network twice, and not any formula", other=True)
        refused = refusal(problem)
        if refused is not None:
            return refused
        model = problem.model
        count = model.indicators
        if count > _MOST_INDICATORS:
            why = f"`{model.name}` reads {count} indicators, each of them a case; {_MOST_INDICATORS} is the limit"
            return Refusal(why=why, span=model.span)
        if not np.isfinite(network_of(problem).errors(_declared(problem))).all():
            why = (
                f"`{model.name}` has numbers that no float64 stores, and an unbounded attribute would magnify the rest"
            )
            return Refusal(why=why, span=model.span)
        return Offer(method="VNN-LIB 2.0 and 1.0, with ONNX networks", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """The files of a question; none of version 1.0 for cases that leave nobody."""
        writing = _Writing(problem, self._part, self.extension)
        pair, split = writing.pair(), writing.cases()
        # Where nobody is left to compare, nothing needs an answer.
        settled_by = ((pair,), split) if pair is not None else ((),)
        return Lowered(files=writing.files, settled_by=settled_by, described=writing.described)

    def beside(self, files: Mapping[str, Mapping[str, Any]], seconds: int) -> Mapping[str, bytes]:
        """``instances.csv`` as VNN-COMP has it: of each file of version 1.0 the network, the file and the seconds."""
        rows = [f"{about['network']},{name},{seconds}\n" for name, about in files.items() if about["role"] == "case"]
        return {"instances.csv": "".join(rows).encode()} if rows else {}

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on: files that admit more than the question."""
        return Evidence(
            backend=self.name,
            method="answers of an external solver",
            fidelity=Fidelity.WIDENS,
            notes=("as reliable as that solver's own arithmetic, which in verifiers of networks is often rounded",),
        )

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By z3, into ``NAME.vnnlib.answer``; the network lies beside the file."""
        return solve_script(path, self.name, how, VNNLIB)

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """A line with the status, and behind `sat` the inputs."""
        return parse_answer(output)

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Verdict:
        """Holds where every file of an alternative is unsat; violated where a point becomes a pair that replays."""

        def pairs(file: str, answer: Answer) -> Iterator[tuple[Point, Point]]:
            return pairs_in(problem, lowered.described, file, answer)

        return recovered(problem, lowered, answers, pairs, self.evidence(problem))


class _Writing:
    """Collects the files of one question; a network that several files use is written once."""

    def __init__(self, problem: Problem, part: str, extension: str) -> None:
        self._problem, self._part, self._extension = problem, part, extension
        self.files: dict[str, bytes] = {}
        self.described: dict[str, dict[str, Any]] = {}

    def pair(self) -> str | None:
        """The file of version 2.0; None where nobody is left to compare."""
        problem = self._problem
        chain = network_of(problem)
        query = pair_query(problem, chain)
        if query is None:
            return None
        count = len(problem.domain.attributes)
        flags = problem.model.indicators
        inputs = [
            {"name": f"{letter}[0,{index}]", "role": "flag"}
            if index >= count
            else {"name": f"{letter}[0,{index}]", "role": who} | _attribute(problem, index)
            for who, letter in (("a", "X"), ("b", "X2"))
            for index in range(count + flags)
        ]
        network = self._network(chain, inputs)
        name = f"{problem.name}.{self._extension}"
        self.files[name] = pair_text(problem, query, network, self._part).encode()
        self.described[name] = {"role": "pair", "version": "2.0", "network": network}
        return name

    def cases(self) -> tuple[str, ...]:
        """The files of version 1.0."""
        return tuple(
            self._case(number, case, product)
            for number, case in enumerate(cases(self._problem), start=1)
            if (product := product_of(self._problem, case)) is not None
        )

    def _case(self, number: int, case: Case, product: Product) -> str:
        inputs = [
            {"name": f"X_{index}", "role": column.role}
            | ({} if column.attribute is None else _attribute(self._problem, column.attribute))
            for index, column in enumerate(product.columns)
        ]
        network = self._network(product.chain, inputs)
        name = f"{self._problem.name}.case{number}.{self._extension}"
        self.files[name] = case_text(self._problem, case, product, network, self._part).encode()
        constant = all(column.low is not None and column.low == column.high for column in product.columns)
        self.described[name] = {
            "role": "case",
            "version": "1.0",
            "network": network,
            **({"constant": True} if constant else {}),
            "case": case.title,
            "fixed": {
                who: {
                    self._problem.domain.attributes[index].name: str(value)
                    for (own, index), value in product.fixed.items()
                    if own == who
                }
                for who in "ab"
            },
        }
        return name

    def _network(self, chain: Chain, inputs: list[dict[str, str]]) -> str:
        """The network's file, named after its content and what its inputs mean."""
        digest = sha256(chain.file + repr(inputs).encode()).hexdigest()[:12]
        name = f"{self._problem.name.split('.')[0]}-{digest}.onnx"
        self.files[name] = chain.file
        self.described[name] = {"role": "network", "inputs": inputs}
        return name


def _attribute(problem: Problem, index: int) -> dict[str, str]:
    return {"attribute": problem.domain.attributes[index].name}


def _declared(problem: Problem) -> NDArray[np.float64]:
    """How large each input of one copy can be."""
    ends = [attribute.bounds for attribute in problem.domain.attributes]
    flags = [(Fraction(0), Fraction(1))] * problem.model.indicators
    return greatest([*ends, *flags])
