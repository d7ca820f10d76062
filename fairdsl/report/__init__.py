"""Reports: the data, how it is made from verdicts, and its two forms, JSON and text."""
