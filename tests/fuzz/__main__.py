"""``python -m tests.fuzz --hours 1 --readers spec,fmt``: inputs by the million, in the background of other work."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.readers import READERS
from tests.fuzz.session import Limits, run_inputs


def main() -> int:
    """Run the session, print its figures; 1 where something went wrong."""
    names = [reader.name for reader in READERS]
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0, help="how long to go on")
    parser.add_argument("--inputs", type=int, default=10**12, help="how many inputs to try at most")
    parser.add_argument("--readers", default=",".join(names), help="which readers, with commas between them")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input of each reader")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU seconds that an input may take")
    parser.add_argument("--memory", type=int, default=1 << 30, help="bytes that an input may take")
    parser.add_argument("--crashers", type=Path, default=Path("crashers"), help="folder for what went wrong")
    given = parser.parse_args()
    chosen = given.readers.split(",")
    if unknown := set(chosen) - set(names):
        parser.error(f"no reader `{min(unknown)}`; there are {', '.join(names)}")
    tally = run_inputs(
        chosen,
        given.first,
        Limits(given.seconds, given.memory),
        hours=given.hours,
        most=given.inputs,
        workers=given.workers,
        crashers=given.crashers,
    )
    print("reader          inputs  CPU seconds  slowest  wrong")
    for name in chosen:
        wrong = sum(reader == name for reader, _, _ in tally.wrong)
        spent, slowest = tally.seconds[name], tally.slowest.get(name, 0.0)
        print(f"{name:14} {tally.tried[name]:>7,} {spent:>12,.0f} {slowest:>8.2f} {wrong:>6}")
    print(f"{tally.tried.total():,} inputs, at most {tally.memory / 2**20:,.0f} MiB, {len(tally.wrong)} went wrong")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
