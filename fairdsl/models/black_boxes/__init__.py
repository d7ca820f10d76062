"""Models that are only ever asked: Python functions, and files that are run and not read."""
