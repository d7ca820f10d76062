"""The metrics that the language names: lines in the language itself, read from files that ship with the package."""

from fairdsl.prelude.canonical import with_canonical_names
from fairdsl.prelude.registry import (
    PAIR_METRICS,
    SHARES,
    Named,
    PairMetric,
    comparison_of,
    ideal_of,
    known_metrics,
    metric_named,
    metrics,
    nearest,
    registered,
)
from fairdsl.prelude.terms import FACTS, TERMS, MistakeError, Term, Words, definition_text, metric_of, term_of

__all__ = [
    "FACTS",
    "PAIR_METRICS",
    "SHARES",
    "TERMS",
    "MistakeError",
    "Named",
    "PairMetric",
    "Term",
    "Words",
    "comparison_of",
    "definition_text",
    "ideal_of",
    "known_metrics",
    "metric_named",
    "metric_of",
    "metrics",
    "nearest",
    "registered",
    "term_of",
    "with_canonical_names",
]
