"""The public functions, by what they work on; ``fairdsl`` itself offers them all. Heavy imports wait for the call."""
