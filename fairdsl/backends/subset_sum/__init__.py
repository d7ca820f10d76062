"""Subset sums: rates of groups for a linear score under a Bayesian network or rows, exactly or enclosed."""

from fairdsl.backends.subset_sum.procedure import SubsetSum

__all__ = ["SubsetSum"]
