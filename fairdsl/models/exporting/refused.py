"""What cannot be made a file."""

from __future__ import annotations


class NotExportedError(Exception):
    """No file can be made of it: the reason in words, and what to do."""

    def __init__(self, reason: str, help_text: str | None) -> None:
        """``reason`` is a sentence without its stop; without a help text the caller knows better."""
        super().__init__(reason)
        self.reason, self.help_text = reason, help_text
