"""Trains the small boosters in this folder and writes what their libraries predict: run it to make the files anew.

``pip install pandas xgboost lightgbm catboost``, then ``python tests/models/booster_files/make_files.py``. Applicants
are drawn with a seed; whoever earns much or is a teacher is likely to be granted a loan.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import xgboost

FOLDER = Path(__file__).parent
JOBS = ["clerk", "nurse", "teacher", "self-employed", "baker"]
NUMBERS = ["sex", "age", "income"]


def applicants(count: int, seed: int) -> pd.DataFrame:
    """Jobs by name, everything else as numbers; incomes are float32 numbers."""
    random = np.random.default_rng(seed)
    job = pd.Categorical(np.array(JOBS)[random.integers(0, len(JOBS), count)], categories=JOBS)
    income = np.round(random.gamma(3, 15, count), 1).clip(0, 250).astype(np.float32).astype(float)
    return pd.DataFrame(
        {"job": job, "sex": random.integers(0, 2, count), "age": random.integers(18, 81, count), "income": income}
    )


def trained(folder: Path, asked: pd.DataFrame) -> Iterator[tuple[str, dict[str, Any]]]:
    """Train each booster and save it; its file's name, and what it answers about some applicants."""
    train = applicants(400, 1)
    noise = np.random.default_rng(3).normal(0, 6, len(train))
    worth = train.income + 6 * train.sex + 9 * train.job.isin(["teacher", "baker"]) - 0.3 * train.age + noise
    granted, grade = (worth > 30).astype(int), np.digitize(worth, [20, 45])
    small = {"n_estimators": 6, "max_depth": 3}
    boosted = {"iterations": 6, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    trees = {"n_estimators": 6, "num_leaves": 6, "verbose": -1, "min_data_in_leaf": 5, "num_threads": 1}
    sets = {"min_data_per_group": 5, "cat_smooth": 1, "max_cat_to_onehot": 1}
    sampled = {"bagging_freq": 1, "bagging_fraction": 0.6}
    everything = list(train)
    models: dict[str, tuple[Any, list[str], Any]] = {
        "xgboost.json": (xgboost.XGBClassifier(**small), NUMBERS, granted),
        "xgboost_dart.json": (xgboost.XGBClassifier(**small, booster="dart", rate_drop=0.4), NUMBERS, granted),
        "xgboost_categories.ubj": (
            xgboost.XGBClassifier(**small, enable_categorical=True, max_cat_to_onehot=2),
            everything,
            granted,
        ),
        "xgboost_grades.json": (xgboost.XGBClassifier(**small), NUMBERS, grade),
        "xgboost_forests.json": (
            xgboost.XGBClassifier(
                n_estimators=3, max_depth=2, num_parallel_tree=2, subsample=0.6, early_stopping_rounds=3
            ),
            NUMBERS,
            grade,
        ),
        "lightgbm_categories.txt": (lightgbm.LGBMClassifier(**trees, **sets), everything, granted),
        "lightgbm_dart.txt": (lightgbm.LGBMClassifier(**trees, boosting_type="dart"), NUMBERS, granted),
        "lightgbm_forest.txt": (lightgbm.LGBMClassifier(**trees, boosting_type="rf", **sampled), NUMBERS, granted),
        "catboost_categories.json": (
            catboost.CatBoostClassifier(**boosted, cat_features=["job"], one_hot_max_size=9),
            everything,
            granted,
        ),
        "catboost_lossguide.json": (
            catboost.CatBoostClassifier(**boosted, grow_policy="Lossguide", max_leaves=6),
            NUMBERS,
            granted,
        ),
        "catboost_grades.json": (catboost.CatBoostClassifier(**boosted), NUMBERS, grade),
    }
    for name, (model, columns, wanted) in models.items():
        of_cat = name.startswith("catboost")
        features, queried = (
            table[columns].astype({"job": str}) if of_cat and "job" in columns else table[columns]
            for table in (train, asked)
        )
        stops = getattr(model, "early_stopping_rounds", None) is not None
        model.fit(features, wanted, **({"eval_set": [(features, wanted)], "verbose": False} if stops else {}))
        path = folder / name
        if of_cat:
            pool = {"pool": catboost.Pool(features, wanted, cat_features=["job"])} if "job" in columns else {}
            model.save_model(str(path), format="json", **pool)
            document = json.loads(path.read_text())
            kept = {"params": {"loss_function": document["model_info"]["params"]["loss_function"]}}
            kept["class_params"] = document["model_info"]["class_params"]
            path.write_text(json.dumps(document | {"model_info": kept}) + "\n")
        elif name.startswith("lightgbm"):
            model.booster_.save_model(str(path))
        else:
            model.save_model(path)
        yield (
            name,
            {
                "labels": np.asarray(model.predict(queried)).ravel().tolist(),
                "probabilities": np.asarray(model.predict_proba(queried), dtype=float).tolist(),
            },
        )


def main() -> None:
    """Record the answers about a hundred applicants."""
    asked = applicants(100, 2)
    answers: dict[str, Any] = {"rows": json.loads(asked.to_json(orient="values", double_precision=15))}
    answers.update(trained(FOLDER, asked))
    (FOLDER / "answers.json").write_text(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main()
