"""Questions: the clauses of a property become one question, and every demand is checked against it."""
