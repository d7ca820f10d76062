"""Questions in words: every clause in force, one English sentence, and the formula."""
