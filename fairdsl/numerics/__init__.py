"""Evaluation, exact and batched with error bounds; predicates, narrowing and bounds over boxes."""
