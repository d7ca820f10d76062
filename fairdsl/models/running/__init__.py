"""Running the deployed file, in its own arithmetic."""
