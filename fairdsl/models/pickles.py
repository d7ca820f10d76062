"""Pickles, which are programs: none is opened here, and whoever trusts one is told how to give what is in it."""

from __future__ import annotations


def is_pickle(path: str) -> bool:
    """Whether the file is one that Python's pickle wrote, by its name."""
    return path.lower().endswith((".joblib", ".pkl", ".pickle"))


def opened_by_hand(name: str) -> str:
    """How whoever trusts the pickle of that name gives what is in it."""
    model = f'joblib.load("{name}")'
    of_spec = f'`fairdsl.check(SPEC, models={{"NAME": {model}}})`'
    return (
        "where you trust it, open it yourself and give the estimator, in Python: "
        f'`fairdsl.init(frame, model={model}, output="mine.fair")`, '
        f'then `fairdsl.check("mine.fair")`; with a spec {of_spec}'
    )
