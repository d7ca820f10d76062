"""Compiled loops over boxes of many trees: which boxes are settled, and how much of the others at most is unfair."""
