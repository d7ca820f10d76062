"""The library cvc5 as a program, for its package brings none: ``python cvc5_program.py FILE MILLISECONDS``.

It prints what the program `cvc5` prints. It is run as a file, in a process that can be killed, and imports nothing of
ours.
"""

from __future__ import annotations

import sys


def main(path: str, milliseconds: str) -> None:
    """Answer the script in a file, each check in so many milliseconds."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", milliseconds)
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    while not (command := parser.nextCommand()).isNull():
        print(command.invoke(solver, parser.getSymbolManager()), end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
