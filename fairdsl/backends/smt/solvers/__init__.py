"""Solvers in processes of their own: a question, whole or of a partition, decided within limits that are kept."""
