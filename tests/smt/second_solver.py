"""cvc5 on the printed text: another solver, another parser."""

from __future__ import annotations

import cvc5

from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.recover import parse_answer


def ask_cvc5(text: str, seconds: float = 20.0) -> Answer:
    """What cvc5 prints for the script, read as any external solver's output is."""
    return parse_answer(print_by_cvc5(text, seconds))


def print_by_cvc5(text: str, seconds: float = 20.0) -> str:
    """What cvc5 prints for the script."""
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(int(1000 * seconds)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "script")
    symbols = parser.getSymbolManager()
    printed = []
    while not (command := parser.nextCommand()).isNull():
        printed.append(str(command.invoke(solver, symbols)))
        if printed[-1].strip() in ("unsat", "unknown"):
            break
    return "\n".join(text.strip() for text in printed if text.strip())
