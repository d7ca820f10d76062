"""Audits of arrays against Fairlearn and AIF360 themselves, where they are installed: the same numbers to 1e-12."""

from __future__ import annotations

import random
from typing import Any

import pytest

import fairdsl
from tests.metrics.test_coined_names import AIF360, FAIRLEARN

#: Tables, of which the first is for every day.
TABLES = [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 0)) for seed in range(200)]
Arrays = tuple[list[int], list[int], list[str]]


def drawn(seed: int) -> Arrays:
    """Two to four groups, 24 to 265 people; in every group both decisions about people of both kinds."""
    rng = random.Random(seed)
    groups = "abcd"[: rng.randint(2, 4)]
    chances = {group: (rng.random(), rng.random(), rng.random()) for group in groups}
    rows = [(truth, said, group) for group in groups for truth in (0, 1) for said in (0, 1)]
    for _ in range(rng.randint(24, 265) - len(rows)):
        group = rng.choice(groups)
        truth = int(rng.random() < chances[group][0])
        rows.append((truth, int(rng.random() < chances[group][1 + truth]), group))
    rng.shuffle(rows)
    truths, decisions, members = zip(*rows, strict=True)
    return list(truths), list(decisions), list(members)


def close(number: float) -> Any:
    return pytest.approx(number, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize("seed", TABLES)
def test_the_numbers_are_fairlearns(seed: int) -> None:
    peers = pytest.importorskip("fairlearn.metrics")
    truth, said, group = drawn(seed)
    audited = fairdsl.audit(truth, said, sensitive_features={"group": group}, metrics=[*FAIRLEARN], timeout=600)
    for name in FAIRLEARN:
        exact = audited.metric(name).exact
        assert exact is not None
        assert float(exact) == close(getattr(peers, name)(truth, said, sensitive_features=group)), name
    rates = {"parity_gap": "selection_rate", "opportunity_gap": "true_positive_rate"}
    groups = audited.table("groups")
    for ours, theirs in rates.items():
        frame = peers.MetricFrame(metrics=getattr(peers, theirs), y_true=truth, y_pred=said, sensitive_features=group)
        listed = zip(groups["metric"], groups["group"], groups["value"], strict=True)
        found = {member: value for metric, member, value in listed if metric == ours}
        assert found == {member: close(value) for member, value in frame.by_group.items()}


@pytest.mark.parametrize("seed", TABLES)
def test_the_numbers_are_aif360s(seed: int) -> None:
    metrics, datasets = pytest.importorskip("aif360.metrics"), pytest.importorskip("aif360.datasets")
    frames = pytest.importorskip("pandas")
    truth, said, group = drawn(seed)
    audited = fairdsl.audit(
        truth, said, sensitive_features={"group": group}, privileged={"group": "b"}, metrics=[*AIF360], timeout=600
    )

    def dataset(labels: list[int]) -> Any:
        frame = frames.DataFrame({"group": [float(each == "b") for each in group], "y": labels})
        return datasets.BinaryLabelDataset(df=frame, label_names=["y"], protected_attribute_names=["group"])

    there = metrics.ClassificationMetric(
        dataset(truth), dataset(said), unprivileged_groups=[{"group": 0.0}], privileged_groups=[{"group": 1.0}]
    )
    for name in AIF360:
        exact = audited.metric(name, privileged=True).exact
        assert exact is not None
        assert float(exact) == close(getattr(there, name)()), name
