"""The parts of ``group_fairness.py``."""
