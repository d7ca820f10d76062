"""Text to tree and back: the parser, the formatter, and a sentence for each mistake."""
