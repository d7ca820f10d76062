"""Classes: which label or column of a file represents which outcome, by one rule for all models."""
