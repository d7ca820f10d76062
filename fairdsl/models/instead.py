"""What operators that no reading takes are there for in the files that people have, and what is read instead."""

from __future__ import annotations

_NEAREST = ", to find the nearest of the training's rows", "train trees, a linear model or a network"
#: By the operator: how a sentence about its use goes on, and what to do.
INSTEAD = {
    "ReduceProd": (
        ", to multiply columns (`PolynomialFeatures`)",
        "leave the products out, or compute them in the data, as columns of the domain",
    ),
    "CDist": _NEAREST,
    "TopK": _NEAREST,
    "Compress": (", to fill in what is missing from such rows (`KNNImputer`)", "train with `SimpleImputer`"),
    "LayerNormalization": ("", "train with batch normalisation, which is read exactly"),
    "Softsign": ("", "train with tanh, which is enclosed"),
    "Mish": ("", "train with SiLU or GELU, which are enclosed"),
}
