"""Makes the files of this folder, with Keras 3 on PyTorch: `python tests/models/keras_files/make_files.py`.

Weights are drawn, not trained, with digits enough that no two layers can be taken for each other. `answers.json` has
rows and what Keras predicts for them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np

HERE = Path(__file__).parent
L = keras.layers
DRAW = np.random.default_rng(20)
#: Two numbers and a job, as the domain of the tests has them.
ROWS = np.column_stack(
    [np.round(DRAW.uniform(-3, 3, (200, 2)), 2), DRAW.integers(0, 3, 200)],
).astype(np.float32)


def functional() -> Any:
    """Two inputs, an embedding, a residual connection, and what is learned of the data's mean."""
    numbers, job = keras.Input((2,), name="numbers"), keras.Input((1,), name="job")
    learned = L.Normalization()
    learned.adapt(ROWS[:, :2])
    joined = L.Concatenate()([learned(numbers), L.Flatten()(L.Embedding(3, 2)(job))])
    hidden = L.Dropout(0.2)(L.BatchNormalization()(L.Dense(4, activation="gelu")(joined)))
    hidden = L.Add()([hidden, L.Dense(4, activation="silu")(hidden)])
    score = L.Dense(1, activation="sigmoid", name="grant")(L.LeakyReLU(negative_slope=0.3)(hidden))
    return keras.Model([numbers, job], score)


def sequential() -> Any:
    """Three classes, a batch normalisation without its scale, and a layer that rescales."""
    return keras.Sequential(
        [
            keras.Input((3,)),
            L.Rescaling(0.5, offset=[0.25, -1.0, 0.1]),
            L.Dense(5, use_bias=False),
            L.BatchNormalization(scale=False, epsilon=0.01),
            L.ReLU(max_value=2.0, negative_slope=0.1),
            L.GaussianNoise(0.1),
            L.Dense(3, activation="softmax", name="grades"),
        ]
    )


def activations() -> Any:
    """Every activation that is read, side by side."""
    people = keras.Input((3,), name="people")
    names = ["relu", "relu6", "leaky_relu", "sigmoid", "tanh", "hard_sigmoid", "hard_tanh", "softplus", "elu", "celu"]
    names += ["selu", "gelu", "silu", "hard_silu", "linear"]
    sides = [L.Dense(2, activation=name)(people) for name in names]
    sides += [L.PReLU()(L.Dense(2)(people)), L.ELU(alpha=0.4)(L.Dense(2)(people))]
    sides += [L.Activation("softplus")(L.Dense(2)(people))]
    return keras.Model(people, L.Dense(1, name="score")(L.Concatenate()(sides)))


def shared() -> Any:
    """A model inside of another one, which is called twice, and all ways in which tensors are merged."""
    people = keras.Input((3,), name="people")
    inner = keras.Sequential([keras.Input((3,)), L.Dense(4, activation="tanh"), L.Dense(3)], name="inner")
    once = inner(people)
    twice = inner(L.Subtract()([people, once]))
    merged = [L.Maximum()([once, twice]), L.Minimum()([people, twice]), L.Average()([people, once, twice])]
    turned = L.Reshape((3, 3))(L.Concatenate(axis=1)(merged))
    return keras.Model(people, L.Dense(1, name="score")(L.Flatten()(L.Dense(2, activation="relu")(turned))))


def with_drawn_weights(model: Any) -> Any:
    """Weights of three digits; of what normalises, means and variances as well."""
    learned = {id(each) for layer in model.layers if isinstance(layer, L.Normalization) for each in layer.weights}
    for each in model.weights:
        if id(each) not in learned:
            numbers = DRAW.uniform(0.4, 1.5, each.shape) if "variance" in each.path else DRAW.normal(0, 0.8, each.shape)
            each.assign(np.round(numbers, 3).astype(np.float32))
    return model


def main() -> None:
    answers: dict[str, Any] = {"rows": ROWS.astype(np.float64).round(2).tolist()}
    for make in (functional, sequential, activations, shared):
        model = with_drawn_weights(make())
        given = [ROWS[:, :2], ROWS[:, 2:]] if make is functional else ROWS
        answers[make.__name__] = model.predict(given, verbose=0).astype(np.float64).tolist()
        model.save(HERE / f"{make.__name__}.keras")
        if make in (functional, sequential):
            model.save(HERE / f"{make.__name__}.h5")
    (HERE / "answers.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
