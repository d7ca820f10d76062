"""The results of papers beside what fairdsl finds, one file a paper (``../reproduce.py``)."""
