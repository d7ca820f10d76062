"""The results of a paper beside what fairdsl finds: each table, and of each figure the statement drawn from it.

    python benchmarks/reproduce.py justicia --quick                # invented tables, under five minutes of one core
    python benchmarks/reproduce.py fvgm --data FOLDER -o results   # public tables, and the tool's own problems

FOLDER may hold `tables/adult.csv`, `german.csv` and `titanic.csv` with the headers of `reproducing/tables.py`, and
`group/*.json`, the problems that `group_fairness.py cases` reads; what is not there is invented, which the page says.
Results are one CSV file a table and a page, with plots where Matplotlib is installed; a run that was stopped goes on
after the last table that is whole or, of networks, after the last network.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from reproducing import aequitas, fairify, fairquant, fvgm, justicia
from reproducing.results import Setting, run

PAPERS = {
    "aequitas": ("Aequitas", aequitas.PARTS),
    "fairify": ("Fairify", fairify.PARTS),
    "fairquant": ("FairQuant", fairquant.PARTS),
    "justicia": ("Justicia", justicia.PARTS),
    "fvgm": ("FVGM", fvgm.PARTS),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper", choices=sorted(PAPERS))
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="public tables and the tool's problems")
    parser.add_argument("--quick", action="store_true", help="small tables and few draws")
    parser.add_argument("--seed", type=int, default=0, help="of invented tables and of samples")
    parser.add_argument("--rows", type=int, default=0, help="of each table (1000 with --quick, else 5000)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NETWORK", help="of Fairify and FairQuant: AC-1 ...")
    parser.add_argument("-o", "--output", type=Path, default=Path("reproduced"), help="folder of the results")
    arguments = parser.parse_args()
    if arguments.data is not None and not arguments.data.is_dir():
        parser.error(f"there is no folder {arguments.data}")
    setting = Setting(
        quick=arguments.quick,
        seed=arguments.seed,
        data=arguments.data,
        rows=arguments.rows,
        only=tuple(arguments.only),
    )
    try:
        print(run(arguments.paper, *PAPERS[arguments.paper], setting, arguments.output))
    except ValueError as error:
        parser.error(str(error))
    except ModuleNotFoundError as error:
        parser.error(f"{error}: classifiers are trained by scikit-learn (pip install scikit-learn)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
