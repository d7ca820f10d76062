"""The base question of each public network: does the protected attribute alone ever decide?

    python benchmarks/base_verdicts.py NETWORKS [--timeout 30]

NETWORKS is a folder that holds GC-1.onnx and the others, at any depth. Each is checked with the base spec
of its data set in ``specs/`` (protected: German sex, Bank age, Adult sex); the time is that of one whole
``fairdsl.check`` in this process, reading the spec and the network included.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import fairdsl

SPECS = Path(__file__).parent.parent / "specs"
BASES = {
    "GC": ("german-base.fair", "approve"),
    "BM": ("bank-base.fair", "subscribe"),
    "AC": ("adult-base.fair", "income"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", help="folder of the networks")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for each verdict")
    arguments = parser.parse_args()
    slowest = 0.0
    for network in sorted(Path(arguments.networks).rglob("*.onnx")):
        if network.stem[:2] not in BASES:
            continue
        spec, model = BASES[network.stem[:2]]
        started = time.monotonic()
        report = fairdsl.check(SPECS / spec, models={model: network}, timeout=arguments.timeout)
        seconds = time.monotonic() - started
        slowest = max(slowest, seconds)
        (checked,) = report.properties
        (demand,) = checked.demands
        replayed = sum(witness.replay.agrees for witness in checked.witnesses)
        print(
            f"{network.stem:6} {checked.judgement.value:9} {seconds:6.2f} s  {replayed} replayed  {demand.method}",
            flush=True,
        )
    print(f"slowest {slowest:.2f} s")


if __name__ == "__main__":
    main()
