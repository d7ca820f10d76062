"""Partitions: a question asked of many parts of the domain, each with a verdict of its own."""
