"""Compiled loops of rates: the shares of boxes above lines."""
