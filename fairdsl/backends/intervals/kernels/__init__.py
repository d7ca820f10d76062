"""The compiled core of the refinement: bounds of a node, the law of a weighted sum, the best-first tree.

Plain functions over arrays, compiled by numba and cached. Nothing here knows about specs or verdicts.
"""
