"""Each engine alone against the plan: 40 specs that it draws, over all kinds of models and demands. Needs no files.

Of every spec it says what the plan answers, what each engine answers that takes the question, and whether the plan is
worse than the best of them: less decided, a number wider by more than a point, or more than 20 % of the CPU seconds
more for the same answer (and half a second, for what nobody waits for). Seconds are of one process, its solvers
included: they say little about the wall clock of a busy machine, and much about the work. Each answer has the same
effort, so that what it comes to does not hang on how busy the machine is.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from trees import ENDS
from trees import saved as forest

import fairdsl
from fairdsl.models.onnx_written.chain import relu_chain
from fairdsl.verdict import Judgement

#: So much more is still the same.
_TIMES, _SECONDS, _POINT = 1.2, 0.5, 0.01

DEMANDS = {
    "same": "property p { compare a, b : P  differ in sex  require same decision }",
    "share": "property p { compare a, b : P  differ in sex  measure fair_share }",
    "at least": "property p { compare a, b : P  differ in sex  require fair_share >= 50% }",
    "parity": "distribution people over P uniform\nproperty p { across sex  under people  measure parity_gap }",
}
NAMES = ("x0", "x1", "x2", "x3", "x4")


def people(most: int, columns: int = 5) -> str:
    """A domain with a protected attribute and numbers from 0 to ``most``."""
    numbers = "\n".join(f"  x{place} : integer 0 .. {most}" for place in range(columns))
    return f"domain P {{\n  sex : category {{ f, m }}\n{numbers}\n}}\nprotected sex\n"


def network(folder: Path, name: str, widths: tuple[int, ...], most: int, seed: int, lean: float) -> str:
    """A ReLU network, and how it is read; ``lean`` is the weight of the protected attribute."""
    rng = np.random.default_rng(seed)
    layers, size = [], 1 + len(NAMES)
    for depth, width in enumerate((*widths, 1)):
        weight = rng.standard_normal((width, size)) / np.sqrt(size)
        if not depth:
            weight[:, 0] *= lean
            weight[:, 1:] /= most
        layers.append((weight.astype(np.float32), (0.3 * rng.standard_normal(width)).astype(np.float32)))
        size = width
    (folder / name).write_bytes(relu_chain(layers, "drawn", single=True))
    return f'  from "{name}"\n  yes when score > 0'


def models(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Name, domain and model: linear scores, rules, networks, trees."""
    score = "  score = 3 * x0 - 2 * x1 + 5 * x2 - x3 + x4 + 4 * (sex = m)\n  yes when score > 20"
    yield "linear, small domain", people(9), score
    yield "linear, large domain", people(9999), score.replace("> 20", "> 20000")
    yield (
        "rules",
        people(99),
        "  first     yes when x0 > 60 and x1 < 30\n  then      no when x2 > 80\n"
        "  then      yes when sex = m and x3 > 90\n  otherwise no",
    )
    yield "network 8, small domain", people(7), network(folder, "a.onnx", (8,), 7, 1, 0.2)
    yield "network 16-16, large domain", people(99), network(folder, "b.onnx", (16, 16), 99, 2, 0.2)
    yield "network 8, hardly leaning", people(99), network(folder, "c.onnx", (8,), 99, 3, 0.001)
    yield "network 24-24, large domain", people(999), network(folder, "d.onnx", (24, 24), 999, 4, 0.5)
    ends = [f"  c{place} : integer {low} .. {high}" for place, (low, high) in enumerate(ENDS) if place != 8]
    ends.insert(8, "  sex : category { f, m }")
    wide = "domain P {\n" + "\n".join(ends) + "\n}\nprotected sex\n"
    for name, trees, depth in (("tree of depth 8", 1, 8), ("5 trees of depth 4", 5, 4), ("30 trees of depth 5", 30, 5)):
        file = f"{trees}-{depth}.onnx"
        forest(folder / file, trees, depth, 0.0, seed=trees)
        yield name, wide, f'  from "{file}"\n  yes when score > 0'


@dataclass(frozen=True)
class Answer:
    """What came of one spec."""

    by: str
    judgement: Judgement
    #: Width of the number, 0 where there is none, and where a question is decided.
    width: float
    seconds: float

    @property
    def decides(self) -> bool:
        """Whether something is said."""
        return self.judgement not in (Judgement.UNKNOWN, Judgement.REFUSED)

    def __str__(self) -> str:
        number = f" +-{50 * self.width:.2f}" if self.width else ""
        return f"{self.by} {self.judgement.value}{number} {self.seconds:.1f} s"


def cpu() -> float:
    """CPU seconds of this process and of those that ended before."""
    return sum(os.times()[:4])


def asked(spec: Path, effort: int, backend: str | None = None) -> Answer:
    """The plan's answer, or one engine's."""
    began = cpu()
    (demand,) = fairdsl.check(spec, effort=effort, jobs=1, backend=backend).properties[0].demands
    value = demand.value
    measured = demand.threshold is None and value is not None
    width = float(value.high - value.low) if measured and value is not None else 0.0
    return Answer(backend or f"plan ({demand.backend})", demand.judgement, width, cpu() - began)


def worse(plan: Answer, others: list[Answer]) -> str:
    """What the plan leaves on the table."""
    best = min(others, key=lambda one: (not one.decides, one.width, one.seconds), default=None)
    if best is None or not best.decides:
        return ""
    if not plan.decides:
        return f"`{best.by}` decides it"
    if plan.width > best.width + _POINT:
        return f"`{best.by}` is closer"
    same = [one for one in others if one.decides and one.width <= plan.width + _POINT]
    first = min(same, key=lambda one: one.seconds, default=plan)
    if plan.seconds > _TIMES * first.seconds + _SECONDS:
        return f"`{first.by}` is sooner"
    return ""


def main() -> None:
    """Print a line a spec, and how many of them the plan is worse on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--effort", type=int, default=400_000, help="units for each answer: 100,000 are about a second")
    parser.add_argument("--only", default="", help="models whose names contain this")
    options = parser.parse_args()
    count, bad = 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = folder / "spec.fair"
        for title, domain, model in models(folder):
            if options.only not in title:
                continue
            for kind, demand in DEMANDS.items():
                text = f"{domain}model m : P -> {{ no, yes }}\n{model}\n  favourable yes\n{demand}\n"
                spec.write_text(text, encoding="utf-8")
                if not count:  # what is imported is nobody's time
                    asked(spec, options.effort)
                plan = asked(spec, options.effort)
                (planned,) = fairdsl.plans(spec)
                engines = [stage.split(":")[0] for stage in planned.stages]
                others = [asked(spec, options.effort, engine) for engine in engines if engine != "structure"]
                found = worse(plan, others)
                if found:  # whoever is asked first also has kernels compiled or loaded, which is nobody's time either
                    plan = asked(spec, options.effort)
                    found = worse(plan, others)
                count, bad = count + 1, bad + bool(found)
                print(f"| {title} | {kind} | {plan} | {'; '.join(map(str, others))} | {found} |", flush=True)
    print(f"{count} specs, {bad} of them worse", file=sys.stderr)


if __name__ == "__main__":
    main()
