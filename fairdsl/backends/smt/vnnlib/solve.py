"""VNN-LIB queries solved by z3: the network's exact piecewise linear functions and the assertions, as one script.

Over the reals, as the files are meant: weights are the numbers that the ONNX file stores, and nothing is rounded. A
point of `sat` is printed in decimals; ``recover`` looks for a pair next to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt import terms
from fairdsl.backends.smt.encoding import Dialect
from fairdsl.backends.smt.recover import number
from fairdsl.backends.smt.terms import Term
from fairdsl.backends.smt.vnnlib.answers import parse_answer
from fairdsl.backends.smt.vnnlib.errors import not_vnnlib
from fairdsl.backends.smt.vnnlib.formula import formula_of, script_term
from fairdsl.backends.smt.vnnlib.read import Copy, read_query
from fairdsl.backends.smt.vnnlib.script import decimal
from fairdsl.diagnostics import DiagnosticError
from fairdsl.models.onnx_written.chain import Layers, read_relu_chain
from fairdsl.source.reading import content_of, named_in

__all__ = ["VNNLIB", "script_of"]


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
