"""Metrics of groups as files: weighted subset sums that stand alone, and their solving."""

from fairdsl.backends.subset_sum.instance import Instance
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.backends.subset_sum.problem import NotAProblemError, problem_of
from fairdsl.backends.subset_sum.solve import in_words

__all__ = ["Instance", "NotAProblemError", "in_words", "problem_of", "read_instance"]
