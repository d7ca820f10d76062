"""Weighted sums of columns: the distribution of a score, exactly or enclosed."""
