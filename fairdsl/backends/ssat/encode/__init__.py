"""What becomes a formula: predicates, weighted sums, models."""
