"""The parts of ``falsifier.py``."""
