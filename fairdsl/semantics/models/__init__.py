"""Models as declared: sources, features, decision rules and lists of rules."""
