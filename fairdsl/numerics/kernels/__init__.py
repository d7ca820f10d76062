"""How compiled loops are made: with IEEE semantics, once on a machine, and kept where nobody else can write."""
