"""Bounds and best-first refinement: how large a part of a domain is certainly treated fairly."""

from fairdsl.backends.intervals.encoding import IntervalJob
from fairdsl.backends.intervals.procedure import Intervals

__all__ = ["IntervalJob", "Intervals"]
