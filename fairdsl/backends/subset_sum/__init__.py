"""Metrics of groups as files: weighted subset sums that stand alone, and their solving."""

from fairdsl.backends.subset_sum.encoding import in_words
from fairdsl.backends.subset_sum.instance import Instance
from fairdsl.backends.subset_sum.instance_read import read_instance
from fairdsl.backends.subset_sum.problem import NotAProblemError, problem_of

__all__ = ["Instance", "NotAProblemError", "in_words", "problem_of", "read_instance"]
