"""Tables that regulators have published, made of a report."""
