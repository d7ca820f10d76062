"""Where other programs call fairdsl: notebooks, and pytest."""
