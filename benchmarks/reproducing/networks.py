"""Networks to verify: those of a folder, or invented ones of the public networks' shapes, trained on the spot.

An invented network is trained by scikit-learn on people drawn uniformly from a domain of ``specs/``, whose label is a
logistic function of all attributes that a seed draws, the protected ones weakly. It says nothing about anybody, and the
papers' numbers, which are about the public networks, do not apply to it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from shares.questions import domain_of, networks_in
from wide_network import save

from reproducing.results import Setting

__all__ = ["SHAPES", "Network", "networks_of", "trained"]

#: Hidden layers of the public networks that are invented where there are none; CP-1 and CP-2 are FairQuant's on COMPAS.
SHAPES = {
    "AC-1": (16, 8),
    "AC-9": (3, 3, 3, 3),
    "BM-6": (9, 9),
    "GC-3": (9,),
    "CP-1": (16, 8),
    "CP-2": (64, 32, 16, 8, 4),
}
_ROWS = 3000
#: How much louder the drawn label is than its noise.
_SIGNAL = 3.0
#: What is protected counts this much less for the label, as in the public networks, few of whose decisions it moves.
_WEAK = 0.05
_PROTECTED = ("age", "race", "sex")
#: Layers of three units may die in training, and the network is a constant: another start is tried then.
_ATTEMPTS, _LEARNT = 10, 0.7


@dataclass(frozen=True, kw_only=True)
class Network:
    """A file named like a public network; ``accuracy`` is of an invented one, on people that did not train it."""

    path: Path
    invented: bool
    accuracy: float | None = None

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def shown(self) -> str:
        return f"{self.name}, invented" if self.invented else self.name


def networks_of(setting: Setting, folder: Path, letters: tuple[str, ...]) -> list[Network]:
    """By the letters that names begin with: all networks of the data, and invented ones where it has none.

    Without those that are not asked for, and those that are done with.
    """
    listed = [] if setting.data is None else networks_in(setting.data, None)
    found = []
    for each in letters:
        public = [path for path in listed if path.stem.startswith(each)]
        found += [Network(path=path, invented=False) for path in public]
        if not public:
            found += [trained(name, setting.seed, folder) for name in SHAPES if name.startswith(each)]
    wanted = setting.only or tuple(network.name for network in found)
    return [network for network in found if network.name in wanted and network.name not in setting.done]


def trained(name: str, seed: int, folder: Path) -> Network:
    """Written into the folder; inputs are raw numbers, for the scaling is folded into the first layer."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    random = np.random.default_rng([seed, *name.encode()])
    attributes = domain_of(name[:2]).attributes
    low, high = np.array([attribute.bounds for attribute in attributes], dtype=np.float64).T
    people = random.integers(low, high, size=(_ROWS, len(low)), endpoint=True).astype(np.float64)
    middle, half = (low + high) / 2, (high - low) / 2
    scaled = (people - middle) / half
    weak = np.array([_WEAK if attribute.name in _PROTECTED else 1.0 for attribute in attributes])
    score = _SIGNAL * scaled @ (weak * random.normal(size=len(low))) + random.logistic(size=_ROWS)
    label, train = score > np.median(score), _ROWS * 3 // 4
    for attempt in range(_ATTEMPTS):
        network = MLPClassifier(SHAPES[name], max_iter=100, random_state=seed + attempt)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(scaled[:train], label[:train])
        if network.score(scaled[:train], label[:train]) > _LEARNT:
            break
    layers = [(weight.T, bias) for weight, bias in zip(network.coefs_, network.intercepts_, strict=True)]
    weight, bias = layers[0]
    layers[0] = weight / half, bias - weight @ (middle / half)
    path = folder / f"{name}.onnx"
    save([(weight.astype(np.float32), bias.astype(np.float32)) for weight, bias in layers], path)
    return Network(path=path, invented=True, accuracy=float(network.score(scaled[train:], label[train:])))
