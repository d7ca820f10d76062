"""Tables of individuals: CSV files read by a domain, every value checked against it."""
