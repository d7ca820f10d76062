"""Estimated shares: a random sample of units as large as the precision that is asked for needs."""

from fairdsl.backends.sampling.procedure import Sampling

__all__ = ["Sampling"]
