"""fairdsl: a declarative language and compiler for fairness verification."""
