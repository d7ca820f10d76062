"""Makes the files beside it: pipelines that compute powers, as skl2onnx exports them, and what they predict.

`python -m tests.models.sklearn_files.make_files`, with the extra `sklearn`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer

from tests.models.test_tables_of_powers import people


def main() -> None:
    rows = people(500, 1)
    worth = rows[:, 2] + 6 * rows[:, 0] - 0.3 * rows[:, 1]
    target = (worth + np.random.default_rng(2).normal(0, 8, len(rows)) > 20).astype(int)
    forest = RandomForestClassifier(n_estimators=3, max_depth=3, random_state=0)
    models = {
        "gaussian": GaussianNB(),
        "power": make_pipeline(PowerTransformer(), LogisticRegression()),
        "power_forest": make_pipeline(PowerTransformer(standardize=False), forest),
    }
    asked = people(1000, 3)
    answers = {}
    for name, model in models.items():
        fitted = model.fit(rows, target)
        written = to_onnx(fitted, rows[:1].astype(np.float32), target_opset=17)
        (Path(__file__).parent / f"{name}.onnx").write_bytes(written.SerializeToString())
        answers[name] = "".join(map(str, fitted.predict(asked).tolist()))
    (Path(__file__).parent / "answers.json").write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
