"""Metrics of groups as files: weighted subset sums that stand alone, and their solving."""
